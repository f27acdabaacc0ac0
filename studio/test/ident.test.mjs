// Identification: what is in its way is told before anything moves, the motion shows how far it is and
// can be ended, and the verdict is seen with its curves. What is in force is asked of the server.
import assert from "node:assert/strict";
import { button, field, studio, until } from "./harness.mjs";

const s = studio({ args: ["--physics"] });

const show = async (page, ...limbs) => {
  await page.getByRole("tab", { name: "Ident" }).click();
  const group = page.getByRole("group", { name: "Limbs to identify" });
  await group.waitFor();
  for (const limb of limbs) await group.getByRole("button", { name: limb, exact: true }).click();
};
const long = { timeout: 600_000 }; // planning and fitting take a processor

s.test("legs that carry are refused, a limb is looked at, cancelled on the way, and identified", async (page, server) => {
  await show(page, "leg1");
  await button(page, "Pre-flight").click();
  await page.getByRole("alert", { name: "Why not" }).getByText(/stands on it: clamp the base/).waitFor(long);
  await show(page, "leg1", "tail"); // the one no longer, but the other
  await field(page, "Excitation, s").fill("10");
  await button(page, "Pre-flight").click();
  await page.getByRole("status", { name: "Pre-flight" }).getByText(/All \d+ checks passed/).waitFor(long);
  assert.equal(await page.getByRole("table", { name: "Planned motion" }).locator("tbody tr").count(), 3);

  const heard = await server.hear("/servo_models_state"); // latched
  await until("the models in force are known", async () => heard.all.length > 0);
  const before = heard.all.at(-1).version;
  await field(page, "Excitation, s").fill("200"); // it is not over before a slow page has cancelled it
  await button(page, "Identify").click();
  await page.getByRole("status").getByText(/for the delay|excitation/).waitFor(long);
  await page.getByLabel("Progress of the identification").waitFor();
  await button(page, "Cancel").click();
  await page.getByText("cancelled: the robot came to rest").waitFor(long);
  await field(page, "Excitation, s").fill("10");
  await server.call("/physics/set_speed", { speed: 10 });
  await button(page, "Identify").click();
  const verdicts = page.getByRole("table", { name: "Verdicts" });
  await verdicts.waitFor(long);
  const texts = await verdicts.locator(".verdict").allTextContents();
  assert.equal(texts.length, 3);
  for (const text of texts) assert.match(text, /^(in force|accepted|not accepted: [a-z_]+)/);
  const curves = page.getByRole("figure", { name: /^Curves of tail_joint1/ });
  assert.equal(await curves.locator("polyline").count(), 4); // goal, position and model, and what is left
  for (const line of await curves.locator("polyline").all()) assert.ok((await line.getAttribute("points")).split(" ").length > 100);
  await verdicts.getByRole("button").nth(2).click(); // another joint's
  await page.getByRole("figure", { name: /^Curves of tail_joint3/ }).waitFor();
  if (process.env.POISE_SHOT) await page.screenshot({ path: process.env.POISE_SHOT });
  if (texts.includes("in force")) await until("the models are in force on the server", async () => heard.all.at(-1).version > before);
  else assert.equal(heard.all.at(-1).version, before);
});
