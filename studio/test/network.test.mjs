// The Network tab: who else is in the ROS 2 network, what matches, and why something does not.
// Everything of DDS runs in a network namespace that the test makes, the browser included.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open, Server, until } from "./harness.mjs";

const inside = process.env.POISE_NETWORK_NAMESPACE;
const setup = 'ip link set lo up && ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo && exec "$@"';
const python = process.env.POISE_PYTHON;

if (!inside) {
  test("the network is seen", { timeout: 900_000 }, (t) => {
    const own = process.getuid() === 0 ? ["-n"] : ["-r", "-n"];
    const possible = spawnSync("unshare", [...own, "--", "sh", "-c", setup, "sh", "true"]).status === 0;
    const peer = python && spawnSync(python, ["-c", "import cyclonedds"]).status === 0;
    if (!possible || !peer) {
      assert.notEqual(process.env.CI, "true", `absent: ${possible ? "cyclonedds in POISE_PYTHON" : "a network namespace"}`);
      t.skip(`absent: ${possible ? "cyclonedds in POISE_PYTHON" : "a network namespace"}`);
      return;
    }
    const env = { ...process.env, POISE_NETWORK_NAMESPACE: "1" };
    delete env.NODE_TEST_CONTEXT;
    const run = spawnSync("unshare", [...own, "--", "sh", "-c", setup, "sh", process.execPath, "--test", "--test-reporter=tap", import.meta.filename], { env, encoding: "utf8" });
    assert.equal(run.status, 0, `${run.stdout}\n${run.stderr}`);
  });
} else {
  // echo is a participant on Cyclone DDS that reads and writes a text each
  const echo = (reads, writes) => spawn(python, [join(import.meta.dirname, "../../tools/peers/ros2/echo.py"), reads, writes, "transient"], { stdio: ["pipe", "ignore", "inherit"] });
  const seen = async (server) => (await (await fetch(`${server.url}network`)).json()).ros2;

  test("participants, matches, and why one failed", async () => {
    const server = await Server.start({ args: ["--robot", "arm6", "--ros2", "--ros-args", "-r", "__node:=arm"] });
    const browser = await launch();
    const peers = [];
    try {
      const page = await open(browser, server);
      await page.getByRole("tab", { name: "Network" }).click();
      const tab = page.getByLabel("Network", { exact: true });
      await tab.getByText("/arm").first().waitFor();
      assert.match(await tab.innerText(), /domain 0, ROS 2 Jazzy, on this machine alone/);
      await tab.getByText("No other participant is there.").waitFor();

      peers.push(echo("rt/robot_description", "rt/nothing_else"), echo("rt/joint_states", "rt/nothing_more"));
      await until("both are seen by the server", async () => (await seen(server)).participants.length === 2);
      const row = (name) => tab.getByRole("row", { name });
      await row(/^\/robot_description reads std_msgs\/msg\/String, reliable, transient local matched$/).waitFor();
      await row(/^\/joint_states reads .* no: its type is std_msgs::msg::dds_::String_, and that of the other side is sensor_msgs::msg::dds_::JointState_$/).waitFor();
      assert.match(await tab.innerText(), /Cyclone DDS, 127\.0\.0\.1/);
      if (process.env.POISE_PICTURES) await page.screenshot({ path: join(process.env.POISE_PICTURES, "network.png") });

      const matched = (await seen(server)).participants.flatMap((p) => p.endpoints).filter((e) => e.matched).map((e) => e.name);
      assert.deepEqual([...new Set(matched)].sort(), ["/robot_description"]);
      for (const p of peers) p.stdin.end();
      await tab.getByText("No other participant is there.").waitFor();
    } finally {
      for (const p of peers) p.kill();
      await browser.close();
      await server.close();
    }
  });
}
