// The page side of the renderer: one robot on a floor, three lights.
import * as THREE from 'three';
import URDFLoader from 'urdf-loader';

// show draws a robot standing on the floor.
window.show = ({ urdf, joints, view, width, height, pitch, collision }) => {
  const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.setPixelRatio(2); // the screenshot halves it: smooth edges
  renderer.setSize(width, height);
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  renderer.toneMapping = THREE.NeutralToneMapping;
  document.body.replaceChildren(renderer.domElement);

  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0xe9eef1);
  const robot = load(urdf, joints, collision);
  robot.rotation.y = pitch;
  const box = stand(robot);
  scene.add(robot);

  const centre = box.getCenter(new THREE.Vector3());
  const size = box.getBoundingSphere(new THREE.Sphere()).radius;
  light(scene, centre, size);
  const floor = new THREE.Mesh(new THREE.PlaneGeometry(20 * size, 20 * size), new THREE.ShadowMaterial({ opacity: 0.22 }));
  floor.receiveShadow = true;
  scene.add(floor);

  const [azimuth, elevation] = view.map(THREE.MathUtils.degToRad);
  const camera = new THREE.PerspectiveCamera(33, width / height, 0.001, 100);
  camera.up.set(0, 0, 1);
  camera.position.setFromSphericalCoords(3.4 * size / (view[2] ?? 1), Math.PI / 2 - elevation, azimuth + Math.PI / 2);
  camera.position.applyAxisAngle(new THREE.Vector3(1, 0, 0), Math.PI / 2).add(centre);
  camera.lookAt(centre);
  renderer.render(scene, camera);
};

function load(urdf, joints, collision) {
  const loader = new URDFLoader();
  loader.parseVisual = !collision;
  loader.parseCollision = collision;
  const robot = loader.parse(urdf);
  for (const [name, value] of Object.entries(joints)) robot.setJointValue(name, value);
  robot.traverse(part => {
    if (!part.isMesh) return;
    const { color, opacity } = part.material;
    part.material = new THREE.MeshPhysicalMaterial({ color, opacity, transparent: opacity < 1, roughness: 0.5, clearcoat: 0.35, clearcoatRoughness: 0.4 });
    part.castShadow = part.receiveShadow = true;
  });
  return robot;
}

// stand puts the lowest point on the floor and returns the robot's bounds.
function stand(robot) {
  const bounds = () => {
    robot.updateMatrixWorld(true);
    return new THREE.Box3().setFromObject(robot, true);
  };
  robot.position.z -= bounds().min.z;
  return bounds();
}

function light(scene, centre, size) {
  scene.add(new THREE.HemisphereLight(0xffffff, 0xb8c4c8, 1.6));
  const key = new THREE.DirectionalLight(0xfff4e6, 2.6);
  key.position.copy(centre).addScaledVector(new THREE.Vector3(1.2, 1.6, 2.6), 2 * size);
  key.target.position.copy(centre);
  key.castShadow = true;
  key.shadow.mapSize.set(2048, 2048);
  key.shadow.radius = 6;
  key.shadow.normalBias = 0.004 * size;
  Object.assign(key.shadow.camera, { left: -2 * size, right: 2 * size, top: 2 * size, bottom: -2 * size, near: 0.01, far: 12 * size });
  const fill = new THREE.DirectionalLight(0xdfeaff, 0.8);
  fill.position.set(-2, -1.5, 1.5);
  scene.add(key, key.target, fill);
}
