// What acts on a robot with mass: arrows of forces, the centre of mass and the zero-moment
// point; and what it stands on: boxes and a field of heights.
import * as THREE from "three";
import type { PhysicsContact, PhysicsState, PhysicsWorld, Pose, Vector3 } from "../ros/messages";

export const contactColour = 0x1463ff;
export const feltColour = 0xff7a00; // forces that are measured
const betweenColour = 0x8a63d2; // links that touch each other
const pushColour = 0xd8465a;

const vector = (v: Vector3) => new THREE.Vector3(v.x, v.y, v.z);

// Arrow is a shaft with a head, of any length, seen through the robot.
class Arrow {
  readonly group = new THREE.Group();
  private readonly material: THREE.MeshBasicMaterial;
  private readonly shaft: THREE.Mesh;
  private readonly head: THREE.Mesh;

  constructor(private readonly size: number) {
    this.material = new THREE.MeshBasicMaterial({ toneMapped: false, depthTest: false, transparent: true, opacity: 0.9 });
    this.shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.012 * size, 0.012 * size, 1, 10).translate(0, 0.5, 0), this.material);
    this.head = new THREE.Mesh(new THREE.ConeGeometry(0.04 * size, 0.1 * size, 14).translate(0, -0.05 * size, 0), this.material);
    this.group.add(this.shaft, this.head);
    this.group.traverse((part) => (part.renderOrder = 7));
  }

  // show draws a vector from a point on.
  show(from: THREE.Vector3, along: THREE.Vector3, colour: number) {
    const length = along.length();
    this.group.visible = length > 1e-4 * this.size;
    if (!this.group.visible) return;
    const head = Math.min(1, length / (0.2 * this.size));
    this.material.color.set(colour);
    this.group.position.copy(from);
    this.group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.clone().divideScalar(length));
    this.shaft.scale.set(1, Math.max(length - 0.1 * this.size * head, 1e-6), 1);
    this.head.scale.setScalar(head);
    this.head.position.y = length;
  }
}

export interface Force { from: THREE.Vector3; along: THREE.Vector3; colour: number } // along is as long as it is drawn

// Arrows are as many as there are forces.
export class Arrows {
  readonly group = new THREE.Group();
  private readonly arrows: Arrow[] = [];

  constructor(private readonly size: number) {}

  // perNewton is how long the arrow of a newton is: one of half the weight is as long as
  // the robot is large.
  perNewton(weight: number): number {
    return weight > 0 ? (2 * this.size) / weight : 0;
  }

  show(all: readonly Force[]) {
    while (this.arrows.length < all.length) {
      const arrow = new Arrow(this.size);
      this.arrows.push(arrow);
      this.group.add(arrow.group);
    }
    this.arrows.forEach((arrow, i) => {
      const one = all[i];
      if (one) arrow.show(one.from, one.along, one.colour);
      else arrow.group.visible = false;
    });
  }
}

// together sums the forces between two bodies up, each sum where its load is.
function together(contacts: PhysicsContact[]): { other: string; from: THREE.Vector3; along: THREE.Vector3 }[] {
  const sums = new Map<string, { other: string; from: THREE.Vector3; along: THREE.Vector3; size: number }>();
  for (const c of contacts) {
    const key = `${c.link} ${c.other}`;
    const sum = sums.get(key) ?? { other: c.other, from: new THREE.Vector3(), along: new THREE.Vector3(), size: 0 };
    const force = vector(c.force);
    sum.from.addScaledVector(vector(c.point), force.length());
    sum.along.add(force);
    sum.size += force.length();
    sums.set(key, sum);
  }
  return [...sums.values()].filter((s) => s.size > 0).map((s) => ({ ...s, from: s.from.divideScalar(s.size) }));
}

// ball is the usual sign of a centre of mass: quarters of two colours.
function ball(radius: number): THREE.Mesh {
  const shape = new THREE.SphereGeometry(radius, 16, 12).toNonIndexed();
  const at = shape.attributes.position!;
  const colours = new Float32Array(3 * at.count);
  for (let i = 0; i < at.count; i += 3) {
    const middle = [0, 1, 2].map((k) => (at.getComponent(i, k) + at.getComponent(i + 1, k) + at.getComponent(i + 2, k)) / 3);
    const dark = Math.sign(middle[0]!) * Math.sign(middle[1]!) * Math.sign(middle[2]!) > 0;
    colours.fill(dark ? 0.02 : 0.95, 3 * i, 3 * i + 9);
  }
  shape.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  const mesh = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
  mesh.renderOrder = 8;
  return mesh;
}

export class Forces {
  readonly group = new THREE.Group(); // where the robot is drawn
  private readonly arrows: Arrows;
  private readonly aim: Arrow;
  private readonly com: THREE.Mesh;
  private readonly zmp: THREE.Mesh;

  constructor(size: number) {
    this.com = ball(0.04 * size);
    this.zmp = new THREE.Mesh(
      new THREE.RingGeometry(0.02 * size, 0.03 * size, 24),
      new THREE.MeshBasicMaterial({ color: pushColour, depthTest: false, transparent: true, side: THREE.DoubleSide }),
    );
    this.zmp.renderOrder = 7;
    this.aim = new Arrow(size);
    this.aim.group.visible = false;
    this.arrows = new Arrows(size);
    this.group.add(this.com, this.zmp, this.aim.group, this.arrows.group);
  }

  show(s: PhysicsState | undefined, weight: number, forces: boolean, com: boolean) {
    const scale = this.arrows.perNewton(weight);
    const all = !s || !forces ? [] : [
      ...together(s.contacts).map((c) => ({ ...c, colour: c.other === "" ? contactColour : betweenColour })),
      ...s.pushes.map((p) => ({ from: vector(p.point).addScaledVector(vector(p.force), -scale), along: vector(p.force), colour: pushColour })),
    ];
    this.arrows.show(all.map((f) => ({ ...f, along: f.along.multiplyScalar(scale) })));
    this.com.visible = com && s !== undefined;
    this.zmp.visible = com && (s?.carried ?? false);
    if (!s) return;
    this.com.position.copy(vector(s.com));
    this.zmp.position.set(s.zmp.x, s.zmp.y, 0.003);
  }

  // point draws what a drag aims at: a push that ends where the body is touched, or the
  // spring to where it is drawn.
  point(from?: THREE.Vector3, to?: THREE.Vector3) {
    this.aim.group.visible = false;
    if (from && to) this.aim.show(from, to.clone().sub(from), pushColour);
  }
}

// slope returns how a ground is turned: the plane z = 0 by roll, then pitch, as URDF's rpy.
export const slope = (roll: number, pitch: number) => new THREE.Quaternion().setFromEuler(new THREE.Euler(roll, pitch, 0, "ZYX"));

function place(part: THREE.Object3D, { position: p, orientation: o }: Pose) {
  part.position.set(p.x, p.y, p.z);
  part.quaternion.set(o.x, o.y, o.z, o.w);
}

// solids draws what stays of a ground: boxes stand in the world, heights on the plane.
export function solids(world: PhysicsWorld): { boxes: THREE.Group; heights: THREE.Group } {
  const material = new THREE.MeshLambertMaterial({ color: 0xa9b3bf, side: THREE.DoubleSide });
  const [boxes, heights] = [new THREE.Group(), new THREE.Group()];
  for (const box of world.boxes) {
    const mesh = new THREE.Mesh(new THREE.BoxGeometry(box.size.x, box.size.y, box.size.z), material);
    place(mesh, box.pose);
    mesh.receiveShadow = mesh.castShadow = true;
    boxes.add(mesh);
  }
  const { cell, columns, origin } = world;
  if (world.heights.length > 0 && columns > 1) {
    const rows = world.heights.length / columns;
    const points = world.heights.flatMap((z, i) => [origin.x + Math.floor(i / columns) * cell, origin.y + (i % columns) * cell, z]);
    const triangles: number[] = [];
    for (let i = 0; i + 1 < rows; i++) {
      for (let j = 0; j + 1 < columns; j++) {
        const k = i * columns + j;
        const flat = [k, k + 1, k + columns, k + columns + 1].every((n) => Math.abs(world.heights[n]!) < 1e-6);
        if (!flat) triangles.push(k, k + columns, k + 1, k + 1, k + columns, k + columns + 1);
      }
    }
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    shape.setIndex(triangles);
    shape.computeVertexNormals();
    const mesh = new THREE.Mesh(shape, material);
    mesh.receiveShadow = true;
    heights.add(mesh);
  }
  return { boxes, heights };
}
