// What a newcomer does first: see the robot, play a motion, teach two poses, play
// them, stop. The other files go into every part of the page.
import assert from "node:assert/strict";
import { button, coloured, given, near, picture, radians, studio, table, teach, told, until } from "./harness.mjs";

const s = studio();

s.test("the robot is drawn, and a motion of the library plays", async (page, server) => {
  const mane = (r, g, b) => g > r + 40 && b > r + 40; // nothing else of the view has its colour
  await until("the robot is drawn", async () => coloured(await picture(page, page.locator(".view canvas")), mane) > 100);
  const events = await server.hear("/events");
  await page.getByRole("tab", { name: "Library" }).click();
  await page.getByLabel("Find a motion").fill("nod");
  await page.getByLabel("Play nod", { exact: true }).click();
  await told(page, /done/);
  assert.ok(events.all.length > 0, "the motion's events did not leave");
});

s.test("two poses are taught and played", async (page, server) => {
  await teach(page, server, [0, 20]);
  await button(page, "Execute virtual backward").click();
  await server.reaches("joint52", 0);
  await told(page, /done/);
  assert.equal((await server.received()).points.length, 2);
});

s.test("Stop ends a motion midway", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [300, { joint52: radians(60) }]]));
  await button(page, "Execute virtual").click();
  await until("it is under way", async () => (await server.joints()).joint52 > 1e-4);
  await button(page, "Stop").click();
  await until("it is stopped", async () => (await server.state()).stopped && (await server.state()).goals.length === 0);
  const q = (await server.still()).joint52;
  assert.ok(q < radians(59), `it stands at ${q} rad, the motion ends at ${radians(60)} rad`);
  near((await server.joints()).joint52, q, 1e-9);
});
