// Drags on the body of a robot with mass: they push it, or draw it along.
import * as THREE from "three";
import type { Figure } from "./figure";
import type { Stage } from "./stage";

// BodyPoint is what is dragged: where the body was touched, in the link and in the world, and
// where the pointer is now.
export interface BodyPoint { link: string; local: THREE.Vector3; from: THREE.Vector3; to: THREE.Vector3 }

// DragHandlers is what dragging does.
export interface DragHandlers {
  wanted(): boolean; // else dragging turns the view
  moved(t: BodyPoint, at: PointerEvent): void;
  released(t: BodyPoint): void;
  dropped(t: BodyPoint): void; // it came to nothing
}

export class BodyDrag {
  figure: Figure | undefined;
  private held: { touch: BodyPoint; link: THREE.Object3D; plane: THREE.Plane; moved: boolean } | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly handlers: DragHandlers,
  ) {
    const canvas = stage.renderer.domElement;
    canvas.addEventListener("pointerdown", (e) => this.grab(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", (e) => this.end(e, true));
    canvas.addEventListener("pointercancel", (e) => this.end(e, false));
  }

  private grab(event: PointerEvent) {
    if (!this.figure || event.button !== 0 || !this.handlers.wanted()) return;
    const hit = this.stage.ray(event).intersectObject(this.figure.robot, true)[0];
    let link: THREE.Object3D | null = hit?.object ?? null;
    while (link && !("isURDFLink" in link)) link = link.parent;
    if (!hit || !link) return;
    event.stopImmediatePropagation(); // the view shall not turn as well
    this.stage.renderer.domElement.setPointerCapture(event.pointerId);
    const facing = this.stage.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, hit.point);
    const touch = { link: link.name, local: link.worldToLocal(hit.point.clone()), from: hit.point.clone(), to: hit.point.clone() };
    this.held = { touch, link, plane, moved: false };
  }

  private move(event: PointerEvent) {
    if (!this.held) return;
    const { touch, link, plane } = this.held;
    if (!this.stage.ray(event).ray.intersectPlane(plane, touch.to)) return;
    link.localToWorld(touch.from.copy(touch.local)); // the body moves on meanwhile
    this.held.moved = true;
    this.handlers.moved(touch, event);
  }

  private end(event: PointerEvent, done: boolean) {
    if (!this.held) return;
    const { touch, moved } = this.held;
    this.held = undefined;
    this.stage.renderer.domElement.releasePointerCapture(event.pointerId);
    if (done && moved) this.handlers.released(touch);
    else this.handlers.dropped(touch);
  }
}
