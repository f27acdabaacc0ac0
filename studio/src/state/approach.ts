// The way to where a trajectory begins: a motion of two rows, from where the robot
// is, slow enough for every joint. The server interpolates and checks it like any other.
import type { Motion } from "../ros/messages";
import type { Robot, Robots } from "./robots.svelte";

const near = 0.01; // rad or m: closer than this no way is needed
const share = 0.5; // of a joint's top speed
const usualSpeed = 1; // rad/s or m/s, where a joint states none
const peak = 1.9; // how much faster a rest-to-rest curve is than its mean
const shortest = 0.4; // s
const support = "support/";

export function approachMotion(motion: Motion, robots: Robots, robot: Robot, from: Record<string, number>, names: string[], target: number[]): Motion | undefined {
  const joints = names
    .map((name, i) => ({ name, from: from[name], to: target[i] }))
    .filter((j): j is { name: string; from: number; to: number } => j.from !== undefined && j.to !== undefined);
  const far = Math.max(0, ...joints.map((j) => Math.abs(j.to - j.from)));
  if (far <= near) return undefined;
  const time = Math.max(
    shortest,
    ...joints.map((j) => {
      const top = robots.joint(j.name)?.max_velocity || usualSpeed;
      return (peak * Math.abs(j.to - j.from)) / (share * top);
    }),
  );
  // what carries here and at the start carries on the way there
  const carried = names.map((name, i) => ({ chain: name.slice(support.length), name, value: target[i] ?? 0 })).filter((c) => c.name.startsWith(support));
  const here = robot.carries(carried.map((c) => c.chain));
  const supports = carried.map((c, i) => Math.min(c.value, here[i] ?? 0));
  const row = (at: number, positions: number[]) => ({ time: at, label: "", enabled: true, mark: "" as const, positions, supports });
  return {
    ...motion,
    chains: carried.map((c) => c.chain),
    order: [],
    events: [],
    loop: false,
    start_pose: "",
    columns: joints.map((j) => j.name),
    joints: joints.map((j) => ({ name: j.name, enabled: true, path_tolerance: [], goal_tolerance: [] })),
    points: [row(0, joints.map((j) => j.from)), row(time, joints.map((j) => j.to))],
  };
}
