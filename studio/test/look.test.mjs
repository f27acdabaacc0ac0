// How things look: what moves hardware has the real robot's colour and sits together, limbs
// have hues, joints their meaning, robots their names; what is dragged tells its angle.
import assert from "node:assert/strict";
import { button, enter, given, near, studio, table, until } from "./harness.mjs";

const s = studio({ args: ["--with-real-sim"] });

const hue = (page, target) => target.evaluate((e) => {
  const [r, g, b] = getComputedStyle(e).borderLeftColor.match(/[\d.]+/g).map(Number);
  return [r, g, b];
});

s.test("what moves hardware wears the real robot's colour and sits together", async (page) => {
  const block = page.getByRole("group", { name: "Real robots: what moves them" });
  const own = page.getByRole("group", { name: "Play the virtual robot" });
  for (const name of ["Execute real", "Execute real backward", "Turn all servos on/off", "Turn all trajectory servos on/off", "Servos of head"]) {
    assert.equal(await block.getByRole("button", { name, exact: true }).count(), 1, name);
  }
  for (const name of ["Execute virtual", "Execute virtual backward"]) assert.equal(await own.getByRole("button", { name, exact: true }).count(), 1, name);
  const real = await hue(page, block);
  assert.ok(real[0] > real[1] + 60 && real[1] > real[2], `${real}`); // orange, as it is drawn
  assert.deepEqual(await hue(page, button(page, "Execute real")), real);
  assert.notDeepEqual(await hue(page, button(page, "Execute virtual")), real);
  await page.getByRole("tab", { name: "Library" }).click();
  await page.getByLabel("Play nod on the real robot").waitFor();
  assert.deepEqual(await hue(page, page.getByLabel("Play nod on the real robot")), real);
  for (const robot of ["virtual", "real"]) await page.getByLabel(`Robot ${robot}`, { exact: true }).waitFor(); // in the picture
});

s.test("a ring shows name and angle while it is dragged; choosing a limb scrolls to it", async (page, server) => {
  await page.getByLabel("Limb to pose").selectOption("tail");
  const list = page.locator(".joints .list");
  await until("the tail is in sight", async () => {
    const [head, box] = [await page.locator("h3[data-limb='tail']").boundingBox(), await list.boundingBox()];
    return head.y >= box.y - 1 && head.y < box.y + box.height;
  });
  await page.getByLabel("Limb to pose").selectOption("head");
  const ring = page.getByLabel("Ring of joint52");
  await ring.waitFor({ state: "attached" });
  await page.waitForTimeout(500);
  const box = await ring.boundingBox();
  await page.mouse.move(box.x + 7, box.y + 7);
  await page.mouse.down();
  await page.mouse.move(box.x + 21, box.y + 11, { steps: 4 });
  const held = page.getByLabel("Dragged");
  await held.getByText(/^head yaw -?[\d.]+ °/).waitFor();
  await until("the angle is the robot's", async () => {
    const said = Number((await held.textContent()).match(/(-?[\d.]+) °/)[1]);
    near((said * Math.PI) / 180, (await server.joints()).joint52, 0.01);
    return true;
  });
  await page.mouse.up();
  await held.waitFor({ state: "detached" });
});

s.test("joints by their meaning, with the model's name; those of the maths are marked and have no ring", async (page, server) => {
  const { joints } = await server.call("/robot_info");
  const model = joints.filter((j) => !j.has_servo && !j.mimic && j.resource === "head").map((j) => j.name);
  assert.ok(model.includes("joint55"), `${model}`);
  await page.getByLabel("Limb to pose").selectOption("head");
  await page.getByLabel("Ring of joint52").waitFor({ state: "attached" });
  for (const name of model) {
    const joint = page.getByRole("group", { name, exact: true });
    assert.match(await joint.locator(".name").textContent(), /model/, name);
    assert.equal(await page.getByLabel(`Ring of ${name}`).count(), 0, name);
  }
  assert.match(await page.getByRole("group", { name: "joint52", exact: true }).locator(".name").textContent(), /^head yaw\s*joint52$/);
});

s.test("limbs have hues of their own and are folded away; others stay", async (page) => {
  const limbs = page.locator("h3[data-limb]");
  const hues = await limbs.evaluateAll((all) => all.map((e) => e.style.getPropertyValue("--hue")));
  assert.equal(new Set(hues).size, hues.length, `${hues}`);
  await page.locator("h3[data-limb='leg1'] button").click();
  await until("its joints are hidden", async () => (await page.getByLabel("joint12 slider").count()) === 0);
  assert.equal(await page.getByLabel("joint22 slider").count(), 1);
  await page.locator("h3[data-limb='leg1'] button").click();
  await page.getByLabel("joint12 slider").waitFor();
});

s.test("curves are told from the sheet, light and dark", async (page) => {
  await given(page, table([0, 1].map((t) => [t, Object.fromEntries(["joint12", "joint13", "joint51", "joint52", "joint53", "tail_joint1", "tail_joint3", "ear_l_joint", "mouth_joint"].map((j) => [j, 0.1 * t]))])));
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await until(`contrast, ${colorScheme}`, async () => {
      const weak = await page.evaluate(() => {
        const light = (colour) => {
          const [r, g, b] = colour.match(/[\d.]+/g).map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const sheet = light(getComputedStyle(document.body).backgroundColor);
        const chips = [...document.querySelectorAll(".chip")].map((c) => getComputedStyle(c).backgroundColor);
        return chips.length < 9 ? [`${chips.length} curves`] : chips.filter((c) => Math.max(light(c) / sheet, sheet / light(c)) < 3);
      });
      if (weak.length > 0) throw new Error(weak.join("; "));
      return true;
    });
  }
  await page.emulateMedia({ colorScheme: "light" });
});

s.test("a message goes when what it was about is over", async (page, server) => {
  await enter(page, "joint52 value", 400); // beyond its range: refused
  const status = page.getByRole("region", { name: "Status" });
  await status.getByRole("alert").waitFor();
  await enter(page, "joint52 value", 10);
  await server.reaches("joint52", Math.PI / 18, 1e-3);
  await status.getByRole("alert").waitFor({ state: "detached" });
});
