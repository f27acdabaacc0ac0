"""A ROS 2 client on Cyclone DDS, as rmw_cyclonedds speaks it, that uses a robot of Poise:
topics, services and actions of poise serve --ros2. It prints what it sees as JSON lines, and
exits with 1 at the first thing that is not as it should be. Types are Jazzy's.

    python client.py [PREFIX]     PREFIX is before all names: a namespace of the node
"""
import json
import os
import sys
import time
from dataclasses import dataclass

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int8, int32, int64, sequence, uint8, uint16, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

PATIENCE = 60  # s, for a busy machine; whatever takes so long hangs


def named(name):
    package, section, short = name.split("/")
    return f"{package}::{section}::dds_::{short}_"


@dataclass
class Time(IdlStruct, typename=named("builtin_interfaces/msg/Time")):
    sec: int32
    nanosec: uint32


@dataclass
class Duration(IdlStruct, typename=named("builtin_interfaces/msg/Duration")):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename=named("std_msgs/msg/Header")):
    stamp: Time
    frame_id: str


@dataclass
class String(IdlStruct, typename=named("std_msgs/msg/String")):
    data: str


@dataclass
class JointState(IdlStruct, typename=named("sensor_msgs/msg/JointState")):
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


@dataclass
class Vector3(IdlStruct, typename=named("geometry_msgs/msg/Vector3")):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename=named("geometry_msgs/msg/Quaternion")):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Transform(IdlStruct, typename=named("geometry_msgs/msg/Transform")):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename=named("geometry_msgs/msg/TransformStamped")):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename=named("tf2_msgs/msg/TFMessage")):
    transforms: sequence[TransformStamped]


@dataclass
class Twist(IdlStruct, typename=named("geometry_msgs/msg/Twist")):
    linear: Vector3
    angular: Vector3


@dataclass
class JointTrajectoryPoint(IdlStruct, typename=named("trajectory_msgs/msg/JointTrajectoryPoint")):
    positions: sequence[float64]
    velocities: sequence[float64]
    accelerations: sequence[float64]
    effort: sequence[float64]
    time_from_start: Duration


@dataclass
class JointTrajectory(IdlStruct, typename=named("trajectory_msgs/msg/JointTrajectory")):
    header: Header
    joint_names: sequence[str]
    points: sequence[JointTrajectoryPoint]


@dataclass
class MultiDOFPoint(IdlStruct, typename=named("trajectory_msgs/msg/MultiDOFJointTrajectoryPoint")):
    transforms: sequence[Transform]
    velocities: sequence[Twist]
    accelerations: sequence[Twist]
    time_from_start: Duration


@dataclass
class MultiDOFTrajectory(IdlStruct, typename=named("trajectory_msgs/msg/MultiDOFJointTrajectory")):
    header: Header
    joint_names: sequence[str]
    points: sequence[MultiDOFPoint]


@dataclass
class JointTolerance(IdlStruct, typename=named("control_msgs/msg/JointTolerance")):
    name: str
    position: float64
    velocity: float64
    acceleration: float64


@dataclass
class JointComponentTolerance(IdlStruct, typename=named("control_msgs/msg/JointComponentTolerance")):
    joint_name: str
    component: uint16
    position: float64
    velocity: float64
    acceleration: float64


@dataclass
class Goal(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_Goal")):
    trajectory: JointTrajectory
    multi_dof_trajectory: MultiDOFTrajectory
    path_tolerance: sequence[JointTolerance]
    component_path_tolerance: sequence[JointComponentTolerance]
    goal_tolerance: sequence[JointTolerance]
    component_goal_tolerance: sequence[JointComponentTolerance]
    goal_time_tolerance: Duration


@dataclass
class Feedback(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_Feedback")):
    header: Header
    joint_names: sequence[str]
    desired: JointTrajectoryPoint
    actual: JointTrajectoryPoint
    error: JointTrajectoryPoint
    multi_dof_joint_names: sequence[str]
    multi_dof_desired: MultiDOFPoint
    multi_dof_actual: MultiDOFPoint
    multi_dof_error: MultiDOFPoint


@dataclass
class Result(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_Result")):
    error_code: int32
    error_string: str


@dataclass
class FeedbackMessage(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_FeedbackMessage")):
    goal_id: array[uint8, 16]
    feedback: Feedback


@dataclass
class GoalInfo(IdlStruct, typename=named("action_msgs/msg/GoalInfo")):
    goal_id: array[uint8, 16]
    stamp: Time


@dataclass
class GoalStatus(IdlStruct, typename=named("action_msgs/msg/GoalStatus")):
    goal_info: GoalInfo
    status: int8


@dataclass
class GoalStatusArray(IdlStruct, typename=named("action_msgs/msg/GoalStatusArray")):
    status_list: sequence[GoalStatus]


# requests and answers have rmw_cyclonedds's header in front


@dataclass
class SendGoalRequest(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_SendGoal_Request")):
    guid: uint64
    count: int64
    goal_id: array[uint8, 16]
    goal: Goal


@dataclass
class SendGoalResponse(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_SendGoal_Response")):
    guid: uint64
    count: int64
    accepted: bool
    stamp: Time


@dataclass
class GetResultRequest(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_GetResult_Request")):
    guid: uint64
    count: int64
    goal_id: array[uint8, 16]


@dataclass
class GetResultResponse(IdlStruct, typename=named("control_msgs/action/FollowJointTrajectory_GetResult_Response")):
    guid: uint64
    count: int64
    status: int8
    result: Result


@dataclass
class CancelGoalRequest(IdlStruct, typename=named("action_msgs/srv/CancelGoal_Request")):
    guid: uint64
    count: int64
    goal_info: GoalInfo


@dataclass
class CancelGoalResponse(IdlStruct, typename=named("action_msgs/srv/CancelGoal_Response")):
    guid: uint64
    count: int64
    return_code: int8
    goals_canceling: sequence[GoalInfo]


@dataclass
class StopRequest(IdlStruct, typename=named("poise_msgs/srv/Stop_Request")):
    guid: uint64
    count: int64
    category: uint8


@dataclass
class StopResponse(IdlStruct, typename=named("poise_msgs/srv/Stop_Response")):
    guid: uint64
    count: int64
    success: bool
    message: str


@dataclass
class NodeInfo(IdlStruct, typename=named("rmw_dds_common/msg/NodeEntitiesInfo")):
    node_namespace: str
    node_name: str
    readers: sequence[array[uint8, 16]]
    writers: sequence[array[uint8, 16]]


@dataclass
class ParticipantInfo(IdlStruct, typename=named("rmw_dds_common/msg/ParticipantEntitiesInfo")):
    gid: array[uint8, 16]
    nodes: sequence[NodeInfo]


def qos(durability=Policy.Durability.Volatile, depth=100, user=None):
    policies = [Policy.Reliability.Reliable(duration(seconds=1)), durability, Policy.History.KeepLast(depth), Policy.DataRepresentation(use_cdrv0_representation=True)]
    if user:
        policies.append(Policy.Userdata(user))
    return Qos(*policies)


LATCHED = Policy.Durability.TransientLocal


def check(condition, what):
    if not condition:
        print(json.dumps({"failed": what}), flush=True)
        os._exit(1)


def until(what, f):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = f()
        if value:
            return value
        time.sleep(0.002)
    check(False, f"not within {PATIENCE} s: {what}")


class Client:
    def __init__(self, prefix=""):
        self.prefix = prefix
        self.participant = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))

    def reader(self, topic, kind, **options):
        q = qos(**options)
        return DataReader(self.participant, Topic(self.participant, topic, kind, qos=q), qos=q)

    def writer(self, topic, kind, **options):
        q = qos(**options)
        return DataWriter(self.participant, Topic(self.participant, topic, kind, qos=q), qos=q)

    def listen(self, name, kind, **options):
        return self.reader("rt" + self.prefix + name, kind, **options)


class Service:
    """Calls a service as rmw_cyclonedds does: 16 bytes in front tell answers apart."""

    def __init__(self, client, name, request, response):
        self.request, self.count = request, 0
        self.guid = int.from_bytes(os.urandom(8), "little")
        user = b"clientid=" + ".".join(f"{b:02x}" for b in self.guid.to_bytes(8, "little")).encode() + b";"
        self.writer = client.writer("rq" + client.prefix + name + "Request", request, user=user)
        self.reader = client.reader("rr" + client.prefix + name + "Reply", response, user=user)
        until(name + " to be there", lambda: self.writer.get_matched_subscriptions() and self.reader.get_matched_publications())
        self.waiting = {}

    def send(self, *fields):
        self.count += 1
        self.writer.write(self.request(self.guid, self.count, *fields))
        return self.count

    def look(self, number):
        for a in self.reader.take(N=100):
            if a.sample_info.valid_data and a.guid == self.guid:
                self.waiting[a.count] = a
        return self.waiting.pop(number, None)

    def answer(self, number):
        return until(f"answer {number}", lambda: self.look(number))

    def call(self, *fields):
        return self.answer(self.send(*fields))


def trajectory(names, start, times, step=0.1):
    zero = Header(Time(0, 0), "")
    points = []
    for t in times:
        ends = [x + step * t for x in start]
        points.append(JointTrajectoryPoint(ends, [], [], [], Duration(int(t), int(t % 1 * 1e9))))
    return Goal(JointTrajectory(zero, names, points), MultiDOFTrajectory(zero, [], []), [], [], [], [], Duration(0, 0))


class Action:
    def __init__(self, client, name):
        at = name + "/_action/"
        self.goals = Service(client, at + "send_goal", SendGoalRequest, SendGoalResponse)
        self.results = Service(client, at + "get_result", GetResultRequest, GetResultResponse)
        self.cancels = Service(client, at + "cancel_goal", CancelGoalRequest, CancelGoalResponse)
        self.feedback = client.listen(at + "feedback", FeedbackMessage)
        self.status = client.listen(at + "status", GoalStatusArray, durability=LATCHED, depth=100)
        until("feedback and status", lambda: self.feedback.get_matched_publications() and self.status.get_matched_publications())

    def send(self, goal):
        goal_id = list(os.urandom(16))
        return goal_id, self.goals.call(goal_id, goal).accepted

    def states(self, goal_id, seen):
        for m in self.status.take(N=100):
            if m.sample_info.valid_data:
                seen += [s.status for s in m.status_list if list(s.goal_info.goal_id) == goal_id and (not seen or s.status != seen[-1])]
        return seen


def topics(client):
    states = client.listen("/joint_states", JointState)
    first = until("joint_states", lambda: [s for s in states.take(N=1) if s.sample_info.valid_data])[0]
    check(len(first.name) == len(first.position) > 0, f"joint_states: {first}")
    until("a hundred more", lambda: len(states.read(N=100)) >= 100)
    stamps = [(s.header.stamp.sec, s.header.stamp.nanosec) for s in states.take(N=100)]
    check(stamps == sorted(stamps) and len(set(stamps)) == len(stamps), "the stamps of joint_states do not grow")
    text = client.listen("/robot_description", String, durability=LATCHED, depth=1)
    robot = until("robot_description", lambda: text.take(N=1))[0]
    check("<robot" in robot.data, "robot_description is no URDF")
    frames = client.reader("rt/tf", TFMessage)
    tf = until("tf", lambda: frames.take(N=1))[0]
    info = client.reader("ros_discovery_info", ParticipantInfo, durability=LATCHED)
    nodes = until("a node in ros_discovery_info", lambda: [n for m in info.take(N=10) if m.sample_info.valid_data for n in m.nodes if n.writers])
    builtin = BuiltinDataReader(client.participant, BuiltinTopicDcpsPublication)
    found = {}

    def endpoints():
        for s in builtin.take(N=5000):
            if s.sample_info.valid_data:
                found[s.topic_name] = s
        return "rt" + client.prefix + "/joint_states" in found

    until("the publication of joint_states", endpoints)
    offered = found["rt" + client.prefix + "/joint_states"]
    user = bytes(offered.qos[Policy.Userdata].data).decode()
    check(isinstance(offered.qos[Policy.Reliability], Policy.Reliability.Reliable), "joint_states is not reliable")
    print(json.dumps({"joints": len(first.name), "urdf": len(robot.data), "tf": len(tf.transforms), "node": nodes[0].node_namespace.rstrip("/") + "/" + nodes[0].node_name,
                      "writers": len(nodes[0].writers), "readers": len(nodes[0].readers), "joint_states": user}), flush=True)
    arm = [(n, x) for n, x in zip(first.name, first.position) if "finger" not in n]  # those move by centimetres
    return [n for n, _ in arm], [x for _, x in arm]


def actions(client, names, start):
    follow = Action(client, "/follow_joint_trajectory")
    # to the end
    goal_id, accepted = follow.send(trajectory(names, start, [0.5, 1.0]))
    check(accepted, "a goal is not accepted")
    asked = follow.results.send(goal_id)
    answer = follow.results.answer(asked)
    seen = []
    end = time.monotonic() + PATIENCE
    while (not seen or seen[-1] != 4) and time.monotonic() < end:
        seen = follow.states(goal_id, seen)
        time.sleep(0.002)
    feedback = [f for f in follow.feedback.take(N=1000) if list(f.goal_id) == goal_id]
    check(answer.status == 4 and answer.result.error_code == 0, f"a goal ends by {answer}")
    check(seen[-1] == 4, f"states {seen}")
    check(feedback and list(feedback[0].feedback.joint_names) == names, f"{len(feedback)} feedbacks")
    print(json.dumps({"goal": seen, "feedback": len(feedback)}), flush=True)
    here = [x + 0.1 for x in start]
    # cancelled
    goal_id, accepted = follow.send(trajectory(names, here, [20.0], step=0.01))
    check(accepted, "a second goal is not accepted")
    asked = follow.results.send(goal_id)
    time.sleep(0.3)
    cancelled = follow.cancels.call(GoalInfo(goal_id, Time(0, 0)))
    check(cancelled.return_code == 0 and len(cancelled.goals_canceling) == 1, f"cancel answers {cancelled}")
    answer = follow.results.answer(asked)
    check(answer.status == 5, f"a cancelled goal ends by {answer}")
    check(follow.cancels.call(GoalInfo(goal_id, Time(0, 0))).return_code == 3, "a goal that is over is cancelled")
    check(follow.cancels.call(GoalInfo(list(os.urandom(16)), Time(0, 0))).return_code == 2, "an unknown goal is cancelled")
    print(json.dumps({"cancelled": answer.status}), flush=True)
    # refused
    goal_id, accepted = follow.send(trajectory(["no_such_joint"], [0.0], [1.0]))
    check(not accepted, "a goal for an unknown joint is accepted")
    answer = follow.results.call(goal_id)
    check("no_such_joint" in answer.result.error_string, f"a refused goal says {answer}")
    print(json.dumps({"refused": answer.result.error_string}), flush=True)
    # long, in fragments, and replaced
    states = client.listen("/joint_states", JointState, depth=1)
    now = until("joint_states", lambda: states.take(N=1))[0]
    here = [x for n, x in zip(now.name, now.position) if n in names]
    first, accepted = follow.send(trajectory(names, here, [0.5 + 0.01 * i for i in range(2000)], step=0.001))
    check(accepted, "a long goal is not accepted")
    asked = follow.results.send(first)
    time.sleep(0.2)
    second, accepted = follow.send(trajectory(names, here, [1.0], step=0.001))
    check(accepted, "a goal that replaces another is not accepted")
    replaced = follow.results.answer(asked)
    check(replaced.status == 6, f"a replaced goal ends by {replaced}")
    last = follow.results.call(second)
    check(last.status == 4, f"the goal that replaced it ends by {last}")
    print(json.dumps({"replaced": replaced.status, "why": replaced.result.error_string}), flush=True)


def main():
    client = Client(*sys.argv[1:])
    names, start = topics(client)
    actions(client, names, start)
    stop = Service(client, "/stop", StopRequest, StopResponse)
    took = []
    for _ in range(20):
        began = time.perf_counter()
        answer = stop.call(2)
        took.append(time.perf_counter() - began)
        check(answer.success, f"stop answers {answer}")
    print(json.dumps({"stop": answer.message, "p50_ms": round(sorted(took)[10] * 1e3, 2)}), flush=True)


if __name__ == "__main__":
    main()
