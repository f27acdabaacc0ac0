// Plays a motion and moves a joint with roslib, in Node:
//
//   npm install roslib
//   poise serve &
//   node examples/web/play.mjs [URL]
//
// index.html does the same in a browser.
import { pathToFileURL } from 'node:url';

// POISE_CLIENTS may name a folder that has roslib installed
const where = process.env.POISE_CLIENTS;
const roslib = await import(where ? pathToFileURL(where + '/node_modules/roslib/dist/RosLib.js') : 'roslib');

const ros = new roslib.Ros();
await ros.connect(process.argv[2] ?? 'ws://127.0.0.1:8080/rosbridge');

const call = (name, serviceType, request = {}) =>
  new Promise((yes, no) => new roslib.Service({ ros, name, serviceType }).callService(request, yes, no));

// send a goal; hurry(cancel) may call it off
const perform = (name, actionType, goal, hurry) => new Promise((yes, no) => {
  const action = new roslib.Action({ ros, name, actionType });
  let feedback = 0;
  const id = action.sendGoal(goal, result => yes({ result, feedback }), () => feedback++, why => no(new Error(why)));
  hurry?.(() => action.cancelGoal(id));
});

const list = await call('/motions/list', 'poise_msgs/srv/MotionsList');
console.log('motions:', list.motions.map(m => m.name).join(' '));

const events = new roslib.Topic({ ros, name: '/events', messageType: 'poise_msgs/msg/Event' });
events.subscribe(e => console.log('event:', e.command.type, e.command.command));

const nod = await perform('/play_motion', 'text_msgs/action/TextAction',
  { command: { type: 'motion', command: 'nod', options: 'approach' } });
console.log(`nod: done after ${nod.feedback} feedbacks`);

// a refusal explains itself
await perform('/play_motion', 'text_msgs/action/TextAction', { command: { type: 'motion', command: 'nodd', options: '' } })
  .then(() => { throw new Error('nodd should not exist'); }, e => console.log('refused:', e.message));

ros.close();
console.log('done');
process.exit(0);
