// Any robot: a bare URDF without robot.yaml has all joints by branch, a picture, and a
// handle at its tips.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { button, coloured, drag, enter, launch, open, picture, Server, until } from "./harness.mjs";

const own = join(import.meta.dirname, "robots");
const shared = process.env.POISE_ROBOTS ?? join(import.meta.dirname, "../../../shared/robots");
const found = existsSync(shared) ? readdirSync(shared).flatMap((name) => (existsSync(join(shared, name, `${name}.urdf`)) ? [[name, join(shared, name, `${name}.urdf`)]] : [])) : [];

if (process.env.CI === "true") test("the robots of others are there", () => assert.ok(found.length >= 12, `${found.length} in ${shared}`));

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

// shown starts a server with a robot and shows its page.
async function shown(file, act, args = []) {
  const server = await Server.start({ args: ["--robot", file, ...args] });
  try {
    const page = await open(browser, server);
    await act(page, server);
    assert.deepEqual(page.trouble, []);
    await page.context().close();
  } finally {
    await server.close();
  }
}

const canvas = (page) => page.locator(".view canvas");
const dark = (r, g, b) => r < 165 && !(g > r + 40); // neither floor nor handle
const look = (page) => picture(page, canvas(page), { top: 50, bottom: 90 });
const line = (r, g, b) => Math.abs(r - 210) < 4 && Math.abs(g - 217) < 4 && Math.abs(b - 222) < 4; // of the floor
const floor = async (page) => coloured(await picture(page, canvas(page), { top: 150, bottom: 20 }), line);
const sliders = (page) => page.getByRole("region", { name: "Joints" }).getByRole("slider").count();

for (const [name, file] of found) {
  test(`${name}: joints listed, pixels seen, a handle dragged`, async () => {
    await shown(file, async (page, server) => {
      const info = await server.call("/robot_info");
      const moving = info.joints.filter((j) => !j.mimic);
      await until("all joints are listed", async () => (await sliders(page)) === moving.length);
      const limbs = await page.locator("h3[data-limb]").count();
      assert.ok(limbs >= 1 && limbs <= moving.length, `${limbs} limbs`);
      await until("the robot is seen", async () => coloured(await look(page), dark) > 400);
      await until("the floor is seen before it", async () => (await floor(page)) > 60);
      if (info.missing_meshes.length > 0) await page.getByRole("button", { name: "Meshes that are missing" }).or(page.getByText(`${info.missing_meshes.length} mesh`)).first().waitFor();
      // a slider first, away from the singularity that many have at zero; then a handle
      for (const j of moving.slice(0, 8)) {
        const q = j.has_limits ? j.lower + 0.55 * (j.upper - j.lower) : 0.2;
        await server.call("/joints_virtual_set", { joints: { name: [j.name], position: [q] } });
      }
      const before = await server.still();
      await button(page, "Reset view").click(); // all of it is in the picture again
      const grips = page.locator(".grip[aria-label^='Handle of']");
      await until("there is a handle", async () => (await grips.count()) > 0);
      const count = await grips.count();
      const ways = [[7, -9], [-7, 9], [7, 9], [-7, -9]]; // a limb that is stretched can be pushed, not pulled
      await until("a handle was dragged", async () => {
        const [dx, dy] = ways[0];
        ways.push(ways.shift());
        for (let i = 0; i < Math.min(count, 12); i++) {
          await drag(page, grips.nth(i), dx, dy, 3);
          const now = await server.joints();
          if (Object.keys(now).some((j) => Math.abs(now[j] - before[j]) > 1e-3)) return true;
        }
        return false;
      });
    });
  });
}

test("a mesh of each format is drawn; one that is missing shows its collision shape and is named", async () => {
  await shown(join(own, "formats/formats.urdf"), async (page) => {
    await page.getByText("1 mesh missing").waitFor();
    await button(page, "View from the front").click();
    const magenta = (r, g, b) => r > g + 50 && b > g + 50;
    const runs = async () => {
      const { data, width, height, channels } = await look(page);
      let [count, inside] = [0, false];
      for (let x = 0; x < width; x++) {
        let seen = 0;
        for (let y = 0; y < height; y++) {
          const i = (y * width + x) * channels;
          if (magenta(data[i], data[i + 1], data[i + 2])) seen++;
        }
        if (seen > 3 && !inside) count++;
        inside = seen > 3;
      }
      return count;
    };
    await until("five boxes are seen", async () => {
      const count = await runs();
      if (count !== 5) throw new Error(`${count} are`);
      return true;
    });
    await page.getByText("1 mesh missing").click();
    const sheet = page.getByRole("dialog", { name: "Meshes that are missing" });
    await sheet.getByText("meshes/gone.stl").waitFor();
    await sheet.getByText("--package-path").waitFor();
    await sheet.getByText(/formats$/).first().waitFor();
  });
});

test("an arm is spoken of as an arm: no hoof, balance or mirror; branches have torque of their own", async () => {
  await shown("arm6", async (page) => {
    await until("its joints are listed", async () => (await sliders(page)) > 5);
    assert.equal(await page.getByText(/hoof|Mirror left|Balance/i).count(), 0);
  });
  await shown(join(own, "formats/formats.urdf"), async (page, server) => {
    await enter(page, "slide_obj value", 0.05);
    await server.reaches("slide_obj", 0.05, 1e-6);
    const limp = async () => (await server.state()).limp.join();
    await page.getByRole("button", { name: /^Servos of .*obj/ }).click();
    await until("the branch is limp", async () => (await limp()) === "slide_obj");
    await page.getByLabel("Servo state").getByText("partially on").waitFor(); // a button does what it shows
    await page.getByRole("button", { name: /^Servos of .*obj/ }).click();
    await until("it is held", async () => (await limp()) === "");
  });
});

test("a robot of one link, and names that are script", async () => {
  for (const name of ["empty", "hostile"]) {
    const server = await Server.start({ args: ["--robot", join(own, "odd", `${name}.urdf`)] });
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
      const page = await context.newPage();
      const trouble = [];
      page.on("pageerror", (e) => trouble.push(e.message));
      page.on("dialog", (d) => trouble.push(d.message()));
      await page.goto(server.url);
      await page.getByText("connected", { exact: true }).waitFor();
      await until(`${name} is seen`, async () => coloured(await look(page), dark) > 60);
      if (name === "empty") await page.getByText("This robot has no joint that moves.").waitFor();
      else await until("its joint is listed", async () => (await sliders(page)) === 1);
      assert.deepEqual(trouble, []);
      await context.close();
    } finally {
      await server.close();
    }
  }
});
