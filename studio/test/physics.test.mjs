// A robot with mass: it stands, is pushed by a drag on its body, falls over and is put back
// on its feet, without leaving the page; ground and time are changed from it.
import assert from "node:assert/strict";
import { button, coloured, enter, field, picture, studio, tooltips, until } from "./harness.mjs";

const s = studio({ args: ["--physics"] });

// truth is the newest state of the simulated robot; it is told also while time stands still.
const truth = async (server) => {
  const heard = (server.truth ??= await server.hear("/physics/state"));
  return heard.all.at(-1) ?? heard.next();
};
const becomes = (server, what, fits) =>
  until(what, async () => {
    const now = await truth(server);
    if (!fits(now)) throw new Error(JSON.stringify(now).slice(0, 400));
    return now;
  });

const show = async (page) => {
  await page.getByRole("tab", { name: "Physics" }).click();
  await page.getByRole("region", { name: "Physics", exact: true }).getByLabel("What carries the robot").waitFor();
};
const posture = (page, word) => page.getByLabel("Posture").getByText(word, { exact: true }).waitFor();

// shot keeps a picture of the page for who looks at it.
const shot = async (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });

// the colours of arrows: nothing else of the view has them
const blue = (r, g, b) => r < 70 && g < 140 && b > 215;
const green = (r, g, b) => r < 90 && g > 130 && b < 130; // of the balance on the floor
const red = (r, g, b) => r > 190 && g < 100 && b > 60 && b < 130;
const seen = async (page, colour) => coloured(await picture(page, page.locator(".view canvas")), colour);

s.test("everything of the tab says what it does, and why it cannot be pressed", async (page, server) => {
  await show(page);
  await posture(page, "stands");
  await tooltips(page, "physics", 3); // steps, while time goes on, and more
  await button(page, "Pause time").click();
  await becomes(server, "time stands still", (p) => p.paused);
  await button(page, "Go on").waitFor();
  await tooltips(page, "physics, time stands still", 2);
  await button(page, "Go on").click();
  await becomes(server, "time goes on", (p) => !p.paused);
});

s.test("it stands, is pushed by a drag, falls over and is put back on its feet", async (page, server) => {
  await show(page);
  await posture(page, "stands");
  const stands = await becomes(server, "it stands on four hooves", (p) => !p.fallen && new Set(p.contacts.map((c) => c.link)).size === 4);
  await until("arrows of forces are drawn", async () => (await seen(page, blue)) > 100);
  const rows = await page.getByLabel("What carries the robot").locator("tbody tr").count();
  assert.equal(rows, 4);
  await shot(page, "stands");
  await field(page, "Forces").uncheck();
  await until("and not without", async () => (await seen(page, blue)) === 0);
  await field(page, "Forces").check();

  // time stands still while the hand aims, so that the push is the same however slow the page is
  await button(page, "Pause time").click();
  await becomes(server, "time stands still", (p) => p.paused);
  const box = await page.locator(".view canvas").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 8; i++) await page.mouse.move(x - 17 * i, y);
  await page.getByLabel("Dragged").getByText(/^\d+\.\d N, \d+\.\d\d N·s$/).waitFor();
  await until("the arrow of the push is drawn", async () => (await seen(page, red)) > 100);
  await shot(page, "aims");
  await page.mouse.up();
  await button(page, "Step").click();
  const pushed = await becomes(server, "a force acts on the link that was dragged", (p) => p.pushes.length === 1);
  const [{ link, point, force }] = pushed.pushes;
  const size = Math.hypot(force.x, force.y, force.z);
  assert.ok(size > 8 && size < 80, `${size} N on ${link}`);
  const far = Math.hypot(point.x - pushed.base.position.x, point.y - pushed.base.position.y, point.z - pushed.base.position.z);
  assert.ok(far < 0.3, `the force acts ${far} m from the base`);
  await shot(page, "pushed");

  await button(page, "Go on").click();
  await posture(page, "fallen");
  const fell = await becomes(server, "it has fallen", (p) => p.fallen && !p.paused);
  assert.ok(Math.abs(fell.base.orientation.w) < 0.999, JSON.stringify(fell.base));
  await becomes(server, "it lies still", (p) => Math.hypot(p.twist.linear.x, p.twist.linear.y, p.twist.linear.z) < 0.01);
  await shot(page, "fallen");

  await button(page, "Put it back on its feet").click();
  await posture(page, "stands");
  await becomes(server, "it stands again as it did", (p) => !p.fallen && p.carried && Math.abs(p.base.position.z - stands.base.position.z) < 0.004);
  assert.equal((await server.state()).power, "enabled");
  await shot(page, "back");
  assert.equal(page.url(), server.url);
});

s.test("robot and balance are drawn where the robot is, wherever odometry has it", async (page, server) => {
  await show(page);
  await posture(page, "stands");
  const { base } = await becomes(server, "its place is told", (p) => p.base !== undefined);
  assert.ok((await server.call("/set_odometry", { pose: base })).success); // after a fall it is elsewhere
  const { odometry } = await becomes(server, "odometry is where it stands", (p) => Math.hypot(p.base.position.x - p.odometry.position.x, p.base.position.y - p.odometry.position.y) < 0.02);
  await until("its balance is drawn", async () => (await seen(page, green)) > 30);
  const before = await seen(page, green);
  const { success, message } = await server.call("/set_odometry", { pose: { ...odometry, position: { x: 3, y: 4, z: odometry.position.z } } });
  assert.ok(success, message);
  const now = await becomes(server, "odometry is elsewhere", (p) => Math.hypot(p.odometry.position.x - 3, p.odometry.position.y - 4) < 0.02);
  assert.ok(Math.hypot(now.base.position.x - base.position.x, now.base.position.y - base.position.y) < 0.01, JSON.stringify(now.base));
  const balance = await server.hear("/balance_state");
  await until("the balance is told there", () => Math.hypot(balance.all.at(-1).com.x - 3, balance.all.at(-1).com.y - 4) < 0.1);
  await shot(page, "odometry");
  await until("and drawn below the robot", async () => {
    const count = await seen(page, green);
    return count > 0.7 * before && count < 1.4 * before;
  });
});

s.test("a spring draws the body along until it is let go", async (page, server) => {
  await show(page);
  await posture(page, "stands");
  await field(page, "holds").check();
  const box = await page.locator(".view canvas").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 40, { steps: 6 });
  await page.mouse.move(x, y - 80, { steps: 6 });
  const held = await becomes(server, "it is held", (p) => p.grabbed && p.pushes.length === 1);
  assert.ok(held.pushes[0].force.z > 0, "it is drawn up");
  await page.mouse.up();
  await becomes(server, "it is free", (p) => !p.grabbed && p.pushes.length === 0);
  await button(page, "Put it back on its feet").click();
  await posture(page, "stands");
  await field(page, "turns the view").check();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y, { steps: 4 });
  await page.mouse.up();
  assert.equal((await truth(server)).grabbed, false);
});

s.test("ground, drop, payload and time are changed from the page", async (page, server) => {
  await show(page);
  await posture(page, "stands");
  await enter(page, "Friction value", 0.4);
  await becomes(server, "friction is 0.4", (p) => p.friction === 0.4);
  await enter(page, "Slope pitch", 5);
  const tilted = await becomes(server, "the ground leans", (p) => Math.abs(p.pitch - (5 * Math.PI) / 180) < 1e-9);
  assert.equal(tilted.roll, 0);
  await shot(page, "slope");
  await button(page, "Level").click();
  await becomes(server, "it is level", (p) => p.pitch === 0);
  await enter(page, "Friction value", 0.8);
  await enter(page, "Payload mass", 0.3, "Tab");
  await button(page, "Put on base_link").click();
  const loaded = await becomes(server, "it carries more", (p) => p.payload === 0.3);
  await becomes(server, "and weighs more", (p) => Math.abs(p.contacts.reduce((sum, c) => sum + c.force.z, 0) / (9.81 * loaded.mass) - 1) < 0.05);
  await enter(page, "Payload mass", 0, "Tab");
  await button(page, "Put on base_link").click();
  await becomes(server, "the load is off", (p) => p.payload === 0);

  await enter(page, "Height of the drop", 0.1, "Tab");
  await button(page, "Pause time").click();
  await becomes(server, "time stands still", (p) => p.paused);
  const before = await truth(server);
  await button(page, "Drop").click();
  await button(page, "Step").click();
  const dropped = await becomes(server, "it is in the air", (p) => !p.carried && p.contacts.length === 0);
  assert.ok(dropped.base.position.z > before.base.position.z + 0.08, JSON.stringify(dropped.base));
  await posture(page, "in the air");
  const stamp = (p) => p.header.stamp.sec + p.header.stamp.nanosec * 1e-9;
  const from = stamp(dropped);
  await button(page, "Step 0.1 s").click();
  // states are published while it steps: the step is over when time stands at its end
  await becomes(server, "a tenth of a second passed", (p) => Math.abs(stamp(p) - from - 0.1) < 0.012);
  await field(page, "Speed of time").selectOption("0.25");
  await becomes(server, "time goes at a quarter", (p) => p.speed === 0.25);
  await field(page, "Speed of time").selectOption("1");
  await button(page, "Go on").click();
  await becomes(server, "time goes on", (p) => !p.paused && p.speed === 1);
  await button(page, "Put it back on its feet").click();
  await posture(page, "stands");

  // numbers, too, and what cannot be is refused in words
  await enter(page, "Height of the drop", 50, "Tab");
  await button(page, "Drop").click();
  await page.getByText(/a height of 50 m is not within/).waitFor();
  await enter(page, "Force y", 40, "Tab");
  await button(page, "Push").click();
  await posture(page, "fallen");
  await button(page, "Put it back on its feet").click();
  await posture(page, "stands");
});
