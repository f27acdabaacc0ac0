// Set up a robot: what is proposed for a bare URDF is shown, changed, refused where it cannot
// be, and written beside it; what is there is kept, and the server started again uses it.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { button, enter, field, file, launch, open, Server, until } from "./harness.mjs";

const [, urdf] = readFileSync(join(import.meta.dirname, "../../docs/your-own-arm.md"), "utf8").match(/^```xml my_arm.urdf\n([\s\S]*?)^```$/m);
const folders = [];
let browser;
before(async () => (browser = await launch({ blind: true })));
after(async () => {
  await browser.close();
  for (const f of folders) rmSync(f, { recursive: true, force: true });
});

// bare makes a folder with a URDF and nothing else.
function bare() {
  const folder = mkdtempSync(join(tmpdir(), "poise-bare-"));
  folders.push(folder);
  writeFileSync(join(folder, "arm.urdf"), urdf);
  return folder;
}

// served shows the page of a robot.
async function served(robot, act) {
  const server = await Server.start({ args: ["--robot", robot] });
  try {
    const page = await open(browser, server);
    await act(page, server);
    assert.deepEqual(page.trouble, []);
    await page.context().close();
  } finally {
    await server.close();
  }
}

const limbs = (page) => page.locator("h3[data-limb]").evaluateAll((all) => all.map((h) => h.dataset.limb));
const told = (page, what) => page.getByRole("dialog").getByRole("alert").getByText(what).waitFor();
const gone = (page) => page.getByRole("dialog").waitFor({ state: "detached" });

test("a bare URDF: names and choices are changed, files written, used after a restart", async () => {
  const folder = bare();
  await served(join(folder, "arm.urdf"), async (page) => {
    await button(page, "Set up robot…").click();
    const dialog = page.getByRole("dialog", { name: "Set up robot" });
    await field(page, "Name of limb 1").waitFor();
    assert.equal(await field(page, "Name of limb 1").inputValue(), "arm");
    assert.equal(await field(page, "Tip of limb 1").inputValue(), "tool0");
    await enter(page, "Name of limb 2", "arm", "Tab");
    await told(page, /comes twice/);
    assert.ok(await button(page, "Write robot.yaml").isDisabled());
    await enter(page, "Name of limb 2", "claw", "Tab");
    await enter(page, "Name of limb 1", "crane", "Tab");
    await field(page, "Tip of limb 1").selectOption("fore");
    await enter(page, "Robot name", "lifter", "Tab");
    await enter(page, "Name of pose 1", "begin", "Tab");
    await dialog.getByText("robot.yaml and joint_limits.yaml as they would be").click();
    await until("the text follows", async () => /name: lifter[\s\S]*crane: {base: base, tip: fore}[\s\S]*begin:/.test(await field(page, "robot.yaml").textContent()));
    assert.deepEqual(readdirSync(folder), ["arm.urdf"]); // nothing yet
    await button(page, "Write robot.yaml").click();
    await dialog.getByText("joint_limits.yaml and robot.yaml written").waitFor();
    assert.equal(await field(page, "Command to restart").textContent(), `poise serve --robot ${folder}`);
    await button(page, "Done").click();
    await gone(page);
  });
  const text = readFileSync(join(folder, "robot.yaml"), "utf8");
  assert.match(text, /# Limbs, each from[\s\S]*crane: {base: base, tip: fore}/);
  assert.match(readFileSync(join(folder, "joint_limits.yaml"), "utf8"), /PROPOSED: full speed in 0.5 s/);
  await served(join(folder, "arm.urdf"), async (page, server) => {
    const info = await server.call("/robot_info");
    assert.equal(info.name, "lifter");
    assert.deepEqual(info.poses.map((p) => p.name), ["begin"]);
    await until("the limbs have their names", async () => (await limbs(page)).sort().join() === "claw,crane");
    assert.equal(await button(page, "Set up robot…").count(), 0); // it is
    await file(page, "Set up robot…");
    await page.getByText(/Kept as it is: name, urdf/).waitFor();
    assert.ok(await button(page, "Write robot.yaml").isDisabled());
    assert.match(await button(page, "Write robot.yaml").getAttribute("title"), /nothing is missing/);
    await button(page, "Cancel").click();
    await gone(page);
  });
  assert.equal(readFileSync(join(folder, "robot.yaml"), "utf8"), text);
});

test("what is there is kept; a file that changes meanwhile is not touched; a shipped robot is not set up", async () => {
  const folder = bare();
  const mine = "# mine\nname:   crane # do not touch\nurdf: arm.urdf\n";
  writeFileSync(join(folder, "robot.yaml"), mine);
  await served(join(folder, "arm.urdf"), async (page) => {
    await file(page, "Set up robot…");
    await field(page, "Name of limb 1").waitFor();
    assert.ok(await field(page, "Robot name").isDisabled());
    writeFileSync(join(folder, "robot.yaml"), `${mine}base: fixed\n`);
    await button(page, "Write robot.yaml").click();
    await told(page, /changed meanwhile/);
    assert.equal(readFileSync(join(folder, "robot.yaml"), "utf8"), `${mine}base: fixed\n`);
    await button(page, "Cancel").click();
    await gone(page);
    await file(page, "Set up robot…");
    await field(page, "Name of limb 1").waitFor();
    await page.getByText("Acceleration limits: full speed in 0.5 s").click();
    await button(page, "Write robot.yaml").click();
    await button(page, "Done").click();
    await gone(page);
  });
  assert.ok(readFileSync(join(folder, "robot.yaml"), "utf8").startsWith(`${mine}base: fixed\n`));
  assert.deepEqual(readdirSync(folder).sort(), ["arm.urdf", "robot.yaml"]);
  await served("arm6", async (page) => {
    assert.equal(await button(page, "Set up robot…").count(), 0);
    await file(page, "Set up robot…");
    await told(page, /comes with poise/);
    await button(page, "Cancel").click();
  });
});
