// A robot on the stage: solid, see-through or as an outline; what has no torque is amber, and
// joints may have colours.
import * as THREE from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import URDFLoader, { type URDFJoint, type URDFRobot } from "urdf-loader";
import type { Transform } from "../ros/messages";
import { readMesh } from "./meshes";
import { outline } from "./outline";
import { bones, reach, shaped } from "./skeleton";

export type Look = "solid" | "overlay" | "ghost";

const overlay = { tint: 0xe8833a, opacity: 0.45 };
const amber = { tint: 0xffc21f, glow: 0x6a4a00, opacity: 0.92 }; // limp

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
  readonly unread: string[] = []; // files of shapes that could not be shown
  private readonly held = new Map<THREE.Mesh, THREE.Material | THREE.Material[]>(); // what is painted, as it was
  private readonly coats = new Map<THREE.Material, THREE.ColorRepresentation>();
  loaded: (() => void) | undefined; // is called when files that came later are all there

  // made of a description, or of a robot that is one already
  constructor(
    private readonly urdf: string,
    private readonly plain: boolean,
    private readonly look: Look = "solid",
    robot?: URDFRobot,
  ) {
    this.robot = robot ?? this.read(look);
    if (look !== "solid") dress(this.robot, look, plain);
  }

  // read makes a robot of visual shapes; links whose shapes are not there show what
  // collisions are computed with, and without that either their frames.
  private read(look: Look): URDFRobot {
    const { robot, end } = this.parse(this.urdf, look, () => this.fill(robot, look));
    robot.updateMatrixWorld(true);
    for (const link of Object.values(robot.links)) weld(link, this.plain);
    end();
    return robot;
  }

  private fill(robot: URDFRobot, look: Look) {
    const tree = new DOMParser().parseFromString(this.urdf, "text/xml");
    const lacking = new Set<string>();
    for (const link of tree.querySelectorAll("robot > link")) {
      const name = link.getAttribute("name") ?? "";
      const seen = robot.links[name] && shaped(robot.links[name]);
      if (!seen && link.querySelector("visual, collision")) lacking.add(name);
      for (const shape of link.querySelectorAll(seen ? "visual, collision" : "visual")) shape.remove();
    }
    const rest = () => {
      const frames = !Object.values(robot.links).some(shaped);
      if (frames || [...lacking].some((name) => !shaped(robot.links[name]!))) bones(robot, reach(robot), frames ? undefined : lacking);
      if (look !== "solid") dress(robot, look, this.plain);
      this.loaded?.();
    };
    if (lacking.size === 0) return rest();
    const solid = new THREE.MeshLambertMaterial({ color: 0xb9c2d0 });
    const { robot: shapes, end } = this.parse(new XMLSerializer().serializeToString(tree), look, () => {
      for (const name of lacking) {
        const parts = shapes.links[name]?.children.filter((c) => "isURDFCollider" in c) ?? [];
        for (const part of parts) part.traverse((p) => p instanceof THREE.Mesh && ((p.material = solid), (p.castShadow = true)));
        if (parts.length > 0) robot.links[name]?.add(...parts);
      }
      rest();
    }, true);
    end();
  }

  // parse reads a description; then is called when end was, and all of its files were
  // read.
  private parse(urdf: string, look: Look, then: () => void, collision = false): { robot: URDFRobot; end: () => void } {
    const loader = new URDFLoader();
    loader.parseCollision = collision;
    loader.parseVisual = !collision;
    let waiting = 1;
    const end = () => {
      if (--waiting === 0) then();
    };
    loader.loadMeshCb = (path, manager, material, done) => {
      waiting++;
      const give = (mesh: THREE.Object3D) => {
        if (look !== "solid") dress(mesh, look, this.plain);
        done(mesh);
        end();
      };
      readMesh(loader, path, manager, material, give, (failed) => this.unread.push(failed));
    };
    return { robot: loader.parse(urdf), end };
  }

  // as returns the same robot with another look. Shapes are shared; meshes come later
  // than the robot, so that with them each reads its own.
  as(look: Look): Figure {
    const own = /<mesh\b/.test(this.urdf) ? undefined : (this.robot.clone() as URDFRobot);
    return new Figure(this.urdf, this.plain, look, own);
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

  // paint makes what some joints move amber, which are limp, and gives others a colour, up to the
  // next joint.
  paint(limp: ReadonlySet<string>, colours: ReadonlyMap<string, string>) {
    for (const [part, own] of this.held) if (this.coats.has(part.material as THREE.Material)) part.material = own;
    this.held.clear();
    if (this.look === "ghost") return;
    for (const [name, joint] of Object.entries(this.robot.joints)) {
      const colour = colours.get(name);
      const coat = limp.has(name) ? this.coat(amber.tint, amber.glow) : colour ? this.coat(colour, 0) : undefined;
      if (!coat) continue;
      for (const part of carried(joint)) {
        this.held.set(part, part.material);
        part.material = coat;
      }
    }
  }

  private coat(colour: THREE.ColorRepresentation, glow: number): THREE.Material {
    for (const [known, of] of this.coats) if (of === colour) return known;
    const clear = this.look !== "solid";
    const made = new THREE.MeshLambertMaterial({ color: colour, emissive: glow, transparent: clear, opacity: clear ? amber.opacity : 1 });
    this.coats.set(made, colour);
    return made;
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

  // boxes are those of its shapes: nearer to what is seen than one about all of it.
  boxes(): THREE.Box3[] {
    this.robot.updateMatrixWorld(true);
    const shapes = shapesOf(this.robot).map((part) => new THREE.Box3().setFromObject(part));
    const all = shapes.filter((box) => !box.isEmpty() && Number.isFinite(box.min.length() + box.max.length()));
    return all.length > 0 ? all : [this.bounds()];
  }

  bounds(): THREE.Box3 {
    this.robot.updateMatrixWorld(true);
    const box = new THREE.Box3().setFromObject(this.robot, true);
    if (!box.isEmpty() && Number.isFinite(box.min.length() + box.max.length())) return box;
    const half = reach(this.robot) / 2; // nothing is seen: some room about the base
    return new THREE.Box3().setFromCenterAndSize(this.robot.position.clone(), new THREE.Vector3().setScalar(2 * half));
  }
}

// shapesOf lists the shapes of a robot, without what it is grabbed by.
const shapesOf = (from: THREE.Object3D): THREE.Mesh[] =>
  from.children.flatMap((c) => (c.userData.grip ? [] : c instanceof THREE.Mesh ? [c, ...shapesOf(c)] : shapesOf(c)));

// carried lists the shapes that a joint moves, not those that the next joint moves.
function carried(from: THREE.Object3D): THREE.Mesh[] {
  return from.children.flatMap((c) => {
    if (c.userData.grip || ("isURDFJoint" in c && (c as URDFJoint).jointType !== "fixed")) return [];
    return c instanceof THREE.Mesh ? [c, ...carried(c)] : carried(c);
  });
}

// dress gives all parts the colour of a look, and lets what is behind them be seen.
function dress(whole: THREE.Object3D, look: Look, plain: boolean) {
  if (look === "ghost") return outline(whole);
  const { tint, opacity } = overlay;
  const materials = new Map<number, THREE.Material>(); // by opacity
  whole.traverse((part) => {
    if (!(part instanceof THREE.Mesh)) return;
    const own = (Array.isArray(part.material) ? part.material[0] : part.material) as THREE.Material;
    const seen = opacity * own.opacity;
    if (!materials.has(seen)) materials.set(seen, paint(plain, { color: tint, opacity: seen, transparent: true, depthWrite: false }));
    part.material = materials.get(seen)!;
    part.castShadow = part.receiveShadow = false;
  });
}

function paint(plain: boolean, of: THREE.MeshLambertMaterialParameters): THREE.Material {
  return plain ? new THREE.MeshLambertMaterial(of) : new THREE.MeshPhysicalMaterial({ ...of, roughness: 0.5, clearcoat: 0.3, clearcoatRoughness: 0.4 });
}

// weld makes one mesh of the basic shapes of a link that are seen alike: a robot of
// hundreds of shapes is drawn in a tenth of the time.
function weld(link: THREE.Object3D, plain: boolean) {
  const toLink = link.matrixWorld.clone().invert();
  const alike = new Map<number, THREE.BufferGeometry[]>(); // by opacity
  const welded: THREE.Object3D[] = [];
  for (const visual of link.children.filter((c) => "isURDFVisual" in c)) {
    visual.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      const own = (Array.isArray(part.material) ? part.material[0] : part.material) as THREE.MeshPhongMaterial;
      const shape = simpler(part.geometry as THREE.BufferGeometry, plain);
      if (!shape) return;
      shape.applyMatrix4(toLink.clone().multiply(part.matrixWorld));
      const colours = new Float32Array(3 * shape.attributes.position!.count);
      for (let i = 0; i < colours.length; i += 3) own.color.toArray(colours, i);
      shape.setAttribute("color", new THREE.BufferAttribute(colours, 3));
      alike.set(own.opacity, [...(alike.get(own.opacity) ?? []), shape]);
      welded.push(part);
    });
  }
  for (const part of welded) part.removeFromParent();
  for (const [opacity, shapes] of alike) {
    const mesh = new THREE.Mesh(mergeGeometries(shapes), paint(plain, { vertexColors: true, opacity, transparent: opacity < 1 }));
    mesh.castShadow = mesh.receiveShadow = true;
    link.add(mesh);
  }
}
