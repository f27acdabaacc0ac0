// What the server has to say, in the units that the page shows. Sentences are made
// of the fields of an explanation; a text without fields is left as it is.
import { Refused } from "../ros/connection";
import type { Explanation, Finding, JointInfo } from "../ros/messages";
import { isAngle } from "./units";

// Remark is something that was said: in the server's words, and what they are
// about where that is known.
export interface Remark { text: string; explanations: Explanation[] }

export const silence: Remark = { text: "", explanations: [] };

export const plainly = (text: string): Remark => ({ text, explanations: [] });

// remark returns what an error has to say.
export function remark(e: unknown): Remark {
  const text = e instanceof Error ? e.message : String(e);
  return { text, explanations: e instanceof Refused ? (e.answer?.explanations ?? []) : [] };
}

// Reader knows the joints, and what people want to read.
export interface Reader { joint(name: string): JointInfo | undefined; degrees: boolean }

const perRadian = 180 / Math.PI;

// The derivative that a code or rule is about: 0 position, 1 velocity, 2 acceleration.
const order = (rule: string) => (/acceleration/.test(rule) ? 2 : /velocity/.test(rule) ? 1 : 0);
const perTime = ["", "/s", "/s²"];
const called = ["position", "velocity", "acceleration"];

function quantity(value: number, derivative: number, r: Reader, joint: JointInfo | undefined): string {
  if (!isAngle(joint)) return `${short(value)} m${perTime[derivative]}`;
  return r.degrees ? `${inDegrees(value)}°${perTime[derivative]}` : `${short(value)} rad${perTime[derivative]}`;
}

const short = (v: number) => String(Number(v.toPrecision(4)));
const inDegrees = (rad: number) => String(Number((rad * perRadian).toFixed(1)));
const when = (at: number) => (at > 0 ? ` at ${Number(at.toFixed(2))} s` : "");

// bothWays adds degrees to radians in a text that has no fields: only numbers
// with their unit are touched.
function bothWays(text: string, r: Reader): string {
  if (!r.degrees) return text;
  return text.replace(/(-?\d+(?:\.\d+)?(?:e-?\d+)?) rad(\/s²?)?(?![\w/])/g, (all, number: string, per: string | undefined) => `${all} (${inDegrees(Number(number))}°${per ?? ""})`);
}

// explained puts one explanation into words.
export function explained(explanation: Explanation, r: Reader): string {
  const help = limp(explanation) ? `switch the servos of ${explanation.resource || "the robot"} on` : explanation.help; // a button rather than a service
  return help ? `${said(explanation, r)}; ${help}` : said(explanation, r);
}

const limp = (explanation: Explanation) => explanation.owner === "torque_off" || explanation.code === "power_off";

function said(explanation: Explanation, r: Reader): string {
  const j = r.joint(explanation.joint);
  if (limp(explanation)) return `the servos of ${explanation.resource || "the robot"} are off`;
  if (!j) return bothWays(explanation.text, r);
  const derivative = order(explanation.code);
  const [value, limit] = [quantity(explanation.value, derivative, r, j), quantity(explanation.limit, derivative, r, j)];
  switch (explanation.code) {
    case "start_too_far":
      return `${explanation.joint} is ${value} away from where the motion starts, ${limit} is allowed`;
    case "beyond_limit":
    case "beyond_position_limit":
      return `${explanation.joint} would come to ${value}${when(explanation.at)}, its limit is ${limit}`;
    case "beyond_velocity_limit":
    case "beyond_acceleration_limit":
      return `${called[derivative]} of ${explanation.joint} is ${value}${when(explanation.at)}, limit ${limit}`;
    case "tolerance_broken":
      return `${explanation.joint} was ${value} off${when(explanation.at)}, ${limit} is allowed`;
    case "goal_missed":
      return `${explanation.joint} was still ${value} off the goal${when(explanation.at)}, ${limit} is allowed`;
    default:
      return bothWays(explanation.text, r);
  }
}

// lines returns a remark, a line for each thing that it is about.
export function lines(m: Remark, r: Reader): string[] {
  if (m.explanations.length > 0) return m.explanations.map((e) => explained(e, r));
  return m.text === "" ? [] : bothWays(m.text, r).split("\n");
}

const forceRules = ["torque", "zmp", "unloaded", "contact_force"];

// severity sorts findings: 0 keeps a motion from being played, 1 may be played, but robot or
// ground cannot give what it takes, 2 is advice.
export const severity = (f: Finding) => (["balance", "slip"].includes(f.rule) ? 2 : forceRules.includes(f.rule) ? 1 : 0);

// advice is what does not keep a motion from being played.
export const advice = (f: Finding) => severity(f) > 0;

// excess tells by how much a limit would be broken, as a part of it.
export const excess = (f: Finding) => {
  const over = Math.abs(f.value / f.limit);
  return Number.isFinite(over) ? over : 0;
};

// found puts a finding of lint into words.
export function found(f: Finding, r: Reader): string {
  const range = f.to_time > f.from_time ? `${f.from_time.toFixed(2)}–${f.to_time.toFixed(2)} s` : `${f.from_time.toFixed(2)} s`;
  if (f.rule === "balance" && f.value !== f.limit) { // equal: there are no numbers, as no foot stands
    const where = `${(Math.abs(f.value) * 1000).toFixed(0)} mm ${f.value < 0 ? "outside" : "inside"}`;
    return `the centre of mass is ${where} the feet that carry, ${(f.limit * 1000).toFixed(0)} mm inside is needed (${range})`;
  }
  const j = r.joint(f.joint);
  const curve = f.rule === "position" || f.rule === "velocity" || f.rule === "acceleration";
  if (!j || !curve || !r.degrees || !isAngle(j)) return f.text;
  const derivative = order(f.rule);
  return `${called[derivative]} of ${f.joint} is ${quantity(f.value, derivative, r, j)}, limit ${quantity(f.limit, derivative, r, j)} (${range})`;
}
