import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Server, button, launch, open, until } from "./harness.mjs";

let browser;
let server;

before(async () => {
  browser = await launch();
  server = await Server.start({ args: ["--with-real-sim"] });
});

after(async () => {
  await browser?.close();
  await server?.close();
});

test("a motion of three poses is taught, saved and played", async () => {
  const page = await open(browser, server);
  for (const degrees of [0, 20, -15]) {
    await page.getByLabel("joint52 value").fill(String(degrees));
    await page.getByLabel("joint52 value").press("Enter");
    await until("the head turns", async () => Math.abs((await server.joints()).joint52 - (degrees * Math.PI) / 180) < 1e-3);
    await button(page, "Add pose from virtual").click();
  }
  await page.locator("tr[data-row='2']").waitFor();
  await button(page, "Save trajectory…").click();
  await page.getByLabel("Name").fill("turn_head");
  await button(page, "Save").click();
  const text = await until("the file is there", () => readFile(join(server.folder, "turn_head.motion.yaml"), "utf8"));
  assert.match(text, /joint52/);
  await button(page, "Execute virtual").click();
  await until("the goal is done", async () => (await server.joints()).joint52 < -0.26 && (await server.call("get_state")).state.goals.length === 0);
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});
