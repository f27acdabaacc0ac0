// Every button and every view of the Studio, by what they do to the server.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { Server, button, column, launch, motion, open, radians, save, teach, turn, until } from "./harness.mjs";

let browser;
let server;
let rest; // the pose in which every test begins

before(async () => {
  browser = await launch();
  server = await Server.start({ args: ["--with-real-sim"] });
  rest = await server.joints();
});

after(async () => {
  await browser?.close();
  await server?.close();
});

beforeEach(async () => {
  await server.call("/reset");
  await server.call("/joints_virtual_set", { joints: { name: Object.keys(rest), position: Object.values(rest) } });
});

const near = (a, b, tolerance = 2e-3) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);
const stored = (name) => readFile(join(server.folder, `${name}.motion.yaml`), "utf8");

// visit runs a test on a page of its own and fails it on any script error.
async function visit(act, options) {
  const page = await open(browser, server, options);
  try {
    await act(page);
    assert.deepEqual(page.trouble, []);
  } finally {
    await page.context().close();
  }
}

// drag moves the mouse from the middle of something by some pixels.
async function drag(page, target, dx, dy) {
  const box = await target.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 8; i++) await page.mouse.move(x + (dx * i) / 8, y + (dy * i) / 8);
  await page.mouse.up();
}

const agreed = [
  "Add pose from virtual", "Add pose from real", "Set virtual pose", "Execute virtual", "Execute real", "Execute virtual backward",
  "Execute real backward", "Stop", "Pause/Resume", "Turn all servos on/off", "Turn all trajectory servos on/off", "Reverse direction",
  "Apply scale", "Undo", "Redo", "Save trajectory…", "Load trajectory…", "New", "Duplicate…", "Delete…", "Import…", "Export…", "Trajectory setup…",
];

for (const [width, height, colorScheme] of [[1280, 720, "light"], [1024, 768, "dark"]]) {
  test(`all controls are seen and named at ${width}×${height}`, (t) =>
    visit(async (page) => {
      t.diagnostic(`first view after ${await page.evaluate(() => Math.round(performance.now()))} ms`);
      for (const name of agreed) {
        const b = button(page, name);
        assert.equal(await b.count(), 1, `${name}: ${await b.count()} buttons`);
        const box = await b.boundingBox();
        assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${name} is out of view`);
      }
      await page.getByRole("slider", { name: "Speed scale", exact: true }).waitFor();
      await page.getByRole("tab", { name: "Library" }).click();
      const wrong = await page.evaluate(() =>
        [...document.querySelectorAll("button, input, select, [role=button]")].flatMap((e) => {
          const name = e.getAttribute("aria-label") || [...(e.labels ?? [])].map((l) => l.textContent).join("") || e.textContent || "";
          if (name.trim() === "") return [`no name: ${e.outerHTML.slice(0, 80)}`];
          const box = e.getBoundingClientRect();
          if (box.width === 0 || e.closest(".library, .joints") || e.classList.contains("grip")) return []; // hidden, scrolled, or seen through
          const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return top && (e.contains(top) || top.contains(e)) ? [] : [`covered: ${name}`];
        }),
      );
      assert.deepEqual(wrong, []);
    }, { viewport: { width, height }, colorScheme }));
}

test("three poses are taught by slider, ring and hoof; one step each to undo", () =>
  visit(async (page) => {
    await teach(page, server, [10]);
    await page.getByLabel("Limb to pose").selectOption("head");
    const ring = page.getByLabel("Ring of joint52");
    await ring.waitFor({ state: "attached" });
    await drag(page, ring, 14, 4);
    const turned = await until("the ring turned joint52", async () => {
      const q = (await server.joints()).joint52;
      return Math.abs(q - radians(10)) > 0.05 && q;
    });
    await button(page, "Add pose from virtual").click();
    await page.locator("tr[data-row='1']").waitFor();
    const was = await server.joints();
    await drag(page, page.getByLabel("Handle of leg1"), 0, -18);
    const now = await until("the hoof was pulled", async () => {
      const q = await server.joints();
      return ["joint12", "joint13", "joint14"].some((j) => Math.abs(q[j] - was[j]) > 0.05) && q;
    });
    near(now.joint22, was.joint22, 1e-6);
    await until("the other feet carry", async () => !(await server.cli("topic", "echo", "/balance_state", "--count", "1")).supports.includes("leg1"));
    await page.getByText("leg1 free").waitFor();
    await button(page, "Add pose from virtual").click();
    await page.locator("tr[data-row='2']").waitFor();
    const m = await motion(page);
    const settled = await server.joints();
    assert.deepEqual(m.points.map((p) => p.time), [0, 0.5, 1]);
    near(column(m, "joint52")[1], turned, 0.3);
    near(column(m, "joint13")[2], settled.joint13);
    assert.deepEqual(m.points.map((p) => p.supports[m.chains.indexOf("leg1")]), [1, 0, 0]);
    for (let rows = 2; rows >= 0; rows--) {
      await button(page, "Undo").click();
      assert.equal((await motion(page)).points.length, rows);
    }
    assert.ok(await button(page, "Undo").isDisabled());
    await button(page, "Redo").click({ modifiers: ["Shift"] });
    assert.deepEqual(await motion(page), m);
    await button(page, "Undo").click({ modifiers: ["Shift"] });
    assert.equal((await motion(page)).points.length, 0);
  }));

test("marks, an event, part execution, stop, reverse, scale, apply", () =>
  visit(async (page) => {
    await page.getByLabel("Time step").fill("2");
    await teach(page, server, [0, 10, 20, 30]);
    // an event between the marks
    await button(page, "Add event…").click();
    await page.getByLabel("Time, s").fill("3");
    await page.getByLabel("Type", { exact: true }).fill("voice/say");
    await page.getByLabel("Command", { exact: true }).fill("hello");
    await page.getByRole("dialog").getByRole("button", { name: "Add event", exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByLabel("Start mark at row 2").click();
    await page.getByLabel("End mark at row 3").click();
    await until("marks are set", async () => (await motion(page)).points.map((p) => p.mark).join() === ",start,end,");
    // a marked row cannot be disabled, and that is said
    await page.getByLabel("Row 2 enabled").click();
    await page.getByRole("alert").filter({ hasText: "start mark" }).waitFor();

    const event = await server.hear("/events");
    await button(page, "Execute virtual").click();
    assert.equal((await event()).command.command, "hello");
    await page.getByText("voice/say").first().waitFor();
    await until("it ends at the end mark", async () => Math.abs((await server.joints()).joint52 - radians(20)) < 2e-3);
    await page.getByLabel("Result virtual").getByText("virtual: done").waitFor();

    await button(page, "Execute virtual backward").click();
    await until("it ends at the start mark", async () => Math.abs((await server.joints()).joint52 - radians(10)) < 2e-3);
    await server.idle();
    await button(page, "Reverse direction").click();
    await button(page, "Execute virtual backward").click(); // backward of backward
    await until("it went forward", async () => Math.abs((await server.joints()).joint52 - radians(20)) < 2e-3);
    await server.idle();
    await button(page, "Execute virtual").click();
    await until("it went backward", async () => Math.abs((await server.joints()).joint52 - radians(10)) < 2e-3);
    await server.idle();
    await button(page, "Reverse direction").click();
    assert.deepEqual((await motion(page)).points.map((p) => p.mark), ["", "start", "end", ""]);

    // the speed scale is for execution only: 10 % lasts ten times as long
    const table = await motion(page);
    await page.getByLabel("Speed scale").fill("10");
    await button(page, "Execute virtual").click();
    const goal = await until("the goal runs", async () => (await server.state()).goals.find((g) => g.duration > 15));
    near(goal.duration, 20, 0.01);
    assert.deepEqual(await motion(page), table);
    await until("it is under way", async () => (await server.joints()).joint52 > radians(11));
    await button(page, "Stop").click();
    const stopped = await until("it is stopped", async () => (await server.state()).stopped && server.joints());
    assert.ok(stopped.joint52 > radians(10.5) && stopped.joint52 < radians(19.5), `stopped at ${stopped.joint52}`);
    await page.getByLabel("Result virtual").getByText(/aborted|cancelled/).waitFor();

    await page.getByLabel("Speed scale").fill("200");
    await button(page, "Apply scale").click();
    await until("times are halved", async () => (await motion(page)).points.at(-1).time === 3);
    assert.equal((await motion(page)).events[0].time, 1.5);
    assert.equal(await page.getByLabel("Speed scale").inputValue(), "100");
    await button(page, "Undo").click();
    assert.deepEqual(await motion(page), table);

    // pressing Execute is the separate act after a stop
    await button(page, "Execute virtual").click();
    await until("it goes again", async () => Math.abs((await server.joints()).joint52 - radians(20)) < 2e-3);
  }));

test("pause and resume; Stop by keyboard", () =>
  visit(async (page) => {
    await page.getByLabel("Time step").fill("3");
    await teach(page, server, [0, 40]);
    await page.getByLabel("Speed scale").fill("10");
    await button(page, "Execute virtual").click();
    await until("it moves", async () => (await server.joints()).joint52 > radians(1) && (await server.joints()).joint52 < radians(30));
    await button(page, "Pause/Resume").click();
    await until("it is paused", async () => (await server.state()).wanted_rate === 0);
    await page.locator("button[aria-pressed='true']", { hasText: "Pause/Resume" }).waitFor();
    await button(page, "Pause/Resume").click();
    await until("it goes on", async () => (await server.state()).wanted_rate === 1);
    await page.keyboard.press("F8");
    await until("it is stopped", async () => (await server.state()).stopped && (await server.state("real")).stopped);
    await server.call("/reset");
    await page.keyboard.press("Escape");
    await until("it is stopped again", async () => (await server.state()).stopped);
    await server.call("/real/reset");
  }));

test("saved, reloaded, loaded, and played on the real robot both ways", () =>
  visit(async (page) => {
    await teach(page, server, [0, 15, 25]);
    await save(page, "turn_head");
    assert.match(await stored("turn_head"), /joint52: 0\.436/);
    assert.equal(await page.getByLabel("Changes").textContent(), "");
    // changes are marked, survive a reload, and leaving asks
    await page.getByLabel("Label of row 2").fill("half way");
    await page.getByLabel("Label of row 2").press("Enter");
    await page.getByText("● unsaved").waitFor();
    let asked = "";
    page.once("dialog", (d) => {
      asked = d.type();
      void d.accept();
    });
    await page.reload();
    assert.equal(asked, "beforeunload");
    await page.getByText("connected", { exact: true }).waitFor();
    await page.getByText("● unsaved").waitFor();
    assert.equal((await motion(page)).points[1].label, "half way");
    await save(page, "turn_head");
    assert.match(await stored("turn_head"), /half way/);

    await button(page, "New").click();
    assert.equal((await motion(page)).points.length, 0);
    await button(page, "Load trajectory…").click();
    await page.getByRole("option", { name: "turn_head" }).click();
    await button(page, "Load").click();
    await page.locator("tr[data-row='2']").waitFor();

    await button(page, "Execute real").click();
    await until("the real head turned", async () => Math.abs((await server.joints("real")).joint52 - radians(25)) < 0.03);
    await server.idle("real");
    await page.getByLabel("Result real").getByText("real: done").waitFor();
    await page.locator("tr[data-row='2']").getByText("R", { exact: true }).waitFor();
    await button(page, "Execute real backward").click();
    await until("the real head is back", async () => Math.abs((await server.joints("real")).joint52) < 0.03);
    await server.idle("real");
  }));

test("taught from the real robot with its servos off, all, of the trajectory, by limb", () =>
  visit(async (page) => {
    await button(page, "Turn all servos on/off").click();
    await until("all are off", async () => (await server.state("real")).power !== "enabled");
    await page.getByLabel("Servo state").getByText("all off").waitFor();
    const hand = (position) => server.call("/real/joints_hand_set", { joints: { name: ["joint52"], position: [position] } });
    assert.ok((await hand(0.4)).success);
    await until("the hand moved it", async () => Math.abs((await server.joints("real")).joint52 - 0.4) < 0.02);
    await button(page, "Add pose from real").click();
    await page.locator("tr[data-row='0']").waitFor();
    near(column(await motion(page), "joint52")[0], 0.4, 0.02);
    await button(page, "Turn all servos on/off").click();
    await until("all are on", async () => (await server.state("real")).power === "enabled");
    await page.getByLabel("Servo state").getByText("all on").waitFor();

    await page.getByLabel("Servos of head").click();
    await until("the head is limp", async () => (await server.state("real")).limp.join() === "head");
    await page.getByLabel("Servo state").getByText("partially on").waitFor();
    await page.getByLabel("Servos of head").click();
    await until("the head is held", async () => (await server.state("real")).limp.length === 0);
    await page.getByLabel("Servo state").getByText("all on").waitFor();

    // only the tail takes part
    await button(page, "Trajectory setup…").click();
    for (const joint of ["joint52", "joint51"]) await page.getByLabel(`Remove ${joint}`, { exact: true }).click();
    await button(page, "Done").click();
    await button(page, "Turn all trajectory servos on/off").click();
    await until("servos of the trajectory are off", async () => (await server.state("real")).limp.includes("tail") || (await server.state("real")).power !== "enabled");
    await page.getByLabel("Servo state").getByText(/off|partially/).waitFor();
    await button(page, "Turn all trajectory servos on/off").click();
    await until("all are on again", async () => (await server.state("real")).power === "enabled" && (await server.state("real")).limp.length === 0);

    await page.getByLabel("Disable real trajectory controller").click();
    await until("the controller is off", async () => (await server.state("real")).controllers.filter((c) => c.kind === "follow").every((c) => !c.running));
    await until("the page knows", () => page.getByLabel("Disable real trajectory controller").isChecked());
    await page.getByLabel("Disable real trajectory controller").click();
    await until("the controller is on", async () => (await server.state("real")).controllers.filter((c) => c.kind === "follow").every((c) => c.running));
  }));

test("a refusal and a broken tolerance say why", () =>
  visit(async (page) => {
    await teach(page, server, [0, 80]); // 80° in half a second
    await page.getByLabel("Findings").getByText(/velocity of joint52/).waitFor();
    assert.ok((await page.locator("rect.red").count()) > 0);
    await button(page, "Execute virtual").click();
    await page.getByLabel("Result virtual").getByText(/velocity of "?joint52"? is/).waitFor();
    // a tolerance that a real servo cannot keep
    await page.getByLabel("Time of row 2").fill("2");
    await page.getByLabel("Time of row 2").press("Enter");
    await button(page, "Trajectory setup…").click();
    await page.getByLabel("Path tolerance of joint52").fill("0.03");
    await page.getByLabel("Path tolerance of joint52").press("Enter");
    await until("the tolerance is stated", async () => (await motion(page)).joints.find((j) => j.name === "joint52").path_tolerance[0]?.position === 0.03);
    await button(page, "Done").click();
    await button(page, "Execute real").click();
    const said = await until("it says why", async () => {
      const text = await page.getByLabel("Result real").textContent();
      return /aborted|refused/.test(text) && text;
    });
    assert.match(said, /joint52/);
    assert.match(said, /0\.03/);
    await server.idle("real");
  }));

test("the table: every edit of rows", () =>
  visit(async (page) => {
    await teach(page, server, [0, 10, 20]);
    const times = async () => (await motion(page)).points.map((p) => p.time);
    const changes = async (what, check, act) => {
      await act();
      await until(what, async () => check(await motion(page)));
    };
    const row = (i) => page.locator(`tr[data-row='${i}'] td.at`);
    // selecting tells others and shows the ghost
    const marker = await server.hear("/joints_marker_set");
    await row(1).click();
    const shown = await marker();
    near(shown.position[shown.name.indexOf("joint52")], radians(10));
    await button(page, "Set virtual pose").click();
    await until("the robot is there at once", async () => Math.abs((await server.joints()).joint52 - radians(10)) < 1e-3);
    await page.locator("tr[data-row='1']").getByText("V", { exact: true }).waitFor();

    await changes("a row is inserted", (m) => m.points.length === 4 && m.points[2].time === 0.75, () => button(page, "Insert row").click());
    await row(0).click();
    await changes("a row is duplicated", (m) => m.points.length === 5 && m.points[1].time === 0.25, () => button(page, "Duplicate rows").click());
    await row(1).click();
    await row(3).click({ modifiers: ["Shift"] });
    await changes("three rows are disabled", (m) => m.points.map((p) => +p.enabled).join("") === "10001", () => button(page, "Disable rows").click());
    await changes("and enabled", (m) => m.points.every((p) => p.enabled), () => button(page, "Enable rows").click());
    await changes("and deleted", (m) => m.points.length === 2, () => button(page, "Delete rows").click());
    await row(1).click();
    await page.getByLabel("Rows that a change of time moves").selectOption("below");
    await page.getByLabel("Time of row 1").fill("0.25");
    await page.getByLabel("Time of row 1").press("Enter");
    await until("both moved", async () => (await times()).join() === "0.25,1.25");
    await page.getByLabel("Rows that a change of time moves").selectOption("all");
    await changes("all moved later", (m) => m.points[0].time === 0.75, () => page.getByLabel("Shift times later").click());
    await changes("and earlier", (m) => m.points[0].time === 0.25, () => page.getByLabel("Shift times earlier").click());
    // order is kept and refusals are said
    await page.getByLabel("Rows that a change of time moves").selectOption("this");
    await page.getByLabel("Time of row 1").fill("1.25");
    await page.getByLabel("Time of row 1").press("Enter");
    await page.getByRole("alert").filter({ hasText: "1.25" }).waitFor();
    assert.deepEqual(await times(), [0.25, 1.25]);
    // joint values, limbs, mirror
    await page.getByLabel("joint values").check();
    await page.getByLabel("joint11 in row 1").fill("20");
    await page.getByLabel("joint11 in row 1").press("Enter");
    await until("the value is set", async () => Math.abs(column(await motion(page), "joint11")[0] - radians(20)) < 1e-6);
    await row(0).click();
    await page.getByLabel("Limb to copy").selectOption("leg1");
    await button(page, "Copy limb").click();
    await row(1).click();
    await changes("the limb is pasted", (m) => Math.abs(column(m, "joint11")[1] - radians(20)) < 1e-6, () => button(page, "Paste limb").click());
    near(column(await motion(page), "joint52")[1], radians(20));
    await changes("it is mirrored", (m) => Math.abs(column(m, "joint21")[1] + radians(20)) < 1e-6, () => button(page, "Mirror left/right").click());
    await turn(page, server, "joint52", 33);
    await changes("the row is taken anew", (m) => Math.abs(column(m, "joint52")[1] - radians(33)) < 2e-3, () => button(page, "Update from present pose").click());
    await changes("a foot is lifted", (m) => m.points[1].supports[m.chains.indexOf("leg2")] === 0, () => page.getByLabel("leg2 carries from row 2").click());
    // the timeline
    const key = page.locator("path[data-key='1']");
    await drag(page, key, -60, 0);
    await until("the key point moved in time", async () => (await times())[1] < 1.2);
    const ruler = await page.locator("svg.tracks").boundingBox();
    await page.mouse.click(ruler.x + ruler.width * 0.45, ruler.y + 7);
    const cursor = Number((await page.locator(".still").last().textContent()).match(/[0-9.]+/)[0]);
    assert.ok(cursor > 0.2 && cursor < 1);
    await button(page, "Add pose from virtual").click();
    await until("a row at the cursor", async () => (await times()).some((t) => Math.abs(t - cursor) < 0.011 ));
    assert.equal((await times()).length, 3);
    await page.keyboard.press("Control+z");
    assert.equal((await times()).length, 2);
  }));

test("setup: everything that is stated reaches the file", () =>
  visit(async (page) => {
    await teach(page, server, [0, 10]);
    await button(page, "Trajectory setup…").click();
    const fill = async (label, text) => {
      await page.getByLabel(label, { exact: true }).fill(text);
      await page.getByLabel(label, { exact: true }).press("Tab");
    };
    await fill("Name", "stated");
    await fill("Description", "A test of everything");
    await fill("Tags", "one, two");
    await fill("Goal time tolerance, s", "1.5");
    await page.getByLabel("Path tolerance of all joints").fill("0.4");
    await page.getByLabel("Goal tolerance of all joints").fill("0.1");
    await button(page, "Set for all").click();
    await page.getByLabel("Remove joint51", { exact: true }).click();
    await page.getByLabel("joint53 is sent").click();
    await until("joint53 is off", async () => (await motion(page)).joints.some((j) => j.name === "joint53" && !j.enabled));
    // names that the robot does not have cannot be entered
    await page.getByLabel("Joint or limb to add").fill("wing");
    assert.ok(await button(page, "Add joint").isDisabled());
    await button(page, "Done").click();
    assert.equal(await page.getByLabel("joint51 value", { exact: true }).count(), 0); // the panel shows what takes part
    assert.ok(column(await motion(page), "joint51").every((q) => typeof q === "number")); // rows keep it
    await save(page, "stated");
    const text = await stored("stated");
    for (const want of [/A test of everything/, /tags: \[one, two\]/, /goal_time_tolerance: 1\.5/, /path_tolerance: 0\.4/, /goal_tolerance: 0\.1/, /joint53: \{[^}]*enabled: false/]) assert.match(text, want);
    await button(page, "Trajectory setup…").click();
    await page.getByLabel("Joint or limb to add").fill("joint51");
    await button(page, "Add joint").click();
    await until("joint51 is back", async () => (await motion(page)).joints.some((j) => j.name === "joint51"));
    await button(page, "Done").click();
  }));

test("files: duplicate, delete, export, import", () =>
  visit(async (page) => {
    await teach(page, server, [0, 12]);
    await save(page, "first");
    await button(page, "Duplicate…").click();
    await page.getByLabel("Name", { exact: true }).fill("second");
    await page.getByRole("dialog").getByRole("button", { name: "Duplicate", exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await stored("second"), await stored("first"));
    const fetched = async (name) => {
      const coming = page.waitForEvent("download");
      await button(page, name).click();
      return readFile(await (await coming).path(), "utf8");
    };
    const file = await fetched("Export…");
    assert.equal(file, await stored("second"));
    assert.equal(JSON.parse(await fetched("Export goal…")).trajectory.points.length, 2);
    await button(page, "Delete…").click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await until("the file is gone", () => stored("second").then(() => false, () => true));
    await page.getByLabel("File to import").setInputFiles({ name: "third.motion.yaml", mimeType: "text/yaml", buffer: Buffer.from(file) });
    await page.locator("tr[data-row='1']").waitFor();
    assert.equal((await motion(page)).name, "third");
    await page.getByText("● unsaved").waitFor();
    await page.getByLabel("File to import").setInputFiles({ name: "bad.yaml", mimeType: "text/yaml", buffer: Buffer.from("points: 3") });
    await page.getByRole("alert").filter({ hasText: "points" }).waitFor();
    // New asks before changes are lost
    await button(page, "New").click();
    await button(page, "Give up changes").click();
    await until("it is empty", async () => (await motion(page)).points.length === 0);
  }));

test("library: find, play, loop, lint, edit; events are shown", () =>
  visit(async (page) => {
    await page.getByRole("tab", { name: "Library" }).click();
    await page.getByLabel("Find a motion").fill("nod");
    await page.getByLabel("Lint of nod").click();
    const event = await server.hear("/events");
    await page.getByLabel("Play nod", { exact: true }).click();
    const { command } = await event();
    await page.getByLabel("Events that left").getByText(command.type).first().waitFor();
    await page.getByRole("img", { name: /Eyes/ }).waitFor();
    await until("it is done", async () => /virtual: done/.test(await page.getByLabel("Result virtual").textContent()));
    await page.getByLabel("Find a motion").fill("wag_tail");
    await page.getByLabel("Loop wag_tail").click();
    await until("it goes round", async () => (await server.state()).goals.length === 1);
    await button(page, "Stop").click();
    await server.idle();
    await page.getByLabel("Edit wag_tail").click();
    await page.locator("tr[data-row='3']").waitFor();
    assert.equal((await motion(page)).name, "wag_tail");
  }));

test("a version conflict between two browsers is shown, and nothing is overwritten", () =>
  visit((one) =>
    visit(async (two) => {
      await teach(one, server, [0, 5]);
      await save(one, "shared");
      await two.getByRole("tab", { name: "Library" }).click();
      await button(two, "Refresh").click();
      await two.getByLabel("Edit shared").click();
      await two.locator("tr[data-row='1']").waitFor();
      for (const [page, label] of [[one, "mine"], [two, "yours"]]) {
        await page.getByLabel("Label of row 1").fill(label);
        await page.getByLabel("Label of row 1").press("Enter");
        await page.getByText("● unsaved").waitFor();
      }
      await save(one, "shared");
      await button(two, "Save trajectory…").click();
      await button(two, "Save").click();
      await two.getByRole("alert").filter({ hasText: "shared" }).waitFor();
      assert.match(await stored("shared"), /mine/);
      await two.getByLabel("Name", { exact: true }).fill("shared_too");
      await button(two, "Save").click();
      await until("it is kept under another name", async () => /yours/.test(await stored("shared_too")));
    }),
  ));

test("a server that restarts loses nothing of what is edited", () =>
  visit(async (page) => {
    await teach(page, server, [0, 10]);
    const table = await motion(page);
    await server.end();
    await page.getByText("connection lost").waitFor();
    assert.ok(await button(page, "Execute virtual").isDisabled());
    await server.begin(server.address.split(":")[1]);
    await page.getByText("connected", { exact: true }).waitFor();
    assert.deepEqual(await motion(page), table);
    await teach(page, server, [20]); // poses are heard again
    assert.equal((await motion(page)).points.length, 3);
    const marker = await server.hear("/joints_marker_set");
    await page.locator("tr[data-row='1'] td.at").click();
    assert.ok((await marker()).name.includes("joint52"));
    await button(page, "Execute virtual").click();
    await until("it plays", async () => Math.abs((await server.joints()).joint52 - radians(20)) < 2e-3);
    await server.idle();
  }));
