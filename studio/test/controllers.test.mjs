// The Controllers tab: who has, waits for and was denied which resource over time, the last
// rounds with their answers; controllers are started, stopped and switched from there.
// Controllers outside are played by the test, over the wire.
import assert from "node:assert/strict";
import { join } from "node:path";
import { button, studio, until } from "./harness.mjs";

const s = studio({ args: ["--with-real-sim"], blind: true });

// Outside is a controller outside the server, which goes on with whatever it is left.
class Outside {
  constructor(server, name, needed, wanted, priority) {
    Object.assign(this, { wire: server.wire, name, needed, wanted, priority, id: 0, owned: [], alive: false });
  }

  send(topic, type, msg) {
    this.wire.socket.send(JSON.stringify({ op: "publish", topic, type, msg }));
  }

  answer(goesOn) {
    this.send("/resource_requester_state", "resource_control_msgs/ResourceRequesterState", { requester_name: this.name, request_id: this.id, is_operational: goesOn });
  }

  async request() {
    this.heard ??= await this.wire.listen("/resource_assignment");
    const pri = [...this.needed, ...this.wanted].map(() => this.priority);
    this.id++;
    const told = this.heard.next((a) => a.request_ids.includes(this.id));
    this.send("/resource_claim", "poise_msgs/ResourceRequest", { requester_name: this.name, request_id: this.id, needed: this.needed, wanted: this.wanted, pri_pending: pri, pri_operational: pri, lease: 60 });
    await told;
    this.answer(true);
    void this.follow(this.id);
  }

  async follow(id) { // answers every change of its set
    while (this.id === id) {
      await this.heard.next((a) => a.request_ids.includes(id));
      if (this.id === id) this.answer(true);
    }
  }

  quit() {
    this.answer(false);
    this.id++;
  }
}

const row = (page, table, name) => page.getByRole("table", { name: `${table} of the virtual robot` }).getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
const rounds = (page) => page.getByRole("table", { name: "Last rounds of the virtual robot" }).getByRole("row");

// owners returns who has each leaf, as the server tells.
async function owners(server) {
  const state = await new Promise((resolve) => {
    const hear = (m) => resolve(m);
    server.wire.listeners.set("/resource_state", [hear]);
    server.wire.socket.send(JSON.stringify({ op: "subscribe", topic: "/resource_state" })); // latched
  });
  server.wire.listeners.delete("/resource_state");
  server.wire.socket.send(JSON.stringify({ op: "unsubscribe", topic: "/resource_state" }));
  return Object.fromEntries(state.leaves.map((l) => [l.name, l.owner]));
}

async function shot(page, name) {
  if (!process.env.SHOTS) return;
  await new Promise((r) => setTimeout(r, 8000)); // something to see on the lanes
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(process.env.SHOTS, `${name}-${colorScheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("table", { name: "Last rounds of the virtual robot" }).scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(process.env.SHOTS, `${name}-rounds.png`) });
}

s.test("who has a resource, waits for it and was denied it, with the answers of the rounds", async (page, server) => {
  await page.getByRole("tab", { name: "Controllers" }).click();
  for (const name of ["leg1", "head", "tail", "base"]) await row(page, "Resources", name).waitFor();
  const gait = new Outside(server, "gait", ["leg1", "leg2"], ["head"], 40);
  const yawn = new Outside(server, "yawn", ["head"], [], 60);
  const low = new Outside(server, "low", ["head"], [], 10);
  await gait.request();
  for (const name of ["leg1", "leg2", "head"]) await row(page, "Resources", name).getByText("gait").first().waitFor();
  await page.getByRole("table", { name: "Controllers of the virtual robot" }).getByRole("rowheader", { name: "gait outside" }).waitFor();
  await yawn.request();
  await until("the server has given the head", async () => (await owners(server)).joint52 === "yawn");
  const head = row(page, "Resources", "head").getByRole("cell");
  await until("the head is the yawn's", async () => (await head.nth(0).innerText()).includes("yawn"));
  await until("the gait waits", async () => (await head.nth(1).innerText()) === "gait");
  await rounds(page).filter({ hasText: "yawn goes on: head" }).getByText("gait goes on: leg1, leg2").waitFor();
  const lane = row(page, "Resources", "head").getByRole("img");
  await until("the lane tells the past", async () => /gait had, .* until .*; yawn had, for .*; gait waited for it/.test(await lane.getAttribute("aria-label")));
  await low.request();
  await rounds(page).filter({ hasText: "low" }).getByText(/priority 10 against 60/).waitFor();
  await until("the denial is marked", async () => (await lane.getAttribute("aria-label")).includes("low was denied"));
  await rounds(page).filter({ hasText: "low" }).getByText(/^\d\d? s ago$/).waitFor();
  await row(page, "Resources", "head").getByTitle(/^low was denied/).waitFor();
  await shot(page, "controllers");
  await button(page, "Stop yawn of the virtual robot").click();
  await until("the gait has the head again", async () => (await owners(server)).joint52 === "gait");
  await until("which is shown", async () => (await head.nth(0).innerText()).includes("gait"));
  gait.quit();
  await until("all is free", async () => Object.values(await owners(server)).every((o) => o === ""));
  await until("which is shown, too", async () => (await row(page, "Resources", "leg1").getByRole("cell").nth(0).innerText()) === "");
});

s.test("controllers are switched in one act, and one that takes goals is halted and runs again", async (page, server) => {
  await page.getByRole("tab", { name: "Controllers" }).click();
  const state = async (name, robot) => (await server.state(robot)).controllers.find((c) => c.name === name);
  await button(page, "Start look_at of the virtual robot").click();
  await until("it looks", async () => (await state("look_at")).active);
  const group = page.getByRole("group", { name: "Switch controllers of the virtual robot" });
  await group.getByLabel("Controller to stop").selectOption("look_at");
  await group.getByLabel("Controller to start").selectOption("joint_state");
  await group.getByRole("button", { name: "Switch" }).click();
  await until("the other has taken over", async () => (await state("joint_state")).active && !(await state("look_at")).active);
  await button(page, "Stop joint_state of the virtual robot").click();
  await until("it is stopped", async () => !(await state("joint_state")).active);
  assert.ok(!(await state("look_at", "real")).active && !(await state("joint_state", "real")).active, "the other robot was switched");
  await button(page, "Stop step of the virtual robot").click();
  await until("it takes no goals", async () => !(await state("step")).running);
  await button(page, "Start step of the virtual robot").click();
  await until("it takes goals", async () => (await state("step")).running);
});

s.test("what a controller waits for, and what of its stream is refused, with the reason", async (page, server) => {
  await page.getByRole("tab", { name: "Controllers" }).click();
  const wag = new Outside(server, "wag", ["tail"], [], 40);
  await wag.request();
  await until("it has the tail", async () => (await owners(server)).tail_joint1 === "wag");
  const shown = page.getByRole("table", { name: "Controllers of the virtual robot" }).getByRole("row").filter({ has: page.getByRole("rowheader", { name: "wag outside" }) });
  const stream = (name, position) => wag.send("/controllers/wag/ref_joints", "sensor_msgs/JointState", { name, position });
  const info = async () => (await server.state()).controllers.find((c) => c.client === "wag");
  stream(["tail_joint1"], [0.1]);
  await until("the tail follows", async () => Math.abs((await server.joints()).tail_joint1 - 0.1) < 1e-3);
  await shown.getByText(/^waits: nothing was heard for [\d.]+ s, 0.5 is allowed$/).waitFor();
  assert.equal((await info()).waits[0].code, "stale");
  stream(["tial_joint1"], [0.2]);
  await shown.getByText(/^refused: joint "tial_joint1" is unknown/).waitFor();
  assert.ok(Math.abs((await server.joints()).tail_joint1 - 0.1) < 1e-3, "a value that was refused moved the tail");
  await until("what it does not own is told", async () => { // a value that was refused as a whole is told for a second first
    stream(["tail_joint1", "joint52"], [0, 0.3]);
    return (await shown.getByText(/^refused: controller "wag" does not own joint52: that part of its value is left out/).count()) > 0;
  });
  await shown.getByText(/^\d+ of its values had parts left out$/).waitFor();
  await until("the rest of it counts", async () => Math.abs((await server.joints()).tail_joint1) < 1e-3);
  assert.ok(Math.abs((await server.joints()).joint52) < 1e-3, "a joint that it does not own was moved");
  await until("a good value is not refused", async () => {
    stream(["tail_joint1"], [0.05]);
    return (await info()).refused.length === 0;
  });
  await until("which is shown", async () => (await shown.getByText(/^refused:/).count()) === 0);
  const low = new Outside(server, "low", ["tail"], [], 10);
  await low.request();
  await page.getByRole("table", { name: "Controllers of the virtual robot" }).getByText('controller "low" does not get joint tail_joint1 of tail: "wag" has it (priority 10 against 40)').waitFor();
  wag.quit();
  await until("it is out", async () => (await owners(server)).tail_joint1 === "");
});
