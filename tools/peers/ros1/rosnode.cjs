// rosnodejs, a client library of ROS 1 that shares no code with rospy and roscpp, against a
// server. Message definitions are those that Poise prints. Prints "ok NAME" for every check
// that held, "all ok" at the end.
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { createRequire } = require("node:module");

const poise = process.env.POISE_BINARY;
const patience = 60000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rosnodejs"));
const show = (name) => execFileSync(poise, ["interface", "show", "--ros1", name], { encoding: "utf8" });
function define(kind, name) {
  const [pkg, short] = name.split("/");
  fs.mkdirSync(path.join(folder, pkg, kind), { recursive: true });
  fs.writeFileSync(path.join(folder, pkg, "package.xml"), `<package><name>${pkg}</name><version>1.0.0</version></package>`);
  fs.writeFileSync(path.join(folder, pkg, kind, `${short}.${kind}`), show(name));
}
for (const name of ["std_msgs/Header", "std_msgs/String", "sensor_msgs/JointState", "actionlib_msgs/GoalID", "actionlib_msgs/GoalStatus", "actionlib_msgs/GoalStatusArray",
  "geometry_msgs/Vector3", "geometry_msgs/Quaternion", "geometry_msgs/Transform", "geometry_msgs/TransformStamped", "tf2_msgs/TFMessage", "rosgraph_msgs/Log", "rosgraph_msgs/Clock",
  "trajectory_msgs/JointTrajectoryPoint", "trajectory_msgs/JointTrajectory", "control_msgs/JointTolerance", "roscpp/Logger",
  ...["Goal", "Result", "Feedback", "ActionGoal", "ActionResult", "ActionFeedback", "Action"].map((part) => `control_msgs/FollowJointTrajectory${part}`)]) define("msg", name);
for (const name of ["roscpp/GetLoggers", "roscpp/SetLoggerLevel"]) define("srv", name);
process.env.ROS_PACKAGE_PATH = folder;
process.env.CMAKE_PREFIX_PATH = folder; // of which it wants to hear

const rosnodejs = createRequire(path.join(process.env.POISE_CLIENTS, "package.json"))("rosnodejs");

function ok(name, held, why) {
  if (!held) throw new Error(`${name}: ${JSON.stringify(why)}`);
  console.log("ok", name);
}
const until = (what, so) => new Promise((done, fail) => {
  const end = Date.now() + patience;
  const timer = setInterval(() => {
    if (so()) { clearInterval(timer); done(); } else if (Date.now() > end) { clearInterval(timer); fail(new Error("never: " + what)); }
  }, 10);
});

async function main() {
  const n = await rosnodejs.initNode("/peer_js", { onTheFly: true, rosMasterUri: process.env.ROS_MASTER_URI });
  let states = [];
  n.subscribe("/joint_states", "sensor_msgs/JointState", (m) => states.push(m), { queueSize: 100 });
  await until("joint_states", () => states.length > 20);
  ok("joint_states", states[0].name.length === states[0].position.length && states[0].name.includes("joint_1"), states[0]);
  ok("seq rises", states.every((m, i) => i === 0 || m.header.seq > states[i - 1].header.seq));
  let latched;
  n.subscribe("/robot_description", "std_msgs/String", (m) => { latched = m; });
  await until("a latched topic", () => latched);
  ok("a latched topic", latched.data.includes("<robot"));
  let frames;
  n.subscribe("/tf", "tf2_msgs/TFMessage", (m) => { frames = m; });
  await until("tf", () => frames);
  ok("tf", frames.transforms.length > 5);
  ok("a parameter", (await n.getParam("/robot_description")) === latched.data);
  await n.setParam("/peer_js_check", 7);
  ok("a parameter that is set", (await n.getParam("/peer_js_check")) === 7);
  const end = Date.now() + patience;
  do await n.deleteParam("/peer_js_check").catch(() => {}); // it may ask twice, or set it once more after a late answer
  while ((await n.hasParam("/peer_js_check")) && Date.now() < end);
  ok("a parameter that is gone", !(await n.hasParam("/peer_js_check")));

  const get = n.serviceClient("/poise/get_loggers", "roscpp/GetLoggers");
  ok("a service", await n.waitForService("/poise/get_loggers", patience));
  const loggers = await get.call({});
  ok("a call", loggers.loggers[0].name === "ros.poise", loggers);
  const set = n.serviceClient("/poise/set_logger_level", "roscpp/SetLoggerLevel");
  let refused = "";
  await set.call({ logger: "ros.poise", level: "loud" }).catch((e) => { refused = String(e); });
  ok("a refused call", refused !== "", refused);

  const client = new rosnodejs.SimpleActionClient({ nh: n, type: "control_msgs/FollowJointTrajectory", actionServer: "/follow_joint_trajectory" });
  ok("wait_for_server", await client.waitForServer() /* with a timeout it gives up at once */);
  const last = states[states.length - 1];
  const names = last.name.filter((name) => name.startsWith("joint_"));
  const at = names.map((name) => last.position[last.name.indexOf(name)]);
  const { JointTrajectory, JointTrajectoryPoint } = rosnodejs.require("trajectory_msgs").msg;
  const { FollowJointTrajectoryGoal } = rosnodejs.require("control_msgs").msg;
  const goal = (offset, secs) => new FollowJointTrajectoryGoal({ trajectory: new JointTrajectory({ joint_names: names,
    points: [new JointTrajectoryPoint({ positions: at.map((q) => q + offset), time_from_start: { secs, nsecs: 0 } })] }) });
  let feedback = 0;
  client.sendGoal(goal(0.05, 1), null, null, () => feedback++);
  ok("a goal ends", await client.waitForResult({ secs: 60, nsecs: 0 }));
  ok("a goal succeeds", client.getState() === "SUCCEEDED" && feedback > 3 && client.getResult().error_code === 0, [client.getState(), feedback]);
  client.sendGoal(goal(0.3, 20));
  await until("it runs", () => client.getState() === "ACTIVE");
  client.cancelGoal();
  ok("a cancelled goal ends", await client.waitForResult({ secs: 60, nsecs: 0 }));
  ok("a cancelled goal is preempted", client.getState() === "PREEMPTED", client.getState());
  const bad = goal(0, 1);
  bad.trajectory.joint_names = names.map((name, i) => (i ? name : "no_such_joint"));
  client.sendGoal(bad);
  ok("a wrong goal ends", await client.waitForResult({ secs: 60, nsecs: 0 }));
  ok("a wrong goal is rejected", client.getState() === "REJECTED", client.getState());

  const command = n.advertise("/joint_trajectory", "trajectory_msgs/JointTrajectory");
  await until("joint_trajectory is read", () => command.getNumSubscribers() > 0);
  command.publish(goal(0.03, 1).trajectory);
  await until("joint_trajectory is played", () => {
    const m = states[states.length - 1];
    return Math.abs(m.position[m.name.indexOf(names[0])] - at[0] - 0.03) < 1e-3;
  });
  ok("joint_trajectory", true);
  console.log("all ok");
}

main().then(() => 0, (e) => { console.log(String(e && e.stack)); return 1; }).then((code) => {
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit(code);
});
