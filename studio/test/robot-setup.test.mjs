// Set up a robot: what is proposed for a bare URDF is shown, changed, refused where it cannot
// be, and written beside it; what is there is kept, and the server started again uses it.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { button, enter, field, file, launch, open, Server, tooltips, until } from "./harness.mjs";

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
    await dialog.getByText(/^Mirror table/).click();
    await page.getByLabel("Use limb 2").click(); // so that some are disabled
    await tooltips(page, "a bare robot", 3);
    await page.getByLabel("Use limb 2").click();
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
    await page.getByRole("dialog").getByText(/^Mirror table/).click();
    await tooltips(page, "a robot that is set up", 8);
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

test("points of feet and single entries of the mirror are changed in the page", async () => {
  const folder = bare();
  // two legs with a foot each, on a body that is free
  const leg = (side, y) => `<link name="${side}_leg"/><link name="${side}_foot"><collision><geometry><box size="0.1 0.06 0.02"/></geometry></collision></link>
    <joint name="${side}_hip" type="revolute"><parent link="body"/><child link="${side}_leg"/><origin xyz="0 ${y} 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="5"/></joint>
    <joint name="${side}_knee" type="revolute"><parent link="${side}_leg"/><child link="${side}_foot"/><origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="5"/></joint>`;
  writeFileSync(join(folder, "arm.urdf"), `<robot name="walker"><link name="body"/>${leg("left", 0.1)}${leg("right", -0.1)}</robot>`);
  await served(join(folder, "arm.urdf"), async (page) => {
    await file(page, "Set up robot…");
    const dialog = page.getByRole("dialog", { name: "Set up robot" });
    await field(page, "Name of limb 1").waitFor();
    const first = await field(page, "Name of limb 1").inputValue();
    if (!(await page.getByLabel("Limb 1 stands").isChecked())) await page.getByLabel("Limb 1 stands").click();
    await dialog.getByText("Points that touch the ground").click();
    const points = dialog.getByRole("table", { name: `Points of ${first}`, exact: true }).locator("tbody tr");
    await points.first().waitFor();
    const before = await points.count();
    await button(page, `Add a point to ${first}`).click();
    await until("there is one more", async () => (await points.count()) === before + 1);
    await enter(page, `x of point ${before + 1} of ${first}`, "0.0625", "Tab");
    await dialog.getByText(/as they would be|as it is/).click();
    const text = () => field(page, "robot.yaml").textContent();
    await until("the file has it", async () => /points: .*\[0\.0625, /.test(await text()));
    await field(page, `y of point 1 of ${first}`).fill("");
    await field(page, `y of point 1 of ${first}`).press("Tab");
    await told(page, /lacks a number/);
    await enter(page, `y of point 1 of ${first}`, "0.01", "Tab");
    await dialog.getByRole("alert").waitFor({ state: "detached" });
    if (before > 1) await button(page, `Remove point 2 of ${first}`).click();
    await dialog.getByText(/^Mirror table/).click();
    const pairs = dialog.getByRole("table", { name: "Mirror table", exact: true }).locator("tbody tr");
    const entries = await pairs.count();
    assert.ok(entries >= 2, `${entries} entries`);
    await field(page, "Sign of entry 1").selectOption("-1");
    const [left, right] = [await field(page, "Joint of entry 1").inputValue(), await field(page, "Image of entry 1").inputValue()];
    await until("the sign is in the file", async () => new RegExp(`${left}.*${right}.*-1`).test(await text()));
    await button(page, "Remove entry 2").click();
    await until("an entry is gone", async () => (await pairs.count()) === entries - 1);
    await button(page, "Add entry").click();
    await until("one is added", async () => (await pairs.count()) === entries);
    await until("it may be written", async () => !(await button(page, "Write robot.yaml").isDisabled()));
    await tooltips(page, "feet and mirror", 0);
    await button(page, "Write robot.yaml").click();
    await button(page, "Done").click();
    await gone(page);
  });
  const written = readFileSync(join(folder, "robot.yaml"), "utf8");
  assert.match(written, /\[0\.0625, /);
  assert.match(written, /mirror:[\s\S]*-1/);
  await served(folder, async (page, server) => assert.equal((await server.call("/robot_info")).name, "walker")); // it loads
});
