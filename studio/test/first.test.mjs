// The first view: everything is there, named, reached by keyboard, soon, and on a
// tablet.
import assert from "node:assert/strict";
import { button, coloured, connected, file, given, open, picture, studio, table, tooltips, until } from "./harness.mjs";
import { watch } from "./watch.mjs";

const s = studio({ args: ["--with-real-sim"] }); // the usual pair

const agreed = [
  "Add pose from virtual", "Add pose from real", "Set virtual pose", "Execute virtual", "Execute real", "Execute virtual backward",
  "Execute real backward", "Stop", "Pause/Resume", "Turn all servos on/off", "Turn all trajectory servos on/off", "Reverse direction",
  "Apply scale", "Undo", "Redo", "Trajectory setup…", "Add event…", "File ▾",
];
const files = ["New", "Load trajectory…", "Save trajectory…", "Duplicate…", "Delete…", "Import…", "Export…", "Export goal…"];

// robot counts the pixels of the mane, which nothing else of the view has.
const robot = async (page) => coloured(await picture(page, page.locator(".view canvas")), (r, g, b) => g > r + 40 && b > r + 40);

for (const [width, height, colorScheme] of [[1280, 720, "light"], [1024, 768, "dark"], [2560, 1440, "light"]]) {
  s.test(`all controls are seen and named at ${width}×${height}, ${colorScheme}`, async (page) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    for (const name of agreed) {
      const b = button(page, name);
      assert.equal(await b.count(), 1, `${name}: ${await b.count()} buttons`);
      const box = await b.boundingBox();
      assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${name} is out of view`);
    }
    await page.getByRole("slider", { name: "Speed scale", exact: true }).waitFor();
    await button(page, "File ▾").click();
    for (const name of files) {
      const box = await page.getByRole("menuitem", { name, exact: true }).boundingBox();
      assert.ok(box && box.y + box.height <= height, `${name} is out of view`);
    }
    await page.keyboard.press("Escape");
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number));
    assert.equal(Math.max(...paper) < 100, colorScheme === "dark", `${paper}`);
    await page.getByRole("tab", { name: "Library" }).click();
    const wrong = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, [role=button]")].flatMap((e) => {
        const name = e.getAttribute("aria-label") || [...(e.labels ?? [])].map((l) => l.textContent).join("") || e.textContent || "";
        if (name.trim() === "") return [`no name: ${e.outerHTML.slice(0, 80)}`];
        const box = e.getBoundingClientRect();
        if (box.width === 0 || e.closest(".library, .joints, .cube") || e.classList.contains("grip")) return []; // hidden, scrolled, or seen through
        const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return top && (e.contains(top) || top.contains(e)) ? [] : [`covered: ${name}`];
      }),
    );
    assert.deepEqual(wrong, []);
    // nothing is written too small to read, and everything that can be pressed says what it does
    const small = await page.evaluate(() =>
      [...document.querySelectorAll("body *")].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) && parseFloat(getComputedStyle(e).fontSize) < 12).map((e) => `${e.tagName} ${e.textContent.slice(0, 30)}`),
    );
    assert.deepEqual(small, []);
    const letters = await page.evaluate(() => parseFloat(getComputedStyle(document.body).fontSize));
    assert.ok(width < 2000 ? letters >= 13 : letters > 17, `letters of ${letters} px`);
    const mute = await page.evaluate(() => [...document.querySelectorAll("button, input, select")].filter((e) => !e.hidden && !e.closest("[title]") && !e.classList.contains("grip")).map((e) => e.outerHTML.slice(0, 100)));
    assert.deepEqual(mute, []);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme: "light" });
  });
}

s.test("what is disabled says why; dialogs say what everything does", async (page) => {
  const check = (where, least) => tooltips(page, where, least);
  await check("an empty page", 15);
  await page.getByRole("tab", { name: "Library" }).click();
  await check("the library", 10);
  await page.getByRole("tab", { name: "Joints" }).click();
  await page.getByRole("tab", { name: "Controllers" }).click();
  await check("controllers", 8);
  await page.getByRole("tab", { name: "Key points" }).click();
  for (const [name, least] of [["Trajectory setup…", 2], ["Add event…", 0]]) {
    await button(page, name).click();
    await check(name, least);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  for (const [name, least] of [["Load trajectory…", 1], ["Save trajectory…", 1]]) {
    await file(page, name);
    await check(name, least);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await button(page, "File ▾").click();
  await check("the menu of files", 2);
  await page.keyboard.press("Escape");
});

s.test("the first view, three times", async (_, server, t) => {
  const took = [];
  for (let i = 0; i < 3; i++) {
    const fresh = await s.browser.newContext({ viewport: { width: 1280, height: 720 } }); // nothing is kept from before
    await fresh.addInitScript(watch);
    const view = await fresh.newPage();
    await view.goto(server.url);
    took.push(await until("the robot is drawn", () => view.evaluate(() => window.robotSeen)));
    if (i === 0) await until("the robot is seen", async () => (await robot(view)) > 100);
    await fresh.close();
  }
  t.diagnostic(`first view: robot drawn ${took.map(Math.round).join(", ")} ms after navigation began`);
});

s.test("everything is inside: nothing is fetched from elsewhere, nothing is missing", async (page, server) => {
  const asked = [];
  const hear = (r) => asked.push(r.url());
  page.on("request", hear);
  await page.reload();
  await connected(page);
  page.off("request", hear);
  const hosts = new Set(asked.filter((u) => !/^(data|blob):/.test(u)).map((u) => new URL(u).host));
  assert.deepEqual([...hosts], [server.address]);
  const icon = await page.evaluate(() => document.querySelector("link[rel~=icon]")?.href ?? "/favicon.ico");
  for (const path of [icon, new URL("/favicon.ico", server.url).href]) assert.equal((await fetch(path)).status, 200, path);
});

s.test("everything is reached by Tab", async (page) => {
  await given(page, table([[0, { joint52: 0 }], [1, { joint52: 0.2 }]], { events: [[0.5, "voice/say", "hello"]] }));
  await page.locator("tr[data-row='1'] td.at").click(); // so that what needs a row is enabled
  await page.getByLabel("Filter joints").fill("joint52");
  const name = `(e) => e.getAttribute("aria-label") || [...(e.labels ?? [])].map((l) => l.textContent.trim()).join("") || e.textContent.trim()`;
  const wanted = await page.evaluate(`[...document.querySelectorAll("button, input, select, [role=button], [tabindex='0']")].filter((e) => !e.disabled && !e.hidden && e.getAttribute("tabindex") !== "-1").map(${name})`);
  await page.evaluate(() => document.activeElement?.blur());
  const reached = new Set();
  for (let i = 0; i < wanted.length + 20; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(`(${name})(document.activeElement)`));
  }
  assert.deepEqual(wanted.filter((w) => !reached.has(w)), []);
});

s.test("on a phone everything is in one column, and Stop in sight", async (page, server) => {
  const view = await open(s.browser, server, { viewport: { width: 420, height: 800 }, hasTouch: true });
  for (const name of agreed) {
    const b = button(view, name);
    if (!/^(Stop|Pause)/.test(name)) await b.evaluate((e) => e.scrollIntoView({ block: "center" }));
    const free = await b.evaluate((e) => {
      const { left, right, top, bottom } = e.getBoundingClientRect();
      const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight && !!there && (e.contains(there) || there.contains(e));
    });
    assert.ok(free, `${name} is covered or out of view`);
  }
  assert.deepEqual(view.trouble, []);
  await view.context().close();
});

s.test("a tablet in portrait has room for everything", async (page, server) => {
  const view = await open(s.browser, server, { viewport: { width: 820, height: 1180 }, hasTouch: true });
  for (const name of agreed) {
    const box = await button(view, name).boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 820 && box.y + box.height <= 1180, `${name} is out of view`);
  }
  // a sheet that opens over the page leaves Stop free
  await given(view, table([[0, { joint52: 0, tail_joint1: 0 }], [0.2, { joint52: 0.8, tail_joint1: 0.9 }]]));
  await view.getByText(/^\d+ findings?$/).first().tap();
  await view.getByRole("dialog", { name: "What would be broken" }).getByRole("listitem").first().waitFor();
  await until("Stop is in sight", () => view.evaluate(() => {
    const stop = document.querySelector("[data-stop]");
    const { left, right, top, bottom } = stop.getBoundingClientRect();
    return [0.02, 0.25, 0.5, 0.75, 0.98].every((x) => [0.1, 0.5, 0.9].every((y) => stop.contains(document.elementFromPoint(left + x * (right - left), top + y * (bottom - top)))));
  }));
  await view.keyboard.press("Escape");
  await button(view, "Add pose from virtual").tap();
  await view.locator("tr[data-row='2']").waitFor();
  assert.deepEqual(view.trouble, []);
  await view.context().close();
});
