// What is judged is the whole motion, and what is refused is told from advice; times are in
// milliseconds; a motion with a name is saved without a question; a stop is seen.
import assert from "node:assert/strict";
import { becomes, button, drag, enter, given, ruler, save, studio, table, times, told, until } from "./harness.mjs";

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

s.test("Slow down to fit lengthens only the stretch that is too fast; events stay in their stretch", async (page, server) => {
  const rows = [[0, 0], [2, 0], [2.2, 0.8], [5, 0.8], [8, 0.7], [11, 0.6]];
  await given(page, table(rows.map(([t, q]) => [t, { joint52: q }]), { events: [[2.1, "voice/say", "there"]] }));
  await page.getByText(/^\d+ findings?$/).first().click();
  await button(page, "Slow down to fit").click();
  const m = await becomes(page, "it is slower", (now) => times(now)[2] > 2.2);
  const longer = times(m).slice(1).map((t, i) => t - times(m)[i] > rows[i + 1][0] - rows[i][0] + 1e-9);
  assert.deepEqual(longer, [false, true, false, false, false], times(m).join());
  assert.ok(m.events[0].time > times(m)[1] && m.events[0].time < times(m)[2], `${m.events[0].time}`);
  await page.getByText("within all limits").waitFor();
  await save(page, "slower");
  assert.deepEqual(times(await server.get("slower")), times(m));
  assert.equal((await server.call("/motions/lint", { name: "slower" })).findings.length, 0);
  await page.keyboard.press("Control+z");
  await becomes(page, "one step undoes it", (now) => times(now)[2] === 2.2);
});

s.test("what time does not mend is said, and Slow down is off", async (page) => {
  await given(page, table([[0, { joint52: 0 }], [0.2, { joint52: 3 }]]));
  await page.getByText(/^\d+ findings?$/).first().click();
  const slow = button(page, "Slow down to fit");
  assert.ok(await slow.isDisabled());
  assert.match(await slow.getAttribute("title"), /more time does not mend: position of joint52/);
});

s.test("times are milliseconds, whatever made them", async (page, server) => {
  await given(page, table([[0.1, { joint52: 0 }], [0.7, { joint52: 0.1 }], [1.5, { joint52: 0 }]]));
  await enter(page, "Time of row 2", 0.71239);
  await becomes(page, "it is rounded", (m) => times(m)[1] === 0.712);
  await page.getByLabel("Rows that a change of time moves").selectOption("all");
  await enter(page, "Time of row 1", 0.3);
  await becomes(page, "sums are rounded", (m) => times(m).join() === "0.3,0.912,1.7");
  await page.getByLabel("Rows that a change of time moves").selectOption("this");
  await save(page, "rounded");
  assert.match(await server.stored("rounded"), /time: 0\.912\b/);
});

s.test("a key dragged among selected ones takes them along, by mouse and by keys", async (page, server) => {
  await given(page, table([0, 1, 2, 3, 6].map((t) => [t, { joint52: t / 20 }])));
  const key = (i) => page.locator(`path[data-key='${i}']`);
  const { px } = await ruler(page);
  await key(1).click();
  await key(2).click({ modifiers: ["Shift"] });
  await key(3).click({ modifiers: ["Shift"] });
  await drag(page, key(2), 1.5 * px, 0);
  const m = await becomes(page, "three rows moved", (now) => times(now)[1] > 2);
  const by = times(m)[2] - 2;
  for (const [i, from] of [[1, 1], [2, 2], [3, 3]]) assert.equal(times(m)[i], Math.round((from + by) * 1000) / 1000);
  assert.deepEqual([times(m)[0], times(m)[4]], [0, 6]);
  await save(page, "together");
  assert.deepEqual(times(await server.get("together")), times(m));
  await key(2).focus();
  await page.keyboard.press("Shift+ArrowLeft"); // they are still selected
  await becomes(page, "all three went back a little", (now) => [1, 2, 3].every((i) => Math.abs(times(now)[i] - times(m)[i] + 0.1) < 1e-9));
  await page.keyboard.press("Control+z");
  await becomes(page, "one step undoes it", (now) => times(now).join() === times(m).join());
  await key(4).click(); // a click alone chooses one
  assert.equal(await page.locator("tr.chosen").count(), 1);
});

s.test("event types are chosen from a list; another can be written", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [2, { joint52: 0.2 }]]));
  for (const [type, own, command] of [["eyes/action", "", "blink"], ["…", "lamp/colour", "red"]]) {
    await button(page, "Add event…").click();
    const dialog = page.getByRole("dialog", { name: "Add event" });
    assert.ok((await dialog.getByLabel("Type", { exact: true }).locator("option").count()) >= 6);
    await dialog.getByLabel("Type", { exact: true }).selectOption(type);
    if (own) await dialog.getByLabel("Another type").fill(own);
    await dialog.getByLabel("Command").fill(command);
    await dialog.getByRole("button", { name: "Add event", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  }
  await save(page, "typed");
  assert.deepEqual((await server.get("typed")).events.map((e) => [e.type, e.command]), [["eyes/action", "blink"], ["lamp/colour", "red"]]);
  // a type of the motion's own is in the list from then on
  await button(page, "Add event…").click();
  await page.getByRole("dialog").getByLabel("Type", { exact: true }).selectOption("lamp/colour");
  await button(page, "Cancel").click();
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

s.test("verdicts: what keeps it from being played apart from advice, the worst first", async (page, server) => {
  // the tail is far too fast, the head a little, and leg1 alone cannot carry
  const carry = "supports: {leg1: 1, leg2: 0, leg3: 0, leg4: 0}";
  const fast = table([[0, { joint52: 0, tail_joint1: 0 }, carry], [0.4, { joint52: 0.8, tail_joint1: 1.2 }, carry], [4, { joint52: 0.8, tail_joint1: 1.2 }, carry]]);
  await given(page, fast);
  await page.getByText(/^\d+ findings?$/).first().click();
  const list = (name) => page.getByRole("list", { name, exact: true }).getByRole("button");
  await until("both kinds are told", async () => (await list("Keeps it from being played").count()) >= 2 && (await list("Advice").count()) >= 1);
  const [refused, advised] = [await list("Keeps it from being played").allTextContents(), await list("Advice").allTextContents()];
  // by how much each limit is broken: "… is A u, limit B u"
  const over = refused.map((text) => {
    const [, is, limit] = text.match(/is (-?[\d.]+)[^,]*, limit (-?[\d.]+)/);
    return Math.abs(is / limit);
  });
  assert.ok(over.length >= 2 && over.every((x, i) => x > 1 && (i === 0 || x <= over[i - 1] * 1.02)), `${over}`); // numbers are shown rounded
  assert.ok(over[0] > over.at(-1) * 1.05, `${over}`);
  for (const text of advised) assert.match(text, /centre of mass|slip/);
  for (const text of refused) assert.doesNotMatch(text, /centre of mass|slip/);
  // the heading of refusals is above that of advice, and the line says the worst
  const [above, below] = [await list("Keeps it from being played").first().boundingBox(), await list("Advice").first().boundingBox()];
  assert.ok(above.y < below.y);
  assert.equal(await page.getByLabel("Findings", { exact: true }).textContent(), refused[0]);
  // what the server says is of the same order of things: all of it is there
  await page.keyboard.press("Escape");
  await save(page, "worst");
  assert.equal((await server.call("/motions/lint", { name: "worst" })).findings.length, refused.length + advised.length);
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
  await until("it is released", async () => { // refused while a robot still comes to rest
    const release = button(page, "Release stop");
    if (await release.count()) await release.click();
    return !(await server.state()).stopped && !(await server.state("real")).stopped;
  });
  await status.getByText("Stopped", { exact: true }).waitFor({ state: "detached" });
  await server.call("/real/set_torque", { on: false, resources: ["head"] });
  await page.getByLabel("Limp real").getByText("head").waitFor();
  await button(page, "Turn on what is limp, real robot").click();
  await until("the head has torque", async () => (await server.state("real")).limp.length === 0);
});
