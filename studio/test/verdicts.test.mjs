// What is judged is the whole motion, and what is refused is told from advice; times are in
// milliseconds; a motion with a name is saved without a question; a stop is seen.
import assert from "node:assert/strict";
import { becomes, button, enter, given, save, studio, table, times, told, until } from "./harness.mjs";

const s = studio({ args: ["--with-real-sim"], blind: true });

s.test("the judgement is of all joints, whatever curve is shown; Slow down to fit ends in a playable motion", async (page, server) => {
  await given(page, table([[0, { joint52: 0, tail_joint1: 0 }], [0.3, { joint52: 0.8, tail_joint1: 0.9 }], [2.123, { joint52: 0, tail_joint1: 0 }]]));
  const says = page.getByLabel("Findings", { exact: true });
  await says.waitFor();
  for (const only of ["tail_joint1", "joint52"]) {
    await page.getByLabel("Joints to show").selectOption(only);
    await until("it is not called fit", async () => (await page.getByText("within all limits").count()) === 0);
    await button(page, "Execute virtual").click();
    await told(page, /refused/);
  }
  await page.getByRole("button", { name: "What would be broken" }).or(page.getByText(/^\d+ findings?$/)).first().click();
  await button(page, "Slow down to fit").click();
  const m = await becomes(page, "it is slower", (now) => times(now)[1] > 0.3);
  for (const t of times(m)) assert.equal(t, Math.round(t * 1000) / 1000, `${t} s is no millisecond`);
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", 0);
  await told(page, /done/);
});

s.test("Apply scale rounds to milliseconds", async (page) => {
  await given(page, table([[0, { joint52: 0 }], [3.01, { joint52: 0.3 }], [6.02, { joint52: 0 }]]));
  await page.getByLabel("Speed scale").fill("80");
  await button(page, "Apply scale").click();
  await becomes(page, "times are in ms", (m) => times(m)[2] === 7.525 && times(m).every((t) => t === Math.round(t * 1000) / 1000));
});

s.test("advice is amber and may be played; what is refused is red", async (page) => {
  // leg1 and leg4 carry alone: the centre of mass leaves them, and nothing is too fast
  const carry = "supports: {leg1: 1, leg2: 0, leg3: 0, leg4: 0}";
  await given(page, table([[0, { joint52: 0 }, carry], [2, { joint52: 0.1 }, carry]]));
  const says = page.getByLabel("Findings", { exact: true });
  await until("it is advice", async () => (await says.getAttribute("class")).includes("amber"));
  assert.equal(await page.locator("rect.red").count(), 0);
  await button(page, "Execute virtual").click();
  await told(page, /done/);
});

s.test("Ctrl+S saves a motion that has a name at once, and asks for one that has none", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 0.3 }]]), "quick");
  await page.keyboard.press("Control+s");
  await page.getByRole("dialog", { name: "Save trajectory" }).waitFor();
  await button(page, "Cancel").click();
  await save(page, "quick");
  await enter(page, "Label of row 1", "again");
  await page.getByText("● unsaved").waitFor();
  await page.keyboard.press("Control+s");
  await until("it is saved", async () => /again/.test(await server.stored("quick")));
  assert.equal(await page.getByRole("dialog", { name: "Save trajectory" }).count(), 0);
});

s.test("a stop while nothing moves is seen, with the way out; what is limp is seen and given torque there", async (page, server) => {
  await button(page, "Stop").click();
  const status = page.getByRole("region", { name: "Status" });
  await status.getByText("Stopped", { exact: true }).waitFor();
  assert.ok((await server.state()).stopped && (await server.state("real")).stopped);
  await button(page, "Release stop").click();
  await until("it is released", async () => !(await server.state()).stopped && !(await server.state("real")).stopped);
  await status.getByText("Stopped", { exact: true }).waitFor({ state: "detached" });
  await server.call("/real/set_torque", { on: false, resources: ["head"] });
  await page.getByLabel("Limp real").getByText("head").waitFor();
  await button(page, "Turn on what is limp, real robot").click();
  await until("the head has torque", async () => (await server.state("real")).limp.length === 0);
});
