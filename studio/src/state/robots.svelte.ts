// What the page knows of the robots: what they are, where they are, what they do.
import type { Connection } from "../ros/connection";
import type {
  BalanceState,
  EventMessage,
  JointInfo,
  JointState,
  RobotInfo,
  RobotStatus,
  Transform,
  TransformStamped,
} from "../ros/messages";

// unseen is a change of a pose that nobody would see: noise of readings. Showing it
// would only cost pictures.
const unseen = 0.002; // rad or m

function near(a: Transform, b: Transform): boolean {
  const { translation: p, rotation: r } = a;
  const { translation: q, rotation: s } = b;
  const moved = Math.hypot(p.x - q.x, p.y - q.y, p.z - q.z);
  const turned = Math.hypot(r.x - s.x, r.y - s.y, r.z - s.z, r.w - s.w);
  return moved < unseen / 4 && turned < unseen / 2;
}

export type Side = "virtual" | "real";

// Robot is one instance: the virtual one, or the real one.
export class Robot {
  position = $state.raw<Record<string, number>>({});
  base = $state.raw<Transform | undefined>();
  status = $state.raw<RobotStatus | undefined>();
  balance = $state.raw<BalanceState | undefined>();
  heard = $state(0); // when a pose was heard last, ms

  constructor(readonly side: Side) {}

  // topic returns the name under which this robot has something.
  topic(name: string): string {
    return this.side === "real" ? `/real/${name}` : `/${name}`;
  }

  pose(info: RobotInfo): number[] | undefined {
    if (this.heard === 0) return undefined;
    return info.joints.map((j) => this.position[j.name] ?? 0);
  }

  // paused: all motions stand still on their paths
  get paused(): boolean {
    return this.status?.wanted_rate === 0;
  }

  limp(resource: string): boolean {
    return this.status?.limp.includes(resource) ?? false;
  }

  listen(connection: Connection, info: RobotInfo) {
    // the virtual robot is where it is told to be; the real one is where it is
    const poses = this.side === "real" ? "joint_states_real" : "joint_states";
    connection.subscribe<JointState>(this.topic(poses), "sensor_msgs/msg/JointState", (m) => {
      this.heard = performance.now();
      const now: Record<string, number> = {};
      m.name.forEach((name, i) => (now[name] = m.position[i] ?? 0));
      const still = m.name.every((name) => Math.abs((this.position[name] ?? Infinity) - now[name]!) < unseen);
      if (!still) this.position = now;
    }, 33);
    connection.subscribe<{ transforms: TransformStamped[] }>(this.topic("tf"), "tf2_msgs/msg/TFMessage", (m) => {
      const root = m.transforms.find((t) => t.child_frame_id.replace(/^real\//, "") === info.root);
      if (root && !(this.base && near(this.base, root.transform))) this.base = root.transform;
    }, 33);
    connection.subscribe<RobotStatus>(this.topic("robot_status"), "poise_msgs/msg/RobotStatus", (m) => (this.status = m), 50);
    connection.subscribe<BalanceState>(this.topic("balance_state"), "poise_msgs/msg/BalanceState", (m) => (this.balance = m), 100);
  }
}

export interface Heard { at: number; side: Side; motion: string; type: string; command: string; options: string }

export class Robots {
  info = $state.raw<RobotInfo | undefined>();
  readonly virtual = new Robot("virtual");
  readonly real = new Robot("real");
  events = $state.raw<Heard[]>([]); // newest first
  private listening = false;

  constructor(private readonly connection: Connection) {}

  get hasReal(): boolean {
    return this.info?.has_real ?? false;
  }

  // greet asks who is there; to be called whenever the connection opens.
  async greet() {
    this.info = await this.connection.call<RobotInfo>("/robot_info");
    if (this.listening) return;
    this.listening = true;
    for (const robot of this.info.has_real ? [this.virtual, this.real] : [this.virtual]) {
      robot.listen(this.connection, this.info);
      this.connection.subscribe<EventMessage>(robot.topic("events"), "poise_msgs/msg/Event", (m) => {
        const { type, command, options } = m.command;
        const heard = { at: Date.now(), side: robot.side, motion: m.motion, type, command, options };
        this.events = [heard, ...this.events].slice(0, 50);
      });
    }
  }

  joint(name: string): JointInfo | undefined {
    return this.info?.joints.find((j) => j.name === name);
  }

  // resources lists the limbs in the robot's order, each with its joints.
  get resources(): { name: string; joints: JointInfo[] }[] {
    const info = this.info;
    if (!info) return [];
    return info.groups
      .filter((g) => g.resource)
      .map((g) => ({ name: g.name, joints: info.joints.filter((j) => j.resource === g.name) }))
      .filter((g) => g.joints.length > 0);
  }
}
