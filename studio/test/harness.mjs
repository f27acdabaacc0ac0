// Starts the real binary and a real browser. Effects are asserted on the server, by
// the command line client, never by what the page says of itself.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const poise = process.env.POISE ?? join(import.meta.dirname, "../../bin/poise");
const run = promisify(execFile);

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
    this.process = spawn(poise, ["serve", "--listen", `127.0.0.1:${port}`, "--motions", this.folder, "--quiet", ...this.args], { stdio: ["ignore", "pipe", "pipe"] });
    this.exited = new Promise((resolve) => this.process.once("exit", resolve));
    let said = "";
    this.address = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the server did not start: ${said}`)), 60_000);
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
  }

  get url() {
    return `http://${this.address}/`;
  }

  // restart ends the server and begins another at the same address.
  async restart() {
    const port = this.address.split(":")[1];
    await this.end();
    await this.begin(port);
  }

  async end() {
    this.process.kill("SIGTERM");
    await this.exited;
  }

  async close() {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  // cli runs a client and returns what it printed, read as JSON.
  async cli(...args) {
    const { stdout } = await run(poise, [...args, "--server", this.address, "--json"], { maxBuffer: 64 << 20 });
    const lines = stdout.trim().split("\n");
    return JSON.parse(lines.at(-1));
  }

  call(service, request = {}) {
    return this.cli("call", service, JSON.stringify(request));
  }

  // hear begins to listen to a topic and returns a function that waits for its next
  // messages.
  async hear(topic, count = 1) {
    const done = this.cli("topic", "echo", topic, "--count", String(count));
    done.catch(() => {}); // looked at by who waits
    await new Promise((r) => setTimeout(r, 700)); // until it has subscribed
    return () => done;
  }

  async state(robot = "virtual") {
    return (await this.call(robot === "real" ? "/real/get_state" : "/get_state")).state;
  }

  // idle waits until no goal is left.
  idle(robot = "virtual") {
    return until(`the ${robot} robot is idle`, async () => (await this.state(robot)).goals.length === 0);
  }

  // joints returns where a robot is: the virtual one by its command, the real one by
  // its measurement.
  async joints(robot = "virtual") {
    const m = await this.cli("topic", "echo", robot === "real" ? "/real/joint_states_real" : "/joint_states", "--count", "1");
    return Object.fromEntries(m.name.map((n, i) => [n, m.position[i]]));
  }
}

// until waits for something to become true, and says what it was about if it does
// not.
export async function until(what, check, within = 60_000) {
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
    await new Promise((r) => setTimeout(r, 100));
  }
}

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader"],
  });
}

// open shows the page of a server. Script errors and missing files are gathered in
// page.trouble, which a test ends by looking at.
export async function open(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.trouble = [];
  page.on("pageerror", (e) => page.trouble.push(`script error: ${e.message}`));
  page.on("console", (m) => {
    const lost = /WebSocket connection|ERR_CONNECTION_REFUSED/.test(m.text()); // the browser's own word on a server that is gone
    if (m.type() === "error" && !lost) page.trouble.push(`console: ${m.text()}`);
  });
  page.on("response", (r) => {
    if (r.status() >= 400) page.trouble.push(`${r.status()} ${r.url()}`);
  });
  await page.goto(server.url);
  await page.getByText("connected", { exact: true }).waitFor();
  return page;
}

// motion returns the document that the page edits.
export const motion = (page) => page.evaluate(() => JSON.parse(localStorage.getItem("poise.studio.editor")).motion);

// turn sets a joint of the virtual robot, in degrees, and waits until it is there.
export async function turn(page, server, joint, degrees) {
  const field = page.getByLabel(`${joint} value`, { exact: true });
  await field.fill(String(degrees));
  await field.press("Enter");
  await until(`${joint} is at ${degrees}°`, async () => Math.abs((await server.joints())[joint] - radians(degrees)) < 1e-3);
}

export const radians = (degrees) => (degrees * Math.PI) / 180;

// teach adds a row for each angle of the head.
export async function teach(page, server, angles, joint = "joint52") {
  for (const angle of angles) {
    const rows = await page.locator("tr[data-row]").count();
    await turn(page, server, joint, angle);
    await button(page, "Add pose from virtual").click();
    await page.locator(`tr[data-row='${rows}']`).waitFor();
  }
}

// column returns the values of a joint in all rows.
export const column = (m, joint) => m.points.map((p) => p.positions[m.columns.indexOf(joint)]);

export async function save(page, name) {
  await button(page, "Save trajectory…").click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await button(page, "Save").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

export const button = (page, name) => page.getByRole("button", { name, exact: true });
