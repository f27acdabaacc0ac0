// Angles are radians on the wire; people may prefer degrees.
import type { JointInfo } from "../ros/messages";

const perRadian = 180 / Math.PI;

// isAngle tells joints that turn from those that slide.
export const isAngle = (j: JointInfo | undefined) => j?.type !== "prismatic";

export function shown(value: number, j: JointInfo | undefined, degrees: boolean): number {
  return degrees && isAngle(j) ? value * perRadian : value;
}

export function meant(value: number, j: JointInfo | undefined, degrees: boolean): number {
  return degrees && isAngle(j) ? value / perRadian : value;
}

export function format(value: number, j: JointInfo | undefined, degrees: boolean): string {
  return shown(value, j, degrees).toFixed(degrees && isAngle(j) ? 1 : 3).replace(/^-(0\.0+)$/, "$1");
}

// unit is in what a joint is shown, or how it changes.
export function unit(j: JointInfo | undefined, degrees: boolean, kind: "position" | "velocity" | "acceleration" | "effort" = "position"): string {
  if (kind === "effort") return isAngle(j) ? "N·m" : "N";
  const base = !isAngle(j) ? "m" : degrees ? "°" : "rad";
  return base + { position: "", velocity: "/s", acceleration: "/s²" }[kind];
}

// fingerprint is a colour and a sign that equal poses share: what differs by less
// than a hundredth looks the same.
export function fingerprint(positions: readonly (number | null)[]): { colour: string; sign: string } {
  let h = 2166136261;
  for (const q of positions) {
    h ^= q === null ? 7919 : Math.round(q * 100);
    h = Math.imul(h, 16777619);
  }
  h >>>= 0;
  const signs = "●◆▲■★✚♥♣";
  return { colour: `hsl(${h % 360} 62% 58%)`, sign: signs[(h >>> 9) % signs.length]! };
}
