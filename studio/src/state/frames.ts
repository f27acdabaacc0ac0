// Poses of frames: a robot with mass is drawn where it is in truth, and what it tells in the frame of
// its odometry with it.
import type { Pose, Quaternion, Transform, Vector3 } from "../ros/messages";

export const transform = ({ position: translation, orientation: rotation }: Pose): Transform => ({ translation, rotation });

export const origin: Transform = { translation: { x: 0, y: 0, z: 0 }, rotation: { x: 0, y: 0, z: 0, w: 1 } };

const cross = (a: Vector3, b: Vector3): Vector3 => ({ x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x });
const sum = (a: Vector3, b: Vector3, k = 1): Vector3 => ({ x: a.x + k * b.x, y: a.y + k * b.y, z: a.z + k * b.z });

// turned is a vector turned by a unit quaternion.
function turned(q: Quaternion, v: Vector3): Vector3 {
  const t = cross(q, v);
  return sum(sum(v, t, 2 * q.w), cross(q, t), 2);
}

function product(a: Quaternion, b: Quaternion): Quaternion {
  const v = sum(sum(cross(a, b), b, a.w), a, b.w);
  return { ...v, w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}

// inside returns a pose of a frame as the frame's parent has it.
export const inside = (frame: Transform | undefined, pose: Transform): Transform =>
  frame
    ? { translation: sum(frame.translation, turned(frame.rotation, pose.translation)), rotation: product(frame.rotation, pose.rotation) }
    : pose;

// between returns where a frame is in which something has the pose from, and which is itself at to.
export function between(from: Transform, to: Transform): Transform {
  const { x, y, z, w } = from.rotation;
  const rotation = product(to.rotation, { x: -x, y: -y, z: -z, w });
  return { translation: sum(to.translation, turned(rotation, from.translation), -1), rotation };
}
