// The stage of the 3-D view: camera, lights, floor, and a picture only when
// something changed.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { setPicture } from "./outline";

// software tells whether pictures are computed by the processor: then they must be
// few and simple.
function software(gl: WebGLRenderingContext | WebGL2RenderingContext): boolean {
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = named ? String(gl.getParameter(named.UNMASKED_RENDERER_WEBGL)) : "";
  return /swiftshader|llvmpipe|software/i.test(renderer);
}

const fewest = 90; // ms between pictures that the processor computes
const patience = 1000; // ms that the first picture waits for a robot to be in it

export interface Colours { background: number; grid: number; gridCentre: number }

const [cell, metre] = [0.1, 10]; // of the floor: m between lines, and lines between those of another colour

// squares draws the lines of the floor. Each is made of short ones: some renderers leave a line
// out that begins behind the camera.
function squares({ grid, gridCentre }: Colours): THREE.LineSegments {
  const half = 20;
  const [ends, colours]: [number[], number[]] = [[], []];
  for (let i = -half; i <= half; i++) {
    const { r, g, b } = new THREE.Color(i % metre === 0 ? gridCentre : grid);
    for (let k = -half; k < half; k++) {
      const [at, from, to] = [i * cell, k * cell, (k + 1) * cell];
      ends.push(from, at, 0, to, at, 0, at, from, 0, at, to, 0);
      for (let n = 0; n < 4; n++) colours.push(r, g, b);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(ends, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true, toneMapped: false }));
}

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(35, 1, 0.005, 200);
  readonly renderer: THREE.WebGLRenderer;
  readonly orbit: OrbitControls;
  private readonly key = new THREE.DirectionalLight(0xfff4e6, 2.4);
  private grid = new THREE.LineSegments();
  readonly ground = new THREE.Group(); // the floor and what lies on it
  readonly plain: boolean;
  drawn = () => {}; // after every picture
  private frame = 0;
  private last = 0;
  private empty = true;
  private turned = false; // by a hand: the view is no longer chosen by the page
  private framed: THREE.Box3[] = [];
  private followed: THREE.Vector3 | undefined; // where the robot is that the view goes along with
  private slack = 0; // m that it may go before the view does
  private readonly from = new THREE.Vector3(0.8, 1, 0.45).normalize(); // where the page looks from
  private home = { position: new THREE.Vector3(1, -1, 0.6), target: new THREE.Vector3() };
  private readonly watcher: ResizeObserver;

  constructor(private readonly holder: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, stencil: true });
    this.plain = software(this.renderer.getContext());
    this.renderer.setPixelRatio(this.plain ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    holder.append(this.renderer.domElement);

    this.camera.up.set(0, 0, 1); // as the robot: x forward, y left, z up
    this.orbit = new OrbitControls(this.camera, this.renderer.domElement);
    this.orbit.addEventListener("change", () => this.touch());
    this.orbit.addEventListener("start", () => (this.turned = true));

    this.key.castShadow = true;
    this.key.shadow.mapSize.setScalar(this.plain ? 512 : 1024);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0xb8c4c8, 1.5), this.key, this.key.target);
    const fill = new THREE.DirectionalLight(0xdfeaff, 0.7);
    fill.position.set(-2, -1.5, 1.5);
    const floor = new THREE.Mesh(new THREE.PlaneGeometry(40, 40), new THREE.ShadowMaterial({ opacity: 0.18 }));
    floor.receiveShadow = true;
    this.ground.add(floor);
    this.scene.add(fill, this.ground);

    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(holder);
    setTimeout(() => this.begin(), patience);
  }

  private begin() {
    this.empty = false;
    this.touch();
  }

  // touch asks for a new picture; moved says that shadows moved, too.
  touch(moved = false) {
    if (moved) this.renderer.shadowMap.needsUpdate = true;
    if (this.empty) return;
    this.frame ||= requestAnimationFrame((now) => this.draw(now));
  }

  private draw(now: number) {
    this.frame = 0;
    if (this.plain && now - this.last < fewest) return this.touch();
    this.last = now;
    this.renderer.render(this.scene, this.camera);
    this.drawn();
  }

  paint(c: Colours) {
    this.scene.background = new THREE.Color(c.background);
    const { scale, position } = this.grid;
    this.ground.remove(this.grid);
    this.grid.geometry.dispose();
    this.grid = squares(c);
    this.grid.position.set(position.x, position.y, 0.0005);
    this.grid.scale.copy(scale);
    this.ground.add(this.grid);
    this.touch();
  }

  // settle chooses the view that "Reset view" returns to: all of some boxes, from the
  // front left and a little above.
  settle(...boxes: THREE.Box3[]) {
    const box = boxes.reduce((all, one) => all.union(one), new THREE.Box3());
    const centre = box.getCenter(new THREE.Vector3());
    const size = Math.max(box.getBoundingSphere(new THREE.Sphere()).radius, 0.05);
    this.framed = boxes;
    this.followed = undefined;
    this.slack = 0.5 * size;
    const { middle, far } = this.fit(boxes, centre, size);
    this.home.target.copy(middle);
    this.home.position.copy(this.from).multiplyScalar(far).add(middle);
    Object.assign(this.camera, { near: size / 60, far: 400 * size });
    this.camera.updateProjectionMatrix();
    this.lay(size, box.min.z);
    this.key.position.copy(centre).addScaledVector(new THREE.Vector3(1.2, 1.6, 2.6), 2 * size);
    this.key.target.position.copy(centre);
    const reach = 2.5 * size;
    Object.assign(this.key.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01, far: 14 * size });
    this.key.shadow.camera.updateProjectionMatrix();
    this.key.shadow.normalBias = 0.004 * size;
    this.renderer.shadowMap.needsUpdate = true;
    this.empty = false;
    if (!this.turned) this.reset();
  }

  // fit returns where the camera has to look, and from how far, to see all of some boxes and
  // no more. The tools lie over the top and the notes over the bottom of the picture.
  private fit(boxes: THREE.Box3[], centre: THREE.Vector3, size: number): { middle: THREE.Vector3; far: number } {
    const up = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2));
    const [high, broad] = [up * 0.74, up * this.camera.aspect * 0.92];
    const right = new THREE.Vector3().crossVectors(this.camera.up, this.from).normalize();
    const above = new THREE.Vector3().crossVectors(this.from, right);
    const corners = boxes.flatMap(({ min, max }) => Array.from({ length: 8 }, (_, i) => new THREE.Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).sub(centre)));
    const between = (way: THREE.Vector3) => {
      const along = corners.map((c) => c.dot(way));
      return (Math.min(...along) + Math.max(...along)) / 2;
    };
    const [x, y] = [between(right), between(above)];
    const needed = corners.map((c) => c.dot(this.from) + Math.max(Math.abs(c.dot(above) - y) / high, Math.abs(c.dot(right) - x) / broad));
    const far = Math.max(1.2 * size, ...needed);
    return { middle: centre.clone().addScaledVector(right, x).addScaledVector(above, y + 0.05 * far * up), far };
  }

  // lay makes the squares of the floor fit the robot: decimetres for one of a metre. Of a
  // robot that hangs on its base, below zero, the floor is where its feet are.
  private lay(size: number, bottom: number) {
    this.grid.scale.setScalar(10 ** Math.round(Math.log10(size / 0.4)));
    this.ground.position.z = bottom < -0.1 * size ? bottom : 0;
  }

  reset() {
    this.turned = false;
    this.camera.position.copy(this.home.position);
    this.orbit.target.copy(this.home.target);
    this.orbit.update();
    this.touch();
  }

  // follow goes along with a robot that leaves its place, and stays where it is while the robot only sways or is posed.
  follow({ x, y }: { x: number; y: number }) {
    this.followed ??= new THREE.Vector3(x, y, 0);
    const way = new THREE.Vector3(x, y, 0).sub(this.followed);
    if (way.length() <= this.slack) return;
    way.setLength(way.length() - this.slack);
    for (const p of [this.followed, this.camera.position, this.orbit.target, this.home.position, this.home.target, this.key.position, this.key.target.position]) p.add(way);
    for (const box of this.framed) box.translate(way);
    const square = cell * metre * this.grid.scale.x;
    this.grid.position.set(Math.round(this.orbit.target.x / square) * square, Math.round(this.orbit.target.y / square) * square, this.grid.position.z);
    this.orbit.update();
    this.touch(true);
  }

  // look turns the view so that it looks at the robot from a side; from above and below
  // the front is at the left.
  look(x: number, y: number, z: number) {
    const far = this.camera.position.distanceTo(this.orbit.target);
    const from = new THREE.Vector3(x, y, z);
    if (x === 0 && y === 0) from.y = 1e-3; // the way up must be told
    this.camera.position.copy(this.orbit.target).addScaledVector(from.normalize(), far);
    this.orbit.update();
    this.touch();
  }

  // ray returns the line of sight through a point of the picture.
  ray(event: { clientX: number; clientY: number }): THREE.Raycaster {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1,
      1 - ((event.clientY - box.top) / box.height) * 2,
    );
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  // project returns where a point of the world is seen on the page.
  project(p: THREE.Vector3): { x: number; y: number } {
    const box = this.renderer.domElement.getBoundingClientRect();
    const v = p.clone().project(this.camera);
    return { x: box.left + ((v.x + 1) / 2) * box.width, y: box.top + ((1 - v.y) / 2) * box.height };
  }

  private resize() {
    const { clientWidth: w, clientHeight: h } = this.holder;
    if (w === 0 || h === 0) return;
    this.renderer.setSize(w, h);
    setPicture(w, h);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    if (this.framed.length > 0 && !this.turned) this.settle(...this.framed);
    this.touch();
  }

  close() {
    cancelAnimationFrame(this.frame);
    this.watcher.disconnect();
    this.orbit.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }
}
