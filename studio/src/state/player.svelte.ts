// Playing: goals sent, their progress, how they ended, and stopping them.
import { type Connection, type Goal, type GoalEnd, Refused, reason } from "../ros/connection";
import type { Answer, Motion, RobotStatus, TrajectoryGoal, TrajectoryResult } from "../ros/messages";
import { approachMotion } from "./approach";
import { captured, type Editor } from "./editor.svelte";
import type { Robot, Robots, Side } from "./robots.svelte";

interface Feedback { desired?: { time_from_start?: { sec: number; nanosec: number } }; status?: string }

// Run is a goal of ours, under way or over.
export interface Run {
  side: Side;
  what: string;
  going: boolean;
  time: number; // of the motion's own clock, s
  duration: number;
  good: boolean;
  stopped: boolean; // Stop was pressed while it was under way
  text: string; // how it ended, in the server's words
}

const idle = (side: Side): Run => ({ side, what: "", going: false, time: 0, duration: 0, good: true, stopped: false, text: "" });

const trajectoryAction = "text_msgs/action/FollowJointTrajectoryWithActions";
const textAction = "text_msgs/action/TextAction";
const succeeded = 4;
const stoppedHere = "aborted: stopped; Execute, Play or moving a joint goes on"; // the page resets by itself

export class Player {
  runs = $state<Record<Side, Run>>({ virtual: idle("virtual"), real: idle("real") });
  speed = $state(100); // percent
  reverse = $state(false);
  approach = $state(true); // move to the first pose if the robot is elsewhere
  acts = $state(0); // how often something was begun or placed: older remarks no longer hold
  note = $state(""); // what the last command came to, where it is no goal
  private goals: Partial<Record<Side, Goal<unknown>>> = {};
  private placing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly connection: Connection,
    private readonly robots: Robots,
    private readonly editor: Editor,
  ) {}

  robot(side: Side): Robot {
    return side === "real" ? this.robots.real : this.robots.virtual;
  }

  private get sides(): Side[] {
    return this.robots.hasReal ? ["virtual", "real"] : ["virtual"];
  }

  // ready undoes a stop: whoever presses Execute or Play says that it may go on. A
  // robot without power gets it back.
  private async ready(side: Side) {
    const robot = this.robot(side);
    const { state } = await this.connection.call<Answer & { state: RobotStatus }>(robot.topic("get_state"));
    if (state.stopped) await this.connection.call<Answer>(robot.topic("reset"));
    if (state.power !== "enabled") await this.connection.call<Answer>(robot.topic("set_power"), { on: true });
    if (state.wanted_rate === 0) await this.connection.call<Answer>(robot.topic("resume"), { controller: "" });
  }

  // execute plays from start mark to end mark, or the other way.
  async execute(side: Side, backward: boolean) {
    const way = backward !== this.reverse;
    const what = way ? "backward" : "forward";
    const motion = this.editor.motion;
    const run = this.begin(side, what);
    try {
      await this.ready(side);
      const goal = await this.goal(motion, { part: true, scale: 100 / this.speed, backward: way });
      if (this.approach) await this.reach(side, motion, goal, run);
      if (this.runs[side] !== run) return; // something newer was asked for
      run.what = what;
      run.time = 0;
      run.duration = length(goal);
      this.send(side, "follow_joint_trajectory_with_actions", trajectoryAction, goal);
    } catch (e) {
      if (this.runs[side] === run) this.end(side, false, reason(e));
    }
  }

  // sound asks whether a trajectory could be played from its start: nobody should
  // wait for a move to where it is then refused.
  private async sound(robot: Robot, goal: TrajectoryGoal) {
    try {
      await this.connection.call<Answer>(robot.topic("check_goal"), { controller: "follow_joint_trajectory_with_actions", goal_json: JSON.stringify(goal) });
    } catch (e) {
      const why = e instanceof Refused ? (e.answer?.explanations ?? []).filter((x) => !/start.too.far/.test(x.code) && x.joint !== "") : [];
      if (why.length > 0) throw new Error(`refused: ${why.map((x) => x.text).join("; ")}`);
    }
  }

  // reach moves to the first point of a trajectory, slowly, if the robot is not
  // there.
  private async reach(side: Side, motion: Motion, whole: TrajectoryGoal, run: Run) {
    const to = whole.trajectory;
    const target = to.points[0]?.positions ?? [];
    const robot = this.robot(side);
    const way = approachMotion(motion, this.robots, robot, await robot.now(), to.joint_names, target);
    if (!way) return;
    await this.sound(robot, whole);
    run.what = "approach";
    const goal = await this.goal(way, { part: false, scale: 1, backward: false });
    run.duration = length(goal);
    const sent = this.start(side, "follow_joint_trajectory_with_actions", trajectoryAction, goal);
    const end = await sent.done;
    if (end.status !== succeeded) throw new Error(`on the way to the start: ${outcome(end)}`);
  }

  private async goal(motion: Motion, part: { part: boolean; scale: number; backward: boolean }): Promise<TrajectoryGoal> {
    const made = await this.connection.call<Answer & { text: string }>("/motions/export", { motion, format: "goal_with_actions", ...part });
    return JSON.parse(made.text) as TrajectoryGoal;
  }

  // play plays a stored motion by its name.
  async play(side: Side, name: string, duration: number, loop: boolean) {
    const run = this.begin(side, name);
    run.duration = loop ? 0 : duration;
    const options = loop ? "loop approach" : "approach";
    try {
      await this.ready(side);
      this.send(side, "play_motion", textAction, { command: { type: "motion", command: name, options } });
    } catch (e) {
      this.end(side, false, reason(e));
    }
  }

  private begin(side: Side, what: string): Run {
    this.runs[side] = { ...idle(side), what, going: true };
    this.acts++;
    this.note = "";
    return this.runs[side];
  }

  private start(side: Side, action: string, type: string, goal: object): Goal<TrajectoryResult> {
    const sent = this.connection.send<TrajectoryResult, Feedback>(this.robot(side).topic(action), type, goal, (f) => {
      if (this.goals[side] !== sent) return;
      const t = f.desired?.time_from_start;
      const told = f.status?.match(/(-?[0-9.]+)(?:\/[0-9.]+)? s/);
      if (t) this.runs[side].time = t.sec + t.nanosec / 1e9;
      else if (told) this.runs[side].time = Number(told[1]);
    });
    this.goals[side] = sent;
    return sent;
  }

  private send(side: Side, action: string, type: string, goal: object) {
    const sent = this.start(side, action, type, goal);
    void sent.done.then((end) => {
      if (this.goals[side] !== sent) return; // a newer goal took its place
      delete this.goals[side];
      this.end(side, end.status === succeeded, outcome(end));
    });
  }

  private end(side: Side, good: boolean, text: string) {
    const run = this.runs[side];
    run.going = false;
    run.good = good;
    run.text = run.stopped && !good ? stoppedHere : text;
  }

  // stop ramps everything down and holds: category 2.
  stop() {
    for (const side of this.sides) {
      this.runs[side].stopped = this.runs[side].going;
      void this.command(side, "stop", { category: 2 });
    }
  }

  get paused(): boolean {
    return this.sides.some((side) => this.robot(side).paused);
  }

  pause() {
    const order = this.paused ? "resume" : "pause";
    for (const side of this.sides) void this.command(side, order, { controller: "" });
  }

  async command(side: Side, service: string, args: object): Promise<boolean> {
    try {
      await this.connection.call<Answer>(this.robot(side).topic(service), args);
      this.note = "";
      return true;
    } catch (e) {
      this.note = reason(e);
      return false;
    }
  }

  // handle is a command by hand: it is the separate act after a stop, too.
  private async handle(side: Side, service: string, args: object): Promise<boolean> {
    try {
      await this.connection.call<Answer>(this.robot(side).topic(service), args);
    } catch (e) {
      const stopped = e instanceof Refused && e.answer?.explanations.some((x) => x.code === "stopping");
      if (stopped && (await this.command(side, "reset", {}))) return this.command(side, service, args);
      this.note = reason(e);
      return false;
    }
    this.note = "";
    return true;
  }

  // torque of the real robot, or of the virtual one when it is alone.
  torque(on: boolean, resources: string[]): Promise<boolean> {
    return this.handle(this.robots.hasReal ? "real" : "virtual", "set_torque", { on, resources });
  }

  // place puts the virtual robot somewhere at once.
  place(names: string[], positions: number[]): Promise<boolean> {
    const placed = this.handle("virtual", "joints_virtual_set", { joints: { name: names, position: positions } });
    this.placing = placed;
    this.acts++;
    return placed;
  }

  placeRow(row: number | undefined) {
    const pose = captured(this.editor.motion, row);
    return pose && this.place(Object.keys(pose), Object.values(pose));
  }

  // pose returns where a robot is, after all that was told to it.
  async pose(robot: Robot): Promise<Record<string, number>> {
    await this.placing;
    return robot.now();
  }
}

function length(goal: TrajectoryGoal): number {
  const end = goal.trajectory.points.at(-1)?.time_from_start;
  return end ? end.sec + end.nanosec / 1e9 : 0;
}

function outcome(end: GoalEnd<unknown>): string {
  const words = { 4: "done", 5: "cancelled" }[end.status] ?? (end.accepted ? "aborted" : "refused");
  return end.text ? `${words}: ${end.text.replaceAll("\n", "; ")}` : words;
}
