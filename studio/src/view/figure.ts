// A robot on the stage: solid, see-through or marked.
import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import URDFLoader, { type URDFJoint, type URDFRobot } from "urdf-loader";
import type { Transform } from "../ros/messages";

export type Look = "solid" | "overlay" | "ghost";

const looks: Record<Look, { tint?: number; opacity: number }> = {
  solid: { opacity: 1 },
  overlay: { tint: 0xe8833a, opacity: 0.45 },
  ghost: { tint: 0x6b8ae8, opacity: 0.35 },
};

// simpler returns a shape with fewer triangles than the loader makes, or undefined
// for what is no basic shape.
function simpler(shape: THREE.BufferGeometry, plain: boolean): THREE.BufferGeometry | undefined {
  const around = plain ? 12 : 22;
  if (shape instanceof THREE.SphereGeometry) return new THREE.SphereGeometry(1, around, Math.round(around * 0.7));
  if (shape instanceof THREE.CylinderGeometry) return new THREE.CylinderGeometry(1, 1, 1, around);
  if (shape instanceof THREE.BoxGeometry) return new THREE.BoxGeometry(1, 1, 1);
  return undefined;
}

export class Figure {
  readonly robot: URDFRobot;

  constructor(urdf: string, look: Look, plain: boolean) {
    const loader = new URDFLoader();
    loader.parseCollision = false;
    this.robot = loader.parse(urdf);
    this.robot.updateMatrixWorld(true);
    for (const link of Object.values(this.robot.links)) weld(link, look, plain);
  }

  // pose turns joints and places the base.
  pose(names: readonly string[], positions: readonly number[], base?: Transform) {
    names.forEach((name, i) => {
      const q = positions[i];
      if (q !== undefined && this.robot.joints[name]) this.robot.setJointValue(name, q);
    });
    if (base) {
      const { translation: t, rotation: r } = base;
      this.robot.position.set(t.x, t.y, t.z);
      this.robot.quaternion.set(r.x, r.y, r.z, r.w);
    }
  }

  joint(name: string): URDFJoint | undefined {
    return this.robot.joints[name];
  }

  // axes tells about which axis of the base each joint turns, in words where it is
  // one of them. To be asked before the figure is posed.
  axes(): Record<string, string> {
    this.robot.updateMatrixWorld(true);
    const words: Record<string, string> = {};
    for (const [name, joint] of Object.entries(this.robot.joints)) {
      if (joint.jointType === "fixed") continue;
      const axis = joint.axis.clone().transformDirection(joint.matrixWorld);
      const most = (["x", "y", "z"] as const).find((k) => Math.abs(axis[k]) > 0.9);
      const along = joint.jointType === "prismatic";
      if (most) words[name] = along ? `along ${most}` : { x: "roll", y: "pitch", z: "yaw" }[most];
    }
    return words;
  }

  bounds(): THREE.Box3 {
    this.robot.updateMatrixWorld(true);
    return new THREE.Box3().setFromObject(this.robot, true);
  }
}

// weld makes one mesh of the basic shapes of a link that are seen alike: a robot of
// hundreds of shapes is drawn in a tenth of the time.
function weld(link: THREE.Object3D, look: Look, plain: boolean) {
  const { tint, opacity } = looks[look];
  const toLink = link.matrixWorld.clone().invert();
  const alike = new Map<number, THREE.BufferGeometry[]>(); // by opacity
  for (const visual of link.children.filter((c) => "isURDFVisual" in c)) {
    visual.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      const own = (Array.isArray(part.material) ? part.material[0] : part.material) as THREE.MeshPhongMaterial;
      const shape = simpler(part.geometry as THREE.BufferGeometry, plain);
      if (!shape) return;
      shape.applyMatrix4(toLink.clone().multiply(part.matrixWorld));
      const colour = new THREE.Color(tint ?? own.color);
      const count = shape.attributes.position!.count;
      shape.setAttribute("color", new THREE.Float32BufferAttribute(Array.from({ length: count }, () => colour.toArray()).flat(), 3));
      const seen = opacity * own.opacity;
      alike.set(seen, [...(alike.get(seen) ?? []), shape]);
      part.visible = false;
    });
  }
  for (const [seen, shapes] of alike) {
    const common = { vertexColors: true, opacity: seen, transparent: seen < 1, depthWrite: opacity === 1 };
    const material = plain
      ? new THREE.MeshLambertMaterial(common)
      : new THREE.MeshPhysicalMaterial({ ...common, roughness: 0.5, clearcoat: 0.3, clearcoatRoughness: 0.4 });
    const mesh = new THREE.Mesh(mergeGeometries(shapes), material);
    mesh.castShadow = mesh.receiveShadow = opacity === 1;
    link.add(mesh);
  }
}
