//! The robot used as MoveIt's own clients do, MoveGroupInterface among them, by messages that
//! others have written down: planning, moving, performing what was planned, and the parameters.

use ros2_client::{action, *};
use ros2_interfaces_jazzy_serde::{moveit_msgs, rcl_interfaces};
use serde::{Deserialize, Serialize};

use crate::{check, soon};

macro_rules! messages {
  ($($name:ident($of:ty)),* $(,)?) => { $(
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct $name($of);
    impl Message for $name {}
  )* };
}

messages! {
  PlanRequest(moveit_msgs::srv::GetMotionPlanRequest),
  PlanResponse(moveit_msgs::srv::GetMotionPlanResponse),
  SequenceRequest(moveit_msgs::srv::GetMotionSequenceRequest),
  SequenceResponse(moveit_msgs::srv::GetMotionSequenceResponse),
  PlannersRequest(moveit_msgs::srv::QueryPlannerInterfacesRequest),
  PlannersResponse(moveit_msgs::srv::QueryPlannerInterfacesResponse),
  ParamsRequest(moveit_msgs::srv::GetPlannerParamsRequest),
  ParamsResponse(moveit_msgs::srv::GetPlannerParamsResponse),
  SetParamsRequest(moveit_msgs::srv::SetPlannerParamsRequest),
  CartesianRequest(moveit_msgs::srv::GetCartesianPathRequest),
  CartesianResponse(moveit_msgs::srv::GetCartesianPathResponse),
  FKRequest(moveit_msgs::srv::GetPositionFKRequest),
  FKResponse(moveit_msgs::srv::GetPositionFKResponse),
  IKRequest(moveit_msgs::srv::GetPositionIKRequest),
  IKResponse(moveit_msgs::srv::GetPositionIKResponse),
  ParametersRequest(rcl_interfaces::srv::GetParametersRequest),
  ParametersResponse(rcl_interfaces::srv::GetParametersResponse),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MoveGoal {
  request: moveit_msgs::msg::MotionPlanRequest,
  planning_options: moveit_msgs::msg::PlanningOptions,
}
impl Message for MoveGoal {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MoveResult {
  error_code: moveit_msgs::msg::MoveItErrorCodes,
  trajectory_start: moveit_msgs::msg::RobotState,
  planned_trajectory: moveit_msgs::msg::RobotTrajectory,
  executed_trajectory: moveit_msgs::msg::RobotTrajectory,
  planning_time: f64,
}
impl Message for MoveResult {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SequenceGoal {
  request: moveit_msgs::msg::MotionSequenceRequest,
  planning_options: moveit_msgs::msg::PlanningOptions,
}
impl Message for SequenceGoal {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SequenceResult {
  response: moveit_msgs::msg::MotionSequenceResponse,
}
impl Message for SequenceResult {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecuteGoal {
  trajectory: moveit_msgs::msg::RobotTrajectory,
  controller_names: Vec<String>,
}
impl Message for ExecuteGoal {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecuteResult {
  error_code: moveit_msgs::msg::MoveItErrorCodes,
}
impl Message for ExecuteResult {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
  state: String,
}
impl Message for State {}

/// An answer without fields is one byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetParamsResponse {
  structure_needs_at_least_one_member: u8,
}
impl Message for SetParamsResponse {}

const SUCCESS: i32 = 1;

/// Everything that the client has of the node.
pub struct Client {
  plan: service::Client<PlanRequest, PlanResponse>,
  sequence: service::Client<SequenceRequest, SequenceResponse>,
  planners: service::Client<PlannersRequest, PlannersResponse>,
  parameters: service::Client<ParametersRequest, ParametersResponse>,
  params: service::Client<ParamsRequest, ParamsResponse>,
  set_params: service::Client<SetParamsRequest, SetParamsResponse>,
  cartesian: service::Client<CartesianRequest, CartesianResponse>,
  fk: service::Client<FKRequest, FKResponse>,
  ik: service::Client<IKRequest, IKResponse>,
  moves: action::ActionClient<MoveGoal, MoveResult, State>,
  sequences: action::ActionClient<SequenceGoal, SequenceResult, State>,
  execute: action::ActionClient<ExecuteGoal, ExecuteResult, State>,
}

fn request(names: &[String], to: &[f64]) -> moveit_msgs::msg::MotionPlanRequest {
  let goal = moveit_msgs::msg::Constraints {
    joint_constraints: names
      .iter()
      .zip(to)
      .map(|(n, x)| moveit_msgs::msg::JointConstraint {
        joint_name: n.clone(),
        position: *x,
        tolerance_above: 1e-4,
        tolerance_below: 1e-4,
        weight: 1.0,
      })
      .collect(),
    ..Default::default()
  };
  moveit_msgs::msg::MotionPlanRequest {
    planner_id: "PTP".to_string(),
    group_name: "manipulator".to_string(),
    goal_constraints: vec![goal],
    num_planning_attempts: 1,
    allowed_planning_time: 5.0,
    max_velocity_scaling_factor: 0.5,
    max_acceleration_scaling_factor: 0.5,
    ..Default::default()
  }
}

impl Client {
  pub fn new(node: &mut Node, mapping: ServiceMapping, qos: &QosProfile, actions: impl Fn() -> action::ActionClientQosPolicies) -> Client {
    let name = |n: &str| Name::new("/", n).unwrap();
    let srv = |n: &str| ServiceTypeName::new("moveit_msgs", n);
    Client {
      plan: node.create_client(mapping, &name("plan_kinematic_path"), &srv("GetMotionPlan"), qos.clone(), qos.clone()).unwrap(),
      sequence: node.create_client(mapping, &name("plan_sequence_path"), &srv("GetMotionSequence"), qos.clone(), qos.clone()).unwrap(),
      planners: node.create_client(mapping, &name("query_planner_interface"), &srv("QueryPlannerInterfaces"), qos.clone(), qos.clone()).unwrap(),
      parameters: node
        .create_client(mapping, &Name::new("/poise", "get_parameters").unwrap(), &ServiceTypeName::new("rcl_interfaces", "GetParameters"), qos.clone(), qos.clone())
        .unwrap(),
      params: node.create_client(mapping, &name("get_planner_params"), &srv("GetPlannerParams"), qos.clone(), qos.clone()).unwrap(),
      set_params: node.create_client(mapping, &name("set_planner_params"), &srv("SetPlannerParams"), qos.clone(), qos.clone()).unwrap(),
      cartesian: node.create_client(mapping, &name("compute_cartesian_path"), &srv("GetCartesianPath"), qos.clone(), qos.clone()).unwrap(),
      fk: node.create_client(mapping, &name("compute_fk"), &srv("GetPositionFK"), qos.clone(), qos.clone()).unwrap(),
      ik: node.create_client(mapping, &name("compute_ik"), &srv("GetPositionIK"), qos.clone(), qos.clone()).unwrap(),
      sequences: node.create_action_client(mapping, &name("sequence_move_group"), &ActionTypeName::new("moveit_msgs", "MoveGroupSequence"), actions()).unwrap(),
      moves: node.create_action_client(mapping, &name("move_action"), &ActionTypeName::new("moveit_msgs", "MoveGroup"), actions()).unwrap(),
      execute: node.create_action_client(mapping, &name("execute_trajectory"), &ActionTypeName::new("moveit_msgs", "ExecuteTrajectory"), actions()).unwrap(),
    }
  }

  /// Uses everything once, from where the arm is, and leaves it there again.
  pub async fn run(&self, node: &Node, names: &[String], start: &[f64]) {
    let there: Vec<f64> = start.iter().map(|x| x + 0.1).collect();

    soon("get_parameters to be there", self.parameters.wait_for_service(node)).await;
    let limit = |what: &str| format!("robot_description_planning.joint_limits.{}.{what}", names[0]);
    let wanted = vec!["robot_description".to_string(), "robot_description_semantic".to_string(), "no_such_parameter".to_string(), limit("has_velocity_limits"), limit("max_velocity")];
    let answer = soon("parameters", self.parameters.async_call_service(ParametersRequest(rcl_interfaces::srv::GetParametersRequest { names: wanted }))).await.unwrap();
    let texts: Vec<usize> = answer.0.values.iter().map(|v| v.string_value.len()).collect();
    println!("parameters: {texts:?} characters");
    check(texts.len() == 5 && texts[0] > 1000 && texts[1] > 100 && texts[2] == 0, "the robot's description");
    check(answer.0.values[3].bool_value && answer.0.values[4].double_value > 0.0, "the limits of a joint");

    soon("query_planner_interface to be there", self.planners.wait_for_service(node)).await;
    let answer = soon("planners", self.planners.async_call_service(PlannersRequest(Default::default()))).await.unwrap();
    println!("planners: {:?}", answer.0.planner_interfaces.iter().map(|p| p.pipeline_id.clone()).collect::<Vec<_>>());
    check(answer.0.planner_interfaces.iter().any(|p| p.planner_ids.iter().any(|x| x == "LIN")), "LIN is among the planners");

    // as MoveGroupInterface::getPlannerParams and setPlannerParams
    soon("get_planner_params to be there", self.params.wait_for_service(node)).await;
    let q = moveit_msgs::srv::GetPlannerParamsRequest { planner_config: "LIN".to_string(), group: "manipulator".to_string(), ..Default::default() };
    let answer = soon("parameters of a planner", self.params.async_call_service(ParamsRequest(q))).await.unwrap().0.params;
    check(answer.keys.len() == answer.values.len(), "parameters of a planner");
    soon("set_planner_params to be there", self.set_params.wait_for_service(node)).await;
    let q = moveit_msgs::srv::SetPlannerParamsRequest { planner_config: "LIN".to_string(), group: "manipulator".to_string(), params: answer, ..Default::default() };
    soon("an answer of set_planner_params", self.set_params.async_call_service(SetParamsRequest(q))).await.unwrap();

    soon("plan_kinematic_path to be there", self.plan.wait_for_service(node)).await;
    let q = moveit_msgs::srv::GetMotionPlanRequest { motion_plan_request: request(names, &there) };
    let planned = soon("a plan", self.plan.async_call_service(PlanRequest(q))).await.unwrap().0.motion_plan_response;
    check(planned.error_code.val == SUCCESS, &format!("a plan fails: {:?}", planned.error_code));
    let points = &planned.trajectory.joint_trajectory.points;
    check(points.len() > 2, "a plan has points");
    for (i, name) in planned.trajectory.joint_trajectory.joint_names.iter().enumerate() {
      let j = names.iter().position(|n| n == name).unwrap_or_else(|| panic!("a plan moves {name}"));
      check((points[points.len() - 1].positions[i] - there[j]).abs() < 1e-3, "a plan ends at its goal");
    }
    println!("plan: {} points", points.len());

    let mut bad = request(names, &there);
    bad.group_name = "no_such_group".to_string();
    let q = moveit_msgs::srv::GetMotionPlanRequest { motion_plan_request: bad };
    let refused = soon("a refusal", self.plan.async_call_service(PlanRequest(q))).await.unwrap().0.motion_plan_response.error_code;
    println!("refused: {} {}", refused.val, refused.message);
    check(refused.val != SUCCESS && refused.message.contains("no_such_group"), "a plan of an unknown group");

    soon("plan_sequence_path to be there", self.sequence.wait_for_service(node)).await;
    let item = |to: &[f64]| moveit_msgs::msg::MotionSequenceItem { req: request(names, to), blend_radius: 0.0 };
    let q = moveit_msgs::srv::GetMotionSequenceRequest { request: moveit_msgs::msg::MotionSequenceRequest { items: vec![item(&there), item(start)] } };
    let answer = soon("a sequence", self.sequence.async_call_service(SequenceRequest(q))).await.unwrap().0.response;
    check(answer.error_code.val == SUCCESS && !answer.planned_trajectories.is_empty(), &format!("a sequence: {:?}", answer.error_code));
    println!("sequence: {} trajectories", answer.planned_trajectories.len());

    // as MoveGroupInterface::execute
    let goal = ExecuteGoal { trajectory: planned.trajectory.clone(), controller_names: vec![] };
    let (id, response) = soon("an answer to execute_trajectory", self.execute.async_send_goal(goal)).await.unwrap();
    check(response.accepted, "what was planned is not performed");
    let (status, result) = soon("what was planned", self.execute.async_request_result(id)).await.unwrap();
    check(status == action_msgs::GoalStatusEnum::Succeeded && result.error_code.val == SUCCESS, &format!("{status:?} {result:?}"));
    println!("execute: {status:?}");

    // as MoveGroupInterface::move, back to where it was
    let goal = MoveGoal { request: request(names, start), planning_options: Default::default() };
    let (id, response) = soon("an answer to move_action", self.moves.async_send_goal(goal)).await.unwrap();
    check(response.accepted, "move_action takes no goal");
    let (status, result) = soon("a move", self.moves.async_request_result(id)).await.unwrap();
    check(status == action_msgs::GoalStatusEnum::Succeeded && result.error_code.val == SUCCESS, &format!("{status:?} {:?}", result.error_code));
    check(result.planned_trajectory.joint_trajectory.points.len() > 2, "a move tells what it has planned");
    println!("move: {status:?}, planned in {:.3} s", result.planning_time);

    // a sequence, performed: there and back
    let goal = SequenceGoal { request: moveit_msgs::msg::MotionSequenceRequest { items: vec![item(&there), item(start)] }, planning_options: Default::default() };
    let (id, response) = soon("an answer to sequence_move_group", self.sequences.async_send_goal(goal)).await.unwrap();
    check(response.accepted, "sequence_move_group takes no goal");
    let (status, result) = soon("a sequence", self.sequences.async_request_result(id)).await.unwrap();
    check(status == action_msgs::GoalStatusEnum::Succeeded && result.response.error_code.val == SUCCESS, &format!("{status:?} {:?}", result.response.error_code));
    println!("sequence_move_group: {status:?}, {} trajectories", result.response.planned_trajectories.len());

    self.straight(node, names, start).await;
  }

  /// As MoveGroupInterface::computeCartesianPath: 3 cm up and back to where the tool is.
  async fn straight(&self, node: &Node, names: &[String], start: &[f64]) {
    soon("compute_fk to be there", self.fk.wait_for_service(node)).await;
    let mut state = moveit_msgs::msg::RobotState::default();
    state.joint_state.name = names.to_vec();
    state.joint_state.position = start.to_vec();
    let q = moveit_msgs::srv::GetPositionFKRequest { fk_link_names: vec!["tool0".to_string()], robot_state: state.clone(), ..Default::default() };
    let at = soon("where the tool is", self.fk.async_call_service(FKRequest(q))).await.unwrap().0;
    check(at.error_code.val == SUCCESS && at.pose_stamped.len() == 1, &format!("where the tool is: {:?}", at.error_code));
    soon("compute_ik to be there", self.ik.wait_for_service(node)).await;
    let mut q = moveit_msgs::srv::GetPositionIKRequest::default();
    q.ik_request.group_name = "manipulator".to_string();
    q.ik_request.robot_state = state.clone();
    q.ik_request.pose_stamped = at.pose_stamped[0].clone();
    let found = soon("joints for where the tool is", self.ik.async_call_service(IKRequest(q.clone()))).await.unwrap().0;
    check(found.error_code.val == SUCCESS, &format!("joints for where the tool is: {:?}", found.error_code));
    for (name, want) in names.iter().zip(start) {
      let i = found.solution.joint_state.name.iter().position(|n| n == name);
      let is = i.map(|i| found.solution.joint_state.position[i]);
      check(is.is_some_and(|x| (x - want).abs() < 1e-3), &format!("{name} is at {want}, and compute_ik says {is:?}"));
    }
    q.ik_request.group_name = "manipulater".to_string();
    let refused = soon("a group that is unknown", self.ik.async_call_service(IKRequest(q))).await.unwrap().0;
    check(refused.error_code.val != SUCCESS && refused.error_code.message.contains("manipulater"), &format!("an unknown group: {:?}", refused.error_code));
    println!("compute_ik: {} joints", found.solution.joint_state.name.len());
    let here = at.pose_stamped[0].pose.clone();
    let mut up = here.clone();
    up.position.z += 0.03;
    soon("compute_cartesian_path to be there", self.cartesian.wait_for_service(node)).await;
    let q = moveit_msgs::srv::GetCartesianPathRequest {
      group_name: "manipulator".to_string(),
      link_name: "tool0".to_string(),
      start_state: state,
      waypoints: vec![up, here],
      max_step: 0.005,
      max_velocity_scaling_factor: 0.5,
      max_acceleration_scaling_factor: 0.5,
      ..Default::default()
    };
    let path = soon("a path", self.cartesian.async_call_service(CartesianRequest(q))).await.unwrap().0;
    check(path.error_code.val == SUCCESS && path.fraction == 1.0, &format!("a path: {} {:?}", path.fraction, path.error_code));
    println!("compute_cartesian_path: {} points", path.solution.joint_trajectory.points.len());
    check(path.solution.joint_trajectory.points.len() > 12, "a path has a point each 5 mm");
  }
}
