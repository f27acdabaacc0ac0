// External controllers, by roslib, as a test tells them: a command a line comes
// in, and a line leaves for every assignment that carries an id of theirs.
//
//   node controller.mjs URL
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const roslib = await import(pathToFileURL(process.env.POISE_CLIENTS + '/node_modules/roslib/dist/RosLib.js'));
const url = process.argv[2];
const say = what => console.log(JSON.stringify(what));

class Controller {
  id = 0; operational = false;

  constructor(c) { Object.assign(this, { name: c.name, needed: c.needed, wanted: c.wanted, pending: c.pending, priority: c.operational, mode: c.mode }); }

  async connect() {
    const ros = this.ros = new roslib.Ros();
    ros.on('error', () => {}); // a close follows
    await ros.connect(url);
    const topic = (name, messageType) => new roslib.Topic({ ros, name, messageType });
    this.claim = topic('/resource_claim', 'poise_msgs/msg/ResourceRequest');
    this.state = topic('/resource_requester_state', 'resource_control_msgs/msg/ResourceRequesterState');
    this.ref = topic(`/controllers/${this.name}/ref_joints`, 'sensor_msgs/msg/JointState');
    for (const t of [this.claim, this.state, this.ref]) t.advertise();
    topic('/resource_assignment', 'resource_control_msgs/msg/ResourceAssignment').subscribe(t => this.assigned(t));
  }

  request() {
    this.id++;
    const all = [...this.needed, ...this.wanted];
    this.claim.publish({ requester_name: this.name, request_id: this.id, needed: this.needed, wanted: this.wanted,
      pri_pending: all.map(() => this.pending), pri_operational: all.map(() => this.priority), lease: 60 });
  }

  answer(goesOn, request = this.id) {
    this.operational = goesOn;
    this.state.publish({ requester_name: this.name, request_id: request, is_operational: goesOn });
  }

  assigned(table) {
    if (this.id === 0 || !table.request_ids.includes(this.id)) return;
    const owned = table.resources.filter((_, i) => table.owners[i] === this.name);
    say({ name: this.name, id: this.id, owned });
    if (this.mode === 'never' || !owned.length && !this.operational) return;
    this.answer(owned.length > 0 && this.needed.every(r => owned.includes(r)), this.mode === 'other' ? this.id - 1 : this.id);
    if (this.mode === 'twice') this.answer(this.operational);
  }
}

const everyone = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  if (c.do === 'open') {
    everyone.get(c.name)?.ros.close();
    const one = new Controller(c);
    await one.connect();
    everyone.set(c.name, one);
    say({ name: c.name, id: 0, owned: [] });
    continue;
  }
  const one = everyone.get(c.name);
  if (c.do === 'request') one.request();
  if (c.do === 'answer') one.answer(c.goes_on);
  if (c.do === 'send') one.ref.publish({ name: [c.joint], position: [c.q] });
  if (c.do === 'close') one.ros.close();
}
process.exit(0);
