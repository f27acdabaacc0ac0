// Messages of the graph, as JSON carries them in their ROS 2 form.

export interface Time { sec: number; nanosec: number }
export interface Header { stamp: Time; frame_id: string }
export interface Vector3 { x: number; y: number; z: number }
export interface Quaternion { x: number; y: number; z: number; w: number }
export interface Pose { position: Vector3; orientation: Quaternion }
export interface Transform { translation: Vector3; rotation: Quaternion }
export interface PoseStamped { header: Header; pose: Pose }

export interface JointState {
  header: Header;
  name: string[];
  position: number[];
  velocity: number[];
  effort: number[];
}

export interface Explanation {
  code: string;
  text: string;
  joint: string;
  resource: string;
  owner: string;
  help: string;
  at: number;
  value: number;
  limit: number;
}

// Answer is how every response of poise_msgs begins.
export interface Answer {
  success: boolean;
  message: string;
  explanations: Explanation[];
}

// Tolerance: 0 is the player's default, negative is none.
export interface Tolerance { position: number; velocity: number; acceleration: number }
// A joint that takes part; an empty list states no tolerance.
export interface MotionJoint { name: string; enabled: boolean; path_tolerance: Tolerance[]; goal_tolerance: Tolerance[] }
// A row: null is a joint that was not captured.
export interface MotionPoint {
  time: number;
  label: string;
  enabled: boolean;
  mark: "" | "start" | "end";
  positions: (number | null)[];
  supports: (number | null)[];
}
export interface MotionEvent { time: number; type: string; command: string; options: string }

export interface Motion {
  name: string;
  description: string;
  tags: string[];
  start_pose: string;
  loop: boolean;
  joints: MotionJoint[];
  goal_time_tolerance: number;
  columns: string[];
  chains: string[];
  order: string[];
  points: MotionPoint[];
  events: MotionEvent[];
}

export interface MotionInfo {
  name: string;
  description: string;
  tags: string[];
  joints: string[];
  duration: number;
  points: number;
  events: number;
  loop: boolean;
  shipped: boolean;
  version: string;
  error: string;
  findings: string[];
}

export interface MotionOperation {
  op: string;
  rows: number[];
  time: number;
  value: number;
  names: string[];
  values: number[];
  texts: string[];
}

export interface Finding {
  rule: string;
  text: string;
  joint: string;
  from_time: number;
  to_time: number;
  value: number;
  limit: number;
  row: number;
}

export interface Curve {
  joint: string;
  position: number[];
  velocity: number[];
  acceleration: number[];
  lower: number | null; // null is no limit
  upper: number | null;
  max_velocity: number | null;
  max_acceleration: number | null;
}

// EffortCurve is what a joint has to give along a motion, and between what it can; null is no limit.
export interface EffortCurve { joint: string; effort: (number | null)[]; least: (number | null)[]; most: (number | null)[] }
// MotionForces are torques, the margin of the zero-moment point and loads of feet along a motion.
export interface MotionForces { known: boolean; message: string; joints: EffortCurve[]; margin: (number | null)[]; feet: { chain: string; force: (number | null)[] }[]; weight: number }

export interface JointInfo {
  name: string;
  type: string;
  resource: string;
  lower: number;
  upper: number;
  max_velocity: number;
  max_acceleration: number;
  continuous: boolean;
  has_limits: boolean;
  has_servo: boolean;
  mimic: boolean;
  max_effort: number; // N·m or N, 0 is no limit
}

export interface GroupInfo { name: string; resource: boolean; joints: string[]; resources: string[]; tip: string; branch?: boolean } // branch: made by the page
export interface ChainInfo { name: string; joints: string[]; tip: string; support: string }
export interface NamedPose { name: string; group: string; joints: string[]; positions: number[] }

export interface DrivenRobot { name: string; driver: string; simulated: boolean; exact: boolean; torque: boolean; placed_at_once: boolean; posed_by_hand: boolean; has_mass: boolean; modes: string[]; stiffness: boolean; by_model: boolean; feels?: boolean }

export interface PhysicsContact { link: string; other: string; point: Vector3; force: Vector3 } // other is "" for the ground

// PhysicsState is a robot with mass as it is; speed 0 is as fast as possible.
export interface PhysicsState {
  header: Header;
  paused: boolean;
  speed: number;
  achieved: number;
  base: Pose; // as it is
  odometry: Pose; // where tf, and all that goes by it, has the base
  com: Vector3;
  zmp: Vector3;
  carried: boolean; // something carries it: it has a ZMP
  mass: number;
  fallen: boolean;
  contacts: PhysicsContact[];
  pushes: PhysicsContact[];
  grabbed: boolean;
  friction: number;
  roll: number;
  pitch: number;
  voltage: number;
  payload: number;
  fault: string;
}

// PhysicsWorld is what of the ground stays: boxes, and heights on the plane, columns to a row.
export interface PhysicsWorld { boxes: { pose: Pose; size: Vector3 }[]; origin: Vector3; cell: number; columns: number; heights: number[] }

export interface RobotInfo extends Answer {
  name: string;
  description: string;
  base: string;
  root: string;
  urdf: string;
  joints: JointInfo[];
  groups: GroupInfo[];
  chains: ChainInfo[];
  poses: NamedPose[];
  mirror: { left: string; right: string; sign: number }[];
  missing_meshes: string[];
  mesh_places: string[];
  period: number;
  simulated: boolean;
  robot: string;
  robots: DrivenRobot[];
  client: string; // who asks, as goals name it
  simulated_time: boolean;
  cycle_1_lacks: string[]; // ends of sentences
}

export interface ControllerInfo { name: string; kind: string; short: string; switched: boolean; outside: boolean; client: string; state: string; running: boolean; active: boolean; paused: boolean; resources: string[]; refused: Explanation[]; waits: Explanation[] }

// ResourceState is who has, wants and waits for what, leaf by leaf, and the last rounds of
// the arbiter; times are seconds on the clock of stamps.
export interface ResourceLeaf { name: string; resources: string[]; owner: string; offered_to: string; waiting: string[] }
export interface ResourceClient { name: string; outside: boolean; state: string; needed: string[]; wanted: string[]; owned: string[]; offered: string[]; denied: Explanation[]; left_out: number }
export interface ResourceAnswer { controller: string; resources: string[]; answer: string; after: number }
export interface ResourceRound { number: number; requester: string; began: number; ended: number; outcome: string; why: Explanation[]; answers: ResourceAnswer[] }
export interface ResourceState { header: Header; leaves: ResourceLeaf[]; clients: ResourceClient[]; rounds: ResourceRound[] }

// GoalInfo is a goal that runs: where its own clock is, and how fast it goes.
export interface GoalInfo { id: string; action: string; client: string; state: string; controller: string; phase: string; time: number; duration: number; rate: number }

export interface RobotStatus {
  header: Header;
  power: string;
  stopped: boolean;
  paused: boolean; // motions stand still until resume or reset
  silent: boolean;
  wanted_rate: number;
  rate: number;
  controllers: ControllerInfo[];
  goals: GoalInfo[];
  faults: { kind: string; joint: string; severity: string; explanation: Explanation }[];
  limp: string[]; // resources without torque
}

export interface BalanceState {
  header: Header;
  mass: number;
  com: Vector3;
  zmp: Vector3; // where the ground has to carry the motion, if it has to
  capture_point: Vector3; // where it would have to step to come to rest, if it is carried
  carried: boolean;
  support_points: Vector3[];
  supports: string[]; // chains that carry
  margin: number;
  stable: boolean;
}

// PlannedFootstep is where a foot is put down next; one that swings is on its way there.
export interface PlannedFootstep { limb: string; x: number; y: number; z: number; yaw: number; swinging: boolean }
export interface FootstepsState { header: Header; steps: PlannedFootstep[] }

export interface Twist { linear: Vector3; angular: Vector3 }

export interface Wrench { force: Vector3; torque: Vector3 }

// DynamicsState is which cycle drives each joint, and what cycle 1 computes: the efforts that
// the motion needs, and the forces that the ground is to give.
export interface DynamicsState {
  header: Header;
  name: string[];
  cycle: string | number[]; // bytes, which JSON carries as base64
  needed: number[];
  effort: number[];
  supports: string[];
  forces: Wrench[];
  points: Vector3[];
  contradicts: boolean;
  limited: boolean;
  failed: boolean;
}

// LevelsState is how the whole body serves what is asked of it, in cycle 2.
export interface LevelsState {
  header: Header;
  status: string; // idle, served, weighed, slowing, limp or baseless
  reason: string;
  feasible: boolean; // no level of safety is broken
  iterations: number;
  prevented: boolean; // what is asked for would tip the robot over, and is not done
  margin: number; // m
  base_ratio: number;
  levels: LevelState[]; // from the top
  limbs: LevelLimbState[];
}
export interface LevelState { name: string; residual: number; slack: number; status: string; iterations: number; safety: boolean; active: string[]; asked_by: string[] }
export interface LevelLimbState { name: string; ratio: number; kept: boolean; lands: boolean; point: boolean }

// ExternalForces is what touches a robot, as its servos feel it: joints with their uncertainty, limbs.
export interface ExternalForces {
  header: Header;
  name: string[];
  valid: boolean[];
  external: number[];
  band: number[];
  limb: string[];
  felt: boolean[];
  wrench: Wrench[];
  point: Vector3[];
  force_sigma: Vector3[];
  force_doubt: Vector3[];
  unexplained: number[];
}

// ContactStates is which feet carry, as it is felt.
export interface ContactStates { name: string[]; state: string[]; stands: boolean[]; force: number[]; threshold: number[]; early: boolean[]; late: boolean[] }
export interface ContactEvent { header: Header; kind: string; limb: string; joint: string; force: Vector3; size: number; time: number; reaction: string }

export interface ServoModel { name: string; kp: number; kgear: number; alpha: number[]; vs: number; ks: number; lead: number; dead_zone: number; voltage: number; stiffness: number }
export interface ServoModels { version: number; models: ServoModel[] }

// ServoIdent: servos of limbs are identified. What is not finite is null.
export interface ServoIdentFeedback { stage: string; progress: number; time: number; duration: number; resources: string[] }
export interface ServoIdentCheck { name: string; thing: string; value: number; limit: number; unit: string; ok: boolean; text: string }
export interface ServoIdentPlan { joint: string; condition: number; way: number; quick: number; velocity: number; acceleration: number; effort: number }
export interface ServoIdentJoint {
  joint: string; accepted: boolean; reasons: string[]; details: string[]; parameters: number[]; sigma: number[]; delay: number;
  rmse: number; rmse_before: number; taken: string[]; effects: string[]; published: boolean; kept: boolean;
  time: number[]; goal: number[]; position: number[]; residual: number[];
}
export interface ServoIdentResult { code: string; message: string; joints: ServoIdentJoint[]; log: string; version: number; checks: ServoIdentCheck[]; plan: ServoIdentPlan[]; notes: string[] }

export interface EventMessage { header: Header; motion: string; command: { type: string; command: string; options: string } }

// ExecuteMotion: a motion is played as it is, or a stored one by its name. Times are
// those of its table.
export interface MotionGoal {
  name: string;
  motion?: Motion;
  part: boolean; // from the start mark to the end mark
  backward: boolean;
  speed: number;
  loop: boolean;
  approach: boolean; // move to the first pose if the robot is elsewhere
  resume: boolean; // undo a stop and a pause first
}
export interface MotionFeedback { state: string; time: number; end: number; progress: number; rate: number }
export interface MotionResult { code: string; message: string; explanations: Explanation[]; time: number }

// TextAction: a command in words.
export interface TextFeedback { status: string }
export interface TextResult { error_code: number; error_string: string }
