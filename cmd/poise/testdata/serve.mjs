// What people do with a robot through roslib, on the real program with --with-real-sim:
// node serve.mjs URL
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const roslib = await import(pathToFileURL(join(process.env.POISE_CLIENTS, 'node_modules/roslib/dist/RosLib.js')));
const url = process.argv[2];

const check = (ok, what) => { if (!ok) throw new Error(what); };
const within = (what, start, seconds = 300) => new Promise((resolve, reject) => {
  const timer = setTimeout(() => reject(new Error(`${what}: nothing came`)), seconds * 1000);
  const finish = f => value => { clearTimeout(timer); f(value); };
  start(finish(resolve), finish(e => reject(new Error(`${what}: ${e?.message ?? e}`))));
});

const ros = new roslib.Ros();
ros.on('error', () => {});
const opened = within('connection', yes => ros.once('connection', yes));
await ros.connect(url);
await opened;

const call = (name, serviceType, request = {}) => within(name, (yes, no) => new roslib.Service({ ros, name, serviceType }).callService(request, yes, no));
const poise = (name, type, request) => call(name, `poise_msgs/srv/${type}`, request);

// goal sends one and tells how it ended: {result, feedback} or {error}
function goal(name, actionType, value, act) {
  const action = new roslib.Action({ ros, name, actionType });
  const feedback = [];
  return within(name, yes => {
    let acted = false;
    const id = action.sendGoal(value, result => yes({ result, feedback }), f => {
      feedback.push(f);
      if (act && !acted) { acted = true; act(() => action.cancelGoal(id)); }
    }, error => yes({ error: String(error), feedback }));
  });
}
const follow = (name, value, act) => goal(name, 'control_msgs/action/FollowJointTrajectory', value, act);
const play = (command, act, options = 'approach') => goal('/play_motion', 'text_msgs/action/TextAction', { command: { type: 'motion', command, options } }, act);

const states = [];
const listen = (name, f) => { const t = new roslib.Topic({ ros, name, messageType: 'sensor_msgs/msg/JointState' }); t.subscribe(f); return t; };
const at = (m, joint) => m.position[m.name.indexOf(joint)];
const speed = (m, joint) => m.velocity[m.name.indexOf(joint)];
async function newest(topic) {
  let t;
  const m = await within(topic, yes => { t = listen(topic, yes); });
  t.unsubscribe();
  return m;
}
function sweep(joint, from, by, sec) {
  return { trajectory: { joint_names: [joint], points: [
    { positions: [from], time_from_start: { sec: 0, nanosec: 0 } },
    { positions: [from + by], time_from_start: { sec, nanosec: 0 } }] } };
}

const steps = {
  async 'everything is listed and typed'() {
    const topics = await within('topics', (yes, no) => ros.getTopics(yes, no));
    check(topics.topics.includes('/joint_states') && topics.topics.includes('/tf') && topics.topics.includes('/real/joint_states'), 'topics');
    const services = await within('services', (yes, no) => ros.getServices(yes, no));
    check(services.includes('/stop') && services.includes('/motions/put'), 'services');
    const type = await within('type', (yes, no) => ros.getTopicType('/joint_states', yes, no));
    check(type === 'sensor_msgs/msg/JointState', type);
    const details = await within('details', (yes, no) => ros.getMessageDetails('sensor_msgs/msg/JointState', yes, no));
    check(JSON.stringify(details).includes('velocity'), 'details');
  },
  async 'a stored motion and its events'() {
    const events = [];
    const topic = new roslib.Topic({ ros, name: '/events', messageType: 'poise_msgs/msg/Event' });
    topic.subscribe(e => events.push(e.command.command));
    const want = (await poise('/motions/get', 'MotionsGet', { name: 'nod' })).motion.events.map(e => e.command);
    const { result, feedback, error } = await play('nod');
    check(!error && result.error_code === 0 && feedback.length > 0, error ?? 'no feedback');
    check(want.length > 0 && JSON.stringify(events) === JSON.stringify(want), `events ${events}, want ${want}`);
    topic.unsubscribe();
  },
  async 'cancel, with the ramp in joint_states'() {
    const joint = 'joint52', from = at(await newest('/joint_states'), joint);
    const topic = listen('/joint_states', m => states.push(m));
    const moves = () => within('the joint moves', yes => { const t = listen('/joint_states', m => { if (Math.abs(speed(m, joint)) > 0.02) { t.unsubscribe(); yes(); } }); });
    // that the speed does not jump is proven in stepped time, by package server;
    // a cancel that comes after the end of the motion is the machine's doing: again, slower
    for (let sec = 4; ; sec *= 2) {
      states.length = 0;
      const { result, error } = await follow('/follow_joint_trajectory', sweep(joint, from, 1.4, sec), cancel => moves().then(cancel));
      if (result && sec < 100) {
        await follow('/follow_joint_trajectory', sweep(joint, from + 1.4, -1.4, 4));
        continue;
      }
      check(error?.includes('canceled'), `cancelled: ${error}`);
      break;
    }
    await within('the joint stands', yes => { const t = listen('/joint_states', m => { if (speed(m, joint) === 0) { t.unsubscribe(); yes(); } }); });
    topic.unsubscribe();
    check(Math.max(...states.map(m => Math.abs(speed(m, joint)))) > 0.02, 'no message shows it moving');
    await follow('/follow_joint_trajectory', sweep(joint, at(states.at(-1), joint), from - at(states.at(-1), joint), 3));
  },
  async 'replace'() {
    const joint = 'tail_joint1', from = at(await newest('/joint_states'), joint);
    let second;
    const first = await follow('/follow_joint_trajectory', sweep(joint, from, 0.3, 300), () => {
      second = newest('/joint_states').then(m => follow('/follow_joint_trajectory', sweep(joint, at(m, joint), 0.05, 1)));
    });
    check(first.error?.includes('aborted') && first.error.includes('newer goal'), `the first: ${first.error}`);
    check((await second).result?.error_code === 0, 'the second');
  },
  async 'an unknown joint'() {
    const { error } = await follow('/follow_joint_trajectory', sweep('joint59', 0, 0.1, 1));
    check(error?.includes('joint59') && error.includes('joint5'), error);
  },
  async 'a tolerance of the real robot'() {
    const joint = 'joint52', from = at(await newest('/real/joint_states'), joint);
    const { error } = await follow('/real/follow_joint_trajectory', { ...sweep(joint, from, 1, 1), path_tolerance: [{ name: joint, position: 0.002 }] });
    check(error?.includes('joint52') && error.includes('0.002'), `real: ${error}`);
  },
  async 'switching and stopping'() {
    check((await poise('/switch_controllers', 'SwitchControllers', { stop: ['pose'] })).success, 'stop pose');
    check((await poise('/switch_controllers', 'SwitchControllers', { start: ['pose'] })).success, 'start pose');
    check(!(await poise('/switch_controllers', 'SwitchControllers', { start: ['poze'] })).success, 'start poze');
    for (const category of [2, 1, 0]) {
      let stopped;
      const { error } = await play('wag_tail', () => { stopped = poise('/stop', 'Stop', { category }); }, 'approach loop');
      check(/stopped|torque/.test(error), `stop ${category}: ${error}`);
      check((await stopped).success, 'stop');
      check((await poise('/reset', 'Reset', {})).success, 'reset');
      if (category < 2) check((await poise('/set_torque', 'SetTorque', { on: true })).success, 'torque');
    }
    const { error } = await play('nod');
    check(!error, `after all stops: ${error}`);
  },
  async 'motions, with a version conflict'() {
    const { motion } = await poise('/motions/get', 'MotionsGet', { name: 'nod' });
    const saved = await poise('/motions/put', 'MotionsPut', { motion: { ...motion, name: 'mine' }, version: '' });
    check(saved.success && saved.version, saved.message);
    const again = await poise('/motions/put', 'MotionsPut', { motion: { ...motion, name: 'mine', description: 'new' }, version: saved.version });
    check(again.success, again.message);
    const stale = await poise('/motions/put', 'MotionsPut', { motion: { ...motion, name: 'mine' }, version: saved.version });
    check(!stale.success && stale.explanations[0].code === 'version_conflict', stale.message);
    const moved = await poise('/motions/rename', 'MotionsRename', { from: 'mine', to: 'ours', version: again.version });
    check(moved.success, moved.message);
    check((await poise('/motions/get', 'MotionsGet', { name: 'ours' })).motion.description === 'new', 'renamed');
  },
};

try {
  for (const [name, step] of Object.entries(steps)) {
    await step();
    console.log(`ok ${name}`);
  }
  console.log('all ok');
  process.exit(0);
} catch (e) {
  console.error(e.message);
  process.exit(1);
}
