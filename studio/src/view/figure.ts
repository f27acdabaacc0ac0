// A robot on the stage: solid, see-through or marked.
import * as THREE from "three";
import URDFLoader, { type URDFJoint, type URDFRobot } from "urdf-loader";
import type { Transform } from "../ros/messages";

export type Look = "solid" | "overlay" | "ghost";

const looks: Record<Look, { tint?: number; opacity: number }> = {
  solid: { opacity: 1 },
  overlay: { tint: 0xe8833a, opacity: 0.45 },
  ghost: { tint: 0x6b8ae8, opacity: 0.35 },
};

export class Figure {
  readonly robot: URDFRobot;

  constructor(urdf: string, look: Look) {
    const loader = new URDFLoader();
    loader.parseCollision = false;
    this.robot = loader.parse(urdf);
    const { tint, opacity } = looks[look];
    this.robot.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      const own = (Array.isArray(part.material) ? part.material[0] : part.material) as THREE.MeshPhongMaterial;
      const seen = opacity * (own.opacity ?? 1);
      part.material = new THREE.MeshPhysicalMaterial({
        color: tint ?? own.color,
        opacity: seen,
        transparent: seen < 1,
        depthWrite: opacity === 1,
        roughness: 0.5,
        clearcoat: 0.3,
        clearcoatRoughness: 0.4,
      });
      part.castShadow = part.receiveShadow = opacity === 1;
    });
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

  bounds(): THREE.Box3 {
    this.robot.updateMatrixWorld(true);
    return new THREE.Box3().setFromObject(this.robot, true);
  }
}
