// Trajectory setup: what is stated reaches the file and the goal.
import assert from "node:assert/strict";
import { becomes, button, column, enter, field, given, motion, near, save, studio, table, teach, until } from "./harness.mjs";

const s = studio({ blind: true });

const three = (q) => ({ joint51: -0.3 + q / 4, joint52: q, joint53: q / 2 });
const part = table([[0, three(0)], [0.8, three(0.4)]]);
const position = (list) => list[0]?.position;

async function executed(page, server, to) {
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", to);
  await server.idle();
  return server.received();
}

s.test("tolerances, per joint and all at once, arrive in the file and in the goal", async (page, server) => {
  await given(page, part);
  await button(page, "Trajectory setup…").click();
  await field(page, "Path tolerance of all joints").fill("0.4");
  await field(page, "Goal tolerance of all joints").fill("0.1");
  await button(page, "Set for all").click();
  await becomes(page, "all are stated", (m) => m.joints.every((j) => position(j.path_tolerance) === 0.4 && position(j.goal_tolerance) === 0.1));
  await enter(page, "Path tolerance of joint52", 0.25, "Tab");
  await enter(page, "Goal tolerance of joint52", 0.05, "Tab");
  await enter(page, "Goal time tolerance, s", 1.5, "Tab");
  await becomes(page, "the time is stated", (m) => m.goal_time_tolerance === 1.5);
  await button(page, "Done").click();
  await save(page, "tolerant");
  const check = (m) => {
    const by = Object.fromEntries(m.joints.map((j) => [j.name, [position(j.path_tolerance), position(j.goal_tolerance)]]));
    assert.deepEqual(by, { joint51: [0.4, 0.1], joint52: [0.25, 0.05], joint53: [0.4, 0.1] });
    assert.equal(m.goal_time_tolerance, 1.5);
  };
  check(await server.get("tolerant"));
  check(await executed(page, server, 0.4));
  // one step takes back what was stated for all
  for (let i = 0; i < 4; i++) await button(page, "Undo").click();
  await becomes(page, "nothing is stated", (m) => m.joints.every((j) => j.path_tolerance.length === 0 && j.goal_tolerance.length === 0));
});

s.test("a joint that is off stays in the table and the file, and is not sent", async (page, server) => {
  await given(page, part);
  await button(page, "Trajectory setup…").click();
  await field(page, "joint53 is sent").click();
  await becomes(page, "joint53 is off", (m) => m.joints.some((j) => j.name === "joint53" && !j.enabled));
  assert.equal(await page.getByRole("dialog").locator("tr.off").count(), 1);
  await button(page, "Done").click();
  await save(page, "off");
  assert.match(await server.stored("off"), /joint53: \{[^}]*enabled: false/);
  assert.deepEqual(column(await server.get("off"), "joint53"), [0, 0.2]);
  const goal = await executed(page, server, 0.4);
  assert.deepEqual(goal.joints.map((j) => j.name), ["joint51", "joint52"]);
  near((await server.joints()).joint53, s.rest.joint53, 1e-6);
});

s.test("unknown joints cannot be entered", async (page) => {
  await given(page, part);
  const before = await motion(page);
  await button(page, "Trajectory setup…").click();
  for (const name of ["wing", "joint5", "joint52", " ", "pupil_left_yaw", "<b>"]) { // 52 is there already; the pupil follows the eyes
    await page.getByLabel("Joint or limb to add").fill(name);
    assert.ok(await button(page, "Add joint").isDisabled(), name);
    await page.getByLabel("Joint or limb to add").press("Enter");
  }
  assert.deepEqual(await motion(page), before);
  await page.getByLabel("Joint or limb to add").fill("tail_joint1");
  assert.ok(await button(page, "Add joint").isEnabled());
  await page.getByLabel("Joint or limb to add").fill("");
  await button(page, "Done").click();
});

s.test("taking joints out and in again loses nothing", async (page, server) => {
  await teach(page, server, [0, 12, 24]);
  const whole = await motion(page);
  assert.equal(whole.joints.length, 38); // the first pose brings in all
  await button(page, "Trajectory setup…").click();
  await field(page, "Remove joint52").click();
  await becomes(page, "joint52 is out", (m) => !m.joints.some((j) => j.name === "joint52"));
  await button(page, "Done").click();
  assert.equal(await field(page, "joint52 value").count(), 0); // the panel shows what takes part
  await save(page, "without");
  assert.deepEqual(column(await server.get("without"), "joint52"), column(whole, "joint52")); // rows keep it
  await button(page, "Trajectory setup…").click();
  await page.getByLabel("Joint or limb to add").fill("joint52");
  await button(page, "Add joint").click();
  const again = await becomes(page, "joint52 is in", (m) => m.joints.some((j) => j.name === "joint52"));
  assert.deepEqual(again.points, whole.points);
  // a limb brings in all its joints, and all can be brought in
  for (const j of ["tail_joint1", "tail_joint2"]) await field(page, `Remove ${j}`).click();
  await becomes(page, "two are out", (m) => m.joints.length === 36);
  await page.getByLabel("Joint or limb to add").fill("tail");
  await button(page, "Add joint").click();
  await becomes(page, "the tail is in", (m) => m.joints.length === 38);
  await field(page, "Remove joint11").click();
  await becomes(page, "one is out", (m) => m.joints.length === 37);
  await button(page, "Add all joints").click();
  const all = await becomes(page, "all are in", (m) => m.joints.length === 38);
  assert.deepEqual(all.points, whole.points);
  await button(page, "Done").click();
});

s.test("name, description, tags, start pose, loop and support tracks reach the file; present values are shown", async (page, server) => {
  await given(page, part);
  await button(page, "Trajectory setup…").click();
  await enter(page, "Name", "stated", "Tab");
  await enter(page, "Description", "A test: of \"everything\", # even this", "Tab");
  await enter(page, "Tags", "one, two", "Tab");
  await page.getByRole("dialog").getByLabel("Start pose").selectOption("stand");
  await page.getByRole("dialog").getByLabel("leg3").click();
  await becomes(page, "leg3 has a track", (m) => m.chains.join() === "leg3");
  await page.getByLabel("may repeat without a pause").click();
  await becomes(page, "it may repeat", (m) => m.loop);
  const now = await page.getByRole("dialog").locator("tr", { hasText: "joint51" }).locator("td.number").first().textContent();
  near((Number(now) * Math.PI) / 180, (await server.joints()).joint51, 1e-3);
  await button(page, "Done").click();
  await save(page, "stated");
  const m = await server.get("stated");
  assert.deepEqual([m.name, m.description, m.tags, m.start_pose, m.loop, m.chains], ["stated", "A test: of \"everything\", # even this", ["one", "two"], "stand", true, ["leg3"]]);
  const { motions } = await server.call("/motions/list");
  assert.deepEqual(motions.find((x) => x.name === "stated").tags, ["one", "two"]);
  await until("it is not marked as changed", async () => (await page.getByLabel("Changes").textContent()) === "");
});
