// Files of shapes: STL, Collada, OBJ, glTF. What cannot be read is told, and the robot is
// drawn without it.
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { OBJLoader } from "three/addons/loaders/OBJLoader.js";
import type URDFLoader from "urdf-loader";

type Done = (mesh: THREE.Object3D, error?: Error) => void;

const nothing = () => new THREE.Group();

// readMesh reads one file; done is called in any case, with an empty group if there is
// nothing to show.
export function readMesh(loader: URDFLoader, path: string, manager: THREE.LoadingManager, material: THREE.Material, done: Done, failed: (path: string, why: string) => void) {
  const give = (mesh: THREE.Object3D | null | undefined, error?: unknown) => {
    if (!mesh || error) failed(path, error instanceof Error ? error.message : "it cannot be read");
    done(mesh && !error ? mesh : nothing());
  };
  if (path.includes("/mesh/missing/")) return give(null, new Error("it is missing")); // the server said so
  const plainly = (mesh: THREE.Object3D) => {
    mesh.traverse((part) => {
      if (part instanceof THREE.Mesh && material) part.material = material;
    });
    return mesh;
  };
  if (/\.obj$/i.test(path)) new OBJLoader(manager).load(path, (group) => give(plainly(group)), undefined, (e) => give(null, e));
  else if (/\.(gltf|glb)$/i.test(path)) new GLTFLoader(manager).load(path, (gltf) => give(upright(gltf.scene)), undefined, (e) => give(null, e));
  else if (/\.(stl|dae)$/i.test(path)) loader.defaultMeshLoader(path, manager, material, (mesh, e) => give(mesh, e));
  else give(null, new Error("no reader for this kind of file"));
}

// upright turns what glTF has, y up, to z up, as robots have it.
function upright(scene: THREE.Object3D): THREE.Object3D {
  const group = new THREE.Group();
  scene.rotation.x = Math.PI / 2;
  group.add(scene);
  return group;
}
