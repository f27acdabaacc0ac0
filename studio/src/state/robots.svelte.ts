// What the page knows of the robots: what they are, where they are, what they do.
import type { Connection } from "../ros/connection";
import type {
  BalanceState,
  DrivenRobot,
  EventMessage,
  JointInfo,
  JointState,
  RobotInfo,
  RobotStatus,
  Transform,
  TransformStamped,
} from "../ros/messages";

export type Side = "virtual" | "real";

// unseen is a change of a pose too small to be seen, such as the noise of readings:
// showing it would only cost pictures. In rad or m.
const unseen: Record<Side, number> = { virtual: 0.001, real: 0.006 };
const patience = 1000; // ms that a pose is waited for

function near(a: Transform, b: Transform, most: number): boolean {
  const { translation: p, rotation: r } = a;
  const { translation: q, rotation: s } = b;
  const moved = Math.hypot(p.x - q.x, p.y - q.y, p.z - q.z);
  const turned = Math.hypot(r.x - s.x, r.y - s.y, r.z - s.z, r.w - s.w);
  return moved < most / 2 && turned < most;
}

function alike(a: BalanceState, b: BalanceState, most: number): boolean {
  const { com: p } = a;
  const { com: q } = b;
  return Math.hypot(p.x - q.x, p.y - q.y, p.z - q.z) < most / 2 && a.supports.join() === b.supports.join() && a.stable === b.stable;
}

// Robot is one robot of the server: the first, which the page poses and plays on, or the
// second, which takes the part of the real one.
export class Robot {
  position = $state.raw<Record<string, number>>({});
  base = $state.raw<Transform | undefined>();
  status = $state.raw<RobotStatus | undefined>();
  balance = $state.raw<BalanceState | undefined>();
  heard = $state(false); // a pose
  private latest: Record<string, number> = {}; // without the noise left out
  private waiting: (() => void)[] = [];

  private prefix: string; // before its names: none for the first robot
  private exact: boolean; // it is where it is told to be

  constructor(readonly side: Side) {
    this.prefix = side === "real" ? "real/" : "";
    this.exact = side === "virtual";
  }

  // be takes the name and the ways of a robot of the server.
  be(robot: DrivenRobot) {
    if (this.side === "real") this.prefix = `${robot.name}/`;
    this.exact = robot.exact;
  }

  // topic returns the name under which this robot has something.
  topic(name: string): string {
    return `/${this.prefix}${name}`;
  }

  // paused: all motions stand still on their paths
  get paused(): boolean {
    return this.status?.wanted_rate === 0;
  }

  // unpowered: no servo has torque
  get unpowered(): boolean {
    return this.status !== undefined && this.status.power !== "enabled";
  }

  limp(resource: string): boolean {
    return this.unpowered || (this.status?.limp.includes(resource) ?? false);
  }

  // now returns where the robot is, not older than this call: one message may be
  // under way, the next was made later.
  async now(): Promise<Record<string, number>> {
    for (let i = 0; i < 2; i++) {
      await new Promise<void>((heard) => {
        this.waiting.push(heard);
        setTimeout(heard, patience);
      });
    }
    return this.latest;
  }

  // carries tells which of some chains carry now, as rows of a motion have it.
  carries(chains: readonly string[]): number[] {
    return chains.map((c) => (this.balance?.supports.includes(c) ? 1 : 0));
  }

  listen(connection: Connection, info: RobotInfo) {
    const poses = this.exact ? "joint_states" : "joint_states_real";
    connection.subscribe<JointState>(this.topic(poses), "sensor_msgs/msg/JointState", (m) => {
      const now: Record<string, number> = {};
      m.name.forEach((name, i) => (now[name] = m.position[i] ?? 0));
      this.latest = now;
      this.heard = true;
      for (const heard of this.waiting.splice(0)) heard();
      const still = m.name.every((name) => Math.abs((this.position[name] ?? Infinity) - now[name]!) < unseen[this.side]);
      if (!still) this.position = now;
    }, 50);
    connection.subscribe<{ transforms: TransformStamped[] }>(this.topic("tf"), "tf2_msgs/msg/TFMessage", (m) => {
      const root = m.transforms.find((t) => t.child_frame_id === this.prefix + info.root);
      if (root && !(this.base && near(this.base, root.transform, unseen[this.side]))) this.base = root.transform;
    }, 50);
    connection.subscribe<RobotStatus>(this.topic("robot_status"), "poise_msgs/msg/RobotStatus", (m) => (this.status = m), 150);
    connection.subscribe<BalanceState>(this.topic("balance_state"), "poise_msgs/msg/BalanceState", (m) => {
      if (!this.balance || !alike(this.balance, m, unseen[this.side])) this.balance = m;
    }, 100);
  }
}

export interface Heard { number: number; side: Side; motion: string; type: string; command: string; options: string }

export class Robots {
  info = $state.raw<RobotInfo | undefined>();
  readonly virtual = new Robot("virtual");
  readonly real = new Robot("real");
  events = $state.raw<Heard[]>([]); // newest first
  axes = $state.raw<Record<string, string>>({}); // about what joints turn, in words
  limb = $state(""); // the limb that is being posed: it has rings
  pointed = $state(""); // the joint that is pointed at
  private listening = false;
  private count = 0;

  constructor(private readonly connection: Connection) {}

  get hasReal(): boolean {
    return this.info?.has_real ?? false;
  }

  // greet asks who is there; to be called whenever the connection opens.
  async greet() {
    this.info = await this.connection.call<RobotInfo>("/robot_info");
    if (this.listening) return;
    this.listening = true;
    for (const [i, robot] of [this.virtual, this.real].entries()) {
      const driven = this.info.robots[i];
      if (driven) robot.be(driven);
    }
    for (const robot of this.info.has_real ? [this.virtual, this.real] : [this.virtual]) {
      robot.listen(this.connection, this.info);
      this.connection.subscribe<EventMessage>(robot.topic("events"), "poise_msgs/msg/Event", (m) => {
        const { type, command, options } = m.command;
        const heard = { number: ++this.count, side: robot.side, motion: m.motion, type, command, options };
        this.events = [heard, ...this.events].slice(0, 50);
      });
    }
  }

  joint(name: string): JointInfo | undefined {
    return this.info?.joints.find((j) => j.name === name);
  }

  // own lists the joints that can be set, in the robot's order.
  get own(): string[] {
    return (this.info?.joints ?? []).filter((j) => !j.mimic).map((j) => j.name);
  }

  // feet lists the chains that can carry.
  get feet(): string[] {
    return (this.info?.chains ?? []).filter((c) => c.support !== "").map((c) => c.name).sort();
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
