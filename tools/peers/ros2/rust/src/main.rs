//! A ROS 2 client that uses a robot of `poise serve --ros2` by the library ros2-client, over
//! RustDDS: joint_states, stops, FollowJointTrajectory to its end, cancelled and refused, and
//! MoveIt's services and actions (moveit.rs). It
//! prints what it sees, and exits with 1 at the first thing that is not as it should be.
//!
//!     ros2-client-peer enhanced|cyclone [robot|client]
//!
//! With "robot" or "client" it is one side of the matrix instead (matrix.rs).

mod matrix;
mod moveit;

use std::time::{Duration, Instant};

use futures::StreamExt;
use ros2_client::{action, qos::Durability, qos::History, *};
use serde::{Deserialize, Serialize};
use smol::future::FutureExt;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Time {
  sec: i32,
  nanosec: u32,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Header {
  stamp: Time,
  frame_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct JointState {
  header: Header,
  name: Vec<String>,
  position: Vec<f64>,
  velocity: Vec<f64>,
  effort: Vec<f64>,
}
impl Message for JointState {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Point {
  positions: Vec<f64>,
  velocities: Vec<f64>,
  accelerations: Vec<f64>,
  effort: Vec<f64>,
  time_from_start: Time,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Trajectory {
  header: Header,
  joint_names: Vec<String>,
  points: Vec<Point>,
}

// transforms and twists, which are not used here
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct MultiPoint {
  transforms: Vec<[f64; 7]>,
  velocities: Vec<[f64; 6]>,
  accelerations: Vec<[f64; 6]>,
  time_from_start: Time,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct MultiTrajectory {
  header: Header,
  joint_names: Vec<String>,
  points: Vec<MultiPoint>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Goal {
  trajectory: Trajectory,
  multi_dof_trajectory: MultiTrajectory,
  path_tolerance: Vec<String>,
  component_path_tolerance: Vec<String>,
  goal_tolerance: Vec<String>,
  component_goal_tolerance: Vec<String>,
  goal_time_tolerance: Time,
}
impl Message for Goal {}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Outcome {
  error_code: i32,
  error_string: String,
}
impl Message for Outcome {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Feedback {
  header: Header,
  joint_names: Vec<String>,
  desired: Point,
  actual: Point,
  error: Point,
  multi_dof_joint_names: Vec<String>,
  multi_dof_desired: MultiPoint,
  multi_dof_actual: MultiPoint,
  multi_dof_error: MultiPoint,
}
impl Message for Feedback {}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StopRequest {
  category: u8,
}
impl Message for StopRequest {}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StopResponse {
  success: bool,
  message: String,
}
impl Message for StopResponse {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Grip {
  position: f64,
  max_effort: f64,
}
impl Message for Grip {}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Gripped {
  position: f64,
  effort: f64,
  stalled: bool,
  reached_goal: bool,
}
impl Message for Gripped {}

fn check(ok: bool, what: &str) {
  if !ok {
    println!("failed: {what}");
    std::process::exit(1);
  }
}

/// What takes longer than a minute hangs.
async fn soon<T>(what: &str, f: impl std::future::Future<Output = T>) -> T {
  f.or(async {
    smol::Timer::after(Duration::from_secs(60)).await;
    println!("failed: not within 60 s: {what}");
    std::process::exit(1)
  })
  .await
}

fn goal(names: &[String], start: &[f64], seconds: i32, step: f64) -> Goal {
  Goal {
    trajectory: Trajectory {
      joint_names: names.to_vec(),
      points: vec![Point {
        positions: start.iter().map(|x| x + step).collect(),
        time_from_start: Time { sec: seconds, nanosec: 0 },
        ..Default::default()
      }],
      ..Default::default()
    },
    ..Default::default()
  }
}

fn main() {
  let mapping = match std::env::args().nth(1).as_deref() {
    Some("cyclone") => ServiceMapping::Cyclone,
    _ => ServiceMapping::Enhanced,
  };
  let long = matches!(mapping, ServiceMapping::Enhanced);
  let context = Context::new().unwrap();
  let mut node = context.new_node(NodeName::new("/", "rust_peer").unwrap(), NodeOptions::new()).unwrap();
  smol::spawn(node.spinner().unwrap().spin()).detach();
  match std::env::args().nth(2).as_deref() {
    Some("robot") => return matrix::robot(&mut node, mapping),
    Some("client") => return matrix::client(&mut node, mapping),
    _ => {}
  }
  let qos = QosProfile::publisher_default().durability(Durability::Volatile).history(History::KeepLast { depth: 10 });
  let latched = QosProfile::publisher_default().durability(Durability::TransientLocal).history(History::KeepLast { depth: 10 });

  let topic = node.create_topic(&Name::new("/", "joint_states").unwrap(), MessageTypeName::new("sensor_msgs", "JointState"), &DEFAULT_SUBSCRIPTION_QOS).unwrap();
  let states = node.create_subscription::<JointState>(&topic, Some(qos.clone())).unwrap();
  let stop = node
    .create_client::<StopRequest, StopResponse>(mapping, &Name::new("/", "stop").unwrap(), &ServiceTypeName::new("poise_msgs", "Stop"), qos.clone(), qos.clone())
    .unwrap();
  let actions = || action::ActionClientQosPolicies {
    goal_service: qos.clone(),
    result_service: qos.clone(),
    cancel_service: qos.clone(),
    feedback_subscription: qos.clone(),
    status_subscription: latched.clone(),
  };
  let follow = node
    .create_action_client::<Goal, Outcome, Feedback>(
      mapping,
      &Name::new("/", "follow_joint_trajectory").unwrap(),
      &ActionTypeName::new("control_msgs", "FollowJointTrajectory"),
      actions(),
    )
    .unwrap();
  let gripper = node
    .create_action_client::<Grip, Gripped, Gripped>(mapping, &Name::new("/", "gripper_cmd").unwrap(), &ActionTypeName::new("control_msgs", "GripperCommand"), actions())
    .unwrap();
  let moveit = moveit::Client::new(&mut node, mapping, &qos, actions);

  smol::block_on(async {
    let (first, _) = soon("joint_states", states.async_take()).await.unwrap();
    for _ in 0..100 {
      soon("joint_states", states.async_take()).await.unwrap();
    }
    println!("joint_states: {} joints", first.name.len());
    let (names, start): (Vec<String>, Vec<f64>) =
      first.name.iter().cloned().zip(first.position.iter().cloned()).filter(|(n, _)| !n.contains("finger")).unzip();

    // to the end
    let (id, response) = soon("an answer to a goal", follow.async_send_goal(goal(&names, &start, 1, 0.05))).await.unwrap();
    check(response.accepted, "a goal is not accepted");
    let mut feedback = 0;
    let stream = follow.feedback_stream(id);
    futures::pin_mut!(stream);
    let result = follow.async_request_result(id);
    futures::pin_mut!(result);
    let (status, outcome) = soon("a result", async {
      loop {
        match futures::future::select(result.as_mut(), stream.next()).await {
          futures::future::Either::Left((r, _)) => return r.unwrap(),
          futures::future::Either::Right((f, _)) => {
            if let Some(Ok(f)) = f {
              check(f.joint_names == names, "feedback has other joints");
              feedback += 1;
            }
          }
        }
      }
    })
    .await;
    println!("goal: {status:?}, {outcome:?}, {feedback} feedbacks");
    check(status == action_msgs::GoalStatusEnum::Succeeded && outcome.error_code == 0 && feedback > 0, "the end of a goal");

    // by MoveIt's; RustDDS cannot send long requests in the other mapping: the fragments that it
    // makes of them have a byte too many
    if long {
      let here: Vec<f64> = start.iter().map(|x| x + 0.05).collect();
      moveit.run(&node, &names, &here).await;
    }

    // a gripper
    let (id, response) = soon("an answer to gripper_cmd", gripper.async_send_goal(Grip { position: 0.02, max_effort: 0.0 })).await.unwrap();
    check(response.accepted, "the gripper takes no goal");
    let (status, gripped) = soon("the gripper", gripper.async_request_result(id)).await.unwrap();
    println!("gripper: {status:?}, {gripped:?}");
    check(status == action_msgs::GoalStatusEnum::Succeeded && gripped.reached_goal, "the end of a gripper's goal");

    // cancelled
    let here: Vec<f64> = start.iter().map(|x| x + 0.05).collect();
    let (id, response) = soon("an answer to a goal", follow.async_send_goal(goal(&names, &here, 20, 0.2))).await.unwrap();
    check(response.accepted, "a second goal is not accepted");
    smol::Timer::after(Duration::from_millis(500)).await;
    let answer = soon("an answer to cancel", follow.async_cancel_goal(id, builtin_interfaces::Time::ZERO)).await.unwrap();
    let (status, _) = soon("the result of a cancelled goal", follow.async_request_result(id)).await.unwrap();
    println!("cancel: {:?}, {} goals, then {status:?}", answer.return_code, answer.goals_canceling.len());
    check(status == action_msgs::GoalStatusEnum::Canceled && answer.goals_canceling.len() == 1, "a cancelled goal");

    // refused
    let (_, response) = soon("an answer to a goal", follow.async_send_goal(goal(&["no_such_joint".to_string()], &[0.0], 1, 0.1))).await.unwrap();
    check(!response.accepted, "a goal for an unknown joint is accepted");
    println!("refused: accepted {}", response.accepted);

    // stopped, after which the robot takes no goals
    soon("stop to be there", stop.wait_for_service(&node)).await;
    let mut took = vec![];
    for _ in 0..20 {
      let began = Instant::now();
      let answer = soon("an answer of stop", stop.async_call_service(StopRequest { category: 2 })).await.unwrap();
      check(answer.success, &answer.message);
      took.push(began.elapsed());
    }
    took.sort();
    println!("stop: 20 calls, p50 {:?}", took[10]);
  });
  std::process::exit(0);
}
