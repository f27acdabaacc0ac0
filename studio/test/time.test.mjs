// A robot with mass: the page says that time is simulated, how fast it goes and when it
// stands still.
import assert from "node:assert/strict";
import { letGo, studio, until } from "./harness.mjs";

const s = studio({ args: ["--physics"], blind: true });

s.test("simulated time is told, also when it stands still", async (page, server) => {
  const time = page.getByLabel("Time", { exact: true });
  await time.getByText(/^simulated time/).waitFor();
  assert.ok((await server.call("/robot_info")).simulated_time);
  assert.ok((await server.call("/physics/pause")).success);
  await time.getByText("simulated time, stands still").waitFor();
  assert.ok((await server.call("/physics/resume")).success);
  await until("it goes on", async () => !/stands still/.test(await time.textContent()));
});

s.test("taking the torque of a robot with mass that stands asks, and says that it falls", async (page, server) => {
  await page.getByLabel("Turn all servos on/off").or(page.getByRole("button", { name: "Turn all servos on/off" })).first().click();
  await page.getByRole("dialog", { name: "Take the torque?" }).getByText(/goes limp/).waitFor();
  assert.equal((await server.state()).power, "enabled");
  await letGo(page, /goes limp/);
  await until("it has no torque", async () => (await server.state()).power !== "enabled");
  await page.getByLabel("Limp virtual").waitFor();
});
