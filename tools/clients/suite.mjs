// What a roslib user does with Poise, step by step. It runs in Node and in a
// browser alike; the test server has /chatter, /set, /fail and /text.
//
//   await run(roslib, 'ws://127.0.0.1:9090/rosbridge', name => …)

class Failure extends Error {}

function check(ok, what) {
  if (!ok) throw new Failure(what);
}

function same(got, want, what) {
  const a = JSON.stringify(got), b = JSON.stringify(want);
  check(a === b, `${what}: ${a}, want ${b}`);
}

// within turns a callback into a promise that does not wait for ever.
function within(what, start, seconds = 120) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Failure(`${what}: nothing came`)), seconds * 1000);
    const finish = f => value => { clearTimeout(timer); f(value); };
    start(finish(resolve), finish(e => reject(new Failure(`${what}: ${e?.message ?? e}`))));
  });
}

const ask = (ros, method, ...args) => within(method, (yes, no) => ros[method](...args, yes, no));

async function connected(roslib, url) {
  const ros = new roslib.Ros();
  ros.on('error', () => {});
  const opened = within('connection', yes => ros.once('connection', yes));
  await ros.connect(url);
  await opened;
  return ros;
}

const call = (ros, name, args) => within(name, (yes, no) =>
  ros.Service({ name, serviceType: 'std_srvs/SetBool' }).callService(args, yes, no));

const steps = {
  async 'subscribe and publish'(ros, roslib) {
    const topic = ros.Topic({ name: '/from_roslib', messageType: 'std_msgs/String' });
    const second = ros.Topic({ name: '/from_roslib', messageType: 'std_msgs/String' });
    const heard = [], heardToo = [];
    second.subscribe(m => heardToo.push(m.data));
    await within('own message', yes => {
      topic.subscribe(m => { heard.push(m.data); if (m.data === 'two') yes(); });
      topic.publish({ data: 'one' });
      topic.publish({ data: 'two' });
    });
    same(heard, ['one', 'two'], 'heard');
    same(heardToo, ['one', 'two'], 'the second listener heard');
    topic.unsubscribe();
    second.unsubscribe();
    topic.unadvertise();
  },

  async 'latched messages, in the form asked for'(ros, roslib) {
    for (const [messageType, stamp] of [['sensor_msgs/msg/JointState', { sec: 3, nanosec: 4 }], ['sensor_msgs/JointState', { secs: 3, nsecs: 4 }]]) {
      const topic = ros.Topic({ name: '/joint_states', messageType });
      const m = await within(messageType, yes => topic.subscribe(yes));
      same(m.header.stamp, stamp, messageType);
      same(m.position, [1.5, -2], messageType);
      topic.unsubscribe();
    }
  },

  async 'CBOR arrives as typed arrays'(ros, roslib) {
    const topic = ros.Topic({ name: '/joint_states', messageType: 'sensor_msgs/msg/JointState', compression: 'cbor' });
    const m = await within('CBOR', yes => topic.subscribe(yes));
    check(m.position instanceof Float64Array, `position is a ${m.position?.constructor?.name}`);
    same([...m.position], [1.5, -2], 'position');
    same(m.name, ['a', 'b'], 'name');
    topic.unsubscribe();
  },

  async 'services'(ros, roslib) {
    same(await call(ros, '/set', { data: true }), { success: true, message: 'was told' }, '/set');
    const why = await within('/fail', (yes, no) =>
      ros.Service({ name: '/fail', serviceType: 'std_srvs/Trigger' }).callService({}, no, yes));
    check(String(why).includes('knee says no'), `why: ${why}`);
    const unknown = await within('/nowhere', (yes, no) =>
      ros.Service({ name: '/nowhere', serviceType: 'std_srvs/Trigger' }).callService({}, no, yes));
    check(String(unknown).includes('/nowhere'), `why: ${unknown}`);
  },

  async 'services that the client serves'(ros, roslib, url) {
    const mine = ros.Service({ name: '/mine', serviceType: 'std_srvs/SetBool' });
    await mine.advertise((request, response) => {
      response.success = !request.data;
      response.message = 'from roslib';
      return true;
    });
    // advertising has no answer: a question on the same connection comes after it
    await within('the list of services', (yes, no) => ros.getServices(yes, no));
    const other = await connected(roslib, url);
    same(await call(other, '/mine', { data: false }), { success: true, message: 'from roslib' }, '/mine');
    await mine.unadvertise();
    other.close();
  },

  async 'ROS 2 goals: feedback, result, rejection, abort'(ros, roslib) {
    const action = new roslib.Action({ ros, name: '/text', actionType: 'text_msgs/action/TextAction' });
    const goal = command => ({ command: { type: '', command, options: '' } });
    const feedback = [];
    const result = await within('goal', (yes, no) => action.sendGoal(goal('count'), yes, f => feedback.push(f.status), no));
    same(feedback, ['1', '2', '3'], 'feedback');
    same(result, { error_code: 0, error_string: 'counted' }, 'result');
    const rejected = await within('rejected goal', (yes, no) => action.sendGoal(goal('refuse'), no, () => {}, yes));
    same(rejected, 'GoalError: Action was aborted: the left knee is hot', 'rejected');
    const aborted = await within('aborted goal', (yes, no) => action.sendGoal(goal('fall'), no, () => {}, yes));
    check(String(aborted).startsWith('GoalError: Action was aborted: ') && aborted.includes('fell'), `aborted: ${aborted}`);
  },

  async 'ROS 2 goals: cancel, cancel all, replace'(ros, roslib) {
    const action = new roslib.Action({ ros, name: '/text', actionType: 'text_msgs/action/TextAction' });
    const goal = { command: { command: 'wait' } };
    const cancelled = await within('cancelled goal', (yes, no) => {
      const id = action.sendGoal(goal, no, () => {}, yes);
      action.cancelGoal(id);
    });
    check(String(cancelled).startsWith('GoalError: Action was canceled'), `cancelled: ${cancelled}`);
    const replaced = await within('replaced goal', (yes, no) => {
      action.sendGoal(goal, no, () => {}, yes);
      action.sendGoal({ command: { command: 'count' } }, () => {}, () => {}, no);
    });
    check(String(replaced).startsWith('GoalError: Action was aborted') && replaced.includes('replaced'), `replaced: ${replaced}`);
    const all = await within('all goals', (yes, no) => {
      action.sendGoal(goal, no, () => {}, yes);
      action.cancelAllGoals();
    });
    check(String(all).startsWith('GoalError: Action was canceled'), `all: ${all}`);
  },

  async 'actions that the client serves'(ros, roslib, url) {
    const server = new roslib.Action({ ros, name: '/climb', actionType: 'text_msgs/action/TextAction' });
    server.advertise((goal, id) => {
      server.sendFeedback(id, { status: goal.command.command });
      if (goal.command.command === 'up') server.setSucceeded(id, { error_code: 0, error_string: 'top' });
    }, id => server.setCanceled(id, { error_code: 0, error_string: 'half-way' }));
    const other = await connected(roslib, url);
    const client = new roslib.Action({ ros: other, name: '/climb', actionType: 'text_msgs/action/TextAction' });
    const feedback = [];
    const send = command => within(command, (yes, no) =>
      client.sendGoal({ command: { command } }, yes, f => feedback.push(f.status), no));
    // the server's advertisement and the goal go by different connections
    await within('/climb', async yes => {
      while (!(await ask(other, 'getActionServers')).includes('/climb')) await new Promise(r => setTimeout(r, 5));
      yes();
    });
    same(await send('up'), { error_code: 0, error_string: 'top' }, 'result');
    same(feedback, ['up'], 'feedback');
    const cancelled = await within('cancel', (yes, no) => {
      const id = client.sendGoal({ command: { command: 'stay' } }, no, () => client.cancelGoal(id), yes);
    });
    check(String(cancelled).includes('canceled') && cancelled.includes('half-way'), `cancelled: ${cancelled}`);
    server.unadvertise();
    other.close();
  },

  async 'ROS 1 goals over five topics'(ros, roslib) {
    const client = ros.ActionClient({ serverName: '/text', actionName: 'text_msgs/TextActionAction' });
    const run = (command, act = () => {}) => within(`ROS 1 ${command}`, yes => {
      const goal = new roslib.Goal({ actionClient: client, goalMessage: { command: { command } } });
      const feedback = [];
      goal.on('feedback', f => { feedback.push(f.status); });
      goal.on('status', s => act(goal, s.status));
      goal.on('result', result => yes({ status: goal.status.status, result, feedback }));
      goal.send();
    });
    const counted = await run('count');
    same([counted.status, counted.result.error_string], [3, 'counted'], 'succeeded');
    const cancelled = await run('wait', (goal, status) => { if (status === 1) goal.cancel(); });
    same([cancelled.status, cancelled.result.error_string], [2, 'stopped'], 'preempted');
    const rejected = await run('refuse');
    same(rejected.status, 5, 'rejected');
    client.dispose();
  },

  async 'rosapi'(ros, roslib) {
    const { topics, types } = await ask(ros, 'getTopics');
    same(types[topics.indexOf('/joint_states')], 'sensor_msgs/msg/JointState', 'type in getTopics');
    same(await ask(ros, 'getTopicType', '/chatter'), 'std_msgs/msg/String', 'getTopicType');
    same(await ask(ros, 'getTopicsForType', 'sensor_msgs/msg/JointState'), ['/joint_states'], 'getTopicsForType');
    check((await ask(ros, 'getServices')).includes('/set'), 'getServices');
    same(await ask(ros, 'getServiceType', '/set'), 'std_srvs/srv/SetBool', 'getServiceType');
    check((await ask(ros, 'getServicesForType', 'std_srvs/srv/SetBool')).includes('/set'), 'getServicesForType');
    same((await ask(ros, 'getServiceRequestDetails', 'std_srvs/srv/SetBool')).typedefs[0].fieldnames, ['data'], 'getServiceRequestDetails');
    same((await ask(ros, 'getServiceResponseDetails', 'std_srvs/SetBool')).typedefs[0].fieldtypes, ['bool', 'string'], 'getServiceResponseDetails');
    check((await ask(ros, 'getNodes')).includes('/poise'), 'getNodes');
    check((await ask(ros, 'getNodeDetails', '/poise')).publishing.includes('/chatter'), 'getNodeDetails');
    same(await ask(ros, 'getActionServers'), ['/text'], 'getActionServers');
    check((await ask(ros, 'getParams')).includes('/robot/legs'), 'getParams');
    same(await within('param', (yes, no) => ros.Param({ name: '/robot/legs' }).get(yes, no)), 4, 'get_param');
    const raw = await ask(ros, 'getTopicsAndRawTypes');
    check(raw.typedefs_full_text[raw.topics.indexOf('/joint_states')].includes('float64[] position'), 'getTopicsAndRawTypes');
    same((await ask(ros, 'getTopicsAndRawTypes')).types.length, raw.topics.length, 'raw types');
    for (const type of ['sensor_msgs/msg/JointState', 'sensor_msgs/JointState']) {
      const shape = ros.decodeTypeDefs(await ask(ros, 'getMessageDetails', type));
      same(shape.position, ['float64'], `${type}: position`);
      same(shape.header.frame_id, 'string', `${type}: header.frame_id`);
    }
  },

  // the server goes away and comes back: a topic that was subscribed to is
  // subscribed to again by roslib itself, once it is connected
  async 'reconnect'(ros, roslib, url) {
    const topic = ros.Topic({ name: '/joint_states', messageType: 'sensor_msgs/msg/JointState' });
    await within('before', yes => topic.subscribe(yes));
    topic.removeAllListeners('message');
    const again = within('after', yes => topic.on('message', yes));
    await within('close', yes => {
      ros.once('close', yes);
      call(ros, '/restart', { data: true }).catch(() => {});
    });
    const back = within('connection', yes => ros.once('connection', yes));
    while (!ros.isConnected) {
      await ros.connect(url).catch(() => {});
      await new Promise(r => setTimeout(r, 200));
    }
    await back;
    same((await again).name, ['a', 'b'], 'after reconnecting');
    topic.unsubscribe();
  },
};

// run takes all steps in order and throws at the first that fails.
export async function run(roslib, url, tell) {
  const ros = await connected(roslib, url);
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step(ros, roslib, url);
    } catch (e) {
      throw new Error(`${name}: ${e.message}`);
    }
    tell(name);
  }
  ros.close();
}
