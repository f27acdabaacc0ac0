// Playing: marks, direction, speed, stopping, and why something is refused.
import assert from "node:assert/strict";
import { becomes, button, column, enter, field, given, motion, near, radians, save, studio, table, teach, times, told, turn, until } from "./harness.mjs";

const s = studio({ blind: true });

const done = (page) => told(page, /done/);
const ramp = (step, ...angles) => angles.map((q, i) => [i * step, { joint52: q }]);
const speed = (page, percent) => page.getByLabel("Speed scale").fill(String(percent));

// running waits for a goal.
const running = (server, fits) => until("the goal runs", async () => (await server.state()).goals.find(fits));

s.test("from start mark to end mark, backward, and the other way round", async (page, server) => {
  await page.getByLabel("Time step").fill("0.6");
  await teach(page, server, [0, 10, 20, 30]);
  await button(page, "Add event…").click();
  await enter(page, "Time, s", 0.9, "Tab");
  await page.getByLabel("Type", { exact: true }).selectOption("voice/say");
  await enter(page, "Command", "hello", "Tab");
  await page.getByRole("dialog").getByRole("button", { name: "Add event", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await field(page, "Start mark at row 2").click();
  await field(page, "End mark at row 3").click();
  const m = await becomes(page, "marks are set", (now) => now.points.map((p) => p.mark).join() === ",start,end,");

  const events = await server.hear("/events");
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", radians(20));
  await done(page);
  assert.deepEqual(events.all.map((e) => e.command.command), ["hello"]);
  await page.getByLabel("Events that left").getByText("voice/say").waitFor();
  const part = await server.received();
  assert.deepEqual(times(part), [0, 0.6]);
  near(part.events[0].time, 0.3, 1e-6);

  for (const [press, reverse, to] of [["Execute virtual backward", false, 10], ["Execute virtual backward", true, 20], ["Execute virtual", false, 10]]) {
    if (reverse) await button(page, "Reverse direction").click();
    await button(page, press).click();
    await server.reaches("joint52", radians(to));
    await server.idle();
    const goal = await server.received();
    assert.deepEqual(column(goal, "joint52").map((q) => Math.round((q * 180) / Math.PI)), to === 10 ? [20, 10] : [10, 20], `${press} ${reverse}`);
  }
  assert.deepEqual(await motion(page), m); // table and marks stay
});

s.test("without marks, from the first to the last enabled row", async (page, server) => {
  await given(page, table([[0, { joint52: -0.3 }, "enabled: false"], [0.4, { joint52: 0 }], [0.9, { joint52: 0.2 }], [1.5, { joint52: 0.9 }, "enabled: false"]]));
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", 0.2);
  await done(page);
  const goal = await server.received();
  assert.deepEqual(column(goal, "joint52"), [0, 0.2]);
  near(times(goal)[1], 0.5, 1e-6);
});

s.test("the speed scale is for execution alone: 200 % halves the time, 10 % is ten times as long", async (page, server) => {
  await given(page, table(ramp(1, 0, 0.3, 0.5), { events: [[1, "voice/say", "hello"]] }));
  const before = await motion(page);
  await speed(page, 200);
  await page.getByText("200 %").waitFor();
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", 0.5);
  await done(page);
  let goal = await server.received();
  assert.deepEqual(times(goal), [0, 0.5, 1]);
  assert.equal(goal.events[0].time, 0.5);
  await speed(page, 10);
  await turn(page, server, "joint52", 0); // so that there is no way to the start
  await server.slowly();
  await button(page, "Execute virtual").click();
  near((await running(server, (g) => g.duration > 15)).duration, 20, 0.01);
  await page.getByLabel("Progress virtual").waitFor();
  await until("progress is that of the server", async () => {
    const [shown, goal] = [Number(await page.getByLabel("Progress virtual").getAttribute("value")), (await server.state()).goals[0]];
    return shown > 0 && Math.abs(shown - goal.time / goal.duration) < 0.1;
  });
  await told(page, /forward 0\.\d \/ 2\.0 s/); // of the table
  goal = await server.received();
  assert.deepEqual(times(goal), [0, 10, 20]);
  assert.deepEqual(await motion(page), before);
  await button(page, "Stop").click();
  await until("it is stopped", async () => (await server.state()).stopped);
});

s.test("one goal has the motion, the part and the approach; what is said of it is in times of the table", async (page, server) => {
  await given(page, table([[4, { joint52: 0 }], [5.2, { joint52: 0.6 }, "mark: start"], [65.2, { joint52: 0.9 }, "mark: end"], [68, { joint52: 0 }]]));
  const hurry = await server.slowly();
  await button(page, "Execute virtual").click();
  await told(page, /^\s*approach\s*$/);
  await hurry();
  await told(page, /forward \d+\.\d \/ 65\.2 s/);
  await server.call("/set_speed", { rate: 2, controller: "" });
  await server.reaches("joint52", 0.9);
  await done(page);
  assert.equal(page.goals.length, 1);
  const { action, args } = page.goals[0];
  assert.deepEqual([action, args.part, args.approach, args.motion.points.length], ["/execute_motion", true, true, 4]);
  // too fast between the marks
  await enter(page, "Time of row 2", 65.1);
  await button(page, "Execute virtual").click();
  await told(page, /refused: (velocity|acceleration) of joint52 is .* at 65\.\d+ s/);
});

s.test("Apply scale rewrites rows, events and supports in one step, and returns to 100 %", async (page, server) => {
  const carry = (on) => `supports: {leg1: ${on}}`;
  await given(page, table([[0, { joint52: 0 }, carry(1)], [1, { joint52: 0.1 }, carry(0)], [2, { joint52: 0.3 }, carry(1)]], { events: [[1.5, "voice/say", "hello"]] }));
  await save(page, "scaled");
  const before = await server.stored("scaled");
  await speed(page, 200);
  await button(page, "Apply scale").click();
  await becomes(page, "times are halved", (m) => times(m).join() === "0,0.5,1");
  assert.equal(await page.getByLabel("Speed scale").inputValue(), "100");
  await save(page, "scaled");
  const m = await server.get("scaled");
  assert.deepEqual(times(m), [0, 0.5, 1]);
  assert.equal(m.events[0].time, 0.75);
  assert.deepEqual(m.points.map((p) => p.supports[0]), [1, 0, 1]); // they change when the rows do
  await button(page, "Undo").click();
  await becomes(page, "one step back", (now) => times(now).join() === "0,1,2" && now.events[0].time === 1.5);
  await save(page, "scaled");
  assert.equal(await server.stored("scaled"), before);
});

s.test("Stop midway by button, Esc and F8; Execute is the separate act that goes on", async (page, server) => {
  await given(page, table(ramp(400, 0, 0.8)));
  for (const stop of [() => button(page, "Stop").click(), () => page.keyboard.press("Escape"), () => page.keyboard.press("F8")]) {
    await button(page, "Execute virtual").click();
    await running(server, (g) => g.duration > 390);
    await until("it is under way", async () => (await server.joints()).joint52 > 1e-4);
    await stop();
    await until("it is stopped", async () => (await server.state()).stopped && (await server.state()).goals.length === 0);
    await told(page, /aborted.*stopped|stopped/);
    const q = (await server.joints()).joint52;
    assert.ok(q > 1e-4 && q < 0.78, `stopped at ${q}`);
  }
});

s.test("Stop works when the page's connection hears nothing any more", async (page, server) => {
  await given(page, table(ramp(400, 0, 0.8)));
  await page.evaluate(() => {
    WebSocket.prototype.send = () => {}; // what the page sends from here on is lost
  });
  await button(page, "Stop").click();
  await until("it is stopped", async () => (await server.state()).stopped);
});

s.test("Esc in a dialog closes it and stops nothing; Stop and F8 stop there, too", async (page, server) => {
  await given(page, table(ramp(400, 0, 0.8)));
  await button(page, "Trajectory setup…").click();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal((await server.state()).stopped, false);
  await button(page, "Trajectory setup…").click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("F8");
  await until("it is stopped", async () => (await server.state()).stopped);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // where Stop is, it is also while a dialog is open
  const place = await button(page, "Stop").boundingBox();
  await button(page, "Execute virtual").click();
  await running(server, (g) => g.duration > 390);
  await button(page, "Trajectory setup…").click();
  await page.getByRole("dialog").waitFor();
  await page.mouse.click(place.x + place.width / 2, place.y + place.height / 2);
  await until("it is stopped by the mouse", async () => (await server.state()).stopped);
  await page.keyboard.press("Escape");
});

s.test("Pause/Resume holds the motion on its path and goes on", async (page, server) => {
  await given(page, table(ramp(4, 0, 0.8)));
  const hurry = await server.slowly();
  await button(page, "Execute virtual").click();
  await running(server, (g) => g.duration > 3.9);
  await until("it moves", async () => (await server.joints()).joint52 > 1e-4);
  await button(page, "Pause/Resume").click();
  await until("it is paused", async () => (await server.state()).wanted_rate === 0 && (await server.state()).rate === 0);
  await page.locator("button[aria-pressed='true']", { hasText: "Pause/Resume" }).waitFor();
  await page.getByLabel("Paused", { exact: true }).getByText("motions stand still").waitFor();
  await told(page, /paused/); // beside its button, too
  const [one, two] = [await server.joints(), await server.joints()];
  near(one.joint52, two.joint52, 1e-6);
  assert.equal((await server.state()).goals.length, 1); // it is not given up
  await button(page, "Pause/Resume").click();
  await until("it goes on", async () => (await server.state()).rate > 0);
  await page.getByLabel("Paused", { exact: true }).waitFor({ state: "detached" });
  await page.getByLabel("Result virtual").getByText("paused").waitFor({ state: "detached" });
  await hurry();
  await server.reaches("joint52", 0.8);
  await done(page);
});

s.test("a goal that is refused says why beside its button, and nothing moves", async (page, server) => {
  // too fast
  await given(page, table(ramp(0.3, 0, 1.2)));
  await button(page, "Execute virtual").click();
  await told(page, /refused.*velocity.*joint52/);
  near((await server.joints()).joint52, s.rest.joint52, 1e-6);
  // from elsewhere, farther than its tolerance, without the move to the start
  await enter(page, "Time of row 2", 2);
  await until("what was said of the motion before is gone", async () => (await page.getByRole("status", { name: "Result virtual" }).textContent()).trim() === "");
  await button(page, "Trajectory setup…").click();
  await enter(page, "Path tolerance of joint52", 0.2);
  await becomes(page, "the tolerance is stated", (m) => m.joints[0].path_tolerance[0]?.position === 0.2);
  await button(page, "Done").click();
  await field(page, "Approach first").uncheck();
  await enter(page, "joint52 value", 40);
  await server.reaches("joint52", radians(40), 1e-3);
  await button(page, "Execute virtual").click();
  await told(page, /refused.*joint52.*(0\.2|11\.5)/); // rad or °
  near((await server.joints()).joint52, radians(40), 1e-3);
  await field(page, "Approach first").check();
  // no controller plays trajectories
  const follow = (await server.state()).controllers.filter((c) => c.kind === "follow").map((c) => c.name);
  await server.call("/switch_controllers", { start: [], stop: follow, strict: false });
  await until("the page says why it cannot play", async () => /trajectory controller .*disabled/.test((await button(page, "Execute virtual").getAttribute("title")) ?? ""));
  assert.ok(await button(page, "Execute virtual").isDisabled());
  await server.call("/switch_controllers", { start: follow, stop: [], strict: false });
  await button(page, "Execute virtual").click();
  await server.reaches("joint52", 1.2);
  await done(page);
});

s.test("a goal whose joint is taken says by whom; the page is never blocked", async (page, server) => {
  await given(page, table(ramp(4, 0, 0.8)));
  const hurry = await server.slowly();
  await button(page, "Execute virtual").click();
  await running(server, (g) => g.duration > 3.9);
  await enter(page, "joint52 value", 10); // by hand, while a goal moves it
  await page.getByRole("alert").filter({ hasText: "joint52" }).first().waitFor();
  await field(page, "Label of row 1").fill("meanwhile");
  await field(page, "Label of row 1").press("Enter");
  await becomes(page, "the table is edited meanwhile", (m) => m.points[0].label === "meanwhile");
  await hurry();
  await server.reaches("joint52", 0.8);
  await done(page);
});

s.test("named poses: set at once, or gone to", async (page, server) => {
  const { poses } = await server.call("/robot_info");
  const there = (name) =>
    until(`the robot is ${name}`, async () => {
      const q = await server.joints();
      const pose = poses.find((p) => p.name === name);
      return pose.joints.every((j, i) => Math.abs(q[j] - pose.positions[i]) < 2e-3);
    });
  await page.getByLabel("Named pose", { exact: true }).selectOption("crouched");
  await button(page, "Set named pose").click();
  await there("crouched");
  assert.equal((await server.state()).goals.length, 0); // no motion brought it there
  await page.getByLabel("Named pose", { exact: true }).selectOption("stand");
  const hurry = await server.slowly();
  await button(page, "Go to named pose").click();
  await until("a goal moves it", async () => (await server.state()).goals.length === 1);
  await hurry();
  await there("stand");
  await told(page, /done/);
});

s.test("controllers: what each does is listed, and one is started and stopped from there", async (page, server) => {
  await page.getByRole("tab", { name: "Controllers" }).click();
  const list = page.getByRole("table", { name: "Controllers of the virtual robot" });
  const known = (await server.state()).controllers.filter((c) => !c.outside).map((c) => c.name);
  assert.ok(known.length > 5);
  for (const name of known) await list.getByRole("rowheader", { name, exact: true }).waitFor();
  await list.getByText("looks at a point with eyes and head").waitFor();
  const active = async (name) => (await server.state()).controllers.find((c) => c.name === name).active;
  await list.getByRole("button", { name: "Start look_at of the virtual robot" }).click();
  await until("it looks", () => active("look_at"));
  await list.getByRole("button", { name: "Stop look_at of the virtual robot" }).click();
  await until("it looks no more", async () => !(await active("look_at")));
});
