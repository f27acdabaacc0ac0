// The table of key points: every edit, by what it leaves in the saved file and in
// the goal that is executed.
import assert from "node:assert/strict";
import { becomes, button, column, enter, field, given, motion, near, radians, row, save, studio, table, times, turn, until } from "./harness.mjs";

const s = studio({ blind: true });

const head = (...angles) => angles.map((q, i) => [i + 1, { joint52: q, tail_joint1: -q }]);
const shifting = (page, rows) => page.getByLabel("Rows that a change of time moves").selectOption(rows);
const selected = (page) => page.locator("tr.chosen").evaluateAll((rows) => rows.map((r) => Number(r.dataset.row)));
const choose = async (page, ...rows) => {
  await row(page, rows[0]).click();
  for (const r of rows.slice(1)) await row(page, r).click({ modifiers: ["Control"] });
};

// file saves and returns what the server then has.
async function file(page, server) {
  await save(page, "edited");
  return server.get("edited");
}

s.test("times are shifted: this, above, below, all", async (page, server) => {
  await given(page, table(head(0, 0.1, 0.2, 0.3), { events: [[2.5, "voice/say", "hello"]] }));
  for (const [which, want, event] of [["this", [1, 2.5, 3, 4], 2.5], ["above", [1.5, 2.5, 3, 4], 2.5], ["below", [1, 2.5, 3.5, 4.5], 2.5], ["all", [1.5, 2.5, 3.5, 4.5], 3]]) {
    await choose(page, 1);
    await shifting(page, which);
    await page.getByLabel("Shift times later").click();
    await becomes(page, `${which} shifted`, (m) => times(m).join() === want.join());
    const m = await file(page, server);
    assert.deepEqual(times(m), want);
    assert.equal(m.events[0].time, event, which);
    await page.getByLabel("Shift times earlier").click();
    await becomes(page, `${which} shifted back`, (now) => times(now).join() === "1,2,3,4" && now.events[0].time === 2.5);
  }
  // a time that is typed moves the same rows
  await shifting(page, "below");
  await enter(page, "Time of row 2", 2.25);
  await becomes(page, "all from row 2 on moved", (m) => times(m).join() === "1,2.25,3.25,4.25");
  assert.deepEqual(times(await file(page, server)), [1, 2.25, 3.25, 4.25]);
});

s.test("rows never meet and marks keep their order: refusals say why and change nothing", async (page, server) => {
  await given(page, table(head(0, 0.1, 0.2)));
  await save(page, "kept");
  const before = await server.stored("kept");
  const refused = (text) => page.getByRole("alert").filter({ hasText: text }).waitFor();
  await enter(page, "Time of row 1", 2);
  await refused(/row 2|2 s/);
  await enter(page, "Time of row 1", -1);
  await refused("-1");
  await becomes(page, "nothing changed", (m) => times(m).join() === "1,2,3");
  await field(page, "Start mark at row 2").click();
  await becomes(page, "row 2 is marked", (m) => m.points[1].mark === "start");
  await field(page, "End mark at row 1").click();
  await refused(/start mark|end mark/);
  await field(page, "Row 2 enabled").click();
  await refused("start mark");
  assert.deepEqual((await motion(page)).points.map((p) => p.mark), ["", "start", ""]);
  await field(page, "Start mark at row 2").click();
  await becomes(page, "the mark is gone", (m) => m.points.every((p) => p.mark === ""));
  await save(page, "kept");
  assert.equal(await server.stored("kept"), before);
});

s.test("rows are chosen by mouse with Shift and Ctrl, and by arrow keys; Delete deletes", async (page, server) => {
  await given(page, table(head(0, 0.1, 0.2, 0.3, 0.4)));
  await row(page, 1).click();
  await row(page, 3).click({ modifiers: ["Shift"] });
  assert.deepEqual(await selected(page), [1, 2, 3]);
  await row(page, 2).click({ modifiers: ["Control"] });
  assert.deepEqual(await selected(page), [1, 3]);
  await row(page, 0).click({ modifiers: ["Control"] });
  assert.deepEqual(await selected(page), [0, 1, 3]);
  await row(page, 2).click();
  assert.deepEqual(await selected(page), [2]);
  const marker = await server.hear("/joints_marker_set");
  await field(page, "Key point table").focus();
  for (const [key, at, q] of [["ArrowDown", 3, 0.3], ["ArrowUp", 2, 0.2], ["ArrowUp", 1, 0.1]]) {
    const heard = marker.next((m) => Math.abs(m.position[m.name.indexOf("joint52")] - q) < 1e-9);
    await page.keyboard.press(key);
    await heard;
    assert.deepEqual(await selected(page), [at]);
  }
  await page.keyboard.press("Shift+ArrowDown");
  assert.deepEqual(await selected(page), [1, 2]);
  await page.keyboard.press("Delete");
  await becomes(page, "two rows are deleted", (m) => m.points.length === 3);
  assert.deepEqual(column(await file(page, server), "joint52"), [0, 0.3, 0.4]);
  await page.keyboard.press("Control+z");
  await becomes(page, "they are back", (m) => m.points.length === 5);
  await page.keyboard.press("Control+Shift+z");
  await becomes(page, "and gone", (m) => m.points.length === 3);
});

s.test("disabled rows are grey, stay in the file, and take no part in the goal", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [0.4, { joint52: 0.5 }], [0.8, { joint52: -0.5 }], [1.2, { joint52: 0.3 }]]));
  await choose(page, 1, 2);
  await button(page, "Disable rows").click();
  await becomes(page, "two are disabled", (m) => m.points.map((p) => +p.enabled).join("") === "1001");
  assert.deepEqual(await page.locator("tr.off").evaluateAll((rows) => rows.map((r) => r.dataset.row)), ["1", "2"]);
  assert.deepEqual((await file(page, server)).points.map((p) => p.enabled), [true, false, false, true]);
  const poses = await server.hear("/joint_states");
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", 0.3);
  await server.idle();
  const goal = await server.received();
  assert.deepEqual(column(goal, "joint52"), [0, 0.3]);
  assert.deepEqual(times(goal), [0, 1.2]);
  for (const p of poses.all) assert.ok(Math.abs(p.position[p.name.indexOf("joint52")] - 0.15) < 0.2, "a disabled row was visited");
  await choose(page, 1, 2);
  await button(page, "Enable rows").click();
  await becomes(page, "all are enabled", (m) => m.points.every((p) => p.enabled));
  await field(page, "Row 3 enabled").click();
  await becomes(page, "one is disabled in place", (m) => m.points.map((p) => +p.enabled).join("") === "1101");
});

s.test("rows are inserted, duplicated, labelled and taken anew from the robot", async (page, server) => {
  await given(page, table(head(0, 0.1, 0.2)));
  await turn(page, server, "joint52", 33);
  await choose(page, 1);
  await button(page, "Insert row").click();
  await becomes(page, "a row is inserted", (m) => times(m).join() === "1,2,2.5,3");
  await choose(page, 0);
  await button(page, "Duplicate rows").click();
  await becomes(page, "a row is duplicated", (m) => times(m).join() === "1,1.5,2,2.5,3");
  await enter(page, "Label of row 2", "again");
  await becomes(page, "it has a label", (m) => m.points[1].label === "again");
  await choose(page, 4);
  await button(page, "Update from present pose").click();
  await becomes(page, "a row is taken anew", (m) => Math.abs(column(m, "joint52")[4] - radians(33)) < 1e-3);
  const m = await file(page, server);
  [0, 0, 0.1, radians(33), radians(33)].forEach((q, i) => near(column(m, "joint52")[i], q));
  assert.deepEqual(m.points.map((p) => p.label), ["", "again", "", "", ""]);
  // equal poses look equal
  const prints = await page.locator("tr[data-row] td:nth-child(4) span").evaluateAll((all) => all.map((e) => e.textContent + e.style.color));
  assert.equal(prints[0], prints[1]);
  assert.notEqual(prints[1], prints[2]);
});

s.test("joint values are edited in place; limbs are copied, pasted and mirrored", async (page, server) => {
  const legs = (q) => ({ joint11: q, joint12: -0.38, joint21: 0, joint22: -0.38, joint52: q / 2 });
  await given(page, table([[0, legs(0)], [1, legs(0)], [2, legs(0.1)]]));
  assert.equal(await field(page, "joint11 in row 1").count(), 0);
  await page.getByLabel("joint values").check();
  await enter(page, "joint11 in row 1", 20);
  await becomes(page, "the value is set", (m) => Math.abs(column(m, "joint11")[0] - radians(20)) < 1e-6);
  await page.getByLabel("joint values").uncheck();
  assert.equal(await field(page, "joint11 in row 1").count(), 0);
  await choose(page, 0);
  await page.getByLabel("Limb to copy").selectOption("leg1");
  await button(page, "Copy limb").click();
  await choose(page, 1, 2);
  await button(page, "Paste limb").click();
  await becomes(page, "the limb is pasted into both rows", (m) => column(m, "joint11").every((q) => Math.abs(q - radians(20)) < 1e-6));
  await choose(page, 1);
  await button(page, "Mirror left/right").click();
  await becomes(page, "one row is mirrored", (m) => Math.abs(column(m, "joint21")[1] + radians(20)) < 1e-6);
  const m = await file(page, server);
  near(column(m, "joint11")[1], 0, 1e-9);
  near(column(m, "joint11")[2], radians(20), 1e-6);
  assert.deepEqual(column(m, "joint52"), [0, -0, 0.05].map((q) => q + 0)); // pasting a leg left the head
  near(column(m, "joint21")[2], 0, 1e-9);
});

s.test("V marks the rows at which the virtual robot is, within tolerance", async (page, server) => {
  await given(page, table([[0, { joint52: 0.1 }], [1, { joint52: 0.3 }], [2, { joint52: 0.1 }]]));
  const at = async () => (await page.locator("tr[data-row]").evaluateAll((rows) => rows.filter((r) => r.cells[0].textContent.includes("V")).map((r) => Number(r.dataset.row)))).join();
  await choose(page, 1);
  await button(page, "Set virtual pose").click();
  await server.reaches("joint52", 0.3, 1e-6);
  await until("row 2 is marked", async () => (await at()) === "1");
  await choose(page, 0);
  await button(page, "Set virtual pose").click();
  await until("both rows of that pose are marked", async () => (await at()) === "0,2");
  await enter(page, "joint52 value", 14); // 0.244: beyond two hundredths of all
  await server.reaches("joint52", radians(14), 1e-3);
  await until("no row is marked", async () => (await at()) === "");
  await button(page, "Trajectory setup…").click();
  await enter(page, "Goal tolerance of joint52", 0.1);
  await becomes(page, "the tolerance is stated", (m) => m.joints[0].goal_tolerance[0]?.position === 0.1);
  await button(page, "Done").click();
  await until("row 2 is within its tolerance", async () => (await at()) === "1");
});

s.test("supports of a row are set in place and reach the file and the goal", async (page, server) => {
  const q = { joint52: 0 };
  await given(page, table([[0, q, "supports: {leg1: 1, leg2: 1}"], [0.5, { joint52: 0.1 }, "supports: {leg1: 1, leg2: 1}"], [1, { joint52: 0.2 }, "supports: {leg1: 1, leg2: 1}"]]));
  await field(page, "leg2 carries from row 2").click();
  await becomes(page, "leg2 is free", (m) => m.points[1].supports[m.chains.indexOf("leg2")] === 0);
  const m = await file(page, server);
  assert.deepEqual(m.points.map((p) => p.supports[m.chains.indexOf("leg2")]), [1, 0, 1]);
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", 0.2);
  await server.idle();
  assert.equal(page.goals.length, 1); // the move to the start is a part of it
  const played = await server.received();
  assert.deepEqual(played.points.map((p) => p.supports[played.chains.indexOf("leg2")]), [1, 0, 1]);
});
