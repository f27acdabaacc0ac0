// The real robot, played by a simulated one with noise, lag and sag.
import assert from "node:assert/strict";
import { becomes, button, column, enter, file, given, letGo, motion, near, radians, save, studio, table, teach, told, until } from "./harness.mjs";

const s = studio({ args: ["--with-real-sim"], blind: true });

const off = 0.03; // rad: how exactly a real servo is where it was told to be
const rated = (server) => server.state("real");
const servos = (page, text) => page.getByLabel("Servo state").getByText(text).waitFor();
const hand = async (server, joints) => {
  const answer = await server.call("/real/joints_hand_set", { joints: { name: Object.keys(joints), position: Object.values(joints) } });
  assert.ok(answer.success, answer.message);
};

s.test("saved, reloaded, loaded, and played on the real robot both ways", async (page, server) => {
  await teach(page, server, [0, 15, 25]);
  await save(page, "turn_head");
  assert.match(await server.stored("turn_head"), /joint52: 0\.436/);
  assert.equal(await page.getByLabel("Changes").textContent(), "");
  // changes are marked, survive a reload, and leaving asks
  await enter(page, "Label of row 2", "half way");
  await page.getByText("● unsaved").waitFor();
  await page.reload();
  assert.deepEqual(page.asked, ["beforeunload"]);
  await page.getByText("● unsaved").waitFor();
  assert.equal((await motion(page)).points[1].label, "half way");
  await button(page, "Undo").click(); // history survives, too
  await becomes(page, "the label is gone", (m) => m.points[1].label === "");
  await button(page, "Redo").click();
  await save(page, "turn_head");
  assert.match(await server.stored("turn_head"), /half way/);

  await file(page, "New");
  await becomes(page, "it is empty", (m) => m.points.length === 0);
  await file(page, "Load trajectory…");
  await page.getByRole("option", { name: "turn_head" }).click();
  await button(page, "Load").click();
  await becomes(page, "it is loaded", (m) => m.points.length === 3);

  const virtual = await server.joints();
  await button(page, "Execute real").click();
  await server.reaches("joint52", radians(25), off, "real");
  await server.idle("real");
  await told(page, /done/, "real");
  await page.locator("tr[data-row='2']").getByText("R", { exact: true }).waitFor();
  near((await server.joints()).joint52, virtual.joint52, 1e-6); // the virtual one stays
  await button(page, "Execute real backward").click();
  await server.reaches("joint52", 0, off, "real");
  await server.idle("real");
  await page.locator("tr[data-row='0']").getByText("R", { exact: true }).waitFor();
});

s.test("taught from the real robot with its servos off", async (page, server) => {
  await button(page, "Turn all servos on/off").click();
  await page.getByRole("dialog", { name: "Take the torque?" }).waitFor();
  await button(page, "Cancel").click();
  assert.equal((await rated(server)).power, "enabled"); // nothing was taken yet
  await button(page, "Turn all servos on/off").click();
  await letGo(page, /whole real robot goes limp and falls: it stands on .*leg1/);
  await until("all are off", async () => (await rated(server)).power !== "enabled");
  assert.equal((await server.state()).power, "enabled"); // the virtual robot keeps its own
  await servos(page, "all off");
  for (const [i, q] of [0.2, 0.4].entries()) {
    await hand(server, { joint52: q });
    await server.reaches("joint52", q, 0.02, "real");
    await button(page, "Add pose from real").click();
    await page.locator(`tr[data-row='${i}']`).waitFor();
  }
  const m = await motion(page);
  near(column(m, "joint52")[0], 0.2, 0.02);
  near(column(m, "joint52")[1], 0.4, 0.02);
  near((await server.joints()).joint52, s.rest.joint52, 1e-6);
  await button(page, "Turn all servos on/off").click();
  await until("all are on", async () => (await rated(server)).power === "enabled");
  await servos(page, "all on");
});

s.test("Execute with the servos off is refused, with the one click that helps", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 0.3 }]]));
  const before = (await server.joints("real")).joint52;
  for (const [order, wanted, helps] of [
    [{ on: false, resources: [] }, /the servos of the robot are off/, "Turn on the servos of all limbs, real robot"],
    [{ on: false, resources: ["head"] }, /the servos of head are off/, "Turn on the servos of head, real robot"],
  ]) {
    assert.ok((await server.call("/real/set_torque", order)).success);
    await button(page, "Execute real").click();
    await told(page, /refused/, "real");
    await told(page, wanted, "real");
    const state = await rated(server);
    assert.ok(state.power !== "enabled" || state.limp.join() === "head", "it was switched on");
    near((await server.joints("real")).joint52, before, 0.05);
    await page.getByLabel(helps).click();
    await until("the servos are on", async () => (await rated(server)).limp.length === 0);
    await page.getByLabel(helps).waitFor({ state: "detached" }); // the refusal is over
    assert.equal((await rated(server)).goals.length, 0); // and nothing moved by itself
  }
  await button(page, "Execute real").click();
  await server.reaches("joint52", 0.3, off, "real");
  await server.idle("real");
});

s.test("a stored motion with the servos off is refused, with the one click that helps", async (page, server) => {
  await page.getByRole("tab", { name: "Library" }).click();
  const before = (await server.joints("real")).tail_joint1;
  for (const [order, wanted, helps] of [
    [{ on: false, resources: [] }, /the servos of the robot are off/, "Turn on the servos of all limbs, real robot"],
    [{ on: false, resources: ["tail"] }, /the servos of tail are off/, "Turn on the servos of tail, real robot"],
  ]) {
    assert.ok((await server.call("/real/set_torque", order)).success);
    const limp = (await rated(server)).limp.length;
    await page.getByLabel("Play wag_tail on the real robot").click();
    await told(page, /refused/, "real");
    await told(page, wanted, "real");
    assert.equal((await rated(server)).limp.length, limp); // nothing was switched on
    assert.equal((await rated(server)).goals.length, 0);
    near((await server.joints("real")).tail_joint1, before, 0.05);
    await page.getByLabel(helps).click();
    await until("the servos are on", async () => (await rated(server)).limp.length === 0);
    assert.equal((await rated(server)).goals.length, 0);
  }
  const hurry = await server.slowly("real");
  await page.getByLabel("Play wag_tail on the real robot").click();
  await until("it runs", async () => (await rated(server)).goals.length === 1);
  await hurry();
  await server.idle("real");
});

s.test("servos by limb, of the trajectory, and the switch of the trajectory controller", async (page, server) => {
  await page.getByLabel("Servos of head").click();
  await letGo(page, /head of the real robot will hang by its weight/);
  await until("the head is limp", async () => (await rated(server)).limp.join() === "head");
  await servos(page, "partially on");
  await page.getByLabel("Servos of head").click();
  await until("the head is held", async () => (await rated(server)).limp.length === 0);
  await servos(page, "all on");

  await given(page, table([[0, { tail_joint1: 0, ear_l_joint: 0 }], [1, { tail_joint1: 0.2, ear_l_joint: 0.1 }]]));
  await button(page, "Turn all trajectory servos on/off").click();
  await letGo(page, /will hang/);
  await until("the tail and the ears are limp, nothing else", async () => (await rated(server)).limp.toSorted().join() === "ears,tail");
  await servos(page, "partially on");
  await button(page, "Turn all trajectory servos on/off").click();
  await until("they are held", async () => (await rated(server)).limp.length === 0);

  const follow = async () => (await rated(server)).controllers.filter((c) => c.kind === "follow").map((c) => c.running);
  await page.getByLabel("Disable real trajectory controller").click();
  await until("the controller is off", async () => (await follow()).every((on) => !on));
  await until("the page knows", () => page.getByLabel("Disable real trajectory controller").isChecked());
  assert.ok(await button(page, "Execute real").isDisabled());
  assert.ok((await server.state()).controllers.filter((c) => c.kind === "follow").every((c) => c.running));
  await page.getByLabel("Disable real trajectory controller").click();
  await until("the controller is on", async () => (await follow()).every((on) => on));
  await until("the page knows", () => button(page, "Execute real").isEnabled());
});

s.test("a tolerance that the real robot breaks aborts, with joint, value and limit beside the button", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [1.2, { joint52: 1 }]]));
  await button(page, "Trajectory setup…").click();
  await enter(page, "Path tolerance of joint52", 0.02);
  await becomes(page, "the tolerance is stated", (m) => m.joints[0].path_tolerance[0]?.position === 0.02);
  await button(page, "Done").click();
  await button(page, "Execute real").click();
  await told(page, /aborted.*joint52.*(0\.02|1\.1)/, "real"); // rad or °
  await server.idle("real");
  assert.equal((await server.received()).joints[0].path_tolerance[0].position, 0.02);
  assert.ok((await server.joints("real")).joint52 < 0.9, "it went on");
});

s.test("R marks the row at which the real robot is; Stop stops both robots", async (page, server) => {
  await given(page, table([[0, { joint52: 0.4 }], [2, { joint52: -0.4 }]]));
  const at = (robot) => page.locator("tr[data-row]").evaluateAll((rows, r) => rows.filter((e) => e.cells[0].textContent.includes(r)).map((e) => e.dataset.row).join(), robot);
  for (const [press, where, q] of [["Execute real", "1", -0.4], ["Execute real backward", "0", 0.4]]) {
    await button(page, press).click();
    await server.reaches("joint52", q, off, "real");
    await server.idle("real");
    await until(`row ${where} alone is marked`, async () => (await at("R")) === where);
    assert.equal(await at("V"), ""); // the virtual one is elsewhere
  }
  await page.getByLabel("Speed scale").fill("10");
  await button(page, "Execute real").click();
  await until("it is under way", async () => (await server.joints("real")).joint52 < 0.35);
  await server.slowly("real");
  await button(page, "Stop").click();
  await until("both are stopped", async () => (await rated(server)).stopped && (await server.state()).stopped);
  await server.idle("real");
  assert.ok((await server.joints("real")).joint52 > -0.3, "it went on");
});

s.test("a stored motion is played on the real robot", async (page, server) => {
  await given(page, table([[0, { tail_joint1: 0 }], [0.6, { tail_joint1: 0.4 }], [1.6, { tail_joint1: -0.4 }]], { events: [[0.6, "voice/say", "really"]] }));
  await save(page, "wags");
  await page.getByRole("tab", { name: "Library" }).click();
  await page.getByLabel("Find a motion").fill("wags");
  const [virtual, events] = [await server.joints(), await server.hear("/real/events")];
  const hurry = await server.slowly("real");
  await page.getByLabel("Play wags on the real robot").click();
  const goal = await until("a goal runs", async () => (await rated(server)).goals[0]);
  assert.equal(goal.action, "execute_motion");
  assert.equal((await server.state()).goals.length, 0);
  await hurry();
  await server.reaches("tail_joint1", -0.4, off, "real");
  await server.idle("real");
  await told(page, /done/, "real");
  assert.deepEqual(events.all.map((e) => e.command.command), ["really"]);
  await page.getByLabel("Events that left").getByText("really").waitFor();
  near((await server.joints()).tail_joint1, virtual.tail_joint1, 1e-6);
});
