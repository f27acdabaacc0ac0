// What the page knows of the robots: what they are, where they are, what they do.
import { MediaQuery } from "svelte/reactivity";
import type { Connection } from "../ros/connection";
import type {
  BalanceState,
  ControllerInfo,
  DrivenRobot,
  ContactEvent,
  EventMessage,
  JointInfo,
  JointState,
  ResourceState,
  PhysicsState,
  PhysicsWorld,
  RobotInfo,
  RobotStatus,
  PoseStamped,
  Transform,
} from "../ros/messages";

import { between, transform } from "./frames";
import { complete } from "./limbs";
import { Resources } from "./resources.svelte";
import { Physics } from "./physics.svelte";
import { Dynamics } from "./dynamics.svelte";
import { Walking } from "./walking.svelte";
import { Levels } from "./levels.svelte";

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
  const moved = Math.max(Math.hypot(p.x - q.x, p.y - q.y, p.z - q.z), Math.hypot(a.zmp.x - b.zmp.x, a.zmp.y - b.zmp.y));
  return moved < most / 2 && a.carried === b.carried && a.supports.join() === b.supports.join() && a.stable === b.stable;
}

// Robot is one robot of the server.
export class Robot {
  position = $state.raw<Record<string, number>>({});
  base = $state.raw<Transform | undefined>(); // where it is drawn
  frame = $state.raw<Transform | undefined>(); // where the frame of its odometry is drawn, if not at the origin
  status = $state.raw<RobotStatus | undefined>();
  balance = $state.raw<BalanceState | undefined>();
  heard = $state(false); // a pose
  readonly resources = new Resources();
  readonly dynamics = new Dynamics();
  readonly walking = new Walking(this);
  readonly levels = new Levels();
  readonly physics: Physics | undefined; // of one with mass
  private latest: Record<string, number> = {}; // without the noise left out
  private placed: Record<string, number> = {}; // by hand, and when
  private putAt = -Infinity;
  private waiting: (() => void)[] = [];
  private subscriptions: (() => void)[] = [];

  // prefix comes before its names on the graph: none for the first robot; only unknown is
  // without can.
  constructor(readonly name: string, private readonly prefix = "", readonly can?: DrivenRobot) {
    if (can?.has_mass) this.physics = new Physics();
  }

  // title is the name as the first word of a label.
  get title(): string {
    return this.name.charAt(0).toUpperCase() + this.name.slice(1);
  }

  // canBePlaced: its joints can be put somewhere at once
  get canBePlaced(): boolean {
    return this.can?.placed_at_once ?? false;
  }

  // topic returns the name under which this robot has something.
  topic(name: string): string {
    return `/${this.prefix}${name}`;
  }

  // paused: all motions stand still on their paths
  get paused(): boolean {
    return this.status?.paused ?? false;
  }

  // unpowered: no servo has torque
  get unpowered(): boolean {
    return this.status !== undefined && this.status.power !== "enabled";
  }

  // players are the controllers that play trajectories.
  get players(): ControllerInfo[] {
    return (this.status?.controllers ?? []).filter((c) => c.kind === "follow");
  }

  // playersOff: no trajectory can be played
  get playersOff(): boolean {
    return this.players.length > 0 && this.players.every((c) => !c.running);
  }

  limp(limb: { name: string; joints: readonly JointInfo[] }): boolean {
    const limp = this.status?.limp ?? [];
    return this.unpowered || limp.includes(limb.name) || limb.joints.some((j) => limp.includes(j.name));
  }

  // at returns where some joints are: where they were put a moment ago, else as heard.
  at(names: readonly string[]): Record<string, number> {
    const fresh = performance.now() - this.putAt < patience / 2;
    const from = fresh ? { ...this.latest, ...this.placed } : this.latest;
    return Object.fromEntries(names.filter((n) => from[n] !== undefined).map((n) => [n, from[n]!]));
  }

  // put notes where joints were put at once: they are heard there later.
  put(pose: Record<string, number>) {
    const fresh = performance.now() - this.putAt < patience / 2;
    this.placed = fresh ? { ...this.placed, ...pose } : pose;
    this.putAt = performance.now();
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

  contacts = $state.raw<(ContactEvent & { number: number })[]>([]); // felt, oldest first
  private contactCount = 0;

  listen(connection: Connection, info: RobotInfo, event: (m: EventMessage) => void) {
    const exact = this.can?.exact ?? false; // it is where it is told to be
    // a change of a pose too small to be seen, such as the noise of readings, in rad or m:
    // showing it would only cost pictures
    const unseen = exact ? 0.001 : 0.006;
    const hear = <T>(topic: string, type: string, f: (m: T) => void, throttle?: number) =>
      this.subscriptions.push(connection.subscribe<T>(this.topic(topic), type, f, throttle));
    hear<JointState>(exact ? "joint_states" : "joint_states_real", "sensor_msgs/msg/JointState", (m) => {
      const now: Record<string, number> = {};
      m.name.forEach((name, i) => (now[name] = m.position[i] ?? 0));
      this.latest = now;
      this.heard = true;
      for (const heard of this.waiting.splice(0)) heard();
      const still = m.name.every((name) => Math.abs((this.position[name] ?? Infinity) - now[name]!) < unseen);
      if (!still) this.position = now;
    }, 50);
    if (info.base === "floating" && !this.physics) {
      hear<PoseStamped>("base_pose", "geometry_msgs/msg/PoseStamped", (m) => {
        const base = transform(m.pose);
        if (!(this.base && near(this.base, base, unseen))) this.base = base;
      }, 50);
    }
    hear<RobotStatus>("robot_status", "poise_msgs/msg/RobotStatus", (m) => (this.status = m), 150);
    hear<BalanceState>("balance_state", "poise_msgs/msg/BalanceState", (m) => {
      if (!this.balance || !alike(this.balance, m, unseen)) this.balance = m;
    }, 100);
    hear<ResourceState>("resource_state", "poise_msgs/msg/ResourceState", (m) => this.resources.take(m));
    hear<EventMessage>("events", "poise_msgs/msg/Event", event);
    if (this.can?.feels) hear<ContactEvent>("contact_events", "poise_msgs/msg/ContactEvent", (m) => (this.contacts = [...this.contacts, { ...m, number: ++this.contactCount }].slice(-50)));
    const { physics } = this;
    if (!physics) return;
    hear<PhysicsState>("physics/state", "poise_msgs/msg/PhysicsState", (m) => {
      physics.state = m;
      if (info.base !== "floating") return;
      const base = transform(m.base);
      if (!(this.base && near(this.base, base, unseen))) this.base = base;
      const frame = between(transform(m.odometry), base);
      if (!(this.frame && near(this.frame, frame, 0.002))) this.frame = frame;
    }, 50);
    hear<PhysicsWorld>("physics/world", "poise_msgs/msg/PhysicsWorld", (m) => (physics.world = m));
  }

  close() {
    for (const end of this.subscriptions.splice(0)) end();
  }
}

export interface Heard { number: number; robot: Robot; motion: string; type: string; command: string; options: string }

const dark = new MediaQuery("prefers-color-scheme: dark");

// unknown is posed until the server has told its robots, so that the page can be drawn before.
const unknown = new Robot("");

export class Robots {
  info = $state.raw<RobotInfo | undefined>();
  all = $state.raw<Robot[]>([]); // those of the server, in its order
  events = $state.raw<Heard[]>([]); // newest first
  axes = $state.raw<Record<string, string>>({}); // about what joints turn, in words
  limb = $state(""); // the limb that is being posed: it has rings
  pointed = $state(""); // the joint that is pointed at
  private count = 0;

  constructor(private readonly connection: Connection) {}

  // posed is the robot that sliders and handles pose: the first that can be placed at
  // once, else the first.
  get posed(): Robot {
    return this.all.find((r) => r.canBePlaced) ?? this.all[0] ?? unknown;
  }

  // withMass is the first robot that has mass, if one has: it can be pushed, and may fall.
  get withMass(): Robot | undefined {
    return this.all.find((r) => r.physics !== undefined);
  }

  get others(): Robot[] {
    return this.all.filter((r) => r !== this.posed);
  }

  // switched lists the robots whose torque is switched: those that a hand or their weight
  // can move, else all that have torque.
  get switched(): Robot[] {
    const torque = this.all.filter((r) => r.can?.torque);
    const moved = torque.filter((r) => !r.canBePlaced);
    return moved.length > 0 ? moved : torque;
  }

  // real tells what wears the real robot's colour: all but the robot that is posed, and
  // that one too if it cannot be placed at once, as hardware cannot.
  real(robot: Robot): boolean {
    return robot !== this.posed || robot.can?.placed_at_once === false;
  }

  // greet asks who is there; to be called whenever the connection opens.
  async greet() {
    const info = await this.connection.call<RobotInfo>("/robot_info");
    if (JSON.stringify(this.all.map((r) => r.can)) !== JSON.stringify(info.robots)) {
      for (const robot of this.all) robot.close();
      this.all = info.robots.map((can, i) => new Robot(can.name, i === 0 ? "" : `${can.name}/`, can));
      for (const robot of this.all) robot.listen(this.connection, info, (m) => this.note(robot, m));
    }
    this.info = complete(info);
  }

  private note(robot: Robot, m: EventMessage) {
    const { type, command, options } = m.command;
    this.events = [{ number: ++this.count, robot, motion: m.motion, type, command, options }, ...this.events].slice(0, 50);
  }

  joint(name: string): JointInfo | undefined {
    return this.info?.joints.find((j) => j.name === name);
  }

  // own lists the joints that can be set, in the robot's order.
  get own(): string[] {
    return (this.info?.joints ?? []).filter((j) => !j.mimic).map((j) => j.name);
  }

  // hue is the colour of a limb, in degrees; its joints share it.
  hue(limb: string): number {
    return (this.resources.findIndex((r) => r.name === limb) * 137.5 + 265) % 360;
  }

  // colour tells the joints of a limb apart by lightness.
  colour(joint: string): string {
    const limb = this.joint(joint)?.resource ?? "";
    const of = this.resources.find((r) => r.name === limb)?.joints ?? [];
    const at = Math.max(0, of.findIndex((j) => j.name === joint));
    const part = at / Math.max(1, of.length - 1);
    return `hsl(${this.hue(limb)} 62% ${dark.current ? 58 + 24 * part : 24 + 16 * part}%)`; // three times as bright or dark as the sheet
  }

  // meant are the joints by what they do, such as "head yaw", where their own names say
  // only a number; several of one kind are counted.
  readonly meant = $derived.by((): Record<string, string> => {
    const words: Record<string, string> = {};
    const count: Record<string, number> = {};
    for (const j of this.info?.joints ?? []) {
      const numbered = /joint_?[a-z]?\d+$/i.test(j.name);
      const axis = this.axes[j.name];
      const word = numbered && axis && j.resource ? `${j.resource} ${axis}` : numbered ? j.name : j.name.replace(/_?joint_?/i, " ").replaceAll("_", " ").trim() || j.name;
      count[word] = (count[word] ?? 0) + 1;
      words[j.name] = count[word]! > 1 ? `${word} ${count[word]}` : word;
    }
    return words;
  });

  // mirrored: the description says what is left and what is right
  get mirrored(): boolean {
    return (this.info?.mirror.length ?? 0) > 0;
  }

  // feet lists the chains that can carry.
  get feet(): string[] {
    return (this.info?.chains ?? []).filter((c) => c.support !== "").map((c) => c.name).sort();
  }

  // driven lists the limbs that have servos.
  get driven(): string[] {
    return this.resources.filter((r) => r.joints.some((j) => j.has_servo)).map((r) => r.name);
  }

  // limp lists the limbs of a robot that have no torque, or not all of it.
  limp(robot: Robot): string[] {
    return this.resources.filter((r) => r.joints.some((j) => j.has_servo) && robot.limp(r)).map((r) => r.name);
  }

  // owned returns what the server calls some limbs: joints, where the page made a limb of
  // a branch.
  owned(limbs: readonly string[]): string[] {
    return limbs.flatMap((l) => this.info?.groups.find((g) => g.name === l && g.branch)?.joints ?? [l]);
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
