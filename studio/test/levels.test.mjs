// The levels of cycle 2: what each could not do, which rows hold it and who asked for it, live, at a
// time before and from a recording; and the tip-over that was prevented, on the motion's timeline.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { button, given, studio, table, tooltips, until } from "./harness.mjs";

const s = studio({ args: ["--physics"] });

const show = async (page) => {
  await page.getByRole("tab", { name: "Levels" }).click();
  await page.getByRole("region", { name: "Levels" }).waitFor();
};
const inCycle = async (server, cycle) => assert.ok((await server.call("/switch_cycle", { cycle, resources: [] })).success);

// served waits until the server tells of levels that are served.
const served = async (server) => {
  const heard = (server.levels ??= await server.hear("/levels"));
  return heard.next((m) => m.status === "served" && m.levels.length > 0);
};
const cells = (page) => page.getByRole("table", { name: "Levels from the top" }).locator("tbody tr").evaluateAll((rows) => rows.map((r) => [...r.children].map((c) => c.textContent.trim())));

s.test("each level is seen with residual, slack, active rows and who asked for it", async (page, server) => {
  await inCycle(server, 0);
  await show(page);
  await page.getByText("Cycle 2 drives no limb: choose it in Dynamics.").waitFor();
  await inCycle(server, 2);
  const m = await served(server);
  await until("the levels of the server are listed, in its order", async () => {
    const rows = await cells(page);
    assert.deepEqual(rows.map((r) => r[0].replace(" ⚠", "")), m.levels.map((l) => l.name));
    return rows.every((r, i) => r[4] === m.levels[i].asked_by.join(", "));
  });
  assert.ok(m.levels.some((l) => l.safety) && m.levels.some((l) => !l.safety));
  await tooltips(page, "levels", 6);
  await inCycle(server, 0);
  await page.getByText("Cycle 2 drives no limb: choose it in Dynamics.").waitFor();
});

s.test("the slider goes back in time, and Live to the newest", async (page, server) => {
  await inCycle(server, 2);
  await show(page);
  await served(server);
  const slider = page.getByLabel("Time of the levels");
  const said = page.getByLabel("What is shown");
  await until("some seconds are kept", async () => Number(await slider.getAttribute("max")) > 2);
  await slider.fill(await slider.getAttribute("min"));
  await said.getByText("from memory").waitFor();
  const first = await page.getByLabel("Time shown").textContent();
  await until("time goes on, and what is shown does not", async () => Number(await slider.getAttribute("max")) > 4);
  assert.equal(await page.getByLabel("Time shown").textContent(), first);
  await button(page, "Live").click();
  await said.getByText("live").waitFor();
  await until("the newest is shown", async () => parseFloat(await page.getByLabel("Time shown").textContent()) > 2);
  await inCycle(server, 0);
});

s.test("a recording is saved, opened and gone through; what is no recording is refused", async (page, server) => {
  await inCycle(server, 2);
  await show(page);
  await served(server);
  await page.getByRole("table", { name: "Levels from the top" }).waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Save recording").click()]);
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\n").map((l) => JSON.parse(l));
  const state = lines.findLast((l) => l.levels.length > 0);
  assert.ok(state, "levels are in the recording");

  // three states, ten seconds apart; the second is hard
  const at = (sec, change) => ({ ...state, header: { ...state.header, stamp: { sec, nanosec: 0 } }, ...change });
  const hard = state.levels.map((l, i) => (i === 2 ? { ...l, residual: 1.25, slack: 0.5, safety: true, active: ["friction_+x leg1", "tau_max joint11"], asked_by: ["someone"] } : l));
  const limbs = [{ name: "leg1", ratio: 0.5, kept: true, lands: false, point: true }];
  const recording = [at(100, { prevented: false, feasible: true }), at(110, { levels: hard, prevented: true, feasible: false, limbs }), at(120, { prevented: false, feasible: true })];
  const chooser = page.getByLabel("Recording of levels");
  const give = (text, name) => chooser.setInputFiles({ name, mimeType: "application/jsonl", buffer: Buffer.from(text) });
  await give(recording.map((m) => JSON.stringify(m)).join("\n"), "hard.jsonl");
  await page.getByLabel("What is shown").getByText("hard.jsonl, 20.0 s").waitFor();
  const slider = page.getByLabel("Time of the levels");
  await slider.fill("12");
  const name = hard[2].name;
  await until("the state of that time is shown", async () => {
    const row = (await cells(page)).find((r) => r[0].startsWith(name));
    return row[1] === "1.25" && row[2] === "0.500" && row[3] === "2" && row[4] === "someone";
  });
  await page.getByText("A tip-over is prevented: leg1 to be lifted, and kept on the ground.").waitFor();
  await page.getByRole("row", { name }).getByRole("button", { name: "2", exact: true }).click();
  assert.deepEqual(await page.getByRole("list", { name: `Active rows of ${name}` }).getByRole("listitem").allTextContents(), hard[2].active);
  assert.equal(await page.locator(".marks i.prevented").count(), 1);
  await slider.fill("0");
  await page.getByText("A tip-over is prevented").waitFor({ state: "detached" });

  await give('{"levels": 3}\n', "wrong.jsonl");
  await page.getByText("wrong.jsonl is no recording of levels: line 1 is no message of the topic levels").waitFor();
  await button(page, "Live").click();
  await page.getByLabel("What is shown").getByText("live").waitFor();
  await inCycle(server, 0);
});

s.test("a tip-over that is prevented is marked on the motion's timeline", async (page, server) => {
  await inCycle(server, 2);
  await served(server);
  const stand = (leg1) => `supports: {leg1: ${leg1}, leg2: 1, leg3: 1, leg4: 1}`;
  await given(page, table([[0, { joint52: 0 }, stand(1)], [1, { joint52: 0.1 }, stand(0)], [2.5, { joint52: 0.1 }, stand(1)], [4, { joint52: 0 }, stand(1)]]), "lifts");
  const heard = await server.hear("/levels");
  const kept = heard.next((m) => m.prevented && m.limbs.some((l) => l.name === "leg1" && l.kept));
  await button(page, "Execute virtual").click();
  await kept;
  const mark = page.getByRole("img", { name: /a tip-over was prevented: leg1 stays on the ground/ });
  await mark.first().waitFor();
  const from = Number((await mark.first().getAttribute("aria-label")).match(/at ([\d.]+) s/)[1]);
  assert.ok(from >= 0 && from < 2.6, `marked at ${from} s`);
  await until("the motion ends, and the mark stays", async () => /done|reached|ended|succeeded/i.test(await page.getByLabel("Result virtual").textContent()));
  assert.ok((await mark.count()) > 0);
  await inCycle(server, 0);
});
