// The virtual robot alone: servos are its own; and all by keyboard.
import assert from "node:assert/strict";
import { becomes, button, field, given, studio, table, until } from "./harness.mjs";

const s = studio({ blind: true });

s.test("its buttons are there, and none of another robot", async (page) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 0.2 }]]));
  for (const label of [/^(Add pose from|Execute|Disable) real/, /beside$/]) assert.equal(await page.getByLabel(label).or(page.getByRole("button", { name: label })).count(), 0, label);
  for (const name of ["Add pose from virtual", "Execute virtual", "Execute virtual backward"]) assert.ok(await button(page, name).isEnabled(), name);
});

s.test("until the server has told its robots the page is drawn, and offers none", async (_, server) => {
  const page = await (await s.browser.newContext()).newPage();
  const errors = [];
  page.on("pageerror", (e) => errors.push(e.message));
  await page.routeWebSocket(/rosbridge/, () => {}); // a server that says nothing
  await page.goto(server.url);
  assert.match(await button(page, "Execute").getAttribute("title"), /there is no connection/);
  for (const name of ["Execute", "Execute backward", "Set pose"]) assert.ok(await button(page, name).isDisabled(), name);
  assert.equal(await page.getByRole("button", { name: /^Add pose from/ }).count(), 0);
  assert.equal(await page.getByLabel("Servo state").count(), 0);
  assert.ok(await button(page, "Stop").isEnabled());
  assert.deepEqual(errors, []);
  await page.context().close();
});

s.test("servo buttons act on the virtual robot when it is alone: all, of the trajectory, per limb", async (page, server) => {
  const limp = async () => (await server.state()).limp.toSorted().join();
  await button(page, "Turn all servos on/off").click();
  await until("all are off", async () => (await server.state()).power !== "enabled");
  await page.getByLabel("Servo state").getByText("all off").waitFor();
  await button(page, "Turn all servos on/off").click();
  await until("all are on", async () => (await server.state()).power === "enabled" && (await limp()) === "");
  await page.getByLabel("Servo state").getByText("all on").waitFor(); // a button does what it shows
  for (const limb of ["leg1", "leg2", "leg3", "leg4", "head", "ears", "mouth", "tail"]) {
    await page.getByLabel(`Servos of ${limb}`).click();
    await until(`${limb} is limp`, async () => (await limp()) === limb);
    await page.getByLabel("Servo state").getByText("partially on").waitFor();
    await page.getByLabel(`Servos of ${limb}`).click();
    await until(`${limb} is held`, async () => (await limp()) === "");
    await page.getByLabel("Servo state").getByText("all on").waitFor();
  }
  await given(page, table([[0, { tail_joint1: 0 }], [1, { tail_joint1: 0.2 }]]));
  await button(page, "Turn all trajectory servos on/off").click();
  await until("the tail is limp", async () => (await limp()) === "tail");
  await page.getByLabel("Servo state").getByText("partially on").waitFor();
  await button(page, "Turn all trajectory servos on/off").click();
  await until("the tail is held", async () => (await limp()) === "");
});

s.test("teaching, editing and saving by keyboard alone", async (page, server) => {
  const press = async (label) => {
    await button(page, label).focus();
    await page.keyboard.press("Enter");
  };
  for (const [i, angle] of ["5", "25"].entries()) {
    await field(page, "joint52 value").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(angle);
    await page.keyboard.press("Enter");
    await server.reaches("joint52", (Number(angle) * Math.PI) / 180, 1e-3);
    await press("Add pose from virtual");
    await page.locator(`tr[data-row='${i}']`).waitFor();
  }
  await page.keyboard.press("Control+s");
  await field(page, "Name").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("by_keys");
  await page.keyboard.press("Enter");
  await until("it is saved", async () => (await server.get("by_keys")).points.length === 2);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByLabel("Speed scale").focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText("105 %").waitFor();
  await press("Execute virtual backward");
  await server.reaches("joint52", (5 * Math.PI) / 180);
  await server.idle();
  await page.keyboard.press("Control+z");
  await becomes(page, "one row is left", (m) => m.points.length === 1);
  await page.keyboard.press("Control+y");
  await becomes(page, "both are back", (m) => m.points.length === 2);
});

