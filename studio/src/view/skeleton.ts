// A robot without shapes is drawn as its frames: a ball where links begin, a bone to each
// link that hangs on it.
import * as THREE from "three";
import type { URDFRobot } from "urdf-loader";

const boneColour = 0x8fa3c4;
const jointColour = 0x5b6f96;

// shaped tells whether something of a link, not of those that hang on it, can be seen.
export function shaped(link: THREE.Object3D): boolean {
  return own(link).some((part) => part instanceof THREE.Mesh && part.visible && (part.geometry as THREE.BufferGeometry).attributes.position!.count > 0);
}

function own(link: THREE.Object3D): THREE.Object3D[] {
  return link.children.filter((c) => !("isURDFJoint" in c) && c.visible).flatMap((c) => [c, ...own(c)]);
}

// bones draws links that have no shape, all or some of them. reach is how large the robot
// is, m.
export function bones(robot: URDFRobot, reach: number, some?: ReadonlySet<string>) {
  robot.updateMatrixWorld(true);
  const thick = Math.max(reach * 0.02, 1e-3);
  const bone = new THREE.MeshLambertMaterial({ color: boneColour });
  const joint = new THREE.MeshLambertMaterial({ color: jointColour });
  for (const [name, link] of Object.entries(robot.links)) {
    if (shaped(link) || (some && !some.has(name))) continue;
    const ball = new THREE.Mesh(new THREE.SphereGeometry(thick * 1.5, 12, 8), joint);
    ball.castShadow = true;
    const parts: THREE.Object3D[] = [ball];
    for (const next of link.children.filter((c) => "isURDFJoint" in c)) {
      const to = next.position;
      if (to.length() < thick) continue;
      const stick = new THREE.Mesh(new THREE.CylinderGeometry(thick * 0.6, thick, to.length(), 8), bone);
      stick.position.copy(to).multiplyScalar(0.5);
      stick.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), to.clone().normalize());
      stick.castShadow = true;
      parts.push(stick);
    }
    link.add(...parts);
  }
}

// reach is how far the frames of a robot are apart, m; a robot of one frame has some size,
// too.
export function reach(robot: URDFRobot): number {
  robot.updateMatrixWorld(true);
  const box = new THREE.Box3();
  for (const link of Object.values(robot.links)) box.expandByPoint(link.getWorldPosition(new THREE.Vector3()));
  const size = box.isEmpty() ? 0 : box.getSize(new THREE.Vector3()).length();
  return Number.isFinite(size) && size > 1e-3 ? size : 0.2;
}
