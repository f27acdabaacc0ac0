// Playing: goals sent, their progress, how they ended, and stopping them. What is
// played, from where and how fast, the server makes of the motion; the page only says
// which, and shows what it is told.
import { SvelteMap } from "svelte/reactivity";
import { type Connection, type Goal, type GoalEnd, Refused } from "../ros/connection";
import type { Answer, Explanation, GoalInfo, MotionFeedback, MotionGoal, MotionResult, RobotStatus, TextFeedback, TextResult } from "../ros/messages";
import { captured, type Editor, type Pose } from "./editor.svelte";
import { type People, stopped } from "./people.svelte";
import type { Robot, Robots } from "./robots.svelte";
import { plainly, type Remark, remark, silence } from "./words";

// Run is a goal of ours, under way or over. Times are those of the motion's table.
export interface Run {
  robot: Robot;
  what: string;
  edited: boolean; // it is the motion in the editor
  going: boolean;
  state: string; // approaching, moving, settling
  time?: number;
  until?: number; // where it ends
  progress?: number; // 0 … 1
  good: boolean;
  stopped: boolean; // Stop was pressed while it was under way
  end: string; // how it ended: done, refused, aborted, cancelled
  remark: Remark; // and why
}

// Question is asked before somebody else's motion is taken over.
export interface Question { text: string; go: () => void }

const idle = (robot: Robot): Run => ({ robot, what: "", edited: false, going: false, state: "", good: true, stopped: false, end: "", remark: silence });

const motionAction = "poise_msgs/action/ExecuteMotion";
const textAction = "text_msgs/action/TextAction";
const succeeded = 4;
const stoppedHere = plainly("stopped; Execute, Play or moving a joint goes on"); // those goals resume

export class Player {
  private runs = new SvelteMap<Robot, Run>();
  speed = $state(100); // percent
  reverse = $state(false);
  approach = $state(true); // move to the first pose if the robot is elsewhere
  note = $state.raw<Remark>(silence); // what the last command came to, where it is no goal
  asking = $state.raw<Question | undefined>();
  private goals = new Map<Robot, Goal<unknown>>();
  private placing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly connection: Connection,
    private readonly robots: Robots,
    private readonly editor: Editor,
    private readonly people: People,
  ) {
    editor.place = (pose) => this.put(pose);
  }

  // run returns the last goal of ours for a robot.
  run(robot: Robot): Run {
    return this.runs.get(robot) ?? idle(robot);
  }

  private change(robot: Robot, what: Partial<Run>) {
    this.runs.set(robot, { ...this.run(robot), ...what });
  }

  // execute plays the motion in the editor from start mark to end mark, or the other way.
  execute(robot: Robot, backward: boolean) {
    const reversed = backward !== this.reverse;
    const goal: MotionGoal = { name: "", motion: this.editor.motion, part: true, backward: reversed, speed: this.speed / 100, loop: false, approach: this.approach, resume: true };
    const joints = this.editor.motion.joints.filter((j) => j.enabled).map((j) => j.name);
    this.unlessTaken(robot, joints, `plays ${this.editor.motion.name || "a new motion"}`, () => {
      this.begin(robot, reversed ? "backward" : "forward", true);
      this.sendMotion(robot, goal);
    });
  }

  // play plays a stored motion by its name.
  play(robot: Robot, name: string, loop: boolean, joints: readonly string[]) {
    this.unlessTaken(robot, joints, `plays ${name}`, () => {
      this.begin(robot, name, false);
      this.sendMotion(robot, { name, part: false, backward: false, speed: 1, loop, approach: true, resume: true });
    });
  }

  // goTo moves to a named pose.
  goTo(robot: Robot, name: string) {
    const joints = this.robots.info?.poses.find((p) => p.name === name)?.joints ?? [];
    this.unlessTaken(robot, joints, `goes to ${name}`, () => {
      this.begin(robot, `pose ${name}`, false);
      const goal = { command: { type: "pose", command: name, options: "resume" } };
      this.send<TextResult, TextFeedback>(robot, "go_to_pose", textAction, goal, () => {});
    });
  }

  // unlessTaken begins a motion, after a question if that takes one of somebody else's
  // away. In company the server is asked how things stand: what was heard last may be old.
  private unlessTaken(robot: Robot, joints: readonly string[], what: string, act: () => void) {
    const go = () => {
      this.people.did(`${what} on the ${robot.name} robot`);
      act();
    };
    const decide = (status: RobotStatus | undefined) => {
      const taken = this.inTheWay(status, joints);
      if (taken.length === 0) return go();
      this.asking = { text: `${taken.map((g) => this.doing(g)).join("; ")} on the ${robot.name} robot. Take over? That motion ends.`, go };
    };
    if (this.people.others.size === 0) return decide(robot.status);
    this.connection
      .call<Answer & { state: RobotStatus }>(robot.topic("get_state"), {}, 2)
      .then(({ state }) => decide(state))
      .catch(() => decide(robot.status));
  }

  // inTheWay lists others' goals that hold some of these joints.
  private inTheWay(status: RobotStatus | undefined, joints: readonly string[]): GoalInfo[] {
    const own = new Set(joints.flatMap((j) => [j, this.robots.joint(j)?.resource ?? ""]));
    return (status?.goals ?? []).filter((g) => {
      if (g.client === this.people.me) return false;
      const held = status?.controllers.find((c) => c.name === g.controller)?.resources ?? [];
      return held.length === 0 || joints.length === 0 || held.some((r) => own.has(r));
    });
  }

  // doing says whose a goal is, and what it does.
  doing(goal: GoalInfo): string {
    const last = this.people.lastActionOf(goal.client).replace(/ on the .* robot$/, "");
    const time = goal.time < 0 ? ", on the way to its beginning" : goal.duration > 0 ? `, ${goal.time.toFixed(1)} of ${goal.duration.toFixed(1)} s` : "";
    return `${this.people.called(goal.client)} ${/^(plays|goes to)/.test(last) ? last : `moves it (${goal.action})`}${time}`;
  }

  private sendMotion(robot: Robot, goal: MotionGoal) {
    const heard = ({ state, time, end, progress }: MotionFeedback) =>
      this.change(robot, goal.loop ? { state, time } : { state, time, until: end, progress });
    this.send<MotionResult, MotionFeedback>(robot, "execute_motion", motionAction, goal, heard);
  }

  private begin(robot: Robot, what: string, edited: boolean) {
    this.runs.set(robot, { ...idle(robot), what, edited, going: true });
    this.note = silence;
  }

  // send starts a goal; what comes of it is told until a newer one takes its place.
  private send<Result, Feedback>(robot: Robot, action: string, type: string, goal: object, heard: (f: Feedback) => void) {
    const sent = this.connection.send<Result, Feedback>(robot.topic(action), type, goal, (f) => {
      if (this.goals.get(robot) === sent) heard(f);
    });
    this.goals.set(robot, sent);
    void sent.done.then((end) => {
      if (this.goals.get(robot) !== sent) return;
      this.goals.delete(robot);
      this.end(robot, end.status === succeeded, word(end), { text: end.text, explanations: end.explanations });
    });
  }

  private end(robot: Robot, good: boolean, how: string, said: Remark) {
    const byHand = this.run(robot).stopped && !good;
    this.change(robot, { going: false, good, end: byHand ? "aborted" : how, remark: byHand ? stoppedHere : said });
  }

  // edited takes back what was said against a motion that is another one now.
  edited() {
    for (const [robot, { going, good, edited }] of this.runs) {
      if (!going && !good && edited) this.runs.delete(robot);
    }
  }

  // stop ramps everything down and holds: category 2. It asks over HTTP, which works also
  // when the connection is lost or the server takes no more clients.
  stop() {
    for (const robot of this.robots.all) this.change(robot, { stopped: this.run(robot).going });
    this.people.did(stopped);
    fetch("/stop", { method: "POST" })
      .then((answer) => {
        if (!answer.ok) throw new Error(answer.statusText);
        this.note = silence;
      })
      .catch(() => {
        for (const robot of this.robots.all) void this.command(robot, "stop", { category: 2 });
      });
  }

  // release undoes a stop; nothing moves by that.
  release() {
    for (const robot of this.robots.all) if (robot.status?.stopped) void this.command(robot, "reset", {});
  }

  get paused(): boolean {
    return this.robots.all.some((robot) => robot.paused);
  }

  pause() {
    const order = this.paused ? "resume" : "pause";
    this.people.did(order === "pause" ? "paused the motions" : "let the motions go on");
    for (const robot of this.robots.all) void this.command(robot, order, { controller: "" });
  }

  async command(robot: Robot, service: string, args: object): Promise<boolean> {
    try {
      await this.connection.call<Answer>(robot.topic(service), args);
      this.note = silence;
      return true;
    } catch (e) {
      this.note = remark(e);
      return false;
    }
  }

  // handle is a command by hand: it is the separate act after a stop, too.
  private async handle(robot: Robot, service: string, args: object): Promise<boolean> {
    try {
      await this.connection.call<Answer>(robot.topic(service), args);
    } catch (e) {
      const explanations: Explanation[] = e instanceof Refused ? (e.answer?.explanations ?? []) : [];
      if (explanations.some((one) => one.code === "stopping") && (await this.command(robot, "reset", {}))) return this.command(robot, service, args);
      this.note = remark(e);
      return false;
    }
    this.note = silence;
    return true;
  }

  torque(robot: Robot, on: boolean, resources: string[]): Promise<boolean> {
    this.people.did(`${on ? "gave" : "took"} the torque of ${resources.join(", ") || "all limbs"} of the ${robot.name} robot`);
    return this.handle(robot, "set_torque", { on, resources: this.robots.owned(resources) });
  }

  // energise gives what a goal was refused for its torque; the refusal is then over.
  async energise(robot: Robot, resources: string[]) {
    if ((await this.torque(robot, true, resources)) && !this.run(robot).going) this.runs.delete(robot);
  }

  // until makes those who ask for a pose wait for something that will place the robot.
  until(act: Promise<unknown>) {
    const before = this.placing;
    this.placing = Promise.allSettled([before, act]);
  }

  // place puts the robot that is posed somewhere at once.
  // What is done by hand says what, and can be undone.
  async place(names: string[], positions: number[], what: string): Promise<boolean> {
    const before = this.robots.posed.at(names);
    const after = Object.fromEntries(names.map((n, i) => [n, positions[i]!]));
    const placed = this.put(after);
    if (!(await placed)) return false;
    if (names.some((n) => Math.abs((before[n] ?? NaN) - after[n]!) > 1e-9)) this.editor.posed(what, before, after);
    return true;
  }

  // put is place without a step to undo.
  put(pose: Pose): Promise<boolean> {
    const placed = this.handle(this.robots.posed, "joints_virtual_set", { joints: { name: Object.keys(pose), position: Object.values(pose) } });
    void placed.then((done) => done && this.robots.posed.put(pose));
    this.until(placed);
    return placed;
  }

  placeRow(row: number | undefined) {
    const pose = captured(this.editor.motion, row);
    return pose && this.place(Object.keys(pose), Object.values(pose), `set ${this.robots.posed.name} pose`);
  }

  // pose returns where a robot is, after all that was told to it.
  async pose(robot: Robot): Promise<Record<string, number>> {
    await this.placing;
    return robot.now();
  }
}

function word(end: GoalEnd<unknown>): string {
  return { 4: "done", 5: "cancelled" }[end.status] ?? (end.accepted ? "aborted" : "refused");
}
