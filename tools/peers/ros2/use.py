"""A client of the matrix on Cyclone DDS, as rmw_cyclonedds speaks it, of a robot that Poise serves
(README.md says what it does). At the first thing that is not as it should be it exits with 1.

    python use.py
"""
import os
import sys
import time

import client as c
import robot


def again(service, *fields):
    """Calls until there is an answer: a server that has just come may not know the caller."""
    for _ in range(30):
        number = service.send(*fields)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            if answer := service.look(number):
                return answer
            time.sleep(0.002)
    c.check(False, "not within 60 s: an answer of a server that came again")


def use(action):
    """Sends a goal that ends, as its state tells one who comes after it, one that is refused and one that is cancelled."""
    one = list(os.urandom(16))
    c.check(again(action.goals, one, c.trajectory(["knee"], [0.1], [1.0])).accepted, "a goal is not accepted")
    ended = again(action.results, one)
    c.check(ended.status == 4, f"a goal ends by {ended}")
    c.until("feedback", lambda: [f for f in action.feedback.take(N=1000) if f.sample_info.valid_data and list(f.goal_id) == one])
    late = c.Client().reader("rt/arm/follow_joint_trajectory/_action/status", c.GoalStatusArray, durability=c.LATCHED, depth=1)
    seen = []

    def told():
        seen.extend(s.status for m in late.take(N=10) if m.sample_info.valid_data for s in m.status_list if list(s.goal_info.goal_id) == one)
        return seen

    c.check(c.until("the state of a goal that is over, for one who comes late", told) == [4], f"late the goal has the states {seen}")
    del late
    _, accepted = action.send(c.trajectory(["refuse"], [0.0], [1.0]))
    c.check(not accepted, "a goal that is refused is accepted")
    two, accepted = action.send(c.trajectory(["knee"], [0.1], [600.0]))
    c.check(accepted, "a second goal is not accepted")
    asked = action.results.send(two)
    cancelled = again(action.cancels, c.GoalInfo(two, c.Time(0, 0)))
    # it may have ended by a request whose answer came late
    c.check(cancelled.return_code == 3 or cancelled.return_code == 0 and len(cancelled.goals_canceling) == 1, f"cancel answers {cancelled}")
    ended = action.results.answer(asked)
    c.check(ended.status == 5, f"a cancelled goal ends by {ended}")


def main():
    node = c.Client()
    states = node.reader("rt/joint_states", c.JointState, depth=20000)
    seen, jumps = [], []

    def count():
        for s in states.take(N=20000):
            if not s.sample_info.valid_data:
                continue
            if seen and s.header.stamp.sec != seen[-1] + 1:
                # until the server knows this reader it hears what goes to one at the same address that was killed
                jumps.append((seen[-1], s.header.stamp.sec))
                c.check(len(jumps) == 1, f"states are missing: {jumps}")
                seen.clear()
            seen.append(s.header.stamp.sec)
        return len(seen) >= 3000

    c.until("3000 states", count)
    del states
    late = node.reader("rt/robot_description", c.String, durability=c.LATCHED, depth=1)
    c.check(c.until("what is latched", lambda: late.take(N=1))[0].data == "<robot/>", "another text is latched")

    home = c.Service(node, "/home", robot.HomeRequest, robot.HomeResponse)
    action = c.Action(node, "/arm/follow_joint_trajectory")
    commands = node.writer("rt/joint_commands", c.JointState, depth=20000)
    c.until("a reader of commands", commands.get_matched_subscriptions)
    began = time.monotonic()
    for i in range(1000):
        time.sleep(max(0, began + i / 1000 - time.monotonic()))
        commands.write(c.JointState(c.Header(c.Time(i, 0), ""), ["knee"], [0.25], [], []))
    c.until("1000 commands, 0 jumps", lambda: again(home, True).message == "1000 commands, 0 jumps")

    line = "again"
    while line == "again":
        again(home, True)
        use(action)
        print("done", flush=True)
        line = sys.stdin.readline().strip()


main()
