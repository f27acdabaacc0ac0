"""A robot of ROS 2 on Cyclone DDS, as rmw_cyclonedds speaks it, for Poise as its client: it
publishes /joint_states at 1 kHz, counts /joint_commands, keeps /robot_description for those who come
late, and serves /home (std_srvs/SetBool) and the action /arm/follow_joint_trajectory (Jazzy).

A goal whose first joint is called "refuse" is refused; others give feedback and end after the time of
their last point, or when they are cancelled. It ends with its standard input.

    python robot.py
"""
import sys
import threading
import time
from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int64, uint64

import client as c


@dataclass
class HomeRequest(IdlStruct, typename=c.named("std_srvs/srv/SetBool_Request")):
    guid: uint64
    count: int64
    data: bool


@dataclass
class HomeResponse(IdlStruct, typename=c.named("std_srvs/srv/SetBool_Response")):
    guid: uint64
    count: int64
    success: bool
    message: str


class Served:
    """A service: its requests wait in a reader, answers are written as they come."""

    def __init__(self, node, name, request, response):
        self.requests, self.answers, self.response = node.reader("rq" + name + "Request", request), node.writer("rr" + name + "Reply", response), response

    def take(self):
        return [q for q in self.requests.take(N=100) if hasattr(q, "guid")]

    def answer(self, q, *values):
        self.answers.write(self.response(q.guid, q.count, *values))


def main():
    node = c.Client()
    zero = c.Time(0, 0)
    states = node.writer("rt/joint_states", c.JointState, depth=20000)  # a busy machine may read late
    commands = node.reader("rt/joint_commands", c.JointState, depth=10000)
    description = node.writer("rt/robot_description", c.String, durability=c.LATCHED, depth=1)
    description.write(c.String("<robot/>"))
    home = Served(node, "/home", HomeRequest, HomeResponse)
    at = "/arm/follow_joint_trajectory/_action/"
    send = Served(node, at + "send_goal", c.SendGoalRequest, c.SendGoalResponse)
    result = Served(node, at + "get_result", c.GetResultRequest, c.GetResultResponse)
    cancel = Served(node, at + "cancel_goal", c.CancelGoalRequest, c.CancelGoalResponse)
    feedback = node.writer("rt" + at + "feedback", c.FeedbackMessage)
    status = node.writer("rt" + at + "status", c.GoalStatusArray, durability=c.LATCHED, depth=1)
    running = [True]
    threading.Thread(target=lambda: (sys.stdin.read(), running.clear()), daemon=True).start()

    goals, waiting = {}, []  # goals by id: [names, end, status]
    heard, jumps, last, number = 0, 0, -1, 0

    def tell():
        status.write(c.GoalStatusArray([c.GoalStatus(c.GoalInfo(list(i), zero), g[2]) for i, g in goals.items()]))

    print("ready", flush=True)
    began, told = time.monotonic(), 0.0
    while running:
        now = time.monotonic()
        while number < (now - began) * 1000:
            states.write(c.JointState(c.Header(c.Time(number, 0), ""), ["knee"], [0.5], [], []))
            number += 1
        for m in commands.take(N=10000):
            if isinstance(m, c.JointState):
                heard += 1
                jumps += m.header.stamp.sec != last + 1
                last = m.header.stamp.sec
        for q in home.take():
            home.answer(q, q.data, f"{heard} commands, {jumps} jumps")
        for q in send.take():
            names = q.goal.trajectory.joint_names
            accepted = not names or names[0] != "refuse"
            if accepted:
                last_point = q.goal.trajectory.points[-1].time_from_start
                goals[bytes(q.goal_id)] = [names, now + last_point.sec + last_point.nanosec / 1e9, 2]
                tell()
            send.answer(q, accepted, zero)
        for q in cancel.take():
            which = bytes(q.goal_info.goal_id)
            ends = [i for i, g in goals.items() if g[2] == 2 and which in (i, bytes(16))]
            for i in ends:
                goals[i][2] = 5
            tell()
            cancel.answer(q, 0 if ends or which == bytes(16) else 2, [c.GoalInfo(list(i), zero) for i in ends])
        waiting += result.take()
        if now - told > 0.02:
            told = now
            nothing = c.JointTrajectoryPoint([], [], [], [], c.Duration(0, 0))
            still = c.MultiDOFPoint([], [], [], c.Duration(0, 0))
            for i, g in goals.items():
                if g[2] == 2:
                    feedback.write(c.FeedbackMessage(list(i), c.Feedback(c.Header(zero, ""), g[0], nothing, nothing, nothing, [], still, still, still)))
                    if now > g[1]:
                        g[2] = 4
                        tell()
        for q in list(waiting):
            g = goals.get(bytes(q.goal_id))
            if g is None or g[2] > 3:
                result.answer(q, g[2] if g else 0, c.Result(0, ""))
                waiting.remove(q)
        time.sleep(0.0005)


if __name__ == "__main__":
    main()
