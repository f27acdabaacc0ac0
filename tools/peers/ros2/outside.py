"""An external controller, by the messages of the original stack, on Cyclone DDS: it asks for the gripper of
arm6, answers the rounds, leads the joint, and is pushed aside by a goal with a higher priority. It prints what it has
seen as JSON lines, and exits with 1 at the first thing that is not as it should be.

    python outside.py
"""
import json
import os
import time
from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int8, int64, sequence, uint8, uint32, uint64

import client as c

NAME, JOINT = "squeezer", "finger_left_joint"


@dataclass
class Request(IdlStruct, typename=c.named("resource_control_msgs/msg/ResourceRequest")):
    requester_name: str
    request_id: uint32
    resources: sequence[str]
    pri_operational: sequence[float32]
    pri_pending: sequence[float32]


@dataclass
class Assignment(IdlStruct, typename=c.named("resource_control_msgs/msg/ResourceAssignment")):
    request_ids: sequence[uint32]
    resources: sequence[str]
    owners: sequence[str]


@dataclass
class State(IdlStruct, typename=c.named("resource_control_msgs/msg/ResourceRequesterState")):
    requester_name: str
    request_id: uint32
    is_operational: bool


@dataclass
class GripperCommand(IdlStruct, typename=c.named("control_msgs/msg/GripperCommand")):
    position: float64
    max_effort: float64


@dataclass
class GripperResult(IdlStruct, typename=c.named("control_msgs/action/GripperCommand_Result")):
    position: float64
    effort: float64
    stalled: bool
    reached_goal: bool


@dataclass
class SendRequest(IdlStruct, typename=c.named("control_msgs/action/GripperCommand_SendGoal_Request")):
    guid: uint64
    count: int64
    goal_id: array[uint8, 16]
    goal: GripperCommand


@dataclass
class SendResponse(IdlStruct, typename=c.named("control_msgs/action/GripperCommand_SendGoal_Response")):
    guid: uint64
    count: int64
    accepted: bool
    stamp: c.Time


@dataclass
class ResultRequest(IdlStruct, typename=c.named("control_msgs/action/GripperCommand_GetResult_Request")):
    guid: uint64
    count: int64
    goal_id: array[uint8, 16]


@dataclass
class ResultResponse(IdlStruct, typename=c.named("control_msgs/action/GripperCommand_GetResult_Response")):
    guid: uint64
    count: int64
    status: int8
    result: GripperResult


class Controller:
    def __init__(self, node):
        self.states = node.writer("rt/resource_requester_state", State)
        self.requests = node.writer("rt/resource_request", Request)
        self.out = node.writer(f"rt/controllers/{NAME}/ref_joints", c.JointState)
        self.assignments = node.reader("rt/resource_assignment", Assignment)
        self.measured = node.reader("rt/joint_states", c.JointState, depth=1)
        self.owned, self.answered, self.position = [], 1, None

    def spin(self):
        """Every assignment with ids of requests is to be answered: go on with it, or quit."""
        for m in self.assignments.take(N=100):
            if not m.sample_info.valid_data:
                continue
            self.owned = [r for r, owner in zip(m.resources, m.owners) if owner == NAME]
            for number in m.request_ids:
                self.answered = number
                self.states.write(State(NAME, number, bool(self.owned)))
        for m in self.measured.take(N=1):
            if m.sample_info.valid_data and JOINT in m.name:
                self.position = m.position[m.name.index(JOINT)]

    def lead(self, target):
        self.spin()
        now = time.time()
        self.out.write(c.JointState(c.Header(c.Time(int(now), int(now % 1 * 1e9)), ""), [JOINT], [target], [], []))
        self.states.write(State(NAME, self.answered, True))
        time.sleep(0.01)
        return self.position is not None and abs(self.position - target) < 1e-3


def main():
    node = c.Client()
    me = Controller(node)
    c.until("the topics to be read", lambda: me.states.get_matched_subscriptions() and me.requests.get_matched_subscriptions() and me.assignments.get_matched_publications())
    asked = [0, 0.0]  # the last request, and when it was: a busy machine may be too slow for a round, and then asks again

    def own():
        if time.monotonic() > asked[1] + 1:
            asked[:] = asked[0] + 1, time.monotonic()
            me.requests.write(Request(NAME, asked[0], ["gripper"], [], []))
        me.spin()
        return me.owned

    c.until("the gripper to be assigned", own)
    c.check(me.owned == ["gripper"], f"it owns {me.owned}")
    c.until("its reference to be read", me.out.get_matched_subscriptions)
    c.until("the joint to follow", lambda: me.lead(0.02))
    print(json.dumps({"owned": me.owned, "position": me.position}), flush=True)

    at = "/gripper_cmd/_action/"
    goals, results = c.Service(node, at + "send_goal", SendRequest, SendResponse), c.Service(node, at + "get_result", ResultRequest, ResultResponse)
    goal = list(os.urandom(16))
    sent = goals.send(goal, GripperCommand(0.005, 10.0))
    answer = c.until("an answer to the goal", lambda: (me.spin(), goals.look(sent))[1])
    c.check(answer.accepted, "the goal of the gripper is not accepted")
    wanted = results.send(goal)
    ended = c.until("the end of the goal", lambda: (me.spin(), results.look(wanted))[1])
    c.check(ended.status == 4 and ended.result.reached_goal and abs(ended.result.position - 0.005) < 1e-3, f"the goal ends by {ended}")
    c.check("gripper" not in me.owned, "the controller still owns the gripper that a goal has taken")
    print(json.dumps({"gripper": ended.result.position, "status": ended.status}), flush=True)


main()
