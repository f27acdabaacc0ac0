// Several browsers on one server: each sees who does what, and a motion of somebody else is
// not taken over without a question.
import assert from "node:assert/strict";
import { button, enter, given, open, studio, table, told, until } from "./harness.mjs";

const s = studio({ args: ["--with-real-sim"], blind: true });

const goals = async (server, robot) => (await server.state(robot)).goals;
const others = (page) => page.getByLabel("Others", { exact: true });
const asks = (page) => page.getByRole("dialog", { name: "Take over?" });

// company opens a second page, and gives both names.
async function company(one, server) {
  const two = await open(s.browser, server);
  for (const [page, name] of [[one, "Ann"], [two, "Bob"]]) {
    await page.getByLabel("People", { exact: true }).click();
    await enter(page, "Your name", name);
    await page.keyboard.press("Escape");
  }
  await one.getByLabel("People", { exact: true }).getByText("you and Bob").waitFor();
  await two.getByLabel("People", { exact: true }).getByText("you and Ann").waitFor();
  return two;
}

s.test("who does what is seen, and Execute asks before it takes over", async (ann, server) => {
  const bob = await company(ann, server);
  try {
    const sweep = table([[0, { joint52: 0 }], [4, { joint52: 0.6 }]]);
    await given(ann, sweep, "sweep");
    await given(bob, table([[0, { joint52: 0 }], [2, { joint52: -0.3 }]]), "back");
    const hurry = await server.slowly("real");
    await button(ann, "Execute real").click();
    const [first] = await until("a goal runs", async () => ((await goals(server, "real")).length > 0 ? goals(server, "real") : false));
    await others(bob).getByText(/real: Ann plays sweep/).waitFor();
    assert.equal(await others(ann).count(), 0); // her own motion is told beside its button

    // asked, and answered with no: nothing is sent
    bob.goals.length = 0;
    await button(bob, "Execute real").click();
    await asks(bob).getByText(/Ann plays sweep.* on the real robot/).waitFor();
    await button(bob, "Cancel").click();
    assert.deepEqual(bob.goals, []);
    assert.deepEqual((await goals(server, "real")).map((g) => g.id), [first.id]);

    // the virtual robot is free: no question
    await button(bob, "Execute virtual").click();
    await server.reaches("joint52", -0.3);
    assert.equal(await asks(bob).count(), 0);

    // with yes it is taken over: the goal is another's, and she is told
    await button(bob, "Execute real").click();
    await button(bob, "Take over").click();
    const [taken] = await until("the goal is his", async () => {
      const now = await goals(server, "real");
      return now.length === 1 && now[0].client !== first.client && now;
    });
    assert.notEqual(taken.id, first.id);
    await told(ann, /cancelled|aborted/, "real");
    await others(ann).getByText(/real: Bob plays back/).waitFor();
    await hurry();
    await server.reaches("joint52", -0.3, 0.03, "real");
    await server.idle("real");
    // his own motion, and one that is over, are not asked about
    await button(bob, "Execute real backward").click();
    await server.reaches("joint52", 0, 0.03, "real");
    assert.equal(await asks(bob).count(), 0);
  } finally {
    await bob.context().close();
  }
  await ann.getByLabel("People", { exact: true }).getByText("only you").waitFor();
});

s.test("the library and named poses ask too; other limbs are free; who stopped is told", async (ann, server) => {
  const bob = await company(ann, server);
  try {
    await given(ann, table([[0, { joint52: 0 }], [4, { joint52: 0.6 }]]), "sweep");
    const hurry = await server.slowly();
    await button(ann, "Execute virtual").click();
    await until("a goal runs", async () => (await goals(server)).length === 1);
    await bob.getByLabel("Named pose", { exact: true }).selectOption("bow");
    await bob.getByLabel("Go to named pose", { exact: true }).click();
    await asks(bob).getByText(/Ann plays sweep/).waitFor();
    await button(bob, "Cancel").click();
    await bob.getByRole("tab", { name: "Library" }).click();
    await bob.getByLabel("Play shake_head", { exact: true }).click();
    await asks(bob).getByText(/Ann plays sweep/).waitFor();
    await button(bob, "Cancel").click();
    assert.equal((await goals(server)).length, 1);
    await bob.getByLabel("Play wag_tail", { exact: true }).click(); // the tail is not hers
    await until("both run", async () => (await goals(server)).length === 2);
    assert.equal(await asks(bob).count(), 0);
    await button(bob, "Stop").click();
    await ann.getByRole("region", { name: "Status" }).getByText(/Stopped by Bob/).waitFor();
    assert.ok((await server.state()).stopped);
    await hurry();
    assert.deepEqual(bob.trouble, []);
  } finally {
    await bob.context().close();
  }
});

s.test("a program that is no page is asked about by the name of its connection", async (page, server) => {
  await given(page, table([[0, { tail_joint1: 0 }], [2, { tail_joint1: 0.3 }]]), "tail");
  const hurry = await server.slowly();
  server.wire.socket.send(JSON.stringify({ op: "send_action_goal", id: "foreign", action: "/execute_motion", action_type: "poise_msgs/action/ExecuteMotion", args: { name: "wag_tail", speed: 1, approach: true } }));
  await until("its goal runs", async () => (await goals(server)).length === 1);
  await others(page).getByText(/another program \(client_\d+\) moves it/).waitFor();
  const before = (await goals(server))[0].id;
  await button(page, "Execute virtual").click();
  await asks(page).getByText(/another program/).waitFor();
  assert.equal((await goals(server))[0].id, before);
  await button(page, "Cancel").click();
  server.wire.socket.send(JSON.stringify({ op: "cancel_action_goal", id: "foreign", action: "/execute_motion" }));
  await hurry();
  await server.idle();
});
