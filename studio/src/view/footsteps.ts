// A walk on the ground: footsteps that are planned and done, the capture point, and the way of the zero-moment point.
import * as THREE from "three";
import type { PlannedFootstep, Vector3 } from "../ros/messages";
import { zmpColour } from "./ground";

export const plannedColour = 0x0aa3b5;
export const swingingColour = 0xf08c1e;
export const doneColour = 0x7c8894;
export const captureColour = 0xe6007a;
const lift = 0.003; // above the floor, so that it is seen

// Pool has as many shapes as it is asked for.
class Pool {
  private readonly shapes: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>[] = [];
  constructor(private readonly group: THREE.Group, private readonly make: () => THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>) {}

  show<T>(all: readonly T[], place: (mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>, one: T, index: number) => void) {
    while (this.shapes.length < all.length) {
      const mesh = this.make();
      this.shapes.push(mesh);
      this.group.add(mesh);
    }
    this.shapes.forEach((mesh, i) => {
      mesh.visible = i < all.length;
      if (mesh.visible) place(mesh, all[i]!, i);
    });
  }
}

export interface Walk { steps: readonly PlannedFootstep[]; done: readonly Vector3[]; trail: readonly Vector3[]; capture: Vector3 | undefined }

export class Footsteps {
  readonly group = new THREE.Group();
  private readonly planned: Pool;
  private readonly done: Pool;
  private readonly trail = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: zmpColour, toneMapped: false }));
  private readonly capture: THREE.Mesh;

  constructor(size: number) {
    const paint = (color: number) => new THREE.MeshBasicMaterial({ color, toneMapped: false, transparent: true, side: THREE.DoubleSide, depthWrite: false });
    const [ring, disc] = [new THREE.RingGeometry(0.06 * size, 0.085 * size, 28), new THREE.CircleGeometry(0.07 * size, 28)];
    this.planned = new Pool(this.group, () => new THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>(ring, paint(plannedColour)));
    this.done = new Pool(this.group, () => new THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>(disc, paint(doneColour)));
    this.capture = new THREE.Mesh(new THREE.RingGeometry(0.02 * size, 0.04 * size, 4), new THREE.MeshBasicMaterial({ color: captureColour, toneMapped: false, transparent: true, depthTest: false, side: THREE.DoubleSide }));
    this.capture.renderOrder = 6;
    this.trail.frustumCulled = false;
    this.group.add(this.trail, this.capture);
  }

  show({ steps, done, trail, capture }: Walk) {
    this.planned.show(steps, (mesh, s) => {
      mesh.position.set(s.x, s.y, s.z + 2 * lift);
      mesh.material.color.set(s.swinging ? swingingColour : plannedColour);
    });
    this.done.show(done, (mesh, at, i) => {
      mesh.position.set(at.x, at.y, at.z + lift);
      mesh.material.opacity = 0.25 + (0.55 * (i + 1)) / done.length; // older ones fade
    });
    this.trail.visible = trail.length > 1;
    this.trail.geometry.dispose();
    this.trail.geometry = new THREE.BufferGeometry().setFromPoints(trail.map((p) => new THREE.Vector3(p.x, p.y, p.z + 3 * lift)));
    this.capture.visible = capture !== undefined;
    if (capture) this.capture.position.set(capture.x, capture.y, capture.z + 3 * lift);
  }
}
