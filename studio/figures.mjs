// Measures the page: how soon the first view is there, and what server and page cost while
// nothing happens.
//
//   POISE=../bin/poise node figures.mjs      or: make bench-studio
import { readdirSync, readFileSync } from "node:fs";
import { launch, open, Server, until } from "./test/harness.mjs";
import { watch } from "./test/watch.mjs";

const views = 7;
const idle = 20; // s
const ticks = 100; // of /proc per second

const wait = (s) => new Promise((done) => setTimeout(done, s * 1000));

// tree lists a process and all that came from it.
function tree(root) {
  const parents = readdirSync("/proc").filter((n) => /^\d+$/.test(n)).flatMap((n) => {
    try {
      return [[Number(n), Number(readFileSync(`/proc/${n}/stat`, "utf8").split(") ")[1].split(" ")[1])]];
    } catch {
      return []; // it ended
    }
  });
  const found = [root];
  for (let i = 0; i < found.length; i++) found.push(...parents.filter(([, parent]) => parent === found[i]).map(([pid]) => pid));
  return found;
}

// spent returns the processor time of some processes, s.
const spent = (pids) =>
  pids.reduce((sum, pid) => {
    try {
      const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13);
      return sum + (Number(user) + Number(system)) / ticks;
    } catch {
      return sum;
    }
  }, 0);

async function firstView(browser, server) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } }); // nothing is kept from before
  await context.addInitScript(watch);
  const page = await context.newPage();
  await page.goto(server.url);
  const took = await until("the robot is drawn", () => page.evaluate(() => window.robotSeen));
  await context.close();
  return took;
}

const load = readFileSync("/proc/loadavg", "utf8").split(" ")[0];
for (const args of [[], ["--with-real-sim"]]) {
  const server = await Server.start({ args });
  const browser = await launch();
  const name = args.length > 0 ? "two robots" : "one robot";
  try {
    const took = [];
    for (let i = 0; i < views; i++) took.push(await firstView(browser, server));
    took.sort((a, b) => a - b);
    console.log(`${name}: first view ${Math.round(took[views >> 1])} ms (${Math.round(took[0])} … ${Math.round(took.at(-1))}), of ${views}`);
    await wait(3);
    const browsers = tree(process.pid).filter((pid) => pid !== process.pid && !tree(server.process.pid).includes(pid));
    const measure = async (what) => {
      const [s, b] = [spent([server.process.pid]), spent(browsers)];
      await wait(idle);
      const share = (from, pids) => (((spent(pids) - from) / idle) * 100).toFixed(1);
      console.log(`${name}: ${what}: server ${share(s, [server.process.pid])} % of a core, browser ${share(b, browsers)} %`);
    };
    await measure("no page, idle");
    await open(browser, server);
    await wait(5);
    browsers.splice(0, browsers.length, ...tree(process.pid).filter((pid) => pid !== process.pid && !tree(server.process.pid).includes(pid)));
    await measure("one page, idle");
  } finally {
    await browser.close();
    await server.close();
  }
}
console.log(`load of the machine when it began: ${load}`);
