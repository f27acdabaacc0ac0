// Draws motions as strips: frames at even times side by side, one PNG per motion.
//
//   go run ./tools/motions -frames 8 [NAME ...] | node strip.mjs FOLDER [options]
//
// Standard input has poses of joints and base; FOLDER gets ROBOT_NAME.png.
//
//   --size WxH       pixels of a strip (1200x200)
//   --colours N      of the palette (112): fewer make smaller files
//   --robots FOLDER  where ROBOT/ROBOT.urdf are (../../robot/shipped)
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import UPNG from 'upng-js';
import { openScene } from './scene.mjs';

const { values: options, positionals: [folder] } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '1200x200' },
    colours: { type: 'string', default: '112' },
    robots: { type: 'string', default: new URL('../../robot/shipped', import.meta.url).pathname },
  },
});
if (!folder) {
  console.error('usage: strip.mjs FOLDER [options] < FRAMES.json');
  process.exit(2);
}

// where the camera stands: azimuth, elevation, zoom, and how far the picture is moved,
// as a share of width and height. Each motion is seen from where it shows best: heads from
// near, tails from behind, a sway from the front.
const face = [38, 8, 1.6, -0.15, -0.2];
const views = {
  pony: [50, 12, 1.12, -0.07], arm6: [50, 14, 1, -0.04, 0.01], so101: [50, 14, 1, -0.02, 0.01],
  'pony nod': face, 'pony shake_head': face, 'pony yawn': face, 'pony perk_ears': face, 'pony look_around': face,
  'pony wag_tail': [150, 18, 1.12], 'pony dance': [12, 10, 1.2, -0.02], 'pony shake_off': [16, 10, 1.2, -0.02],
  'arm6 pick_and_place': [36, 16, 1, -0.02, 0.03],
  'pony brohoof': [72, 8, 1.15, -0.06], 'pony paw': [26, 10, 1.15, -0.05],
};

const strips = JSON.parse(await text(process.stdin));
const [width, height] = options.size.split('x').map(Number);
await mkdir(folder, { recursive: true });
const tab = await openScene(width, height);
try {
  for (const { robot, name, frames } of strips) {
    const urdf = await readFile(join(options.robots, robot, robot + '.urdf'), 'utf8');
    const view = views[`${robot} ${name}`] ?? views[robot];
    await tab.evaluate(settings => window.strip(settings), { urdf, frames, view, width, height });
    const image = UPNG.decode(await tab.screenshot({ timeout: 300_000 }));
    const small = UPNG.encode(UPNG.toRGBA8(image), image.width, image.height, Number(options.colours));
    await writeFile(join(folder, `${robot}_${name}.png`), Buffer.from(small));
    console.log(`${robot}_${name}.png ${small.byteLength} bytes`);
  }
} finally {
  await tab.context().browser().close();
}
