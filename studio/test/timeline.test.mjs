// The timeline: curves with their limits, and what is dragged in time.
import assert from "node:assert/strict";
import { becomes, button, coloured, cursor, differing, drag, enter, field, given, motion, near, picture, row, ruler, save, studio, table, times, until } from "./harness.mjs";

const s = studio({ blind: true });

const some = 40; // pixels
const curves = (page) => page.getByRole("region", { name: "Timeline" }).locator("canvas").first();
const red = (r, g, b) => r > g + 40 && b > g + 6; // as limits are drawn
const nod = table([[0, { joint51: -0.3, joint52: 0 }], [1, { joint51: -0.5, joint52: 0.5 }], [2, { joint51: -0.3, joint52: 0 }]], { events: [[1.5, "voice/say", "hello"]] });

// drawn waits until the picture of the curves fits and stays as it is, and returns it:
// the first may have been drawn before the legend took its room.
const drawn = (page, what, fits) =>
  until(what, async () => {
    const now = await picture(page, curves(page));
    return fits(now) && differing(now, await picture(page, curves(page))) === 0 && now;
  }, { every: 200 });

s.test("velocity and acceleration are drawn over the positions, with their limits", async (page) => {
  await given(page, nod);
  await curves(page).waitFor();
  const all = await drawn(page, "curves are drawn", (now) => coloured(now, (r, g, b) => Math.max(r, g, b) - Math.min(r, g, b) > 60) > some);
  await page.getByLabel("Joints to show").selectOption("joint51");
  const one = await drawn(page, "one joint with its limits", (now) => differing(now, all) > some && coloured(now, red) > 300);
  await field(page, "velocity").check();
  const two = await drawn(page, "velocity and its limits", (now) => differing(now, one) > some && coloured(now, red) > coloured(one, red) + some);
  await field(page, "acceleration").check();
  const three = await drawn(page, "acceleration", (now) => differing(now, two) > some);
  await field(page, "velocity").uncheck();
  await drawn(page, "without velocity", (now) => differing(now, three) > some);
  await field(page, "acceleration").uncheck();
  await drawn(page, "as before", (now) => differing(now, one) < some / 4);
  await page.getByLabel("Joints to show").selectOption("head");
  await drawn(page, "a limb", (now) => differing(now, one) > some);
});

s.test("a key point dragged in time moves its row in the file", async (page, server) => {
  await given(page, nod);
  const { px } = await ruler(page);
  await drag(page, page.locator("path[data-key='1']"), -0.4 * px, 0);
  await becomes(page, "the row moved", (m) => Math.abs(times(m)[1] - 0.6) < 0.02);
  await save(page, "dragged");
  const m = await server.get("dragged");
  near(times(m)[1], 0.6, 0.02);
  assert.deepEqual([times(m)[0], times(m)[2]], [0, 2]);
  // onto another row it is refused, and stays
  await drag(page, page.locator("path[data-key='1']"), 4 * px, 0);
  await page.getByRole("alert").filter({ hasText: "2" }).waitFor();
  assert.deepEqual(times(await motion(page)), times(m));
});

s.test("an event is added, dragged in time, changed and deleted in the file", async (page, server) => {
  await given(page, nod);
  const { px } = await ruler(page);
  const event = page.getByRole("button", { name: /^Event voice\/say/ });
  await drag(page, event.locator("circle"), -0.5 * px, 0);
  await becomes(page, "it moved", (m) => Math.abs(m.events[0].time - 1) < 0.02);
  await save(page, "said");
  near((await server.get("said")).events[0].time, 1, 0.02);
  await event.locator("circle").click();
  await enter(page, "Command", "bye", "Tab");
  await enter(page, "Options", "loud", "Tab");
  await enter(page, "Time, s", 0.25, "Tab");
  await button(page, "Change event").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await save(page, "said");
  assert.deepEqual((await server.get("said")).events, [{ time: 0.25, type: "voice/say", command: "bye", options: "loud" }]);
  await event.locator("circle").click();
  await button(page, "Delete event").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await save(page, "said");
  assert.deepEqual((await server.get("said")).events, []);
});

s.test("the support track shows which feet carry from row to row", async (page) => {
  const up = (q, leg1) => [q, { joint52: q / 10 }, `supports: {leg1: ${leg1}, leg2: 1}`];
  await given(page, table([up(0, 1), up(1, 0), up(2, 1)]));
  const bars = () => page.locator("rect.carries").evaluateAll((all) => all.map((r) => [r.x.baseVal.value, r.width.baseVal.value, r.y.baseVal.value]));
  await until("bars are drawn", async () => (await bars()).length === 5); // leg1: row 1 and 3, leg2: all
  await until("the first bar goes from row 1 to row 2", async () => {
    const [[first], { left, px }] = [await bars(), await ruler(page)];
    return Math.abs(first[0] - left) <= 1 && Math.abs(first[1] - px) <= 2;
  });
  await field(page, "leg1 carries from row 2").click();
  await until("no gap is left", async () => (await bars()).length === 6);
});

s.test("the ruler is worked by keys", async (page, server) => {
  await given(page, nod);
  await field(page, "Ruler, supports and events; arrow keys move the cursor").focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press("Shift+ArrowRight");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowLeft");
  near(await cursor(page), 0.47, 1e-6);
  await button(page, "Add pose from virtual").click();
  await becomes(page, "a row at the cursor", (m) => m.points.length === 4);
  await save(page, "keys");
  near(times(await server.get("keys"))[1], 0.47, 1e-9);
});

s.test("what would break a limit is red before playing, as the server judges it", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 0 }], [1.3, { joint52: 1.2 }], [3, { joint52: 1.2 }]]));
  await page.getByLabel("Findings").getByText(/velocity of joint52/).waitFor();
  const { findings } = await server.call("/motions/sample", { motion: await motion(page), period: 0, part: false, scale: 1, backward: false });
  const fast = findings.find((f) => f.rule === "velocity");
  assert.ok(fast.value > fast.limit && fast.from_time >= 1 && fast.to_time <= 1.3);
  await until("a red bar stands over what is too fast", async () => {
    const bars = await page.locator("svg.tracks rect.red").evaluateAll((all) => all.map((r) => [r.x.baseVal.value, r.width.baseVal.value]));
    const { left, px } = await ruler(page);
    return bars.some(([x, w]) => Math.abs(x - left - fast.from_time * px) < 2 && Math.abs(w - (fast.to_time - fast.from_time) * px) < 3.5);
  });
  await row(page, 2).click();
  await page.getByLabel("Rows that a change of time moves").selectOption("below");
  await enter(page, "Time of row 3", 3);
  await until("nothing is red any more", async () => (await page.locator("rect.red").count()) === 0);
});
