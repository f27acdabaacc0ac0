// Playing: goals sent, their progress, how they ended, and stopping them.
import { type Connection, type Goal, Refused } from "../ros/connection";
import type { Answer, TrajectoryGoal, TrajectoryResult } from "../ros/messages";
import type { Editor } from "./editor.svelte";
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
  text: string; // how it ended, in the server's words
}

const idle = (side: Side): Run => ({ side, what: "", going: false, time: 0, duration: 0, good: true, text: "" });

const trajectoryAction = "text_msgs/action/FollowJointTrajectoryWithActions";
const textAction = "text_msgs/action/TextAction";

export class Player {
  runs = $state<Record<Side, Run>>({ virtual: idle("virtual"), real: idle("real") });
  speed = $state(100); // percent
  reverse = $state(false);
  note = $state(""); // what the last command came to, where it is no goal
  private goals: Partial<Record<Side, Goal<unknown>>> = {};

  constructor(
    private readonly connection: Connection,
    private readonly robots: Robots,
    private readonly editor: Editor,
  ) {}

  robot(side: Side): Robot {
    return side === "real" ? this.robots.real : this.robots.virtual;
  }

  // execute plays from start mark to end mark, or the other way.
  async execute(side: Side, backward: boolean) {
    const way = backward !== this.reverse;
    const what = way ? "backward" : "forward";
    const run = this.begin(side, what);
    try {
      const made = await this.connection.call<Answer & { text: string }>("/motions/export", {
        motion: this.editor.motion,
        format: "goal_with_actions",
        part: true,
        scale: 100 / this.speed,
        backward: way,
      });
      const goal = JSON.parse(made.text) as TrajectoryGoal;
      const end = goal.trajectory.points.at(-1)?.time_from_start;
      run.duration = end ? end.sec + end.nanosec / 1e9 : 0;
      this.send(side, "follow_joint_trajectory_with_actions", trajectoryAction, goal);
    } catch (e) {
      this.end(side, false, e);
    }
  }

  // play plays a stored motion by its name.
  play(side: Side, name: string, duration: number, loop: boolean) {
    const run = this.begin(side, name);
    run.duration = loop ? 0 : duration;
    const options = loop ? "loop approach" : "approach";
    this.send(side, "play_motion", textAction, { command: { type: "motion", command: name, options } });
  }

  private begin(side: Side, what: string): Run {
    this.runs[side] = { ...idle(side), what, going: true };
    return this.runs[side];
  }

  private send(side: Side, action: string, type: string, goal: object) {
    const sent = this.connection.send<TrajectoryResult, Feedback>(this.robot(side).topic(action), type, goal, (f) => {
      if (this.goals[side] !== sent) return;
      const t = f.desired?.time_from_start;
      const told = f.status?.match(/(-?[0-9.]+)(?:\/[0-9.]+)? s/);
      if (t) this.runs[side].time = t.sec + t.nanosec / 1e9;
      else if (told) this.runs[side].time = Number(told[1]);
    });
    this.goals[side] = sent;
    void sent.done.then((end) => {
      if (this.goals[side] !== sent) return; // a newer goal took its place
      delete this.goals[side];
      const words = { 4: "done", 5: "cancelled" }[end.status] ?? (end.accepted ? "aborted" : "refused");
      this.end(side, end.status === 4, end.text ? `${words}: ${end.text}` : words);
    });
  }

  private end(side: Side, good: boolean, how: unknown) {
    const run = this.runs[side];
    run.going = false;
    run.good = good;
    run.text = how instanceof Error ? `refused: ${how.message}` : String(how);
  }

  // stop ramps everything down and holds: category 2.
  stop() {
    for (const goal of Object.values(this.goals)) goal?.cancel();
    const sides: Side[] = this.robots.hasReal ? ["virtual", "real"] : ["virtual"];
    for (const side of sides) void this.command(side, "stop", { category: 2 });
  }

  get paused(): boolean {
    return this.robots.virtual.paused;
  }

  pause() {
    const order = this.paused ? "resume" : "pause";
    const sides: Side[] = this.robots.hasReal ? ["virtual", "real"] : ["virtual"];
    for (const side of sides) void this.command(side, order, { controller: "" });
  }

  async command(side: Side, service: string, args: object): Promise<boolean> {
    try {
      await this.connection.call<Answer>(this.robot(side).topic(service), args);
      this.note = "";
      return true;
    } catch (e) {
      this.note = e instanceof Refused ? e.message : String(e);
      return false;
    }
  }

  // torque of the real robot, or of the virtual one when it is alone.
  torque(on: boolean, resources: string[]) {
    return this.command(this.robots.hasReal ? "real" : "virtual", "set_torque", { on, resources });
  }

  // place puts the virtual robot somewhere at once.
  place(names: string[], positions: number[]) {
    return this.command("virtual", "joints_virtual_set", { joints: { name: names, position: positions } });
  }
}
