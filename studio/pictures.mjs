// Takes the pictures of docs/images: every view of the page, light and dark.
//
//   POISE=../bin/poise node pictures.mjs ../docs/images      or: make images
import { mkdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { button, given, launch, open, row, save, Server, table, turn, until } from "./test/harness.mjs";

const folder = process.argv[2] ?? "../docs/images";
const wait = (s) => new Promise((done) => setTimeout(done, s * 1000));
const size = { width: 1280, height: 720 };

// a motion of the head and a leg, with two events
const greet = table(
  [
    [0, { joint51: 0, joint52: 0, joint53: 0, tail_joint1: 0, ear_l_joint: 0 }],
    [0.9, { joint51: -0.25, joint52: 0.5, joint53: 0.1, tail_joint1: 0.4, ear_l_joint: 0.3 }],
    [1.8, { joint51: 0.1, joint52: -0.4, joint53: -0.1, tail_joint1: -0.4, ear_l_joint: 0 }],
    [2.7, { joint51: 0, joint52: 0, joint53: 0, tail_joint1: 0, ear_l_joint: 0 }],
  ],
  { events: [[0.4, "eyes/emotion", "happy_look"], [1.6, "voice/say", "hello"]] },
);

// walker writes the URDF of a body with two legs, of which nothing else is known.
function walker() {
  const folder = join(tmpdir(), "walker");
  const joint = (name, parent, child, at) => `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/><origin xyz="${at}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="5"/></joint>`;
  const box = (name, size, at) => `<link name="${name}"><collision><origin xyz="${at}"/><geometry><box size="${size}"/></geometry></collision></link>`;
  const leg = (side, y) => [box(`${side}_leg`, "0.04 0.04 0.28", "0 0 -0.14"), box(`${side}_foot`, "0.14 0.07 0.02", "0.02 0 -0.01"), joint(`${side}_hip`, "body", `${side}_leg`, `0 ${y} 0`), joint(`${side}_ankle`, `${side}_leg`, `${side}_foot`, "0 0 -0.28")].join("");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "walker.urdf"), `<robot name="walker">${box("body", "0.16 0.26 0.12", "0 0 0.06")}${leg("left", 0.09)}${leg("right", -0.09)}</robot>`);
  return join(folder, "walker.urdf");
}

// each picture: what the server is started with, and what is done to the page first
const pictures = {
  studio: {
    act: async (page, server) => {
      await given(page, greet, "greet");
      await turn(page, server, "joint52", 0);
      await row(page, 1).click();
    },
  },
  "studio-library": {
    act: async (page) => {
      await page.getByRole("tab", { name: "Library" }).click();
      await page.getByLabel("Play dance", { exact: true }).click();
      await wait(2.5);
    },
  },
  "studio-refused": {
    act: async (page) => {
      await given(page, table([[0, { joint52: 0 }], [1, { joint52: 1.2 }], [1.2, { joint52: 0 }], [2.5, { joint52: 0 }]]), "hasty");
      await button(page, "Execute virtual").click();
      await until("it is refused", async () => /refused/.test(await page.getByLabel("Result virtual").textContent()));
      await page.getByText(/^\d+ findings?$/).first().click();
    },
  },
  "studio-limp": {
    act: async (page, server) => {
      await given(page, greet, "greet");
      await server.call("/real/set_torque", { on: false, resources: ["head", "leg1"] });
      await button(page, "Execute real").click();
      await until("it is refused", async () => /refused/.test(await page.getByLabel("Result real").textContent()));
    },
  },
  "studio-stopped": {
    act: async (page, server) => {
      await given(page, greet, "greet");
      await button(page, "Execute virtual").click();
      await until("it runs", async () => (await server.state()).goals.length > 0);
      await button(page, "Stop").click();
      await page.getByText("Stopped", { exact: true }).waitFor();
    },
  },
  "studio-paused": {
    act: async (page, server) => {
      await given(page, greet, "greet");
      await server.slowly();
      await button(page, "Execute virtual").click();
      await until("it runs", async () => (await server.state()).goals.length > 0);
      await button(page, "Pause/Resume").click();
      await page.getByLabel("Result virtual").getByText("paused").waitFor();
    },
  },
  "studio-robot-setup": {
    args: ["--robot", walker()],
    act: async (page) => {
      await button(page, "Set up robot…").click();
      for (const part of [/^Points that touch/, /^Mirror table/]) await page.getByRole("dialog").getByText(part).click();
    },
  },
  "studio-setup": {
    act: async (page) => {
      await given(page, greet, "greet");
      await button(page, "Trajectory setup…").click();
    },
  },
  "studio-event": {
    act: async (page) => {
      await given(page, greet, "greet");
      await button(page, "Add event…").click();
    },
  },
  "studio-people": {
    act: async (page, server, browser) => {
      await given(page, greet, "greet");
      const other = await open(browser, server);
      await other.getByLabel("People", { exact: true }).click();
      await other.getByLabel("Your name").fill("Ann");
      await other.getByLabel("Your name").press("Enter");
      await other.keyboard.press("Escape");
      await server.slowly("real");
      await given(other, greet, "sweep");
      await button(other, "Execute real").click();
      await page.getByLabel("Others", { exact: true }).getByText("Ann plays").waitFor();
      await button(page, "Execute real").click();
      await page.getByRole("dialog", { name: "Take over?" }).waitFor();
    },
  },
  "studio-controllers": {
    act: async (page) => {
      await given(page, greet, "greet");
      await page.getByRole("tab", { name: "Controllers" }).click();
    },
  },
  "studio-physics": {
    args: ["--physics"],
    act: async (page) => {
      await page.getByRole("tab", { name: "Physics" }).click();
    },
  },
  "studio-dynamics": {
    args: ["--physics"],
    act: async (page) => {
      await page.getByRole("tab", { name: "Dynamics" }).click();
      await button(page, "Cycle 1").click();
      await wait(4);
    },
  },
  "studio-levels": {
    args: ["--physics"],
    act: async (page, server) => {
      await server.call("/switch_cycle", { cycle: 2, resources: [] });
      await page.getByRole("tab", { name: "Levels" }).click();
      const stand = (leg1) => `supports: {leg1: ${leg1}, leg2: 1, leg3: 1, leg4: 1}`;
      await given(page, table([[0, { joint52: 0 }, stand(1)], [1, { joint52: 0.1 }, stand(0)], [2.5, { joint52: 0.1 }, stand(1)], [4, { joint52: 0 }, stand(1)]]), "lifts");
      await button(page, "Execute virtual").click();
      await page.getByRole("img", { name: /a tip-over was prevented/ }).first().waitFor();
    },
  },
  "studio-torque": {
    act: async (page, server) => {
      const { motion } = await server.call("/motions/get", { name: "dance" });
      const faster = (list) => list.map((x) => ({ ...x, time: x.time * 0.28 }));
      const { text } = await server.call("/motions/export", { motion: { ...motion, points: faster(motion.points), events: faster(motion.events) }, format: "yaml" });
      await given(page, text, "hasty");
      await page.getByLabel("effort", { exact: true }).check();
      await page.getByLabel("Joints to show").selectOption("leg1");
      await page.getByText(/^\d+ findings?$/).first().click();
    },
  },
  "studio-arm": { args: ["--robot", "arm6"], act: async (page) => page.getByLabel("Limb to pose").selectOption({ index: 1 }) },
  "studio-files": { act: async (page) => { await given(page, greet, "greet"); await save(page, "hello_there"); await button(page, "File ▾").click(); } },
};

const wanted = process.argv.slice(3);
const browser = await launch();
for (const [name, { args = ["--with-real-sim"], act }] of Object.entries(pictures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const colorScheme of ["light", "dark"]) {
    const server = await Server.start({ args });
    const page = await open(browser, server, { viewport: size, colorScheme });
    await wait(2); // all of it is drawn
    await act(page, server, browser);
    await wait(1.5);
    const path = join(folder, `${name}${colorScheme === "dark" ? "-dark" : ""}.png`);
    await writeFile(path, await page.screenshot());
    console.log(path);
    for (const context of browser.contexts()) await context.close();
    await server.close();
  }
}
// a tablet held upright
const server = await Server.start({ args: ["--with-real-sim"] });
const page = await open(browser, server, { viewport: { width: 820, height: 1180 }, colorScheme: "dark", hasTouch: true });
await given(page, greet, "greet");
await wait(2);
if (wanted.length === 0 || wanted.includes("studio-tablet")) await writeFile(join(folder, "studio-tablet-dark.png"), await page.screenshot());
await browser.close();
await server.close();
