//! Both sides of the matrix by ros2-client over RustDDS (../README.md says what they do): a robot
//! for Poise as its client, and a client of a robot that Poise serves.

use std::io::BufRead;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use ros2_client::{action, qos::Durability, qos::History, *};
use serde::{Deserialize, Serialize};
use smol::future::FutureExt;

use crate::{check, goal, soon, Feedback, Goal, Header, JointState, Outcome, Time};

const MANY: usize = 20000; // samples that are kept: a busy machine may read late

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Text {
  data: String,
}
impl Message for Text {}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct HomeRequest {
  data: bool,
}
impl Message for HomeRequest {}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct HomeResponse {
  success: bool,
  message: String,
}
impl Message for HomeResponse {}

fn reliable(depth: usize) -> QosProfile {
  QosProfile::publisher_default().durability(Durability::Volatile).history(History::KeepLast { depth })
}

fn latched() -> QosProfile {
  QosProfile::publisher_default().durability(Durability::TransientLocal).history(History::KeepLast { depth: 1 })
}

fn state(number: i32, position: f64) -> JointState {
  JointState {
    header: Header { stamp: Time { sec: number, nanosec: 0 }, frame_id: String::new() },
    name: vec!["knee".to_string()],
    position: vec![position],
    velocity: vec![],
    effort: vec![],
  }
}

fn topic(node: &Node, name: &str, package: &str, typ: &str, qos: &QosProfile) -> rustdds::Topic {
  node.create_topic(&Name::new("/", name).unwrap(), MessageTypeName::new(package, typ), qos).unwrap()
}

fn follow_name() -> (Name, ActionTypeName) {
  (Name::new("/arm", "follow_joint_trajectory").unwrap(), ActionTypeName::new("control_msgs", "FollowJointTrajectory"))
}

/// Lines of the standard input; the channel is closed with it.
fn input() -> smol::channel::Receiver<String> {
  let (send, receive) = smol::channel::unbounded();
  std::thread::spawn(move || {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
      let _ = send.send_blocking(line);
    }
  });
  receive
}

type Server = action::AsyncActionServer<Goal, Outcome, Feedback>;

/// Follows one goal to its end: its last point's time, or until it is cancelled.
async fn perform(server: Arc<Server>, handle: action::NewGoalHandle<Goal>, goal: Goal, cancelled: smol::channel::Receiver<()>) {
  let accepted = server.accept_goal(handle).await.unwrap();
  let executing = server.start_executing_goal(accepted).await.unwrap();
  let seconds = goal.trajectory.points.last().map_or(0, |p| p.time_from_start.sec);
  let end = Instant::now() + Duration::from_secs(seconds as u64);
  let status = loop {
    let stop = async { cancelled.recv().await.is_ok() };
    let tick = async {
      smol::Timer::after(Duration::from_millis(20)).await;
      false
    };
    if stop.or(tick).await {
      break action::GoalEndStatus::Canceled;
    }
    let feedback = Feedback { joint_names: goal.trajectory.joint_names.clone(), ..Default::default() };
    server.publish_feedback(executing.clone(), feedback).await.unwrap();
    if Instant::now() > end {
      break action::GoalEndStatus::Succeeded;
    }
  };
  let outcome = Outcome { error_code: 0, error_string: String::new() };
  let _ = server.send_result_response(executing, status, outcome).await;
}

pub fn robot(node: &mut Node, mapping: ServiceMapping) {
  let states = topic(node, "joint_states", "sensor_msgs", "JointState", &reliable(MANY));
  let states = node.create_publisher::<JointState>(&states, Some(reliable(MANY))).unwrap();
  let commands = topic(node, "joint_commands", "sensor_msgs", "JointState", &reliable(MANY));
  let commands = node.create_subscription::<JointState>(&commands, Some(reliable(MANY))).unwrap();
  let description = topic(node, "robot_description", "std_msgs", "String", &latched());
  let description = node.create_publisher::<Text>(&description, Some(latched())).unwrap();
  description.publish(Text { data: "<robot/>".to_string() }).unwrap();
  let home = node
    .create_server::<HomeRequest, HomeResponse>(mapping, &Name::new("/", "home").unwrap(), &ServiceTypeName::new("std_srvs", "SetBool"), reliable(100), reliable(100))
    .unwrap();
  let (name, typ) = follow_name();
  let qos = action::ActionServerQosPolicies {
    goal_service: reliable(100),
    result_service: reliable(100),
    cancel_service: reliable(100),
    feedback_publisher: reliable(100),
    status_publisher: latched(),
  };
  let server = Arc::new(Server::new(node.create_action_server(mapping, &name, &typ, qos).unwrap()));
  let running = std::sync::Mutex::new(Vec::<(action::GoalId, smol::channel::Sender<()>)>::new());
  let lines = input();

  println!("ready");
  smol::block_on(async {
    let publish = async {
      let (began, mut number) = (Instant::now(), 0);
      loop {
        while f64::from(number) < began.elapsed().as_secs_f64() * 1000.0 {
          if states.async_publish(state(number, 0.5)).await.is_err() {
            break; // the queue of the writer is full on a busy machine: the same number later
          }
          number += 1;
        }
        smol::Timer::after(Duration::from_micros(500)).await;
      }
    };
    let heard = std::sync::Mutex::new((0, 0, -1)); // commands, jumps, the last
    let listen = async {
      loop {
        if let Ok((m, _)) = commands.async_take().await {
          let mut h = heard.lock().unwrap();
          let n = m.header.stamp.sec;
          *h = (h.0 + 1, h.1 + i32::from(n != h.2 + 1), n);
        }
      }
    };
    let answer = async {
      loop {
        if let Ok((id, q)) = home.async_receive_request().await {
          let (count, jumps, _) = *heard.lock().unwrap();
          home.async_send_response(id, HomeResponse { success: q.data, message: format!("{count} commands, {jumps} jumps") }).await.unwrap();
        }
      }
    };
    let goals = async {
      loop {
        let Ok(handle) = server.receive_new_goal().await else { continue };
        let goal = server.get_new_goal(handle.clone()).unwrap();
        if goal.trajectory.joint_names.first().is_some_and(|n| n == "refuse") {
          server.reject_goal(handle).await.unwrap();
          continue;
        }
        let (stop, stopped) = smol::channel::bounded(1);
        running.lock().unwrap().push((handle.goal_id(), stop));
        smol::spawn(perform(server.clone(), handle, goal, stopped)).detach();
      }
    };
    let cancels = async {
      loop {
        let Ok(handle) = server.receive_cancel_request().await else { continue };
        server.respond_to_cancel_requests(&handle, handle.goals()).await.unwrap();
        for (id, stop) in running.lock().unwrap().iter() {
          if handle.contains_goal(id) {
            let _ = stop.try_send(());
          }
        }
      }
    };
    let over = async { while lines.recv().await.is_ok() {} };
    let work = async { futures::join!(publish, listen, answer, goals, cancels); };
    over.or(work).await;
  });
}

/// Calls until there is an answer: a server that has just come may not know the caller.
async fn again<T, F: std::future::Future<Output = Option<T>>>(what: &str, mut call: impl FnMut() -> F) -> T {
  for _ in 0..30 {
    let late = async {
      smol::Timer::after(Duration::from_secs(2)).await;
      None
    };
    if let Some(answer) = call().or(late).await {
      return answer;
    }
  }
  println!("failed: not within 60 s: {what} of a server that came again");
  std::process::exit(1)
}

type Follower = action::ActionClient<Goal, Outcome, Feedback>;

fn follower(node: &mut Node, mapping: ServiceMapping) -> Follower {
  let (name, typ) = follow_name();
  let qos = action::ActionClientQosPolicies {
    goal_service: reliable(100),
    result_service: reliable(100),
    cancel_service: reliable(100),
    feedback_subscription: reliable(1000),
    status_subscription: latched(),
  };
  node.create_action_client::<Goal, Outcome, Feedback>(mapping, &name, &typ, qos).unwrap()
}

pub fn client(node: &mut Node, mapping: ServiceMapping) {
  let states = topic(node, "joint_states", "sensor_msgs", "JointState", &reliable(MANY));
  let states = node.create_subscription::<JointState>(&states, Some(reliable(MANY))).unwrap();
  let commands = topic(node, "joint_commands", "sensor_msgs", "JointState", &reliable(MANY));
  let commands = node.create_publisher::<JointState>(&commands, Some(reliable(MANY))).unwrap();
  let home = node
    .create_client::<HomeRequest, HomeResponse>(mapping, &Name::new("/", "home").unwrap(), &ServiceTypeName::new("std_srvs", "SetBool"), reliable(100), reliable(100))
    .unwrap();
  let follow = follower(node, mapping);
  let lines = input();

  smol::block_on(async {
    let (mut last, mut count, mut jumps) = (None, 0, 0);
    while count < 3000 {
      let now = soon("states", states.async_take()).await.unwrap().0.header.stamp.sec;
      if last.is_some_and(|l| now != l + 1) {
        // until the server knows this reader it hears what goes to one at the same address that was killed
        jumps += 1;
        check(jumps == 1, &format!("state {now} comes after {last:?}"));
        count = 0;
      }
      (last, count) = (Some(now), count + 1);
    }
    drop(states); // or thousands that are not taken slow everything down
    let late = topic(node, "robot_description", "std_msgs", "String", &latched());
    let late = node.create_subscription::<Text>(&late, Some(latched())).unwrap();
    check(soon("what is latched", late.async_take()).await.unwrap().0.data == "<robot/>", "another text is latched");

    soon("a reader of commands", commands.wait_for_subscription(node)).await;
    let began = Instant::now();
    for i in 0..1000 {
      smol::Timer::at(began + Duration::from_millis(i)).await;
      while commands.async_publish(state(i as i32, 0.25)).await.is_err() {
        smol::Timer::after(Duration::from_millis(1)).await; // the queue of the writer is full
      }
    }
    let call_home = || async { home.async_call_service(HomeRequest { data: true }).await.ok() };
    let mut heard = String::new();
    for _ in 0..600 {
      let answer = again("/home", call_home).await;
      check(answer.success, "/home fails");
      heard = answer.message;
      if heard == "1000 commands, 0 jumps" {
        break;
      }
      smol::Timer::after(Duration::from_millis(100)).await;
    }
    check(heard == "1000 commands, 0 jumps", &format!("the server has heard {heard}"));

    loop {
      again("/home", call_home).await;
      use_action(node, mapping, &follow).await;
      println!("done");
      match lines.recv().await {
        Ok(line) if line == "again" => {}
        _ => return,
      }
    }
  });
}

/// Waits until the states of all goals tell a client that has just come that a goal has succeeded.
async fn ended_for(late: &Follower, id: action::GoalId) {
  let all = late.all_statuses_stream();
  futures::pin_mut!(all);
  while let Some(list) = all.next().await {
    let list = list.unwrap().status_list;
    if list.iter().any(|s| s.goal_info.goal_id == id && s.status == action_msgs::GoalStatusEnum::Succeeded) {
      return;
    }
  }
}

/// Sends a goal that ends, as its state tells a client that comes after it, one that is refused and one that is
/// cancelled.
async fn use_action(node: &mut Node, mapping: ServiceMapping, follow: &Follower) {
  let knee = ["knee".to_string()];
  let (id, response) = again("a goal", || async { follow.async_send_goal(goal(&knee, &[0.1], 1, 0.0)).await.ok() }).await;
  check(response.accepted, "a goal is not accepted");
  let feedback = async {
    let stream = follow.feedback_stream(id);
    futures::pin_mut!(stream);
    soon("feedback", stream.next()).await
  };
  let result = again("a result", || async { follow.async_request_result(id).await.ok() });
  let (_, (status, _)) = futures::join!(feedback, result);
  check(status == action_msgs::GoalStatusEnum::Succeeded, &format!("a goal ends by {status:?}"));
  let late = follower(node, mapping);
  soon("the state of a goal that is over, for one who comes late", ended_for(&late, id)).await;
  let (_, response) = soon("a goal to refuse", follow.async_send_goal(goal(&["refuse".to_string()], &[0.0], 1, 0.0))).await.unwrap();
  check(!response.accepted, "a goal that is refused is accepted");
  let (id, response) = soon("a second goal", follow.async_send_goal(goal(&knee, &[0.1], 600, 0.0))).await.unwrap();
  check(response.accepted, "a second goal is not accepted");
  let cancel = async {
    let answer = again("a cancellation", || async { follow.async_cancel_goal(id, builtin_interfaces::Time::ZERO).await.ok() }).await;
    // it may have ended by a request whose answer came late
    let ended = answer.return_code == action_msgs::CancelGoalResponseEnum::GoalTerminated;
    check(ended || answer.goals_canceling.len() == 1, "a goal is not cancelled");
  };
  let (_, ended) = futures::join!(cancel, soon("the end of a cancelled goal", follow.async_request_result(id)));
  let (status, _) = ended.unwrap();
  check(status == action_msgs::GoalStatusEnum::Canceled, &format!("a cancelled goal ends by {status:?}"));
}
