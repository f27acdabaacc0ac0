// Starts the real binary and a real browser. Effects are asserted on the server, by
// a client of the test's own, never by what the page says of itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { decode } from "fast-png";
import { chromium } from "playwright-core";
import WebSocket from "ws";

const poise = process.env.POISE ?? join(import.meta.dirname, "../../bin/poise");

// Wire is a rosbridge client: what it hears comes from the server, not from the page.
class Wire {
  static async open(address) {
    const w = new Wire();
    w.socket = new WebSocket(`ws://${address}/rosbridge`, { maxPayload: 64 << 20 });
    w.answers = new Map(); // what waits for an answer, by id
    w.listeners = new Map(); // by topic
    w.serial = 0;
    w.socket.on("message", (data) => w.take(JSON.parse(data)));
    await new Promise((resolve, reject) => w.socket.once("open", resolve).once("error", reject));
    w.socket.on("error", () => {}); // a server that ends is part of some tests
    return w;
  }

  take(m) {
    if (m.op === "service_response") this.answers.get(m.id)?.(m);
    if (m.op === "publish") for (const hear of this.listeners.get(m.topic) ?? []) hear(m.msg);
  }

  async call(service, args = {}) {
    const id = `test:${++this.serial}`;
    const answer = new Promise((resolve) => this.answers.set(id, resolve));
    this.socket.send(JSON.stringify({ op: "call_service", id, service, args }));
    const { result, values } = await answer;
    this.answers.delete(id);
    if (!result) throw new Error(`${service}: ${values}`);
    return values;
  }

  // listen hears a topic from now on: a connection is served in order, so that what
  // was called after subscribing was answered after it.
  async listen(topic, throttle = 0) {
    const heard = { all: [], waiting: [], next: (fits = () => true) => new Promise((resolve) => heard.waiting.push({ fits, resolve })) };
    const hear = (message) => {
      heard.all.push(message);
      if (heard.all.length > 10_000) heard.all.shift();
      const [done, still] = [heard.waiting.filter((w) => w.fits(message)), heard.waiting.filter((w) => !w.fits(message))];
      heard.waiting = still;
      for (const w of done) w.resolve(message);
    };
    const first = !this.listeners.has(topic);
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), hear]);
    if (first) this.socket.send(JSON.stringify({ op: "subscribe", topic, throttle_rate: throttle, queue_length: throttle ? 1 : 0 }));
    await this.call("/rosapi/get_time");
    return heard;
  }

  close() {
    this.socket.terminate();
  }
}

// patiently is the configuration of a server on a machine that may be busy: clients may
// be silent and the cycle may stand still for a while without a pause or a stop. A test
// with a configuration file of its own begins it with this.
export const patiently = "loop: {silence: 600}\nfaults: {cycle_gap: {severity: ignore}}\n";

// Server is a poise serve with folders of its own.
export class Server {
  static async start({ args = [], port = 0, folder } = {}) {
    const s = new Server();
    s.args = args;
    s.folder = folder ?? (await mkdtemp(join(tmpdir(), "poise-studio-")));
    await s.begin(port);
    return s;
  }

  async begin(port) {
    this.config = `${this.folder}.yaml`;
    await writeFile(this.config, `${patiently}identified: ${JSON.stringify(`${this.folder}-identified`)}\n`);
    await this.follow(spawn(poise, ["serve", "--config", this.config, "--listen", `127.0.0.1:${port}`, "--motions", this.folder, "--quiet", "--no-record", ...this.args], { stdio: ["ignore", "pipe", "pipe"] }));
  }

  // follow takes a server that begins, and talks to it once it listens.
  async follow(process) {
    this.process = process;
    this.exited = new Promise((resolve) => this.process.once("exit", resolve));
    let said = "";
    this.address = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the server did not start: ${said}`)), patience);
      const hear = (data) => {
        said += data;
        const at = said.match(/http:\/\/(127\.0\.0\.1:\d+)/);
        if (!at) return;
        clearTimeout(late);
        resolve(at[1]);
      };
      this.process.stdout.on("data", hear);
      this.process.stderr.on("data", hear);
      this.process.once("exit", () => reject(new Error(`the server ended: ${said}`)));
    });
    this.wire = await Wire.open(this.address);
    this.poses = {};
  }

  get url() {
    return `http://${this.address}/`;
  }

  async end() {
    this.wire.close();
    this.process.kill("SIGTERM");
    await this.exited;
  }

  async close() {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
    await rm(`${this.folder}-identified`, { recursive: true, force: true });
    await rm(this.config, { force: true });
  }

  call(service, request = {}) {
    return this.wire.call(service, request);
  }

  hear(topic) {
    return this.wire.listen(topic);
  }

  // stored returns the text of a motion's file.
  stored(name) {
    return readFile(join(this.folder, `${name}.motion.yaml`), "utf8");
  }

  async get(name) {
    return (await this.call("/motions/get", { name })).motion;
  }

  // received returns the last trajectory that a robot was given, as the server has it.
  async received() {
    const name = `received_${++this.wire.serial}`;
    const { version, success, message } = await this.call("/motions/save_last", { name });
    assert.ok(success, message);
    const motion = await this.get(name);
    await this.call("/motions/delete", { name, version });
    return motion;
  }

  async state(robot = "virtual") {
    return (await this.call(robot === "real" ? "/real/get_state" : "/get_state")).state;
  }

  // idle waits until no goal is left.
  idle(robot = "virtual") {
    return until(`the ${robot} robot is idle`, async () => (await this.state(robot)).goals.length === 0);
  }

  // joints returns where a robot is: the virtual one by its command, the real one by
  // its measurement. One message may be under way; the next was made later.
  async joints(robot = "virtual") {
    this.poses[robot] ??= this.wire.listen(robot === "real" ? "/real/joint_states_real" : "/joint_states", 20);
    const poses = await this.poses[robot];
    await poses.next();
    const m = await poses.next();
    poses.all.length = 0;
    return Object.fromEntries(m.name.map((n, i) => [n, m.position[i]]));
  }

  // reaches waits until a joint is somewhere.
  reaches(joint, where, tolerance = 2e-3, robot = "virtual") {
    return until(`${joint} of the ${robot} robot is at ${where}`, async () => {
      const q = await this.joints(robot);
      if (Math.abs(q[joint] - where) > tolerance) throw new Error(`it is at ${q[joint]}`);
      return q;
    });
  }

  // still waits until a robot has come to rest, and returns where.
  still(robot = "virtual") {
    let last = {};
    return until(`the ${robot} robot is still`, async () => {
      const now = await this.joints(robot);
      const same = Object.keys(now).every((j) => now[j] === last[j]);
      last = now;
      return same && now;
    }, { every: 300 });
  }

  // slowly lets a robot move at a hundredth of its speed, so that a test is in time for
  // what it does meanwhile however busy the machine is; the function that it returns
  // ends that.
  async slowly(robot = "virtual") {
    const rate = async (rate) => {
      const answer = await this.call(`/${robot}/set_speed`, { rate, controller: "" });
      assert.ok(answer.success, answer.message);
    };
    await rate(0.01);
    return () => rate(1);
  }

  // calm undoes what the test before did to the robots and to the library.
  async calm(rest) {
    for (const { name, version, shipped } of (await this.call("/motions/list")).motions) {
      if (!shipped) await this.call("/motions/delete", { name, version });
    }
    for (const { name, placed_at_once } of (await this.call("/robot_info")).robots) {
      await this.call(`/${name}/reset`);
      await this.call(`/${name}/set_power`, { on: true });
      await this.call(`/${name}/resume`, { controller: "" });
      await this.call(`/${name}/set_speed`, { rate: 1, controller: "" });
      if (placed_at_once) await this.call(`/${name}/joints_virtual_set`, { joints: { name: Object.keys(rest), position: Object.values(rest) } });
    }
  }
}

// patience is how long anything may take, ms: when it is over, something hangs.
const patience = Number(process.env.PATIENCE ?? 300) * 1000;

// until waits for something to become true, and says what it was about if it does
// not.
export async function until(what, check, { within = patience, every = 40 } = {}) {
  const end = Date.now() + within;
  let last;
  for (;;) {
    try {
      last = await check();
      if (last) return last;
    } catch (e) {
      last = e;
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${within / 1000} s (${last instanceof Error ? last.message : JSON.stringify(last)})`);
    await new Promise((r) => setTimeout(r, every));
  }
}

// launch starts a browser; a blind one has no 3-D pictures, which here are computed by
// the processor: what is not about them takes a tenth of the time without.
export function launch({ blind = false } = {}) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [...(blind ? ["--disable-3d-apis"] : []), "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader"],
  });
}

// open shows the page of a server. Script errors and missing files are gathered in
// page.trouble, goals that the page sends in page.goals, what it asked in page.asked.
export async function open(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  Object.assign(page, { trouble: [], goals: [], asked: [] });
  page.on("pageerror", (e) => page.trouble.push(`script error: ${e.message}`));
  page.on("console", (m) => {
    const own = /WebSocket connection|ERR_CONNECTION_REFUSED|creating WebGL context|WebGL context could not/.test(m.text()); // the browser's own word on a server that is gone, or on its blindness
    if (m.type() === "error" && !own) page.trouble.push(`console: ${m.text()}`);
  });
  page.on("response", (r) => {
    if (r.status() >= 400) page.trouble.push(`${r.status()} ${r.url()}`);
  });
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      if (String(payload).includes("send_action_goal")) page.goals.push(JSON.parse(payload));
    }),
  );
  page.on("dialog", (d) => {
    page.asked.push(d.type());
    void d.accept();
  });
  await page.goto(server.url);
  await connected(page);
  return page;
}

// connected waits until the page knows the robot and shows where it is.
export async function connected(page) {
  await page.getByText("connected", { exact: true }).waitFor();
  await page.getByRole("region", { name: /^(Joints|Library)$/ }).locator("button, input[type=range]").first().waitFor();
}

// studio gives a file of tests one server, one browser and one page. Each test
// begins with an empty editor and robots at rest, and fails on any script error.
export function studio({ args = [], blind = false, ...options } = {}) {
  const s = {};
  before(async () => {
    [s.browser, s.server] = await Promise.all([launch({ blind }), Server.start({ args })]);
    s.rest = await s.server.joints();
    s.page = await open(s.browser, s.server, options);
  });
  after(async () => {
    await s.browser?.close();
    await s.server?.close();
  });
  s.test = (name, act) =>
    test(name, async (t) => {
      await s.server.calm(s.rest);
      await s.page.evaluate(() => localStorage.clear());
      await s.page.reload();
      await connected(s.page);
      for (const list of [s.page.trouble, s.page.goals, s.page.asked]) list.length = 0;
      try {
        await act(s.page, s.server, t);
        assert.deepEqual(s.page.trouble, []);
      } catch (e) {
        if (process.env.SHOTS) await s.page.screenshot({ path: join(process.env.SHOTS, `${name.replace(/\W+/g, "_")}.png`) });
        throw e;
      }
    });
  return s;
}

// motion returns the document that the page edits. On a busy machine the page before a reload
// may still hold its place in the storage, and the new one has the next.
export const motion = (page) =>
  page.evaluate(() => {
    const slot = Number(sessionStorage.getItem("poise.studio.slot") ?? 0);
    return JSON.parse(localStorage.getItem(slot === 0 ? "poise.studio.editor" : `poise.studio.editor.${slot}`)).motion;
  });

// becomes waits until the document of the page is as wanted, and returns it.
export const becomes = (page, what, check) =>
  until(what, async () => {
    const m = await motion(page);
    return (await check(m)) && m;
  });

export const radians = (degrees) => (degrees * Math.PI) / 180;

export const near = (a, b, tolerance = 2e-3) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

export const button = (page, name) => page.getByRole("button", { name, exact: true });

// letGo agrees that a robot which can fall loses its torque, after reading what falls.
export async function letGo(page, falls = /./) {
  const asks = page.getByRole("dialog", { name: "Take the torque?" });
  await asks.getByText(falls).first().waitFor();
  await asks.getByRole("button", { name: "Take torque", exact: true }).click();
  await asks.waitFor({ state: "detached" });
}

// tooltips checks that all controls that can be seen say what they do, and those that are
// disabled why: at least so many of them.
export async function tooltips(page, where, least) {
  const now = await page.evaluate(() =>
    [...document.querySelectorAll("button, input, select, textarea, summary")]
      .filter((e) => !e.hidden && e.getClientRects().length > 0 && !e.classList.contains("grip") && !(document.querySelector("dialog[open]") && !e.closest("dialog")))
      .map((e) => ({ name: e.ariaLabel || e.textContent.trim() || e.labels?.[0]?.textContent.trim() || e.outerHTML.slice(0, 60), disabled: !!e.disabled, says: e.closest("[title]")?.title ?? "" })),
  );
  const reason = /there is no|there are no|there is nothing|nothing moves|nothing is|no joint|needs? |select a row|select one|select|choose|first|is 100|not |cannot|all are shown/;
  assert.deepEqual(now.filter((e) => e.says === "").map((e) => `${where}: ${e.name} says nothing`), []);
  const off = now.filter((e) => e.disabled);
  assert.ok(off.length >= least, `${where}: only ${off.length} are disabled: ${off.map((e) => e.name)}`);
  assert.deepEqual(off.filter((e) => !reason.test(e.says)).map((e) => `${where}: ${e.name}: ${e.says}`), []);
}

// file chooses something of the menu of files.
export async function file(page, name) {
  await button(page, "File ▾").click();
  await page.getByRole("menuitem", { name, exact: true }).click();
}

export const field = (page, label) => page.getByLabel(label, { exact: true });

// enter types into a field and leaves it by a key.
export async function enter(page, label, text, key = "Enter") {
  await field(page, label).fill(String(text));
  await field(page, label).press(key);
}

// told waits for what the page says of a goal, beside its button.
export const told = (page, what, robot = "virtual") =>
  until(`the page says ${what}`, async () => {
    const text = await page.getByLabel(`Result ${robot}`).textContent();
    if (!what.test(text)) throw new Error(`it says ${text}`);
    return text;
  });

export const row = (page, index) => page.locator(`tr[data-row='${index}'] td.at`);

// turn sets a joint of the virtual robot, in degrees, and waits until it is there.
export async function turn(page, server, joint, degrees) {
  await enter(page, `${joint} value`, degrees);
  await server.reaches(joint, radians(degrees), 1e-3);
}

// teach adds a row for each angle of the head.
export async function teach(page, server, angles, joint = "joint52") {
  for (const angle of angles) {
    const rows = await page.locator("tr[data-row]").count();
    await turn(page, server, joint, angle);
    await button(page, "Add pose from virtual").click();
    await page.locator(`tr[data-row='${rows}']`).waitFor();
  }
}

// table writes a motion file: rows of [time, {joint: radians}, more].
export function table(rows, { joints = Object.keys(rows[0][1]), events = [], head = "" } = {}) {
  const map = (m) => `{${Object.entries(m).map(([k, v]) => `${k}: ${v}`).join(", ")}}`;
  return [
    ...(head ? [head] : []),
    "joints:",
    ...joints.map((j) => `  ${j}: {}`),
    "points:",
    ...rows.map(([time, positions, more]) => `  - {time: ${time}, positions: ${map(positions)}${more ? `, ${more}` : ""}}`),
    ...(events.length > 0 ? ["events:", ...events.map(([time, type, command]) => `  - {time: ${time}, type: ${type}, command: ${command}}`)] : []),
    "",
  ].join("\n");
}

// given brings a table into the editor.
export async function given(page, text, name = "given") {
  await page.getByLabel("File to import").waitFor({ state: "attached" });
  await page.getByLabel("File to import").setInputFiles({ name: `${name}.motion.yaml`, mimeType: "text/yaml", buffer: Buffer.from(text) });
  await becomes(page, `${name} is imported`, (m) => m.name === name && m.points.length > 0);
}

// column returns the values of a joint in all rows.
export const column = (m, joint) => m.points.map((p) => p.positions[m.columns.indexOf(joint)]);

export const times = (m) => m.points.map((p) => p.time);

export async function save(page, name) {
  await file(page, "Save trajectory…");
  await field(page, "Name").fill(name);
  await button(page, "Save").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

// drag moves the mouse from the middle of something by some pixels.
export async function drag(page, target, dx, dy, steps = 8) {
  const box = await target.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= steps; i++) await page.mouse.move(x + (dx * i) / steps, y + (dy * i) / steps);
  await page.mouse.up();
}

// ruler returns where a time is on the timeline, and how wide a second, as the marks of
// the first and the last row have it: on the page, and in the drawing. The names of the
// curves come with the first samples and take their place from the drawing's width.
export async function ruler(page, time = 0) {
  await page.locator(".timeline .legend").waitFor();
  const { points } = await motion(page);
  const [from, to] = [0, points.length - 1];
  const middle = async (key) => {
    const [box, drawing] = [await page.locator(`path[data-key='${key}']`).boundingBox(), await page.locator("svg.tracks").boundingBox()];
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, left: box.x + box.width / 2 - drawing.x };
  };
  const [first, last] = [await middle(from), await middle(to)];
  const px = (last.x - first.x) / (points[to].time - points[from].time);
  const along = (time - points[from].time) * px;
  return { x: first.x + along, y: first.y, left: first.left + along, px };
}

// cursor returns the time at which the cursor of the timeline stands.
export const cursor = async (page) => Number((await page.getByText(/^cursor/).textContent()).match(/[0-9.]+/)?.[0]);

// picture returns what is seen of an element, as pixels, without some at its top and
// bottom.
export async function picture(page, target, { top = 0, bottom = 0 } = {}) {
  const { x, y, width, height } = await target.boundingBox();
  return decode(await page.screenshot({ clip: { x, y: y + top, width, height: height - top - bottom }, animations: "disabled" }));
}

const seen = 16; // steps of 255: what a person tells apart

// differing counts the pixels of two pictures that differ.
export function differing(a, b) {
  assert.deepEqual([a.width, a.height], [b.width, b.height]);
  const { data: p, channels } = a;
  const q = b.data;
  let count = 0;
  for (let i = 0; i < p.length; i += channels) {
    if (Math.abs(p[i] - q[i]) > seen || Math.abs(p[i + 1] - q[i + 1]) > seen || Math.abs(p[i + 2] - q[i + 2]) > seen) count++;
  }
  return count;
}

// coloured counts the pixels of a picture of which a colour is true.
export function coloured({ data, channels }, fits) {
  let count = 0;
  for (let i = 0; i < data.length; i += channels) if (fits(data[i], data[i + 1], data[i + 2])) count++;
  return count;
}
