// Robots of other names: the first takes the part of the virtual robot, the second that of
// the real one.
import assert from "node:assert/strict";
import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { button, given, studio, table, until } from "./harness.mjs";

const folder = mkdtempSync(join(tmpdir(), "poise-names-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "poise.yaml");
writeFileSync(file, "robots:\n  - {name: left}\n  - {name: right, settings: {placed_at_once: false, lag: 0.02}}\n  - {name: third}\n");

const s = studio({ args: ["--config", file], blind: true });

s.test("the second robot is played by its own name, the others stay", async (page, server) => {
  await given(page, table([[0, { joint52: 0 }], [0.5, { joint52: 0.2 }]]));
  const rest = await server.joints();
  await button(page, "Execute real").click();
  const right = await server.hear("/right/joint_states_real");
  await until("the second robot is there", async () => {
    const m = await right.next();
    return Math.abs(m.position[m.name.indexOf("joint52")] - 0.2) < 0.01;
  });
  assert.deepEqual(await server.joints(), rest);
});
