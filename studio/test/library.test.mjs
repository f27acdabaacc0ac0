// The library and files: what is played, kept, copied, deleted, brought in and out.
import assert from "node:assert/strict";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { becomes, button, enter, field, file, given, motion, open, save, studio, table, teach, told, turn, until } from "./harness.mjs";

const s = studio({ blind: true });

const library = (page) => page.getByRole("tab", { name: "Library" }).click();
const find = (page, name) => page.getByLabel("Find a motion").fill(name);
const nod = table([[0, { joint52: 0 }], [0.5, { joint52: 0.12 }], [1, { joint52: 0.25 }]], { events: [[0.5, "voice/say", "hello"]], head: "description: Says hello\ntags: [head]" });
const gone = (server, name) => until(`${name} is gone`, () => server.stored(name).then(() => false, () => true));

async function fetched(page, name) {
  const coming = page.waitForEvent("download");
  await file(page, name);
  const got = await coming;
  return { name: got.suggestedFilename(), text: await readFile(await got.path(), "utf8") };
}

s.test("motions are listed with description, tags, duration and lint, as the server has them", async (page, server) => {
  await library(page);
  const { motions } = await server.call("/motions/list");
  assert.ok(motions.length > 10);
  assert.equal(await page.locator("li[data-motion]").count(), motions.length);
  for (const m of motions) {
    const shown = await page.locator(`li[data-motion='${m.name}']`).textContent();
    for (const want of [m.name, m.description, ...m.tags, `${m.duration.toFixed(1)} s`, m.findings.length === 0 ? "ok" : `${m.findings.length} finding`]) assert.ok(shown.includes(want), `${m.name} lacks ${want}: ${shown}`);
  }
  const tag = motions.find((m) => m.tags.length > 0).tags[0];
  await find(page, tag);
  for (const name of await page.locator("li[data-motion]").evaluateAll((all) => all.map((e) => e.dataset.motion))) {
    const m = motions.find((x) => x.name === name);
    assert.ok(`${m.name} ${m.description} ${m.tags.join(" ")}`.toLowerCase().includes(tag.toLowerCase()), name);
  }
});

s.test("the lint result of a bad motion and the reason of an unreadable file are shown", async (page, server) => {
  await writeFile(join(server.folder, "hasty.motion.yaml"), table([[0, { joint52: 0 }], [0.2, { joint52: 1.2 }]]));
  await writeFile(join(server.folder, "broken.motion.yaml"), "points: 3\n");
  await library(page);
  await button(page, "Refresh").click();
  await find(page, "hasty");
  await until("it has a finding", async () => /finding/.test(await page.getByLabel("Lint of hasty").textContent()));
  await page.getByLabel("Lint of hasty").click();
  const { findings } = (await server.call("/motions/list")).motions.find((m) => m.name === "hasty");
  assert.match(findings[0], /joint52/);
  await page.locator(".findings").getByText(findings[0]).waitFor();
  await find(page, "broken");
  await page.getByLabel("Lint of broken").click();
  await page.locator(".findings").getByText(/points/).waitFor();
  assert.ok(await page.getByLabel("Play broken", { exact: true }).isDisabled());
});

s.test("play: the goal runs and its events leave; eyes are drawn and sounds named", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 0.2 }]], { events: [[0.2, "eyes/emotion", "happy"], [0.5, "voice/play_wav", "neigh.wav"]] }));
  await save(page, "greets");
  await library(page);
  await find(page, "greets");
  const events = await server.hear("/events");
  const eyes = page.getByRole("img", { name: /^Eyes/ });
  const before = await eyes.innerHTML();
  await page.getByLabel("Play greets", { exact: true }).click();
  await until("both events left", async () => events.all.length === 2);
  assert.deepEqual(events.all.map((e) => `${e.motion} ${e.command.type} ${e.command.command}`), ["greets eyes/emotion happy", "greets voice/play_wav neigh.wav"]);
  await page.getByRole("img", { name: "Eyes: happy" }).waitFor();
  assert.notEqual(await eyes.innerHTML(), before);
  await page.getByLabel("Events that left").getByText("neigh.wav").waitFor();
  await told(page, /done/);
  await server.reaches("joint52", 0.2);
});

s.test("a stored motion that has to begin in a pose goes there first", async (page, server) => {
  await turn(page, server, "joint52", 40);
  await library(page);
  await find(page, "wag_tail");
  const poses = await server.hear("/joint_states");
  await page.getByLabel("Play wag_tail", { exact: true }).click();
  await server.reaches("joint52", s.rest.joint52);
  await told(page, /done/);
  const wagged = poses.all.filter((m) => Math.abs(m.position[m.name.indexOf("tail_joint1")] - s.rest.tail_joint1) > 0.1);
  assert.ok(wagged.length > 0, "the tail did not move");
  for (const m of wagged) assert.ok(Math.abs(m.position[m.name.indexOf("joint52")] - s.rest.joint52) < 0.2, "it played before it was there");
});

s.test("loop goes round until Stop", async (page, server) => {
  await given(page, table([[0, { tail_joint1: 0 }], [0.4, { tail_joint1: 0.3 }], [0.8, { tail_joint1: 0 }]], { events: [[0.4, "voice/say", "round"]], head: "loop: true" }));
  await save(page, "wags");
  await library(page);
  await find(page, "wags");
  const events = await server.hear("/events");
  await page.getByLabel("Loop wags").click();
  await until("it went round three times", async () => events.all.length >= 3);
  assert.equal((await server.state()).goals.length, 1);
  await button(page, "Stop").click();
  await server.idle();
  assert.ok((await server.state()).stopped);
  await told(page, /aborted|cancelled|stopped/);
});

s.test("edit opens a motion as the server has it; a shipped one is not deleted", async (page, server) => {
  await library(page);
  await find(page, "wag_tail");
  await page.getByLabel("Edit wag_tail").click();
  await becomes(page, "it is open", (m) => m.name === "wag_tail");
  assert.deepEqual(await motion(page), await server.get("wag_tail"));
  await button(page, "File ▾").click();
  assert.ok(await page.getByRole("menuitem", { name: "Delete…" }).isDisabled());
  await page.keyboard.press("Escape");
  assert.equal(await page.getByLabel("Changes").textContent(), "");
});

s.test("export and import give the same bytes back", async (page, server) => {
  await given(page, nod, "first");
  await save(page, "first");
  const kept = await fetched(page, "Export…");
  assert.equal(kept.name, "first.motion.yaml");
  assert.equal(kept.text, await server.stored("first"));
  const goal = JSON.parse((await fetched(page, "Export goal…")).text);
  assert.deepEqual(goal.trajectory.points.map((p) => p.positions[goal.trajectory.joint_names.indexOf("joint52")]), [0, 0.12, 0.25]);
  await file(page, "New");
  await becomes(page, "it is empty", (m) => m.points.length === 0);
  await given(page, kept.text, "third");
  await page.getByText("● unsaved").waitFor();
  await save(page, "third");
  assert.equal(await server.stored("third"), kept.text);
  // a goal comes back as the same table
  await file(page, "New");
  await page.getByLabel("File to import").setInputFiles({ name: "fourth.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(goal)) });
  const m = await becomes(page, "the goal is imported", (now) => now.name === "fourth");
  assert.deepEqual(m.points.map((p) => [p.time, p.positions[m.columns.indexOf("joint52")]]), [[0, 0], [0.5, 0.12], [1, 0.25]]);
  // what cannot be read is refused with the reason, and the table stays
  await page.getByLabel("File to import").setInputFiles({ name: "bad.yaml", mimeType: "text/yaml", buffer: Buffer.from("points: 3") });
  await page.getByRole("alert").filter({ hasText: "points" }).waitFor();
  assert.deepEqual(await motion(page), m);
});

s.test("Duplicate… keeps a copy and goes on with it; Delete… takes the file away after asking", async (page, server) => {
  await given(page, nod, "origin");
  await save(page, "origin");
  await file(page, "Duplicate…");
  await field(page, "Name").fill("copy");
  await page.getByRole("dialog").getByRole("button", { name: "Duplicate", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await server.stored("copy"), await server.stored("origin"));
  assert.equal((await motion(page)).name, "copy");
  // a name that is taken is refused
  await file(page, "Duplicate…");
  await field(page, "Name").fill("origin");
  await page.getByRole("dialog").getByRole("button", { name: "Duplicate", exact: true }).click();
  await page.getByRole("dialog").getByRole("alert").filter({ hasText: "origin" }).waitFor();
  await button(page, "Cancel").click();
  await file(page, "Delete…");
  await button(page, "Cancel").click();
  assert.ok(await server.stored("copy"));
  await file(page, "Delete…");
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await gone(server, "copy");
  assert.ok(await server.stored("origin"));
  await becomes(page, "the editor is empty", (m) => m.points.length === 0);
});

s.test("New and Load ask before changes are lost", async (page, server) => {
  await given(page, nod, "mine");
  await file(page, "New");
  await button(page, "Cancel").click();
  assert.equal((await motion(page)).points.length, 3);
  await save(page, "mine");
  await enter(page, "Label of row 1", "changed");
  await page.getByText("● unsaved").waitFor();
  await file(page, "Load trajectory…");
  await page.getByRole("option", { name: "wag_tail" }).click();
  await button(page, "Load").click();
  await button(page, "Give up changes").click();
  await becomes(page, "wag_tail is open", (m) => m.name === "wag_tail");
  assert.equal((await server.get("mine")).points[0].label, "");
});

s.test("names that are no file names are refused, and no file is made", async (page, server) => {
  await given(page, nod, "named");
  const before = (await readdir(server.folder)).toSorted();
  await file(page, "Save trajectory…");
  for (const name of ["../evil", "a/b", ".hidden", "with space", ""]) {
    await field(page, "Name").fill(name);
    await field(page, "Name").press("Enter");
    await page.getByRole("dialog").waitFor();
  }
  assert.deepEqual((await readdir(server.folder)).toSorted(), before);
  await button(page, "Cancel").click();
});

s.test("a version conflict offers theirs, mine or a copy, and nothing is overwritten unasked", async (one, server) => {
  const two = await open(s.browser, server);
  await teach(one, server, [0, 5]);
  await save(one, "shared");
  await library(two);
  await button(two, "Refresh").click();
  await two.getByLabel("Edit shared").click();
  await two.locator("tr[data-row='1']").waitFor();
  for (const [page, label] of [[one, "mine"], [two, "yours"]]) {
    await enter(page, "Label of row 1", label);
    await page.getByText("● unsaved").waitFor();
  }
  await save(one, "shared");
  await file(two, "Save trajectory…");
  await button(two, "Save").click();
  const conflict = two.getByRole("dialog", { name: "Saved by somebody else" });
  await conflict.getByText(/shared was saved on the server since you opened it/).waitFor();
  assert.match(await server.stored("shared"), /mine/);
  // a copy
  await conflict.getByRole("button", { name: "Save a copy…" }).click();
  await field(two, "Name").fill("shared_too");
  await button(two, "Save").click();
  await until("it is kept under another name", async () => /yours/.test(await server.stored("shared_too")));
  assert.match(await server.stored("shared"), /mine/);
  // theirs: what is on the server is shown, what was here is one step to undo
  await library(two);
  await two.getByLabel("Edit shared", { exact: true }).click();
  await until("it is open", async () => (await field(two, "Label of row 1").inputValue()) === "mine");
  await enter(two, "Label of row 1", "second");
  await two.getByText("● unsaved").waitFor();
  await enter(one, "Label of row 1", "newer");
  await save(one, "shared");
  await two.keyboard.press("Control+s");
  await conflict.getByRole("button", { name: "Take theirs" }).click();
  await conflict.waitFor({ state: "detached" });
  await until("theirs is shown", async () => (await field(two, "Label of row 1").inputValue()) === "newer");
  assert.match(await server.stored("shared"), /newer/);
  assert.equal(await two.getByLabel("Changes").textContent(), "");
  await button(two, "Undo").click();
  await until("mine is back", async () => (await field(two, "Label of row 1").inputValue()) === "second");
  // mine: the other is replaced, since it was said so
  await enter(one, "Label of row 1", "newest");
  await save(one, "shared");
  await two.keyboard.press("Control+s");
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await until("mine is stored", async () => /second/.test(await server.stored("shared")));
  // a file that is gone: there is no theirs
  const { version } = await server.call("/motions/get", { name: "shared" });
  await server.call("/motions/delete", { name: "shared", version });
  await enter(two, "Label of row 1", "last");
  await two.getByText("● unsaved").waitFor();
  await two.keyboard.press("Control+s");
  await conflict.getByText(/was deleted or renamed/).waitFor();
  assert.ok(await conflict.getByRole("button", { name: "Take theirs" }).isDisabled());
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await until("it is stored again", async () => /last/.test(await server.stored("shared")));
  assert.deepEqual(two.trouble, []);
  await two.context().close();
});

s.test("a server that restarts loses nothing of what is edited", async (page, server) => {
  await teach(page, server, [0, 10]);
  const before = await motion(page);
  await server.end();
  await page.getByText("connection lost").waitFor();
  for (const name of ["Execute virtual", "Add pose from virtual"]) assert.ok(await button(page, name).isDisabled(), name);
  await button(page, "File ▾").click();
  assert.ok(await page.getByRole("menuitem", { name: "Save trajectory…" }).isDisabled());
  await button(page, "File ▾").click();
  const seen = await page.getByLabel("Connection").evaluate((e) => [getComputedStyle(e).backgroundColor, getComputedStyle(document.querySelector("main")).opacity]);
  assert.match(seen[0], /rgb\((1[5-9]\d|2\d\d), /); // red
  assert.ok(Number(seen[1]) < 0.8, "what is old is not faded");
  await page.keyboard.press("F8"); // what cannot be done must not break the page
  await server.begin(server.address.split(":")[1]);
  await page.getByText("connected", { exact: true }).waitFor();
  assert.deepEqual(await motion(page), before);
  await teach(page, server, [20]); // poses are heard again
  const m = await becomes(page, "three rows", (now) => now.points.length === 3);
  const marker = await server.hear("/joints_marker_set");
  const heard = marker.next();
  await page.locator("tr[data-row='1'] td.at").click();
  assert.ok((await heard).name.includes("joint52"));
  await save(page, "survived");
  assert.deepEqual((await server.get("survived")).points, m.points);
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", (20 * Math.PI) / 180);
  await server.idle();
});
