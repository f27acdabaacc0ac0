// Balance on the floor: the support polygon, the feet that carry, the centre of
// mass, where it falls, and the zero-moment point.
import * as THREE from "three";
import type { BalanceState, Transform } from "../ros/messages";
import { origin } from "../state/frames";

const good = 0x18a957;
const bad = 0xd8465a;
export const zmpColour = 0x7a5cf0;
const lift = 0.002; // above the floor, so that it is seen

export class Ground {
  readonly group = new THREE.Group();
  private readonly outline = new THREE.LineLoop(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: good }));
  private readonly area = new THREE.Mesh(
    new THREE.BufferGeometry(),
    new THREE.MeshBasicMaterial({ color: good, transparent: true, opacity: 0.16, side: THREE.DoubleSide, depthWrite: false }),
  );
  private readonly com: THREE.Mesh;
  private readonly fall: THREE.Mesh;
  private readonly zmp: THREE.Mesh;
  private readonly plumb = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0x888888 }));
  private readonly feet = new THREE.Group();

  constructor(private readonly size: number) {
    const ball = new THREE.SphereGeometry(size * 0.03, 16, 12);
    this.com = new THREE.Mesh(ball, new THREE.MeshBasicMaterial({ color: 0xf2c230, depthTest: false, transparent: true }));
    this.com.renderOrder = 4;
    this.fall = new THREE.Mesh(new THREE.RingGeometry(size * 0.02, size * 0.035, 24), new THREE.MeshBasicMaterial({ color: good, side: THREE.DoubleSide }));
    this.zmp = new THREE.Mesh(new THREE.CircleGeometry(size * 0.018, 20), new THREE.MeshBasicMaterial({ color: zmpColour, side: THREE.DoubleSide, depthTest: false, transparent: true }));
    this.zmp.renderOrder = 5;
    this.group.add(this.outline, this.area, this.com, this.fall, this.zmp, this.plumb, this.feet);
    this.group.visible = false;
  }

  // show draws a balance that was told in a frame.
  show(b: BalanceState | undefined, frame?: Transform) {
    const { translation: t, rotation: r } = frame ?? origin;
    this.group.position.set(t.x, t.y, t.z);
    this.group.quaternion.set(r.x, r.y, r.z, r.w);
    this.group.visible = !!b && b.support_points.length > 0;
    if (!b || !this.group.visible) return;
    const colour = b.margin > 0 ? good : bad;
    const points = b.support_points.map((p) => new THREE.Vector3(p.x, p.y, p.z + lift));
    const floor = points[0]!.z;
    this.outline.geometry.setFromPoints(points);
    (this.outline.material as THREE.LineBasicMaterial).color.set(colour);
    this.area.geometry.setFromPoints(points);
    this.area.geometry.setIndex(points.slice(2).flatMap((_, i) => [0, i + 1, i + 2]));
    this.area.material.color.set(colour);
    this.com.position.set(b.com.x, b.com.y, b.com.z);
    this.fall.position.set(b.com.x, b.com.y, floor + lift);
    (this.fall.material as THREE.MeshBasicMaterial).color.set(colour);
    this.zmp.visible = b.carried;
    this.zmp.position.set(b.zmp.x, b.zmp.y, floor + 2 * lift);
    this.plumb.geometry.setFromPoints([this.com.position.clone(), this.fall.position.clone()]);
    while (this.feet.children.length < points.length) {
      this.feet.add(new THREE.Mesh(new THREE.CircleGeometry(this.size * 0.05, 24), new THREE.MeshBasicMaterial({ color: good, transparent: true, opacity: 0.5 })));
    }
    this.feet.children.forEach((foot, i) => {
      foot.visible = i < points.length;
      if (points[i]) foot.position.copy(points[i]);
    });
  }
}
