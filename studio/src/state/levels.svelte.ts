// What the page knows of how cycle 2 serves what is asked of a robot: the levels now, over the
// last minutes, and from a recording; and where in a motion a tip-over was prevented.
import type { Connection } from "../ros/connection";
import type { LevelsState } from "../ros/messages";
import type { Robot } from "./robots.svelte";

const every = 100; // ms
export const room = 6000; // states that are kept: ten minutes
const apart = 0.35; // s between states of one prevention

export interface Moment { time: number; state: LevelsState } // s since the first
export interface Prevented { from: number; to: number; text: string } // times of the motion

export class Levels {
  past = $state.raw<Moment[]>([]); // oldest first
  recording = $state.raw<{ name: string; moments: Moment[] } | undefined>();
  prevented = $state.raw<Prevented[]>([]); // of the motion that is or was played
  private began = 0; // stamp of the first, s
  private listeners = 0;
  private end = () => {};
  private playhead: number | undefined;

  // listen hears the levels until all who listen have ended.
  listen(connection: Connection, robot: Robot): () => void {
    if (this.listeners++ === 0) this.end = connection.subscribe<LevelsState>(robot.topic("levels"), "poise_msgs/msg/LevelsState", (m) => this.take(m), every);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      if (--this.listeners === 0) this.end();
    };
  }

  // play tells where in the motion of the timeline the robot is, undefined where it does not play it.
  play(time: number | undefined) {
    if (this.playhead === undefined && time !== undefined) this.prevented = [];
    this.playhead = time;
  }

  // forget drops the marks: the motion is another one.
  forget() {
    if (this.prevented.length > 0) this.prevented = [];
  }

  private take(m: LevelsState) {
    const at = stamp(m);
    if (this.past.length === 0 || at < this.began) [this.began, this.past] = [at, []];
    this.past = [...this.past, { time: at - this.began, state: m }].slice(-room);
    if (m.prevented && this.playhead !== undefined) this.mark(this.playhead, m);
  }

  private mark(time: number, m: LevelsState) {
    const kept = m.limbs.filter((l) => l.kept).map((l) => l.name);
    const text = kept.length > 0 ? `a tip-over was prevented: ${kept.join(", ")} ${kept.length > 1 ? "stay" : "stays"} on the ground` : "a tip-over was prevented: the body does not go where it was asked to";
    const last = this.prevented.at(-1);
    if (last && time >= last.from && time - last.to < apart && last.text === text) this.prevented = [...this.prevented.slice(0, -1), { ...last, to: Math.max(last.to, time) }];
    else this.prevented = [...this.prevented, { from: time, to: time, text }];
  }

  // text is what is known as a recording: one message a line.
  text(): string {
    return this.past.map((p) => `${JSON.stringify(p.state)}\n`).join("");
  }

  // open reads a recording: messages of the topic levels, one a line.
  open(name: string, text: string) {
    this.recording = { name, moments: parse(text) };
  }
}

const stamp = (m: LevelsState) => m.header.stamp.sec + m.header.stamp.nanosec * 1e-9;

// parse reads messages of the topic levels, one a line, and says which line cannot be read.
export function parse(text: string): Moment[] {
  const moments: Moment[] = [];
  let began = 0;
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    let m: LevelsState;
    try {
      m = JSON.parse(line);
    } catch {
      throw new Error(`line ${i + 1} is no JSON: want one message of the topic levels a line`);
    }
    if (!Array.isArray(m?.levels) || typeof m?.header?.stamp?.sec !== "number") throw new Error(`line ${i + 1} is no message of the topic levels`);
    if (moments.length === 0) began = stamp(m);
    moments.push({ time: stamp(m) - began, state: m });
  }
  if (moments.length === 0) throw new Error("there are no messages in it");
  return moments;
}

// at returns the last moment that is not after a time.
export function at(moments: readonly Moment[], time: number): Moment | undefined {
  let low = 0;
  for (let high = moments.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (moments[middle]!.time <= time) low = middle + 1;
    else high = middle;
  }
  return moments[Math.max(low - 1, 0)];
}
