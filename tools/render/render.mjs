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
import { chromium } from 'playwright-core';
import { parse } from 'yaml';

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
const wish = { urdf, joints, width, height, view: options.view.split(',').map(Number), pitch: Number(options.pitch), collision: options.collision };

const page = `<!doctype html><style>body{margin:0}canvas{display:block}</style><script type="importmap">{"imports":{
  "three":"/node_modules/three/build/three.module.js","three/examples/jsm/":"/node_modules/three/examples/jsm/",
  "urdf-loader":"/node_modules/urdf-loader/src/URDFLoader.js"}}</script><script type="module" src="/scene.js"></script>`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const tab = await browser.newPage({ viewport: { width, height } });
  tab.on('pageerror', error => fail(error.message));
  // nothing is fetched: every address is a file beside this one
  await tab.route('**', async route => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: page });
    const file = await readFile(new URL('.' + pathname, import.meta.url)).catch(() => null);
    return file ? route.fulfill({ contentType: 'text/javascript', body: file }) : route.abort();
  });
  await tab.goto('http://render.invalid/');
  await tab.waitForFunction(() => window.show);
  await tab.evaluate(wish => window.show(wish), wish);
  await tab.screenshot({ path: output });
} finally {
  await browser.close();
}

function fail(why) {
  console.error(`render: ${why}`);
  process.exit(1);
}
