// The 3-D view and the joints panel: what is seen, and what dragging does to the
// robot.
import assert from "node:assert/strict";
import { becomes, button, coloured, column, cursor, differing, drag, enter, field, file, given, motion, near, picture, radians, row, ruler, studio, table, teach, times, turn, until } from "./harness.mjs";

const s = studio({ args: ["--with-real-sim"] });

const some = 150; // pixels: what is more than an edge or a needle
const panel = (page) => page.getByRole("region", { name: "Joints" });
const names = (page) => panel(page).getByRole("slider").evaluateAll((all) => all.map((e) => e.ariaLabel.replace(/ slider$/, "")));
const canvas = (page) => page.locator(".view canvas");
const blue = (r, g, b) => b > r + 30 && b > g + 12; // as the ghost is tinted
const rim = (r, g, b) => b > 215 && r < 85 && g < 140; // the ghost's outline
const orange = (r, g, b) => r > b + 45 && r > g + 15; // as the real robot is tinted
const look = (page) => picture(page, canvas(page), { top: 50, bottom: 40 }); // between the tools and the notes

// drawn waits until the picture of the robots fits, and returns it.
const drawn = (page, what, fits) =>
  until(what, async () => {
    const now = await look(page);
    return fits(now) && now;
  }, { every: 250 });

// settled waits until two pictures in a row are alike.
async function settled(page) {
  let last = await look(page);
  return drawn(page, "the picture is still", (now) => {
    const still = differing(now, last) === 0 && coloured(now, orange) > some;
    last = now;
    return still;
  });
}

// empty finds a place of the view where nothing can be grabbed.
async function empty(page) {
  const box = await canvas(page).boundingBox();
  return { boundingBox: async () => ({ x: box.x + box.width - 60, y: box.y + box.height * 0.5, width: 2, height: 2 }) };
}

s.test("the mouse turns the view, the wheel nears it, and Reset view restores it", async (page) => {
  const first = await settled(page);
  await drag(page, await empty(page), -120, 30);
  const turned = await drawn(page, "the view is turned", (now) => differing(now, first) > some);
  const box = await canvas(page).boundingBox();
  await page.mouse.move(box.x + box.width - 60, box.y + box.height / 2);
  await page.mouse.wheel(0, -300);
  await drawn(page, "the view is nearer", (now) => differing(now, turned) > some);
  await button(page, "Reset view").click();
  await page.mouse.move(1, 1);
  await drawn(page, "the first view is back", (now) => differing(now, first) < some / 3);
});

s.test("the real robot stands beside the virtual one, or over it", async (page, server) => {
  await teach(page, server, [60]); // apart, so that both are seen
  await file(page, "New");
  await button(page, "Give up changes").click();
  await field(page, "Balance").uncheck();
  const beside = await settled(page);
  await field(page, "Real beside").uncheck();
  const over = await drawn(page, "the real robot moved in the picture", (now) => differing(now, beside) > some);
  assert.ok(coloured(over, orange) > some, "the overlay is not seen");
  await field(page, "Real beside").check();
  await drawn(page, "it stands beside again", (now) => differing(now, beside) < differing(over, beside) / 4);
});

s.test("a selected row is shown as a ghost, and told to others", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 1.2 }]]));
  const alone = await settled(page);
  const marker = await server.hear("/joints_marker_set");
  const heard = marker.next();
  await row(page, 1).click();
  const ghost = await drawn(page, "the ghost is seen", (now) => coloured(now, blue) > coloured(alone, blue) + some);
  const m = await heard;
  near(m.position[m.name.indexOf("joint52")], 1.2);
  near((await server.joints()).joint52, s.rest.joint52, 1e-6); // a ghost moves nothing
  await row(page, 0).click();
  await drawn(page, "the ghost is elsewhere", (now) => differing(now, ghost) > some);
  await file(page, "New");
  await button(page, "Give up changes").click();
  await drawn(page, "the ghost is gone", (now) => coloured(now, blue) < coloured(alone, blue) + some / 3);
});

s.test("scrubbing shows the ghost on the curve and moves nothing; a new row there is the robot's pose", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [2, { joint52: 1.2 }]]));
  await turn(page, server, "joint52", 0);
  const alone = await settled(page);
  const at = await ruler(page, 1.6);
  const from = await ruler(page, 0.4);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(at.x, at.y, { steps: 6 });
  await page.mouse.up();
  near(await cursor(page), 1.6, 0.02);
  await drawn(page, "the ghost is seen", (now) => coloured(now, blue) > coloured(alone, blue) + some);
  near((await server.joints()).joint52, 0, 1e-6);
  await turn(page, server, "joint52", 5);
  await button(page, "Add pose from virtual").click();
  const m = await becomes(page, "a row at the cursor", (now) => now.points.length === 3);
  near(times(m)[1], 1.6, 0.02);
  near(column(m, "joint52")[1], 0.0873, 1e-3); // not the ghost's 1.1
});

s.test("Balance shows the supports and the centre of mass as the server has them", async (page, server) => {
  const balance = await server.hear("/balance_state");
  const b = await balance.next();
  await field(page, "Balance").uncheck();
  const without = await drawn(page, "supports are hidden", (now) => coloured(now, orange) > some);
  assert.equal(await page.getByText(/^margin/).count(), 0);
  await field(page, "Balance").check();
  const four = await drawn(page, "supports are drawn", (now) => differing(now, without) > some);
  const margin = Number((await page.getByText(/^margin/).textContent()).match(/-?\d+/)[0]);
  near(margin / 1000, b.margin, 1e-3);
  // a foot in the air carries nothing: told by the server, drawn by the page
  await turn(page, server, "joint13", 70);
  await balance.next((now) => !now.supports.includes("leg1"));
  await page.getByLabel("Feet that carry").getByText("leg1 free").waitFor();
  for (const foot of ["leg2", "leg3", "leg4"]) await page.getByLabel("Feet that carry").getByText(`${foot} carries`).waitFor();
  await drawn(page, "three feet make a triangle", (now) => differing(now, four) > some);
});

s.test("three poses are taught by number, ring and hoof; one step each to undo", async (page, server) => {
  await teach(page, server, [10]);
  await page.getByLabel("Limb to pose").selectOption("head");
  const ring = page.getByLabel("Ring of joint52");
  await ring.waitFor({ state: "attached" });
  await drag(page, ring, 14, 4);
  await until("the ring turned joint52", async () => Math.abs((await server.joints()).joint52 - radians(10)) > 0.05);
  const was = await server.still();
  await button(page, "Add pose from virtual").click();
  await page.locator("tr[data-row='1']").waitFor();
  await drag(page, page.getByLabel("Handle of leg1"), 0, -18);
  await until("the hoof was pulled", async () => {
    const q = await server.joints();
    return ["joint12", "joint13", "joint14"].some((j) => Math.abs(q[j] - was[j]) > 0.05);
  });
  const balance = await server.hear("/balance_state");
  await balance.next((b) => !b.supports.includes("leg1"));
  await page.getByText("leg1 free").waitFor();
  const now = await server.still();
  await button(page, "Add pose from virtual").click();
  await page.locator("tr[data-row='2']").waitFor();
  const m = await motion(page);
  near(now.joint22, was.joint22, 1e-6);
  assert.deepEqual(m.points.map((p) => p.time), [0, 0.5, 1]);
  near(column(m, "joint52")[1], was.joint52);
  near(column(m, "joint13")[2], now.joint13);
  assert.deepEqual(m.points.map((p) => p.supports[m.chains.indexOf("leg1")]), [1, 0, 0]);
  // rows and poses are undone in the order in which they were made: a drag is one step
  const undo = async (rows, joints) => {
    await button(page, "Undo").click();
    await becomes(page, `${rows} rows`, (after) => after.points.length === rows);
    for (const [joint, q] of Object.entries(joints)) await server.reaches(joint, q, 1e-6);
  };
  await undo(2, { joint13: now.joint13 });
  await undo(2, { joint12: was.joint12, joint13: was.joint13, joint14: was.joint14 });
  await undo(1, { joint52: was.joint52 });
  await undo(1, { joint52: radians(10) });
  await undo(0, { joint52: radians(10) });
  await undo(0, { joint52: s.rest.joint52 });
  assert.ok(await button(page, "Undo").isDisabled());
  await button(page, "Redo").click({ modifiers: ["Shift"] });
  await becomes(page, "all is there again", (after) => after.points.length === 3);
  assert.deepEqual(await motion(page), m);
  await server.reaches("joint13", now.joint13, 1e-6);
  await button(page, "Undo").click({ modifiers: ["Shift"] });
  await becomes(page, "nothing is left", (after) => after.points.length === 0);
  await server.reaches("joint52", s.rest.joint52, 1e-6);
});

s.test("named poses and Set virtual pose are undone, too; undo goes by Ctrl+Z", async (page, server) => {
  await given(page, table([[0, { joint52: 0.5 }], [1, { joint52: 0.2 }]]));
  await row(page, 0).click();
  await button(page, "Set virtual pose").click();
  await server.reaches("joint52", 0.5, 1e-6);
  await page.getByLabel("Named pose", { exact: true }).selectOption("bow");
  await page.getByLabel("Set named pose").click();
  const bow = await server.reaches("joint51", -0.5, 1e-6);
  await page.getByRole("region", { name: "3-D view" }).click({ position: { x: 5, y: 200 } });
  await page.keyboard.press("Control+z");
  await server.reaches("joint51", s.rest.joint51, 1e-6);
  await page.keyboard.press("Control+z");
  await server.reaches("joint52", s.rest.joint52, 1e-6);
  await page.keyboard.press("Control+y");
  await server.reaches("joint52", 0.5, 1e-6);
  await page.keyboard.press("Control+y");
  await server.reaches("joint51", bow.joint51, 1e-6);
  assert.equal((await motion(page)).points.length, 2);
});

s.test("what is limp is amber in the picture, limb by limb", async (page, server) => {
  const amber = (r, g, b) => r > 170 && g > 0.62 * r && g < 0.92 * r && b < 0.5 * r;
  await field(page, "Balance").uncheck();
  const held = coloured(await settled(page), amber);
  assert.ok((await server.call("/real/set_torque", { on: false, resources: ["head"] })).success);
  const head = coloured(await drawn(page, "the head is amber", (now) => coloured(now, amber) > held + some), amber);
  assert.ok((await server.call("/real/set_torque", { on: false, resources: [] })).success);
  await drawn(page, "all limbs are amber", (now) => coloured(now, amber) > head + some);
  assert.ok((await server.call("/real/set_torque", { on: true, resources: [] })).success);
  await drawn(page, "nothing is amber", (now) => coloured(now, amber) < held + some / 3);
  // the virtual robot as well
  assert.ok((await server.call("/set_torque", { on: false, resources: ["leg1"] })).success);
  await drawn(page, "its leg is amber", (now) => coloured(now, amber) > held + some / 2);
  assert.ok((await server.call("/set_torque", { on: true, resources: [] })).success);
});

s.test("the ghost is an outline, and hidden where the robot is", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 1.2 }]]));
  await field(page, "Balance").uncheck();
  const alone = await settled(page);
  await row(page, 1).click();
  const ghost = await drawn(page, "the ghost is seen", (now) => coloured(now, rim) > some);
  const few = coloured(alone, rim) + 20; // of the eyes that are drawn above
  assert.ok(few < some / 2, `${few} pixels are as blue without it`);
  // an outline: what differs from the picture without it is thin and all of one colour
  const changed = differing(ghost, alone);
  assert.ok(changed < 2.5 * coloured(ghost, rim), `${changed} pixels changed, ${coloured(ghost, rim)} are of the outline`);
  await turn(page, server, "joint52", (1.2 * 180) / Math.PI); // the robot comes to the ghost
  await page.getByLabel("Limb to pose").selectOption("none");
  await drawn(page, "the ghost is hidden", (now) => coloured(now, rim) < few);
  await turn(page, server, "joint52", 20);
  await page.getByLabel("Limb to pose").selectOption("none");
  await drawn(page, "it is seen again", (now) => coloured(now, rim) > some);
});

s.test("a click on the robot chooses the limb; its rings stop at the limits", async (page, server) => {
  await settled(page);
  const box = await canvas(page).boundingBox();
  const limb = page.getByLabel("Limb to pose");
  await until("a click met a limb", async () => {
    for (const up of [0, 20, -20, 40, -40, 60, 80]) {
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2 + up);
      if ((await limb.inputValue()) !== "") return true;
    }
    return false;
  });
  await limb.selectOption("head");
  const ring = page.getByLabel("Ring of joint54");
  await ring.waitFor({ state: "attached" });
  await ring.focus();
  await until("joint54 is at its limit", async () => {
    await page.keyboard.press("ArrowRight"); // 0.05 rad
    return (await server.joints()).joint54 > 0.4 - 1e-6;
  });
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  near((await server.joints()).joint54, 0.4, 1e-6);
  await page.keyboard.press("Shift+ArrowLeft");
  await server.reaches("joint54", 0.39);
});

s.test("grips and handles are moved by the keyboard", async (page, server) => {
  await page.getByLabel("Limb to pose").selectOption("head");
  const ring = page.getByLabel("Ring of joint52");
  await ring.waitFor({ state: "attached" });
  await ring.focus();
  await page.keyboard.press("ArrowRight");
  await server.reaches("joint52", s.rest.joint52 + 0.05);
  await until("the page knows", async () => (await field(page, "joint52 value").inputValue()) === "2.9"); // keys turn from what is seen
  await page.keyboard.press("ArrowLeft");
  await server.reaches("joint52", s.rest.joint52);
  await page.getByLabel("Handle of leg2").focus();
  await page.keyboard.press("ArrowUp"); // a centimetre up the picture
  await until("leg2 is pulled", async () => Math.abs((await server.joints()).joint23 - s.rest.joint23) > 0.01);
});

s.test("a place that cannot be reached is refused with a reason, and nothing moves", async (page, server) => {
  await settled(page);
  await drag(page, page.getByLabel("Handle of leg1"), 30, -260, 1);
  await page.getByRole("alert").filter({ hasText: /leg1|reach/ }).first().waitFor();
  near((await server.joints()).joint13, s.rest.joint13, 1e-6);
});

s.test("joints: a slider dragged by mouse and keys poses the robot", async (page, server) => {
  const slider = field(page, "joint52 slider");
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  for (let i = 1; i <= 6; i++) await page.mouse.move(box.x + box.width / 2 + 5 * i, box.y + box.height / 2);
  await page.mouse.up();
  const q = await until("the head is turned", async () => {
    const now = (await server.joints()).joint52;
    return now > 0.3 && now;
  });
  await until("the panel shows it", async () => Math.abs(radians(Number(await field(page, "joint52 value").inputValue())) - q) < 1e-3);
  assert.ok(q < 1.571, `${q} is beyond the limit`);
  // a number beyond the limit is not taken
  await enter(page, "joint54 value", 80);
  await page.getByRole("alert").filter({ hasText: "joint54" }).first().waitFor();
  near((await server.joints()).joint54, s.rest.joint54, 1e-6);
});

s.test("joints: filter, degrees or radians, values of both robots", async (page, server) => {
  assert.equal((await names(page)).length, 38);
  await page.getByLabel("Filter joints").fill("tail");
  assert.deepEqual(await names(page), ["tail_joint1", "tail_joint2", "tail_joint3"]);
  await page.getByLabel("Filter joints").fill("JOINT5");
  assert.deepEqual(await names(page), ["joint51", "joint52", "joint53", "joint54", "joint55", "joint56"]);
  await turn(page, server, "joint52", 30);
  await field(page, "degrees").uncheck();
  await until("it is shown in radians", async () => (await field(page, "joint52 value").inputValue()) === "0.524");
  await enter(page, "joint52 value", 0.25);
  await server.reaches("joint52", 0.25, 1e-6);
  await field(page, "degrees").check();
  await until("it is shown in degrees", async () => (await field(page, "joint52 value").inputValue()) === "14.3");
  // the real robot is elsewhere, and shown as it measures itself
  const shown = async () => radians(Number(await panel(page).locator(".joint", { hasText: "joint52" }).locator(".other").textContent()));
  await until("the real value is that of the topic", async () => Math.abs((await shown()) - (await server.joints("real")).joint52) < 0.01);
  assert.ok(Math.abs((await shown()) - 0.25) > 0.1);
});

s.test("joints: by limb, each with the limits that the server has", async (page, server) => {
  const { joints } = await server.call("/robot_info");
  const shown = await panel(page).evaluate((list) => {
    let limb = "";
    return [...list.querySelectorAll("h3, input[type=range]")].flatMap((e) => {
      if (e.tagName === "H3") limb = e.textContent;
      else return [[limb, e.ariaLabel.replace(/ slider$/, ""), Number(e.min), Number(e.max), ...[...e.parentElement.querySelectorAll("small span")].map((x) => Number(x.textContent))]];
      return [];
    });
  });
  const degrees = (q) => (q * 180) / Math.PI;
  for (const [limb, name, lower, upper, low, high] of shown) {
    const j = joints.find((x) => x.name === name);
    assert.equal(limb, j.resource, name);
    assert.deepEqual([lower, upper], [j.lower, j.upper], name);
    near(low, degrees(j.lower), 0.051);
    near(high, degrees(j.upper), 0.051);
  }
  assert.equal(shown.length, joints.filter((j) => !j.mimic).length);
});

s.test("joints: only those of the trajectory while one is edited", async (page) => {
  await given(page, table([[0, { joint52: 0, tail_joint1: 0 }], [1, { joint52: 0.1, tail_joint1: 0.1 }]]));
  await until("two are left", async () => (await names(page)).join() === "joint52,tail_joint1");
  await field(page, "all").check();
  assert.equal((await names(page)).length, 38);
  await field(page, "all").uncheck();
  await file(page, "New");
  await button(page, "Give up changes").click();
  await becomes(page, "it is empty", (m) => m.points.length === 0);
  assert.equal((await names(page)).length, 38);
});
