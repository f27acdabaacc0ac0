// Playing: goals sent, their progress, how they ended, and stopping them. What is
// played, from where and how fast, the server makes of the motion; the page only says
// which, and shows what it is told.
import { type Connection, type Goal, type GoalEnd, Refused } from "../ros/connection";
import type { Answer, Explanation, MotionFeedback, MotionGoal, MotionResult, TextFeedback, TextResult } from "../ros/messages";
import { captured, type Editor } from "./editor.svelte";
import type { Robot, Robots, Side } from "./robots.svelte";
import { plainly, type Remark, remark, silence } from "./words";

// Run is a goal of ours, under way or over. Times are those of the motion's table.
export interface Run {
  side: Side;
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

const idle = (side: Side): Run => ({ side, what: "", edited: false, going: false, state: "", good: true, stopped: false, end: "", remark: silence });

const motionAction = "poise_msgs/action/ExecuteMotion";
const textAction = "text_msgs/action/TextAction";
const succeeded = 4;
const stoppedHere = plainly("stopped; Execute, Play or moving a joint goes on"); // those goals resume

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

  // execute plays the motion in the editor from start mark to end mark, or the other way.
  execute(side: Side, backward: boolean) {
    const way = backward !== this.reverse;
    this.begin(side, way ? "backward" : "forward", true);
    this.sendMotion(side, { name: "", motion: this.editor.motion, part: true, backward: way, speed: this.speed / 100, loop: false, approach: this.approach, resume: true });
  }

  // play plays a stored motion by its name.
  play(side: Side, name: string, loop: boolean) {
    this.begin(side, name, false);
    this.sendMotion(side, { name, part: false, backward: false, speed: 1, loop, approach: true, resume: true });
  }

  // goTo moves to a named pose.
  goTo(side: Side, name: string) {
    this.begin(side, `pose ${name}`, false);
    const goal = { command: { type: "pose", command: name, options: "resume" } };
    this.send<TextResult, TextFeedback>(side, "go_to_pose", textAction, goal, () => {});
  }

  private sendMotion(side: Side, goal: MotionGoal) {
    const heard = ({ state, time, end, progress }: MotionFeedback) =>
      Object.assign(this.runs[side], goal.loop ? { state, time } : { state, time, until: end, progress });
    this.send<MotionResult, MotionFeedback>(side, "execute_motion", motionAction, goal, heard);
  }

  private begin(side: Side, what: string, edited: boolean) {
    this.runs[side] = { ...idle(side), what, edited, going: true };
    this.note = silence;
  }

  // send starts a goal; what comes of it is told until a newer one takes its place.
  private send<Result, Feedback>(side: Side, action: string, type: string, goal: object, heard: (f: Feedback) => void) {
    const sent = this.connection.send<Result, Feedback>(this.robot(side).topic(action), type, goal, (f) => {
      if (this.goals[side] === sent) heard(f);
    });
    this.goals[side] = sent;
    void sent.done.then((end) => {
      if (this.goals[side] !== sent) return;
      delete this.goals[side];
      this.end(side, end.status === succeeded, word(end), { text: end.text, why: end.why });
    });
  }

  private end(side: Side, good: boolean, how: string, why: Remark) {
    const run = this.runs[side];
    const byHand = run.stopped && !good;
    Object.assign(run, { going: false, good, end: byHand ? "aborted" : how, remark: byHand ? stoppedHere : why });
  }

  // edited takes back what was said against a motion that is another one now.
  edited() {
    for (const side of this.sides) {
      const { going, good, edited } = this.runs[side];
      if (!going && !good && edited) this.runs[side] = idle(side);
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

function word(end: GoalEnd<unknown>): string {
  return { 4: "done", 5: "cancelled" }[end.status] ?? (end.accepted ? "aborted" : "refused");
}
