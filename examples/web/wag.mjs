// An external controller (in a process of its own): wags the tail, loses it to a yawn, gets it back.
//
//   npm install roslib
//   poise serve &
//   node examples/web/wag.mjs [URL]
//
// It asks the arbiter for what it wants, answers what it is told, and streams references;
// docs/controllers.md has the rules.
import { pathToFileURL } from 'node:url';

const where = process.env.POISE_CLIENTS; // may name a folder that has roslib installed
const roslib = await import(where ? pathToFileURL(where + '/node_modules/roslib/dist/RosLib.js') : 'roslib');
const url = process.argv[2] ?? 'ws://127.0.0.1:8080/rosbridge';
const sleep = ms => new Promise(done => setTimeout(done, ms));

class Controller {
  id = 0; owned = []; offered = false; operational = false;

  constructor(name, needed, wanted, priority) { Object.assign(this, { name, needed, wanted, priority }); }

  async connect() {
    const ros = this.ros = new roslib.Ros();
    await ros.connect(url);
    const topic = (name, messageType) => new roslib.Topic({ ros, name, messageType });
    this.claim = topic('/resource_claim', 'poise_msgs/msg/ResourceRequest');
    this.state = topic('/resource_requester_state', 'resource_control_msgs/msg/ResourceRequesterState');
    this.ref = topic(`/controllers/${this.name}/ref_joints`, 'sensor_msgs/msg/JointState');
    topic('/resource_assignment', 'resource_control_msgs/msg/ResourceAssignment').subscribe(t => this.assigned(t));
    return this;
  }

  request() {
    this.id++;
    this.offered = false;
    const pri = [...this.needed, ...this.wanted].map(() => this.priority);
    this.claim.publish({ requester_name: this.name, request_id: this.id, needed: this.needed, wanted: this.wanted,
      pri_pending: pri, pri_operational: pri, lease: 1 });
  }

  answer(goesOn) {
    this.state.publish({ requester_name: this.name, request_id: this.id, is_operational: goesOn });
  }

  assigned(table) {
    if (!table.request_ids.includes(this.id)) return; // the facts, for everybody
    const owned = table.resources.filter((_, i) => table.owners[i] === this.name);
    const enough = this.needed.every(r => owned.includes(r));
    if (!this.offered) { // the answer to the request: an offer, or nothing
      this.offered = enough && owned.length > 0;
      return this.answer(this.offered);
    }
    if (!this.operational && !owned.length) return; // denied; topic resource_state says why
    if (owned.join() !== this.owned.join()) console.log(`${this.name}: has ${owned.join(' ') || 'nothing'}`);
    this.operational = enough; // without what it only wants it goes on
    this.owned = owned;
    this.answer(enough);
  }

  quit() {
    this.answer(false);
    this.operational = false;
    this.owned = [];
  }
}

const until = async (what, so) => {
  for (let i = 0; i < 6000 && !so(); i++) await sleep(10);
  if (!so()) throw new Error('still waiting until ' + what);
};

// the ears keep the wag operational while the tail is away
const wag = await new Controller('wag', [], ['tail', 'ears'], 40).connect();
const yawn = await new Controller('yawn', ['tail'], [], 60).connect();
wag.request();
await until('the wag has the tail', () => wag.owned.includes('tail'));
setInterval(() => { // 50 values a second are followed without a staircase
  const w = 2 * Math.PI, t = Date.now() / 1000;
  wag.ref.publish({ name: ['tail_joint1'], position: [0.15 * Math.sin(w * t)], velocity: [0.15 * w * Math.cos(w * t)] });
}, 20);
await sleep(1000);
yawn.request();
await until('the yawn has the tail', () => yawn.owned.includes('tail') && !wag.owned.includes('tail'));
await sleep(500);
yawn.quit();
await until('the wag has the tail back', () => wag.owned.includes('tail'));
await sleep(500);
wag.quit();
console.log('wagged, yawned and wagged again');
process.exit(0);
