// Torques and forces: which cycle drives each limb and how stiff it is are chosen from the page,
// and what joints and ground have to give is seen: now, and along a motion before it is played.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { button, coloured, cursor, differing, field, given, launch, near, open, picture, ruler, Server, studio, table, told, tooltips, until } from "./harness.mjs";

const s = studio({ args: ["--physics"] });

// truth is what the server tells of its dynamics now: the cycle of each joint by its name, and more.
const truth = async (server) => {
  const heard = (server.dynamics ??= await server.hear("/dynamics_state"));
  const m = await heard.next();
  heard.all.length = 0;
  const bytes = typeof m.cycle === "string" ? [...Buffer.from(m.cycle, "base64")] : m.cycle;
  return { ...m, cycles: Object.fromEntries(m.name.map((name, i) => [name, bytes[i]])) };
};
const inCycle1 = (server, what, fits) =>
  until(what, async () => {
    const now = await truth(server);
    const wrong = now.name.filter((name) => (now.cycles[name] === 1) !== fits(name));
    if (wrong.length > 0) throw new Error(`not so: ${wrong}`);
    return now;
  });
const models = async (server) => {
  const heard = (server.models ??= await server.hear("/servo_models_state"));
  return Object.fromEntries((heard.all.at(-1) ?? (await heard.next())).models.map((m) => [m.name, m]));
};
const full = (m) => (m.kp * m.voltage * (m.kgear || 1) ** 2) / m.alpha[3];

const show = async (page) => {
  await page.getByRole("tab", { name: "Dynamics" }).click();
  await page.getByLabel("Limbs and their cycles").waitFor();
};
const pressed = (page, name, is = true) => until(`${name} is ${is ? "" : "not "}pressed`, async () => (await button(page, name).getAttribute("aria-pressed")) === String(is));
const view = (page) => picture(page, page.locator(".view canvas"), { bottom: 70 });
const blue = (r, g, b) => r < 70 && g < 140 && b > 215; // arrows of forces: nothing else of the view has it
const violet = (r, g, b) => Math.abs(r - 0x7a) < 26 && Math.abs(g - 0x5c) < 26 && b > 0xd0; // the zero-moment point
const settled = async (server) => {
  assert.ok((await server.call("/switch_cycle", { cycle: 0, resources: [] })).success);
  await inCycle1(server, "cycle 0 drives all", () => false);
};

s.test("the cycle is chosen for a limb, for all, and back", async (page, server) => {
  await settled(server);
  await show(page);
  await pressed(page, "Cycle 0");
  await tooltips(page, "dynamics", 8); // stiffness, which cycle 0 leaves as it is
  await button(page, "Cycle 1 of leg1").click();
  await inCycle1(server, "one leg is in cycle 1", (name) => /^joint1[1-5]$|^joint16$/.test(name));
  await pressed(page, "Cycle 1 of leg1");
  await pressed(page, "Cycle 0", false);
  await button(page, "Cycle 1").click();
  await inCycle1(server, "all limbs are", () => true);
  await pressed(page, "Cycle 1 of tail");
  await button(page, "Cycle 0 of head").click();
  await inCycle1(server, "the head is not", (name) => !/^joint5/.test(name));
  await button(page, "Cycle 0").click();
  await inCycle1(server, "none is", () => false);
  await pressed(page, "Cycle 0 of leg1");
});

s.test("torques colour the joints, forces are arrows, and only while the view is open", async (page, server) => {
  await settled(server);
  await show(page);
  await button(page, "Cycle 1").click();
  const now = await inCycle1(server, "all limbs are in cycle 1", () => true);
  assert.equal(now.supports.length, 4);
  await until("arrows of forces are drawn", async () => coloured(await view(page), blue) > 100);
  await page.getByRole("note", { name: "Colours of torques and forces" }).getByText(/limit of effort, measured/).waitFor();
  await field(page, "Forces").uncheck();
  await until("and not without", async () => coloured(await view(page), blue) === 0);
  const hot = await view(page);
  await field(page, "Torques").uncheck();
  await until("without torques the robot has its own colours", async () => differing(hot, await view(page)) > 2000);
  await field(page, "Torques").check();
  await field(page, "Forces").check();
  const load = page.getByLabel("Load of leg1");
  await until("a leg that stands is loaded, by its effort and limit", async () => Number((await load.textContent()).match(/(\d+) %/)?.[1]) > 3);
  await page.getByRole("button", { name: "leg2", exact: true }).and(page.locator("th button")).click();
  await until("its efforts are drawn", async () => (await page.getByRole("figure", { name: "Efforts of leg2" }).locator("polyline").count()) >= 5);
  await page.getByLabel("Zero-moment point").waitFor();
  await until("and the point itself on the floor", async () => coloured(await view(page), violet) > 5);
  await field(page, "Balance").uncheck();
  await until("which goes with the balance", async () => coloured(await view(page), violet) === 0);
  await field(page, "Balance").check();
  await page.getByRole("tab", { name: "Key points" }).click();
  await until("the view is closed: nothing of it is left", async () => coloured(await view(page), blue) === 0);
  await settled(server);
});

s.test("a limb is made soft by its slider, and stiff again", async (page, server) => {
  await settled(server);
  await show(page);
  const slider = field(page, "Stiffness of leg1");
  assert.match(await page.locator("label", { has: slider }).getAttribute("title"), /choose cycle 1 first/);
  await button(page, "Cycle 1 of leg1").click();
  await until("it can be set in cycle 1", async () => !(await slider.isDisabled()));
  const before = await models(server);
  const soften = async (share) => {
    await slider.fill(String(100 * share));
    await until(`leg1 has ${share} of its stiffness`, async () => {
      const m = (await models(server)).joint11;
      return Math.abs(m.stiffness - share * full(m)) < 1e-6 * full(m);
    });
    await page.locator("label", { has: slider }).getByText(`${100 * share} %`).waitFor();
  };
  await soften(0.5);
  const soft = await models(server);
  assert.deepEqual(soft.joint21, before.joint21, "another limb is as it was");
  near(soft.joint13.stiffness, 0.5 * full(before.joint13), 1e-6 * full(before.joint13));
  await soften(1);
  await settled(server);
});

// loads asks that the lanes of the timeline show what feet carry, as the server sampled it, and where one that
// should stand carries nothing.
async function loads(page, { times, forces, findings }) {
  const at = await cursor(page);
  assert.equal(forces.feet.length, 4);
  for (const foot of forces.feet) {
    const known = foot.force.filter((f) => f !== null);
    const [least, most] = [Math.min(...known), Math.max(...known)].map((f) => f.toFixed(1));
    const lane = page.getByRole("img", { name: `Load of ${foot.chain}: ${least} … ${most} N`, exact: true });
    assert.ok((await lane.locator("path").count()) > 0);
    const empty = findings.filter((f) => f.rule === "unloaded" && f.joint === foot.chain);
    assert.equal(await page.getByRole("img", { name: `${foot.chain} carries nothing at` }).count(), empty.length);
  }
  assert.ok(findings.some((f) => f.rule === "unloaded"));
  const said = await page.locator("text.newtons").allTextContents();
  // the cursor is told to a hundredth of a second: one of the samples about it is meant
  const from = times.findIndex((t) => t >= at - 0.006);
  const meant = [from, from + 1, from + 2].map((i) => forces.feet.map((f) => f.force[i] ?? null).filter((f) => f !== null).map((f) => `${f.toFixed(1)} N`));
  assert.ok(said.length > 0 && meant.some((m) => isDeepStrictEqual(m, said)), `${said} of ${JSON.stringify(meant)}`);
}

s.test("a motion that takes too much is red before it is played, with joint and time; efforts are curves; time mends it", async (page, server) => {
  const { motion } = await server.call("/motions/get", { name: "dance" });
  const fast = { ...motion, name: "hasty", points: motion.points.map((p) => ({ ...p, time: p.time * 0.28 })), events: motion.events.map((e) => ({ ...e, time: e.time * 0.28 })) };
  const judged = await server.call("/motions/sample", { motion: fast, forces: true });
  const heavy = judged.findings.filter((f) => ["torque", "zmp", "unloaded", "contact_force"].includes(f.rule));
  assert.ok(heavy.some((f) => f.rule === "torque") && heavy.some((f) => f.rule === "zmp"), JSON.stringify(judged.findings));
  const { text } = await server.call("/motions/export", { motion: fast, format: "yaml" });
  await given(page, text, "hasty");
  await page.getByRole("button", { name: /^\d+ findings?$/ }).click();
  const list = page.getByRole("list", { name: "More than it can give" });
  await until("all of it is listed", async () => (await list.getByRole("button").count()) === heavy.length);
  assert.ok((await page.locator("rect.red").count()) > 0);
  const torques = heavy.filter((f) => f.rule === "torque");
  await list.getByRole("button").filter({ hasText: torques[0].joint }).first().click();
  await until("it leads to the joint and to the time", async () => {
    const at = await cursor(page);
    return torques.some((f) => f.joint === torques[0].joint && Math.abs(f.from_time - at) < 0.006) && (await page.getByLabel("Joints to show").inputValue()) === torques[0].joint;
  });
  await field(page, "effort").check();
  await until("efforts have an axis of their own", async () => (await page.getByTitle("unit of the effort").textContent()) === "N·m");
  await field(page, "effort").uncheck();
  const curves = () => picture(page, page.getByRole("region", { name: "Timeline" }).locator("canvas").first());
  const without = coloured(await curves(), violet); // a joint may have a colour like it
  await field(page, "ZMP margin").check();
  await page.getByTitle("unit of the margin").getByText("mm", { exact: true }).waitFor();
  await until("the margin is drawn", async () => coloured(await curves(), violet) > without + 100);
  await loads(page, judged);
  await page.getByRole("button", { name: /^\d+ findings?$/ }).click();
  await button(page, "Slow down to fit").click();
  await page.getByText("within all limits").waitFor();
  assert.equal(await page.locator("rect.red").count(), 0);
  assert.equal(await page.locator("rect.unloaded").count(), 0);
});

test("a robot without masses has no cycle 1, and the page says what is lacking", async () => {
  const folder = await mkdtemp(join(tmpdir(), "poise-bare-"));
  const urdf = join(folder, "bare.urdf");
  const joint = (i) => `<link name="link${i + 1}"><visual><geometry><box size="0.05 0.05 0.2"/></geometry></visual></link><joint name="joint_${i}" type="revolute"><parent link="link${i}"/><child link="link${i + 1}"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="5"/></joint>`;
  await writeFile(urdf, `<robot name="bare"><link name="link0"/>${[0, 1, 2].map(joint).join("")}</robot>`);
  const [server, browser] = await Promise.all([Server.start({ args: ["--robot", urdf] }), launch({ blind: true })]);
  try {
    const page = await open(browser, server);
    await show(page);
    const lacks = (await server.call("/robot_info")).cycle_1_lacks;
    assert.ok(lacks.some((l) => /a mass behind/.test(l)), String(lacks));
    await page.getByText(`Cycle 1 lacks ${lacks[0]}.`).waitFor();
    assert.ok(await button(page, "Cycle 1").isDisabled());
    assert.match(await button(page, "Cycle 1").getAttribute("title"), /cycle 1 lacks a mass behind/);
    assert.ok(await field(page, "Torques").isDisabled());
    await tooltips(page, "dynamics of a bare robot", 5);
    assert.deepEqual(page.trouble, []);
  } finally {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});

const orange = (r, g, b) => r > 200 && g > 80 && g < 150 && b < 60; // arrows of measured forces
const red = (r, g, b) => r > 190 && g < 115 && b < 130; // lines of impacts, at their thinnest blended with the ground

s.test("what touches the robot is seen: measured forces, torques with their bands, feet and events", async (page, server) => {
  await settled(server);
  assert.ok((await server.call("/switch_cycle", { cycle: 1, resources: [] })).success);
  await show(page);
  const feet = page.getByLabel("Feet as they are felt");
  await until("all feet are felt to stand", async () => ((await feet.textContent()) ?? "").match(/stance/g)?.length === 4);
  const figure = page.getByLabel(/^Torques from outside on /);
  await figure.waitFor();
  await until("the bands are drawn", async () => (await figure.locator("polygon.band").count()) > 0);
  await until("arrows of measured forces", async () => coloured(await view(page), orange) > 10);
  const heard = await server.hear("/contact_events");
  assert.ok((await server.call("/physics/push", { link: "bone54", force: { x: 0, y: 0, z: -15 }, point: [], duration: 0.15 })).success !== false);
  await until("an impact on the head is told", async () => heard.all.some((e) => e.kind === "impact"));
  await page.getByLabel("Contacts felt", { exact: true }).getByText("impact").first().waitFor();
  await page.getByLabel("Measured forces").uncheck();
  await until("no arrows of them", async () => coloured(await view(page), orange) < 10);
  await settled(server);
});

s.test("a contact that is felt while a motion plays is on its timeline, at its time", async (page, server) => {
  await settled(server);
  assert.ok((await server.call("/switch_cycle", { cycle: 1, resources: [] })).success);
  await given(page, table([[0, { tail_joint1: 0 }], [30, { tail_joint1: 0.3 }]]), "slowly");
  const felt = page.getByLabel("Contacts felt while it played");
  assert.equal(await felt.count(), 0, "nothing was played yet");
  const heard = await server.hear("/contact_events");
  await button(page, "Execute virtual").click();
  await told(page, /forward \d/); // the approach is over
  assert.ok((await server.call("/physics/push", { link: "bone54", force: { x: 0, y: 0, z: -15 }, point: [], duration: 0.15 })).success !== false);
  await until("the impact is told", async () => heard.all.some((e) => e.kind === "impact"));
  await until("and marked", async () => /impact head/.test((await felt.getAttribute("title")) ?? ""));
  const at = Number((await felt.getAttribute("title")).match(/impact head at ([0-9.]+) s/)[1]);
  assert.ok(at > 0 && at < 30, `marked at ${at} s`);
  const { x } = await ruler(page, at);
  const line = await until("a line is at its time", async () => { // others may have been felt, too
    const lines = await Promise.all((await page.locator("line.felt.impact").all()).map((l) => l.boundingBox()));
    const there = lines.find((l) => l && Math.abs(l.x + l.width / 2 - x) < 2);
    if (!there) throw new Error(`${JSON.stringify(lines)}, not ${x}`);
    return there;
  });
  const strip = { boundingBox: () => ({ x: line.x - 2, y: line.y, width: line.width + 4, height: line.height }) }; // curves may be red, too
  await until("it is seen", async () => coloured(await picture(page, strip), red) > line.height / 2);
  await server.call("/stop", { category: 2 });
  await server.call("/reset", {});
  await settled(server);
});
