// Does what Foxglove's rosbridge connection does, with the libraries that Foxglove is
// made of: node foxglove.mjs URL, with POISE_CLIENTS naming the folder that setup.sh
// filled. It lists topics with their definitions, finds out which ROS it talks to,
// asks every node for its part of the graph, reads every topic as cbor-raw by its
// definition, and publishes.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.POISE_CLIENTS, 'node_modules/'));
globalThis.WebSocket = require('ws'); // roslibjs expects a browser
const roslib = require('@foxglove/roslibjs');
const { parse } = require('@foxglove/rosmsg');
const { MessageReader } = require('@foxglove/rosmsg2-serialization');

function check(ok, what) {
  if (!ok) throw new Error(what);
}

function within(what, start, seconds = 120) {
  return new Promise((yes, no) => {
    const late = setTimeout(() => no(new Error(`${what}: nothing came`)), seconds * 1000);
    start(v => { clearTimeout(late); yes(v); }, e => no(new Error(`${what}: ${e}`)));
  });
}

async function run(url) {
  const ros = new roslib.Ros({ url });
  await within('connection', (yes, no) => { ros.on('connection', yes); ros.on('error', no); });

  const list = await within('getTopicsAndRawTypes', (yes, no) => ros.getTopicsAndRawTypes(yes, no));
  check(list.types.includes('rcl_interfaces/msg/Log'), 'no topic says that this is ROS 2');
  const readers = new Map();
  list.topics.forEach((name, i) => {
    check(list.types[i] && list.typedefs_full_text[i], `${name} has no type or no definition`);
    try {
      readers.set(name, new MessageReader(parse(list.typedefs_full_text[i], { ros2: true })));
    } catch (e) {
      throw new Error(`the definition of ${name}: ${e.message}`);
    }
  });
  console.log(`ok ${readers.size} topics with definitions`);

  const publishers = new Set();
  for (const node of await within('getNodes', (yes, no) => ros.getNodes(yes, no))) {
    const published = await within(`getNodeDetails ${node}`, (yes, no) => ros.getNodeDetails(node, (_, p) => yes(p), no));
    published.forEach(name => publishers.add(name));
  }
  check(publishers.has('/joint_states'), 'no publisher of /joint_states');
  console.log('ok the graph');

  // every topic at once; a viewer names no type
  const read = new Map(), problems = [];
  for (const name of readers.keys()) {
    new roslib.Topic({ ros, name, compression: 'cbor-raw' }).subscribe(m => {
      try {
        read.set(name, readers.get(name).readMessage(new Uint8Array(m.bytes)));
      } catch (e) {
        problems.push(`${name}: ${e.message}`);
      }
    });
  }
  const goal = new roslib.Topic({ ros, name: '/text/goal', messageType: list.types[list.topics.indexOf('/text/goal')], queue_size: 0 });
  goal.publish(new roslib.Message({ goal_id: { id: 'fox' }, goal: { command: { command: 'count' } } }));
  const wanted = ['/joint_states', '/text/goal', '/text/status', '/text/feedback', '/text/result'];
  await within(`messages of ${wanted}`, async yes => {
    while (!wanted.every(name => read.has(name)) && problems.length === 0) await new Promise(r => setTimeout(r, 10));
    yes();
  });
  check(problems.length === 0, problems.join('; '));
  const joints = read.get('/joint_states'), result = read.get('/text/result');
  check(joints.header.stamp.sec === 3 && joints.header.frame_id === 'base' && joints.position[1] === -2, `joint_states: ${JSON.stringify(joints)}`);
  check(result.status.goal_id.id === 'fox' && result.status.status === 3 && result.result.error_string === 'counted', `result: ${JSON.stringify(result)}`);
  check(read.get('/text/feedback').feedback.status === '3', 'feedback');
  console.log('ok messages, a goal among them');
  ros.close();
}

try {
  await run(process.argv[2]);
  console.log('all ok');
  process.exit(0);
} catch (e) {
  console.error(e.message);
  process.exit(1);
}
