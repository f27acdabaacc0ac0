// The page of examples/web in a real browser, as its first lines say: its folder on a
// web server of its own, roslib from npm beside it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { Server, button, launch, until } from "./harness.mjs";

const folder = join(import.meta.dirname, "../../examples/web");
const modules = join(import.meta.dirname, "../node_modules");
const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript" };

let browser;
let robot;
let web;

before(async () => {
  browser = await launch();
  robot = await Server.start();
  web = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = path.startsWith("/node_modules/") ? join(modules, path.slice("/node_modules/".length)) : join(folder, path === "/" ? "index.html" : path);
    try {
      const data = await readFile(file);
      response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" }).end(data);
    } catch {
      response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
    }
  });
  await new Promise((resolve) => web.listen(0, "127.0.0.1", resolve));
});

after(async () => {
  await browser?.close();
  web?.close();
  await robot?.close();
});

test("the page of examples/web plays, stops and resets a robot", async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(300_000);
  const trouble = [];
  page.on("pageerror", (e) => trouble.push(`script error: ${e.message}`));
  page.on("console", (m) => m.type() === "error" && trouble.push(`console: ${m.text()}`));
  page.on("response", (r) => r.status() >= 400 && trouble.push(`${r.status()} ${r.url()}`));
  const said = (text) => until(`the page says ${text}`, async () => trouble.length > 0 || (await page.locator("#said").textContent()).includes(text));
  await page.goto(`http://127.0.0.1:${web.address().port}/?server=${robot.address}`);
  await said("connected");
  assert.deepEqual(trouble, []);

  const blinked = (await robot.hear("/events")).next(); // the motion blinks
  await button(page, "Nod").click();
  await said("moving");
  assert.equal((await blinked).command.command, "blink");
  await said("nodded");

  await button(page, "Stop").click();
  await said("stands after");
  assert.equal((await robot.state()).stopped, true);
  await button(page, "Nod").click();
  await said("reset");
  await button(page, "Reset").click();
  await said("done");
  assert.equal((await robot.state()).stopped, false);
  assert.deepEqual(trouble, []);
  await page.close();
});
