// What the page knows of a robot's torques and forces, while its view is open.
import type { Connection } from "../ros/connection";
import type { ContactStates, DynamicsState, ExternalForces, JointInfo, JointState, ServoModel, ServoModels } from "../ros/messages";
import type { Robot } from "./robots.svelte";

export const kept = 100; // states of the past, ten a second
const every = 100; // ms

export interface Moment { time: number; efforts: Record<string, number> }
export interface Felt { time: number; joints: Record<string, { value: number; band: number }> }

export class Dynamics {
  state = $state.raw<DynamicsState | undefined>();
  private cycles: Record<string, number> = {}; // of joints, as the state has them
  models = $state.raw<Record<string, ServoModel>>({}); // in force, by joint
  efforts = $state.raw<Record<string, number>>({}); // of joints, N·m or N
  measured = $state(false); // they are felt, not computed
  past = $state.raw<Moment[]>([]); // oldest first
  shown = $state(false); // its view is open
  torques = $state(true); // colour the joints
  forces = $state(true); // are arrows
  private felt: Record<string, number> | undefined;
  outside = $state.raw<ExternalForces | undefined>(); // what touches the robot, if it feels it
  feet = $state.raw<ContactStates | undefined>();
  touched = $state.raw<Felt[]>([]); // torques from outside in the past, oldest first
  measuredForces = $state(true); // are arrows, too

  // listen hears what the view shows, until it is closed.
  listen(connection: Connection, robot: Robot): () => void {
    const hear = <T>(topic: string, type: string, f: (m: T) => void, throttle?: number) => connection.subscribe<T>(robot.topic(topic), type, f, throttle);
    const ends = [hear<DynamicsState>("dynamics_state", "poise_msgs/msg/DynamicsState", (m) => this.take(m), every)];
    if (!robot.can?.exact) ends.push(hear<JointState>("joint_states_real", "sensor_msgs/msg/JointState", (m) => this.feel(m), every));
    if (robot.can?.stiffness) {
      ends.push(hear<ServoModels>("servo_models_state", "poise_msgs/msg/ServoModels", (m) => (this.models = Object.fromEntries(m.models.map((x) => [x.name, x])))));
    }
    if (robot.can?.feels) {
      ends.push(hear<ExternalForces>("external_forces", "poise_msgs/msg/ExternalForces", (m) => this.touch(m), every));
      ends.push(hear<ContactStates>("contacts_real", "poise_msgs/msg/ContactStates", (m) => (this.feet = m), every));
    }
    this.shown = true;
    return () => {
      for (const end of ends) end();
      this.shown = false;
      this.past = [];
      this.felt = undefined;
      this.outside = this.feet = undefined;
      this.touched = [];
    };
  }

  // feel takes measured efforts; servos that feel none say zero.
  private feel(m: JointState) {
    if (m.effort.some((x) => x !== 0)) this.felt = Object.fromEntries(m.name.map((name, i) => [name, m.effort[i] ?? 0]));
  }

  private take(m: DynamicsState) {
    const cycles = typeof m.cycle === "string" ? [...atob(m.cycle)].map((c) => c.charCodeAt(0)) : m.cycle;
    this.cycles = Object.fromEntries(m.name.map((name, i) => [name, cycles[i] ?? 0]));
    this.state = m;
    this.measured = this.felt !== undefined;
    this.efforts = this.felt ?? (cycles.includes(1) ? Object.fromEntries(m.name.map((name, i) => [name, m.needed[i] ?? 0])) : {});
    const time = m.header.stamp.sec + m.header.stamp.nanosec * 1e-9;
    this.past = [...this.past, { time, efforts: this.efforts }].slice(-kept);
  }

  private touch(m: ExternalForces) {
    this.outside = m;
    const time = m.header.stamp.sec + m.header.stamp.nanosec * 1e-9;
    const joints = Object.fromEntries(m.name.flatMap((name, i) => (m.valid[i] ? [[name, { value: m.external[i] ?? 0, band: m.band[i] ?? 0 }]] : [])));
    this.touched = [...this.touched, { time, joints }].slice(-kept);
  }

  // cycle is that of some joints, undefined where they differ.
  cycle(joints: readonly JointInfo[]): number | undefined {
    if (!this.state) return undefined;
    const all = joints.map((j) => this.cycles[j.name]).filter((c) => c !== undefined);
    return all.length > 0 && all.every((c) => c === all[0]) ? all[0] : undefined;
  }

  // load is the part of its limit that a joint gives, undefined without a limit.
  load(j: JointInfo): number | undefined {
    const effort = this.efforts[j.name];
    return effort === undefined || !(j.max_effort > 0) ? undefined : Math.abs(effort) / j.max_effort;
  }

  // share is the part of their full stiffness that servos have, undefined without models.
  share(joints: readonly JointInfo[]): number | undefined {
    const all = joints.flatMap((j) => this.models[j.name] ?? []);
    if (all.length === 0) return undefined;
    return all.reduce((sum, m) => sum + (m.stiffness > 0 ? Math.min(1, m.stiffness / full(m)) : 1), 0) / all.length;
  }

  // softened returns models of which the servos have a part of their full stiffness.
  softened(joints: readonly JointInfo[], share: number): ServoModel[] {
    return joints.flatMap((j) => this.models[j.name] ?? []).map((m) => ({ ...m, stiffness: share * full(m) }));
  }
}

// full is the stiffness of a servo at its whole gain, seen behind its gear k, N·m/rad: kp·U·k²/a3.
export const full = (m: ServoModel) => (m.kp * m.voltage * (m.kgear || 1) ** 2) / m.alpha[3]!;

// heat is the colour of a load: pale at rest, then green, amber at six tenths, red at the limit.
export function heat(load: number): string {
  const stops: [number, [number, number, number]][] = [[0, [214, 224, 218]], [0.25, [24, 169, 87]], [0.6, [240, 168, 60]], [1, [211, 47, 69]]];
  const at = Math.min(Math.max(load, 0), 1);
  const next = stops.findIndex(([x]) => x >= at);
  const [x1, to] = stops[Math.max(next, 1)]!;
  const [x0, from] = stops[Math.max(next, 1) - 1]!;
  const part = (at - x0) / (x1 - x0);
  return `#${from.map((c, i) => Math.round(c + part * (to[i]! - c)).toString(16).padStart(2, "0")).join("")}`;
}
