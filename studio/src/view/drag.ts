// What can be grabbed in the 3-D view: a ring for each joint of the chosen limb, a
// handle at the tip of each chain.
import * as THREE from "three";
import type { URDFJoint } from "urdf-loader";
import type { Figure } from "./figure";
import type { Stage } from "./stage";
import type { ChainInfo, JointInfo } from "../ros/messages";

const ringColour = 0x7c5cff;
const limitColour = 0xd8465a;
const handleColour = 0x18a999;
const hotColour = 0xffb020;

const freeColour = 0x8a93a5;

// Grips is what grabbing does.
export interface Grips {
  turn(joint: JointInfo, value: number, at?: PointerEvent): void;
  released(): void; // what was dragged
  pull(chain: ChainInfo, target: THREE.Vector3): void;
  touched(link: string): void; // a part of the robot was clicked
}

// Grip is a place on the page where something can be grabbed.
export interface Grip { name: string; label: string; x: number; y: number }

// Ring turns one joint. It stands still in the frame before the joint, so that
// the arc of allowed angles stays where it is while a needle shows the value.
class Ring {
  readonly group = new THREE.Group();
  readonly band: THREE.Mesh<THREE.TorusGeometry, THREE.MeshBasicMaterial>;
  private readonly needle: THREE.Mesh;

  constructor(
    readonly info: JointInfo,
    readonly joint: URDFJoint,
    radius: number,
  ) {
    const own = joint as URDFJoint & { origPosition?: THREE.Vector3; origQuaternion?: THREE.Quaternion };
    this.group.position.copy(own.origPosition ?? joint.position);
    this.group.quaternion.copy(own.origQuaternion ?? joint.quaternion);
    // the ring's own z is the joint's axis
    this.group.quaternion.multiply(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), joint.axis.clone().normalize()));
    const seen = (colour: number, opacity: number) =>
      new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity, depthTest: false });
    const bounded = info.has_limits && !info.continuous;
    const arc = bounded ? Math.min(info.upper - info.lower, 2 * Math.PI) : 2 * Math.PI;
    this.band = new THREE.Mesh(new THREE.TorusGeometry(radius, radius * 0.055, 10, 72, arc), seen(ringColour, 0.85));
    if (bounded) this.band.rotation.z = info.lower;
    const grip = new THREE.Mesh(new THREE.TorusGeometry(radius, radius * 0.16, 6, 48), seen(0, 0)); // easier to hit
    this.needle = new THREE.Mesh(new THREE.SphereGeometry(radius * 0.13, 14, 10), seen(hotColour, 1));
    this.group.userData.grip = true;
    this.group.add(this.band, grip, this.needle);
    for (const part of [this.band, grip]) part.userData.ring = this;
    if (bounded) {
      for (const angle of [info.lower, info.upper]) {
        const stop = new THREE.Mesh(new THREE.SphereGeometry(radius * 0.09, 10, 8), seen(limitColour, 1));
        stop.position.set(radius * Math.cos(angle), radius * Math.sin(angle), 0);
        this.group.add(stop);
      }
    }
    this.group.traverse((part) => (part.renderOrder = 5));
    this.show(joint.angle as number, radius);
  }

  show(value: number, radius = this.band.geometry.parameters.radius) {
    this.needle.position.set(radius * Math.cos(value), radius * Math.sin(value), 0);
  }

  heat(hot: boolean) {
    this.band.material.color.set(hot ? hotColour : ringColour);
  }

  // bounded returns the nearest value that the joint may have.
  bounded(value: number): number {
    const { has_limits, continuous, lower, upper } = this.info;
    return has_limits && !continuous ? Math.min(Math.max(value, lower), upper) : value;
  }

  // at returns a point of the ring in the world.
  at(angle: number): THREE.Vector3 {
    const radius = this.band.geometry.parameters.radius;
    return this.group.localToWorld(new THREE.Vector3(radius * Math.cos(angle), radius * Math.sin(angle), 0));
  }

  // angle returns where a line of sight meets the ring's plane.
  angle(ray: THREE.Ray): number | undefined {
    const normal = new THREE.Vector3(0, 0, 1).transformDirection(this.group.matrixWorld);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, this.group.getWorldPosition(new THREE.Vector3()));
    if (Math.abs(normal.dot(ray.direction)) < 0.05) return undefined; // seen edge-on
    const hit = ray.intersectPlane(plane, new THREE.Vector3());
    if (!hit) return undefined;
    const local = this.group.worldToLocal(hit);
    return Math.atan2(local.y, local.x);
  }
}

class Handle {
  readonly ball: THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial>;
  private colour = handleColour;

  constructor(
    readonly chain: ChainInfo,
    tip: THREE.Object3D,
    radius: number,
  ) {
    this.ball = new THREE.Mesh(
      new THREE.SphereGeometry(radius, 18, 14),
      new THREE.MeshBasicMaterial({ color: handleColour, transparent: true, opacity: 0.75, depthTest: false }),
    );
    this.ball.renderOrder = 6;
    this.ball.userData.handle = this;
    this.ball.userData.grip = true;
    tip.add(this.ball);
  }

  // carries colours the handle of a foot: grey is in the air.
  carries(yes: boolean) {
    this.colour = yes ? handleColour : freeColour;
    this.ball.material.color.set(this.colour);
  }

  heat(hot: boolean) {
    this.ball.material.color.set(hot ? hotColour : this.colour);
  }
}

const clickSlack = 4; // px that a click may wander

export class Grabber {
  private figure: Figure | undefined;
  private rings: Ring[] = [];
  private handles: Handle[] = [];
  private held: ((event: PointerEvent) => void) | undefined;
  private down = { x: 0, y: 0 };
  private hot: Ring | Handle | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly grips: Grips,
  ) {
    const canvas = stage.renderer.domElement;
    canvas.addEventListener("pointerdown", (e) => this.grab(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => (this.held ? this.held(e) : this.hover(e)));
    for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, (e) => this.release(e));
  }

  // equip gives a figure rings for some joints and handles for its chains.
  equip(figure: Figure, joints: JointInfo[], chains: ChainInfo[], size: number) {
    for (const ring of this.rings) ring.group.removeFromParent();
    for (const handle of this.handles) handle.ball.removeFromParent();
    this.figure = figure;
    this.hot = undefined;
    this.rings = joints.flatMap((info) => {
      const joint = figure.joint(info.name);
      if (!joint || (joint.jointType !== "revolute" && joint.jointType !== "continuous")) return [];
      const ring = new Ring(info, joint, size * 0.17);
      joint.parent?.add(ring.group);
      return [ring];
    });
    this.handles = chains.flatMap((chain, i) => {
      const tip = figure.robot.links[chain.tip];
      const first = chains.findIndex((c) => c.tip === chain.tip) === i; // one handle is enough
      return tip && first ? [new Handle(chain, tip, size * 0.045)] : [];
    });
    this.stage.touch();
  }

  // carry shows which chains carry; chains that cannot stand keep their colour.
  carry(chains: readonly string[]) {
    for (const h of this.handles) h.carries(h.chain.support === "" || chains.includes(h.chain.name));
    this.stage.touch();
  }

  // show lights the ring of a joint, if it has one.
  show(joint: string) {
    for (const ring of this.rings) ring.heat(ring.info.name === joint || ring === this.hot);
    this.stage.touch();
  }

  refresh() {
    for (const ring of this.rings) ring.show(ring.joint.angle as number);
  }

  // places returns where on the page each ring and handle can be grabbed.
  places(): Grip[] {
    return [
      ...this.rings.map((r) => ({ name: r.info.name, label: `Ring of ${r.info.name}`, ...this.stage.project(r.at(r.joint.angle as number)) })),
      ...this.handles.map((h) => ({ name: h.chain.name, label: `Handle of ${h.chain.name}`, ...this.stage.project(h.ball.getWorldPosition(new THREE.Vector3())) })),
    ];
  }

  // nudge moves what has that name as a small drag of the mouse would: a ring by an
  // angle per step right, a handle along the picture.
  nudge(name: string, right: number, up: number, fine: boolean) {
    const ring = this.rings.find((r) => r.info.name === name);
    if (ring) return this.grips.turn(ring.info, ring.bounded((ring.joint.angle as number) + (right + up) * (fine ? 0.01 : 0.05)));
    const handle = this.handles.find((h) => h.chain.name === name);
    if (!handle) return;
    const by = new THREE.Vector3(right, up, 0).multiplyScalar(fine ? 0.002 : 0.01).applyQuaternion(this.stage.camera.quaternion);
    this.grips.pull(handle.chain, handle.ball.getWorldPosition(new THREE.Vector3()).add(by));
  }

  private pick(event: PointerEvent): { ring?: Ring; handle?: Handle } {
    const targets = [...this.handles.map((h) => h.ball), ...this.rings.flatMap((r) => r.group.children)];
    const hits = this.stage.ray(event).intersectObjects(targets, false);
    const handle = hits.find((h) => h.object.userData.handle)?.object.userData.handle as Handle | undefined;
    if (handle) return { handle };
    // rings overlap: the one whose value is pointed at comes first
    const needle = this.rings.find((r) => {
      const at = this.stage.project(r.at(r.joint.angle as number));
      return Math.hypot(at.x - event.clientX, at.y - event.clientY) < 9;
    });
    if (needle) return { ring: needle };
    return { ring: hits.find((h) => h.object.userData.ring)?.object.userData.ring as Ring | undefined };
  }

  private hover(event: PointerEvent) {
    const { ring, handle } = this.pick(event);
    const hot = handle ?? ring;
    if (hot === this.hot) return;
    this.hot?.heat(false);
    hot?.heat(true);
    this.hot = hot;
    this.stage.renderer.domElement.style.cursor = hot ? "grab" : "";
    this.stage.touch();
  }

  private grab(event: PointerEvent) {
    this.down = { x: event.clientX, y: event.clientY };
    const { ring, handle } = this.pick(event);
    if (!ring && !handle) return;
    event.stopImmediatePropagation(); // the view shall not turn as well
    this.stage.renderer.domElement.setPointerCapture(event.pointerId);
    this.held = ring ? this.turning(ring, event) : this.pulling(handle!);
  }

  private turning(ring: Ring, event: PointerEvent) {
    let last = ring.angle(this.stage.ray(event).ray);
    let value = ring.joint.angle as number;
    return (move: PointerEvent) => {
      const now = ring.angle(this.stage.ray(move).ray);
      if (now === undefined || last === undefined) {
        last = now;
        return;
      }
      value += Math.atan2(Math.sin(now - last), Math.cos(now - last)); // the short way round
      last = now;
      this.grips.turn(ring.info, ring.bounded(value), move);
    };
  }

  private pulling(handle: Handle) {
    const from = handle.ball.getWorldPosition(new THREE.Vector3());
    const facing = this.stage.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, from);
    return (move: PointerEvent) => {
      const target = this.stage.ray(move).ray.intersectPlane(plane, new THREE.Vector3());
      if (target) this.grips.pull(handle.chain, target);
    };
  }

  private release(event: PointerEvent) {
    if (this.held) {
      this.held = undefined;
      this.grips.released();
      this.stage.renderer.domElement.releasePointerCapture(event.pointerId);
      return;
    }
    if (Math.hypot(event.clientX - this.down.x, event.clientY - this.down.y) > clickSlack || !this.figure) return;
    let part: THREE.Object3D | null = this.stage.ray(event).intersectObject(this.figure.robot, true)[0]?.object ?? null;
    while (part && !("isURDFLink" in part)) part = part.parent;
    if (part) this.grips.touched(part.name);
  }
}
