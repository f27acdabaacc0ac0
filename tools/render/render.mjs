// Draws a robot into a PNG with the libraries that a browser would use.
//
//   npm ci && node render.mjs ROBOT OUT.png [options]
//
// ROBOT is a folder with NAME.urdf and robot.yaml, or a URDF file.
//
//   --pose NAME          pose of robot.yaml, as often as needed
//   --joint NAME=VALUE   position of a joint, after the poses
//   --view AZ,EL[,ZOOM]  where the camera stands, degrees (35,15,1)
//   --size WxH           pixels (800x600)
//   --pitch ANGLE        turns the robot nose down, rad
//   --collision          draws the collision shapes
//
// CHROMIUM names the browser, /usr/bin/chromium if it is not set.
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { openScene } from './scene.mjs';

const { values: options, positionals: [robot, output] } = parseArgs({
  allowPositionals: true,
  options: {
    pose: { type: 'string', multiple: true, default: [] },
    joint: { type: 'string', multiple: true, default: [] },
    view: { type: 'string', default: '35,15,1' },
    size: { type: 'string', default: '800x600' },
    pitch: { type: 'string', default: '0' },
    collision: { type: 'boolean', default: false },
  },
});
if (!output) {
  console.error('usage: render.mjs ROBOT OUT.png [options]');
  process.exit(2);
}

const folder = !robot.endsWith('.urdf');
const urdf = await readFile(folder ? join(robot, basename(resolve(robot)) + '.urdf') : robot, 'utf8');
const poses = folder ? parse(await readFile(join(robot, 'robot.yaml'), 'utf8')).poses : {};
const joints = {};
for (const name of options.pose) Object.assign(joints, poses[name] ?? fail(`no pose ${name}`));
for (const [name, value] of options.joint.map(text => text.split('='))) joints[name] = Number(value);
const [width, height] = options.size.split('x').map(Number);
const settings = { urdf, joints, width, height, view: options.view.split(',').map(Number), pitch: Number(options.pitch), collision: options.collision };

const tab = await openScene(width, height);
try {
  await tab.evaluate(settings => window.show(settings), settings);
  await tab.screenshot({ path: output });
} finally {
  await tab.context().browser().close();
}

function fail(why) {
  console.error(`render: ${why}`);
  process.exit(1);
}
