// A pose as rows of a motion take it: joints, and which feet carry.
import type { Motion } from "../ros/messages";
import type { Edit } from "./editor.svelte";
import type { Robot } from "./robots.svelte";

export interface Captured { names: string[]; values: number[]; lifted: string[] }

export function capture(robot: Robot, pose: Record<string, number>, chains: readonly string[]): Captured {
  const carries = robot.carries(chains);
  return {
    names: [...Object.keys(pose), ...chains.map((c) => `support/${c}`)],
    values: [...Object.values(pose), ...carries],
    lifted: chains.filter((_, i) => carries[i] === 0),
  };
}

// lift frees feet that are in the air at some time from the row before on: between
// the two they leave the ground.
export function lift(motion: Motion, time: number, lifted: readonly string[]): Edit[] {
  const before = motion.points.findLastIndex((p) => p.time < time);
  if (before < 0 || lifted.length === 0) return [];
  return [{ op: "set_supports", rows: [before], names: [...lifted], values: lifted.map(() => 0) }];
}
