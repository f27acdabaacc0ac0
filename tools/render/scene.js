// The page side of the renderer: one robot on a floor, three lights.
import * as THREE from 'three';
import URDFLoader from 'urdf-loader';

// show draws a robot standing on the floor.
window.show = ({ urdf, joints, view, width, height, pitch, collision }) => {
  const renderer = canvas(width, height);
  const scene = new THREE.Scene();
  const robot = load(urdf, collision);
  pose(robot, joints);
  robot.rotation.y = pitch;
  const box = stand(robot);
  scene.add(robot);
  renderer.render(scene, stage(scene, box, view, width / height));
};

// strip draws the frames of a motion side by side, all seen from the same place.
// The base is where each frame says, so hooves that stand stay on the floor.
window.strip = ({ urdf, frames, view, width, height }) => {
  const cell = width / frames.length;
  const renderer = canvas(width, height);
  const scene = new THREE.Scene();
  const robot = load(urdf, false);
  scene.add(robot);
  const box = new THREE.Box3();
  for (const frame of frames) box.union(place(robot, frame));
  const camera = stage(scene, box, view, cell / height, 1024);
  renderer.setScissorTest(true);
  frames.forEach((frame, i) => {
    place(robot, frame);
    renderer.setViewport(i * cell, 0, cell, height);
    renderer.setScissor(i * cell, 0, cell, height);
    renderer.render(scene, camera);
    const caption = document.createElement('span');
    caption.textContent = frame.time.toFixed(1) + ' s';
    caption.style.left = `${i * cell + 6}px`;
    document.body.append(caption);
  });
};

let drawer; // of the picture before

function canvas(width, height) {
  drawer?.forceContextLoss(); // a browser has room for a few only
  const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.setPixelRatio(2); // the screenshot halves it: smooth edges
  renderer.setSize(width, height);
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  renderer.toneMapping = THREE.NeutralToneMapping;
  document.body.replaceChildren(renderer.domElement);
  drawer = renderer;
  return renderer;
}

// stage puts lights and a floor around what has the given bounds, and returns the
// camera that looks at it.
function stage(scene, box, view, aspect, shadow = 2048) {
  scene.background = new THREE.Color(0xe9eef1);
  const centre = box.getCenter(new THREE.Vector3());
  const size = box.getBoundingSphere(new THREE.Sphere()).radius;
  light(scene, centre, size, shadow);
  const floor = new THREE.Mesh(new THREE.PlaneGeometry(20 * size, 20 * size), new THREE.ShadowMaterial({ opacity: 0.22 }));
  floor.receiveShadow = true;
  scene.add(floor);

  const [azimuth, elevation] = view.map(THREE.MathUtils.degToRad);
  const camera = new THREE.PerspectiveCamera(33, aspect, 0.001, 100);
  camera.up.set(0, 0, 1);
  camera.position.setFromSphericalCoords(3.4 * size / (view[2] ?? 1), Math.PI / 2 - elevation, azimuth + Math.PI / 2);
  camera.position.applyAxisAngle(new THREE.Vector3(1, 0, 0), Math.PI / 2).add(centre);
  camera.lookAt(centre);
  camera.setViewOffset(1, 1, view[3] ?? 0, view[4] ?? 0, 1, 1);
  return camera;
}

function load(urdf, collision) {
  const loader = new URDFLoader();
  loader.parseVisual = !collision;
  loader.parseCollision = collision;
  const robot = loader.parse(urdf);
  robot.traverse(part => {
    if (!part.isMesh) return;
    const { color, opacity } = part.material;
    part.material = new THREE.MeshPhysicalMaterial({ color, opacity, transparent: opacity < 1, roughness: 0.5, clearcoat: 0.35, clearcoatRoughness: 0.4 });
    part.castShadow = part.receiveShadow = true;
  });
  return robot;
}

function pose(robot, joints) {
  for (const [name, value] of Object.entries(joints)) robot.setJointValue(name, value);
}

// place puts the robot into a frame and returns its bounds.
function place(robot, frame) {
  pose(robot, frame.joints);
  robot.position.fromArray(frame.place);
  robot.quaternion.fromArray(frame.turn);
  return bounds(robot);
}

function bounds(robot) {
  robot.updateMatrixWorld(true);
  return new THREE.Box3().setFromObject(robot, true);
}

// stand puts the lowest point on the floor and returns the robot's bounds.
function stand(robot) {
  robot.position.z -= bounds(robot).min.z;
  return bounds(robot);
}

function light(scene, centre, size, shadow) {
  scene.add(new THREE.HemisphereLight(0xffffff, 0xb8c4c8, 1.6));
  const key = new THREE.DirectionalLight(0xfff4e6, 2.6);
  key.position.copy(centre).addScaledVector(new THREE.Vector3(1.2, 1.6, 2.6), 2 * size);
  key.target.position.copy(centre);
  key.castShadow = true;
  key.shadow.mapSize.set(shadow, shadow);
  key.shadow.radius = 6;
  key.shadow.normalBias = 0.004 * size;
  Object.assign(key.shadow.camera, { left: -2 * size, right: 2 * size, top: 2 * size, bottom: -2 * size, near: 0.01, far: 12 * size });
  const fill = new THREE.DirectionalLight(0xdfeaff, 0.8);
  fill.position.set(-2, -1.5, 1.5);
  scene.add(key, key.target, fill);
}
