// Runs the suite with roslib in Node: node node.mjs URL, with POISE_CLIENTS naming
// the folder that setup.sh filled.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { run } from './suite.mjs';

const roslib = await import(pathToFileURL(join(process.env.POISE_CLIENTS, 'node_modules/roslib/dist/RosLib.js')));
try {
  await run(roslib, process.argv[2], name => console.log(`ok ${name}`));
  console.log('all ok');
  process.exit(0);
} catch (e) {
  console.error(e.message);
  process.exit(1);
}
