// The ghost is drawn as an outline: its shapes mark where it is in the stencil, and the
// same shapes a few pixels larger are drawn where no mark is.
import * as THREE from "three";

const colour = 0x3f6fff;
const wide = 2.2; // px

// pixel is the size of a pixel of the picture, of which both ways are 2 wide
const pixel = { value: new THREE.Vector2(1, 1) };

export const setPicture = (width: number, height: number) => pixel.value.set(2 / width, 2 / height);

const seen = { transparent: true, depthTest: false, depthWrite: false, side: THREE.DoubleSide, stencilWrite: true, stencilRef: 1 };

const mask = new THREE.MeshBasicMaterial({ ...seen, colorWrite: false, stencilZPass: THREE.ReplaceStencilOp });

const rim = new THREE.MeshBasicMaterial({ ...seen, color: colour, stencilFunc: THREE.NotEqualStencilFunc });
rim.onBeforeCompile = (shader) => {
  shader.uniforms.pixel = pixel;
  shader.vertexShader = `uniform vec2 pixel;\n${shader.vertexShader}`.replace(
    "#include <project_vertex>",
    `#include <project_vertex>
    vec2 outward = (normalMatrix * normal).xy;
    if (length(outward) > 0.02) gl_Position.xy += normalize(outward) * ${wide.toFixed(1)} * pixel * gl_Position.w;`,
  );
};

const isRim = (part: THREE.Object3D) => part instanceof THREE.Mesh && part.material === rim;

// outline makes the shapes of a robot, or of a part of it, an outline.
export function outline(whole: THREE.Object3D) {
  const shapes: THREE.Mesh[] = [];
  whole.traverse((part) => part instanceof THREE.Mesh && !isRim(part) && shapes.push(part));
  for (const part of shapes) {
    part.material = mask;
    part.renderOrder = 8;
    part.castShadow = part.receiveShadow = false;
    if (part.children.some(isRim)) continue;
    const larger = new THREE.Mesh(part.geometry as THREE.BufferGeometry, rim);
    larger.renderOrder = 9;
    part.add(larger);
  }
}
