// The guide "your own arm in five minutes", done to the letter: its files, commands and
// numbered actions are read from the document, so that it cannot go stale.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { button, field, launch, open, patiently, radians, Server, until } from "./harness.mjs";

const text = readFileSync(join(import.meta.dirname, "../../docs/your-own-arm.md"), "utf8");
const binary = process.env.POISE ?? join(import.meta.dirname, "../../bin/poise");
const folder = mkdtempSync(join(tmpdir(), "poise-guide-"));
after(() => rmSync(folder, { recursive: true, force: true }));

// steps returns what the document tells its reader to do, in its order.
function steps() {
  const found = [];
  const parts = text.matchAll(/^```(\S+)(?: (.+))?\n([\s\S]*?)^```$|^(\d+)\. (.+)$/gm);
  for (const [, language, more, body, number, action] of parts) {
    if (number) found.push({ kind: "action", number: Number(number), text: action });
    else if (language === "sh") found.push({ kind: more === "background" ? "server" : "run", text: body.trim() });
    else if (language === "text") found.push({ kind: "prints", text: body });
    else if (more) found.push({ kind: "file", name: more, text: body });
  }
  return found;
}

// free returns an unused port.
const free = () =>
  new Promise((resolve) => {
    const s = createServer().listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

// run does commands as a shell does, and returns what they print.
function run(commands, env) {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-ec", commands], { cwd: folder, env });
    let said = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", (d) => (said += d));
    child.once("exit", (code) => (code === 0 ? resolve(said) : reject(new Error(`${commands}: exit ${code}\n${said}`))));
  });
}

// fits tells whether text is as the document shows it: … stands for anything.
const fits = (shown, said) => new RegExp(`^${shown.trim().split("…").map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s\\S]*")}$`).test(said.trim());

// act does one action as a person does who waits for what it brings.
async function act(page, server, action) {
  const [, verb, first, second] = action.match(/^(Click|Press) \*\*(.+?)\*\*/) ?? action.match(/^(Type|Choose) `(.+?)` (?:into|in) \*\*(.+?)\*\*/) ?? [];
  const dialogs = await page.getByRole("dialog").count();
  switch (verb) {
    case "Click": {
      const rows = await page.locator("tr[data-row]").count();
      await button(page, first).click();
      if (first.startsWith("Add pose")) await page.locator(`tr[data-row='${rows}']`).waitFor();
      if (first.startsWith("Execute")) await page.getByLabel("Result virtual").getByText(/done/).waitFor();
      if (first.endsWith("…")) await page.getByRole("dialog").waitFor();
      return;
    }
    case "Press":
      await page.keyboard.press(first);
      return;
    case "Choose": {
      const choice = field(page, second);
      if (await choice.evaluate((e) => e.tagName === "SELECT")) await choice.selectOption(first);
      else await choice.fill(first);
      return;
    }
    case "Type": {
      await field(page, second).fill(first);
      await field(page, second).press("Enter");
      const joint = second.match(/^(.+) value$/)?.[1];
      if (joint) await server.reaches(joint, radians(Number(first)), 1e-3);
      else if (dialogs > 0) await page.getByRole("dialog").waitFor({ state: "detached" });
      return;
    }
    default:
      throw new Error(`the guide has an action that no test can do: ${action}`);
  }
}

test("your own arm in five minutes: from a URDF to a motion that is taught, saved and played", async (t) => {
  const port = await free();
  mkdirSync(join(folder, "bin"));
  symlinkSync(binary, join(folder, "bin", "poise"));
  writeFileSync(join(folder, "patient.yaml"), patiently);
  const env = { ...process.env, PATH: join(folder, "bin") + delimiter + process.env.PATH };
  // the port must be free, and the machine may be busy: nothing else is changed
  const here = (commands) => commands.replaceAll("poise serve", `exec poise serve --quiet --no-record --config patient.yaml --listen 127.0.0.1:${port}`).replaceAll(/^(poise (?:play|stop|state|pose) .*)$/gm, `$1 --server 127.0.0.1:${port}`);
  const all = steps();
  const actions = all.filter((s) => s.kind === "action");
  assert.deepEqual(actions.map((a) => a.number), actions.map((_, i) => i + 1));
  assert.ok(actions.length <= 20, `${actions.length} actions`);

  let [printed, server, browser, page, events] = [""];
  try {
    for (const step of all) {
      switch (step.kind) {
        case "file":
          writeFileSync(join(folder, step.name), step.text);
          break;
        case "run":
          printed = await run(here(step.text), env);
          break;
        case "prints":
          assert.ok(fits(step.text, printed), `the guide shows\n${step.text}\nand there is\n${printed}`);
          break;
        case "server": {
          server = new Server();
          await server.follow(spawn("sh", ["-ec", here(step.text)], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] }));
          events = await server.hear("/events");
          browser = await launch();
          page = await open(browser, server);
          break;
        }
        case "action":
          await t.test(`${step.number}. ${step.text}`, () => act(page, server, step.text));
      }
    }
    await server.idle();
    const motion = await server.get("wave");
    assert.equal(motion.points.length, 6);
    assert.deepEqual(motion.events.map((e) => [e.type, e.command]), [["voice/say", "hello"], ["voice/say", "goodbye"]]);
    assert.deepEqual(motion.events.map((e) => e.time), [motion.points[2].time, motion.points[5].time]);
    assert.ok(existsSync(join(folder, "my_motions/wave.motion.yaml")));
    // played by the page and by the command
    await until("the events left twice", () => events.all.map((e) => e.command.command).join() === "hello,goodbye,hello,goodbye");
    const end = await server.joints();
    for (const [joint, degrees] of [["shoulder", 10], ["elbow", -12], ["turn", -7]]) assert.ok(Math.abs(end[joint] - radians(degrees)) < 2e-3, `${joint} ends at ${end[joint]}`);
    assert.deepEqual(page.trouble, []);
    t.diagnostic(`${actions.length} actions for six key points, two events, saving and playing`);
  } finally {
    await browser?.close();
    await server?.end();
  }
});
