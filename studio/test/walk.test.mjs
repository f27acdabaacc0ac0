// A robot is led on its legs by a pad and by keys: it walks while something is held, and stands when it is let go, when
// the page loses the focus and when it is gone. Footsteps are drawn on the ground.
import assert from "node:assert/strict";
import { button, coloured, field, open, picture, studio, tooltips, until } from "./harness.mjs";

const s = studio({ blind: true });
const seeing = studio();

// odometry is where the robot is and how fast, as the server has it.
const odometry = async (server) => {
  const heard = await (server.odometry ??= server.hear("/odom"));
  heard.all.length = 0;
  await heard.next();
  const { pose, twist } = await heard.next();
  return { ...pose.pose.position, turn: pose.pose.orientation.z, speed: Math.hypot(twist.twist.linear.x, twist.twist.linear.y) + Math.abs(twist.twist.angular.z) };
};
const becomes = (server, what, fits, options) =>
  until(what, async () => {
    const now = await odometry(server);
    if (!fits(now)) throw new Error(JSON.stringify(now));
    return now;
  }, options);
const stands = (server) => becomes(server, "it stands", (o) => o.speed === 0);
const active = async (server) => (await server.state()).controllers.find((c) => c.name === "walk").active;
const show = async (page) => {
  await page.getByRole("tab", { name: "Walk" }).click();
  await page.getByRole("group", { name: "Pad" }).waitFor();
};
const shot = async (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });

// leads holds something until the robot is somewhere. A page that lost its connection on a busy machine has let go: it is
// held anew.
const leads = (server, what, hold, letGo, fits) =>
  until(what, async () => {
    await hold();
    try {
      return await becomes(server, what, fits, { within: 20_000 });
    } catch (e) {
      await letGo();
      throw e;
    }
  });
const key = (page, k) => [() => page.keyboard.down(k), () => page.keyboard.up(k)];

s.test("W leads it ahead and A round; it stands when they are let go", async (page, server) => {
  await show(page);
  await tooltips(page, "walk", 1);
  const from = await odometry(server);
  const at = await until("it walks ahead, and its legs stay ready", async () => { // a page that lost its connection has given them back
    const start = await odometry(server);
    await leads(server, "it walks ahead", ...key(page, "w"), (o) => o.x > start.x + 0.03);
    await page.keyboard.up("w");
    const end = await stands(server);
    return (await active(server)) && end;
  });
  assert.ok(at.x > from.x + 0.02, `from ${from.x} to ${at.x} m`);
  await leads(server, "it turns to the left", ...key(page, "a"), (o) => o.turn > at.turn + 0.04);
  await page.keyboard.up("a");
  await stands(server);
  await until("its legs are given back", async () => {
    if (await active(server)) await button(page, "Give legs back").click({ timeout: 5_000 });
    return !(await active(server));
  });
});

s.test("the pad leads it too, and whatever takes the hand away lets it stand", async (page, server) => {
  await show(page);
  const from = await odometry(server);
  const box = await page.getByRole("button", { name: "Walk to the left" }).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await leads(server, "it goes to the left", () => page.mouse.down(), () => page.mouse.up(), (o) => o.y > from.y + 0.02);
  await page.mouse.up();
  await stands(server);
  for (const [what, lose] of [
    ["the focus", () => page.evaluate(() => dispatchEvent(new Event("blur")))],
    ["the view", () => page.getByRole("tab", { name: "Controllers" }).click()],
  ]) {
    await show(page);
    const at = await odometry(server);
    await leads(server, `it walks, until ${what} is lost`, ...key(page, "w"), (o) => o.x > at.x + 0.02);
    await lose();
    await stands(server);
    await page.keyboard.up("w");
  }
  await show(page);
  await field(page, "Gait").selectOption("trot"); // letters that are typed are letters
  await field(page, "Gait").focus();
  await page.keyboard.press("w");
  assert.equal((await odometry(server)).speed, 0);
});

s.test("a page that is gone lets it stand", async (page, server) => {
  const other = await open(s.browser, server);
  await show(other);
  const from = await odometry(server);
  await leads(server, "it walks", ...key(other, "w"), (o) => o.x > from.x + 0.02);
  await other.context().close();
  await stands(server);
});

// the colours of footsteps that are planned or on their way, and of the capture point: nothing else of the view has them
const step = (r, g, b) => (r < 60 && g > 130 && g < 190 && b > 150 && b < 205 && b > g) || (r > 215 && g > 110 && g < 165 && b < 80);
const magenta = (r, g, b) => r > 200 && g < 60 && b > 90 && b < 160;

seeing.test("footsteps and the capture point are drawn", async (page, server) => {
  await show(page);
  const [down, up] = key(page, "w");
  const drawn = (what, colour, least) =>
    until(what, async () => {
      if ((await odometry(server)).speed === 0) {
        await up();
        await down();
      }
      const n = coloured(await picture(page, page.locator(".view canvas")), colour);
      if (n < least) throw new Error(`${n} points of the picture`);
      return true;
    });
  await drawn("footsteps are drawn", step, 20);
  await drawn("the capture point is drawn", magenta, 5);
  await shot(page, "walks");
  await up();
  await stands(server);
});

// cream is the pony's body: nothing else of the view has that colour.
const cream = (r, g, b) => r > 200 && g > 180 && b > 150 && r - b > 12;

seeing.test("the view goes along with the robot", async (page, server) => {
  const body = async () => coloured(await picture(page, page.locator(".view canvas")), cream);
  const before = await until("the robot is drawn", async () => (await body()) || undefined);
  const { position, orientation } = (await (await server.hear("/odom")).next()).pose.pose;
  for (const x of [0.05, 3]) { // sways, then walks off
    await server.call("/set_odometry", { pose: { position: { ...position, x }, orientation } });
    await becomes(server, `it is at ${x} m`, (o) => Math.abs(o.x - x) < 0.01);
    await until("it is still seen", async () => {
      const now = await body();
      if (now < 0.5 * before) throw new Error(`${now} of ${before} points of the picture`);
      return true;
    });
  }
});
