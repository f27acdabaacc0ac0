// Playing: goals sent, their progress, how they ended, and stopping them.
import { type Connection, type Goal, type GoalEnd, Refused } from "../ros/connection";
import type { Answer, Explanation, Motion, RobotStatus, TrajectoryGoal, TrajectoryResult } from "../ros/messages";
import { approachMotion } from "./approach";
import { captured, type Editor } from "./editor.svelte";
import type { Robot, Robots, Side } from "./robots.svelte";
import { plainly, type Remark, remark, silence } from "./words";

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
  end: string; // how it ended: done, refused, aborted, cancelled
  remark: Remark; // and why
}

const idle = (side: Side): Run => ({ side, what: "", going: false, time: 0, duration: 0, good: true, stopped: false, end: "", remark: silence });

const trajectory = "follow_joint_trajectory_with_actions";
const trajectoryAction = "text_msgs/action/FollowJointTrajectoryWithActions";
const textAction = "text_msgs/action/TextAction";
const succeeded = 4;
const stoppedHere = plainly("stopped; Execute, Play or moving a joint goes on"); // the page resets by itself

// Failed is a goal that did not come to its end.
class Failed extends Error {
  constructor(
    readonly how: string,
    readonly remark: Remark,
  ) {
    super(remark.text);
  }
}

export class Player {
  runs = $state<Record<Side, Run>>({ virtual: idle("virtual"), real: idle("real") });
  speed = $state(100); // percent
  reverse = $state(false);
  approach = $state(true); // move to the first pose if the robot is elsewhere
  note = $state.raw<Remark>(silence); // what the last command came to, where it is no goal
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
      this.send(side, trajectory, trajectoryAction, goal);
    } catch (e) {
      if (this.runs[side] === run) this.fail(side, e);
    }
  }

  // objections asks why a goal cannot start now, with all that is known of it.
  private async objections(robot: Robot, action: string, goal: object): Promise<Remark> {
    try {
      await this.connection.call<Answer>(robot.topic("check_goal"), { controller: action, goal_json: JSON.stringify(goal) });
      return silence;
    } catch (e) {
      return remark(e);
    }
  }

  // sound makes sure that a trajectory could be played from its start: nobody
  // should wait for a move to where it is then refused.
  private async sound(robot: Robot, goal: TrajectoryGoal) {
    const { why } = await this.objections(robot, trajectory, goal);
    const lasting = why.filter((x) => x.code !== "start_too_far" && x.joint !== "");
    if (lasting.length > 0) throw new Failed("refused", { text: lasting.map((x) => x.text).join("\n"), why: lasting });
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
    const end = await this.start(side, trajectory, trajectoryAction, goal).done;
    if (end.status !== succeeded) throw new Failed(`${word(end)} on the way to the start`, await this.why(robot, end, trajectory, goal));
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
      this.fail(side, e);
    }
  }

  // goTo moves to a named pose.
  async goTo(side: Side, name: string) {
    this.begin(side, `pose ${name}`);
    try {
      await this.ready(side);
      this.send(side, "go_to_pose", textAction, { command: { type: "pose", command: name, options: "" } });
    } catch (e) {
      this.fail(side, e);
    }
  }

  private begin(side: Side, what: string): Run {
    this.runs[side] = { ...idle(side), what, going: true };
    this.note = silence;
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
    void sent.done.then(async (end) => {
      const why = await this.why(this.robot(side), end, action, goal);
      if (this.goals[side] !== sent) return; // a newer goal took its place
      delete this.goals[side];
      this.end(side, end.status === succeeded, word(end), why);
    });
  }

  // why returns what is known of an end; of a refusal that is more than its text.
  private async why(robot: Robot, end: GoalEnd<unknown>, action: string, goal: object): Promise<Remark> {
    const more = end.accepted ? silence : await this.objections(robot, action, goal);
    return more.text === "" ? plainly(end.text) : more;
  }

  private fail(side: Side, e: unknown) {
    if (e instanceof Failed) this.end(side, false, e.how, e.remark);
    else this.end(side, false, "refused", remark(e));
  }

  private end(side: Side, good: boolean, how: string, why: Remark) {
    const run = this.runs[side];
    const byHand = run.stopped && !good;
    Object.assign(run, { going: false, good, end: byHand ? "aborted" : how, remark: byHand ? stoppedHere : why });
  }

  // edited takes back what was said against a motion that is another one now.
  edited() {
    for (const side of this.sides) {
      const { going, good, what } = this.runs[side];
      if (!going && !good && ["forward", "backward", "approach"].includes(what)) this.runs[side] = idle(side);
    }
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
      this.note = silence;
      return true;
    } catch (e) {
      this.note = remark(e);
      return false;
    }
  }

  // handle is a command by hand: it is the separate act after a stop, too.
  private async handle(side: Side, service: string, args: object): Promise<boolean> {
    try {
      await this.connection.call<Answer>(this.robot(side).topic(service), args);
    } catch (e) {
      const why: Explanation[] = e instanceof Refused ? (e.answer?.explanations ?? []) : [];
      if (why.some((x) => x.code === "stopping") && (await this.command(side, "reset", {}))) return this.command(side, service, args);
      this.note = remark(e);
      return false;
    }
    this.note = silence;
    return true;
  }

  // torque of the real robot, or of the virtual one when it is alone.
  torque(on: boolean, resources: string[]): Promise<boolean> {
    return this.handle(this.robots.hasReal ? "real" : "virtual", "set_torque", { on, resources });
  }

  // until makes those who ask for a pose wait for something that will place the robot.
  until(act: Promise<unknown>) {
    const before = this.placing;
    this.placing = Promise.allSettled([before, act]);
  }

  // place puts the virtual robot somewhere at once.
  place(names: string[], positions: number[]): Promise<boolean> {
    const placed = this.handle("virtual", "joints_virtual_set", { joints: { name: names, position: positions } });
    this.until(placed);
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

function word(end: GoalEnd<unknown>): string {
  return { 4: "done", 5: "cancelled" }[end.status] ?? (end.accepted ? "aborted" : "refused");
}
