// What the page knows of a robot with mass, and how it is shown and touched.
import type { PhysicsState, PhysicsWorld } from "../ros/messages";

// Drag is what dragging on the body of a robot does: it turns the view, aims a push, or
// draws the body along by a spring.
export type Drag = "view" | "push" | "hold";

export const standard = 9.81; // m/s²

export class Physics {
  state = $state.raw<PhysicsState | undefined>();
  world = $state.raw<PhysicsWorld | undefined>();
  shown = $state(false); // its view is open: forces are drawn, and the body can be touched
  drag = $state<Drag>("push");
  lasts = $state(0.15); // s, of a push
  forces = $state(true); // are shown
  com = $state(true);

  // weight is that of the robot and its payloads, N.
  get weight(): number {
    return (this.state?.mass ?? 0) * standard;
  }

  // loads tells what the ground carries of each link, N, the largest first.
  get loads(): { link: string; force: number; share: number }[] {
    const loads = new Map<string, number>();
    for (const c of this.state?.contacts ?? []) if (c.other === "") loads.set(c.link, (loads.get(c.link) ?? 0) + c.force.z);
    return [...loads].map(([link, force]) => ({ link, force, share: this.weight > 0 ? force / this.weight : 0 })).sort((a, b) => b.force - a.force);
  }
}
