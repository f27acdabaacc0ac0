"""What people do with a robot through roslibpy, on the real program: python serve.py PORT."""

import logging
import sys
import threading
import time

import roslibpy
from roslibpy.ros1 import actionlib

PATIENCE = 300  # s; when it is over, something hangs
logging.getLogger("roslibpy").setLevel(logging.CRITICAL)
logging.getLogger("twisted").setLevel(logging.CRITICAL)


class Failure(Exception):
    pass


def check(ok, what):
    if not ok:
        raise Failure(what)


ros = roslibpy.Ros("127.0.0.1", int(sys.argv[1]))
ros.run(timeout=PATIENCE)


def call(name, kind, request=None):
    return roslibpy.Service(ros, name, kind).call(roslibpy.ServiceRequest(request or {}), timeout=PATIENCE)


def newest(topic="/joint_states"):
    came, box = threading.Event(), []
    listener = roslibpy.Topic(ros, topic, "sensor_msgs/JointState")
    listener.subscribe(lambda m: (box.append(m), came.set()))
    check(came.wait(PATIENCE), f"{topic}: nothing came")
    listener.unsubscribe()
    return dict(zip(box[0]["name"], box[0]["position"]))


follower = actionlib.ActionClient(ros, "/follow_joint_trajectory", "control_msgs/FollowJointTrajectoryAction")
player = actionlib.ActionClient(ros, "/play_motion", "text_msgs/TextActionAction")


def sweep(joint, start, by, seconds):
    points = [
        {"positions": [start], "time_from_start": {"secs": 0, "nsecs": 0}},
        {"positions": [start + by], "time_from_start": {"secs": seconds, "nsecs": 0}},
    ]
    return actionlib.Goal(follower, roslibpy.Message({"trajectory": {"joint_names": [joint], "points": points}}))


def ended(goal):
    """The result and the status of a goal, in ROS 1's numbers."""
    over, box = threading.Event(), []
    goal.on("result", lambda r: (box.append(r), over.set()))
    goal.send()
    return over, box


def motions_and_events():
    heard = []
    events = roslibpy.Topic(ros, "/events", "poise_msgs/Event")
    events.subscribe(lambda e: heard.append(e["command"]["command"]))
    want = [e["command"] for e in call("/motions/get", "poise_msgs/MotionsGet", {"name": "nod"})["motion"]["events"]]
    goal = actionlib.Goal(player, roslibpy.Message({"command": {"type": "motion", "command": "nod", "options": "approach"}}))
    feedback = []
    goal.on("feedback", feedback.append)
    goal.send()
    check(goal.wait(PATIENCE)["error_code"] == 0, "nod")
    check(feedback, "no feedback")
    check(heard == want, f"events {heard}, want {want}")
    events.unsubscribe()


def cancelled_and_replaced():
    joint = "tail_joint1"
    first = sweep(joint, newest()[joint], 0.4, 300)
    moving = threading.Event()
    first.on("feedback", lambda f: moving.set())
    over, box = ended(first)
    check(moving.wait(PATIENCE), "no feedback")
    first.cancel()
    check(over.wait(PATIENCE), "the cancelled goal does not end")
    check(first.status["status"] == actionlib.GoalStatus.PREEMPTED, f"cancelled: {first.status}")
    second = sweep(joint, newest()[joint], 0.3, 300)
    moving.clear()
    second.on("feedback", lambda f: moving.set())
    over, box = ended(second)
    check(moving.wait(PATIENCE), "no feedback")
    third = sweep(joint, newest()[joint], 0.05, 1)
    done, _ = ended(third)
    check(over.wait(PATIENCE) and done.wait(PATIENCE), "the replaced goal and the other")
    check(second.status["status"] == actionlib.GoalStatus.PREEMPTED, f"replaced: {second.status}")
    check("newer goal" in box[0]["error_string"], f"replaced: {box[0]}")


def refusals():
    goal = sweep("joint59", 0, 0.1, 1)
    over, box = ended(goal)
    check(over.wait(PATIENCE), "the rejected goal does not end")
    check(box[0]["error_code"] == -2 and "joint59" in box[0]["error_string"], f"unknown joint: {box[0]}")
    answer = call("/motions/put", "poise_msgs/MotionsPut", {"motion": {"name": "../out"}, "version": ""})
    check(not answer["success"] and answer["explanations"], f"a bad name: {answer}")


def stops():
    for category in (2, 1):
        check(call("/stop", "poise_msgs/Stop", {"category": category})["success"], "stop")
        check(call("/reset", "poise_msgs/Reset")["success"], "reset")
    check(call("/set_torque", "poise_msgs/SetTorque", {"on": True})["success"], "torque")


def placed_by_a_topic():
    talker = roslibpy.Topic(ros, "/joints_virtual_set", "sensor_msgs/JointState")
    talker.publish(roslibpy.Message({"name": ["tail_joint1"], "position": [0.123]}))
    end = time.monotonic() + PATIENCE
    while abs(newest()["tail_joint1"] - 0.123) > 1e-9:
        check(time.monotonic() < end, "the tail was not put anywhere")
    talker.unadvertise()


try:
    for step in (motions_and_events, cancelled_and_replaced, refusals, stops, placed_by_a_topic):
        step()
        print("ok", step.__name__, flush=True)
    print("all ok", flush=True)
    code = 0
except Failure as e:
    print(e, flush=True)
    code = 1
ros.close()
sys.exit(code)
