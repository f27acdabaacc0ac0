// Three robots from a configuration file: what the page offers for each follows from its
// name and from what it can do.
import assert from "node:assert/strict";
import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { button, coloured, enter, field, given, letGo, open, patiently, picture, radians, row, Server, studio, table, told, until } from "./harness.mjs";

const folder = mkdtempSync(join(tmpdir(), "poise-robots-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const measured = "settings: {placed_at_once: false, lag: 0.02}"; // as hardware is

// config writes a configuration of robots.
function config(name, ...robots) {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, `${patiently}robots:\n${robots.map((r) => `  - {${r}}\n`).join("")}`);
  return file;
}

const s = studio({ args: ["--config", config("three", `name: a, ${measured}`, "name: b", "name: c")] });
const names = ["a", "b", "c"];

// where returns the joints of each robot, by the topic on which it is told or measured. Each
// is listened to once: a listener per look would slow the test down more and more.
const listening = new WeakMap();
const hear = (server, topic) => {
  const topics = listening.get(server) ?? {};
  listening.set(server, topics);
  return (topics[topic] ??= server.wire.listen(topic, 20));
};
const where = (server) => Promise.all(["/joint_states_real", "/b/joint_states", "/c/joint_states"].map(async (topic) => {
  const heard = await hear(server, topic);
  await heard.next(); // which may have been under way
  const m = await heard.next();
  heard.all.length = 0;
  return Object.fromEntries(m.name.map((n, i) => [n, m.position[i]]));
}));

s.test("each is seen with its name, its buttons, its controllers", async (page) => {
  await given(page, table([[0, { joint52: 0 }], [0.5, { joint52: 0.2 }]]));
  const view = await page.locator(".view canvas").boundingBox();
  const places = [];
  for (const name of names) {
    const box = await page.getByLabel(`Robot ${name}`, { exact: true }).boundingBox();
    assert.ok(box.x > view.x && box.x + box.width < view.x + view.width && box.y > view.y && box.y < view.y + view.height, `${name} is not in the view`);
    places.push(box.x);
    for (const label of [`Add pose from ${name}`, `Execute ${name}`, `Execute ${name} backward`]) await until(label, () => button(page, label).isEnabled());
  }
  assert.equal(new Set(places).size, 3, "they stand in one place");
  const orange = (r, g, b) => r > b + 45 && r > g + 15; // as all but the one that is posed are tinted
  const both = await until("the others are seen", async () => coloured(await picture(page, page.locator(".view canvas")), orange));
  assert.ok(both > 600, `${both} pixels of the others`);
  await page.getByRole("tab", { name: "Controllers" }).click();
  for (const name of names) assert.ok((await page.getByRole("table", { name: `Controllers of the ${name} robot` }).locator("tbody tr").count()) > 3, name);
});

s.test("Execute moves the robot that it names", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [0.5, { joint52: 0.2 }]]));
  for (const [i, name] of names.entries()) {
    const before = await where(server);
    await button(page, `Execute ${name}`).click();
    await told(page, /done/, name);
    const after = await until(`${name} is there`, async () => {
      const now = await where(server);
      return Math.abs(now[i].joint52 - 0.2) < 0.01 && now;
    });
    for (const k of [0, 1, 2].filter((k) => k !== i)) assert.ok(Math.abs(after[k].joint52 - before[k].joint52) < 0.01, `${names[k]} moved, too`);
    await row(page, 1).getByText(name.toUpperCase(), { exact: true }).waitFor();
  }
});

s.test("the first that can be placed is posed; servos are those of the one that cannot", async (page, server) => {
  const [a, , c] = await where(server);
  await enter(page, "joint53 value", 10);
  await until("b is placed", async () => Math.abs((await where(server))[1].joint53 - radians(10)) < 1e-3);
  const [a2, , c2] = await where(server);
  assert.ok(Math.abs(a2.joint53 - a.joint53) < 0.01 && c2.joint53 === c.joint53, "others were placed, too");
  await given(page, table([[0, { joint53: -0.1 }], [0.5, { joint53: 0.2 }]]));
  await row(page, 0).click();
  await button(page, "Set b pose").click();
  await until("b is there", async () => (await where(server))[1].joint53 === -0.1);
  for (const name of ["a", "c"]) assert.equal(await button(page, `Set ${name} pose`).count(), 0);

  const power = async (robot) => (await server.call(`/${robot}/get_state`)).state.power;
  await button(page, "Turn all servos on/off").click();
  await letGo(page);
  await until("a has no torque", async () => (await power("a")) !== "enabled");
  await page.getByLabel("Servo state").getByText("all off").waitFor(); // a button does what it shows
  for (const name of ["b", "c"]) assert.equal(await power(name), "enabled");
  await button(page, "Turn all servos on/off").click();
  await until("a has torque", async () => (await power("a")) === "enabled");
});

s.test("a robot alone that cannot be placed is played and not posed", async () => {
  const server = await Server.start({ args: ["--config", config("alone", `name: only, ${measured}`)] });
  try {
    const alone = await open(s.browser, server);
    await given(alone, table([[0, { joint52: 0 }], [0.5, { joint52: 0.2 }]]));
    await row(alone, 0).click();
    for (const label of ["joint52 slider", "joint52 value"]) assert.ok(await field(alone, label).isDisabled(), label);
    assert.ok(await button(alone, "Set only pose").isDisabled());
    assert.deepEqual(await alone.getByRole("button", { name: /^(Add pose from|Execute) / }).allTextContents(), ["Add pose from only", "Execute only", "Execute only backward"]); // and of no other robot
    assert.equal(await alone.getByLabel(/^Disable .* trajectory controller$/).count(), 0);
    await alone.getByLabel("Limb to pose").selectOption("head");
    assert.equal(await alone.getByLabel(/^(Ring|Handle) of/).count(), 0);
    await button(alone, "Execute only").click();
    await told(alone, /done/, "only");
    assert.deepEqual(alone.trouble, []);
    await alone.context().close();
  } finally {
    await server.close();
  }
});
