"""Plays a motion, moves a joint and stops half-way, from Python.

    pip install roslibpy
    poise serve &
    python examples/python/play.py [URL [JOINT]]

Nothing of ROS is needed. Actions are spoken to as roslibpy knows them, ROS 1's way.
"""

import sys
import threading

import roslibpy
from roslibpy.ros1 import actionlib

robot = roslibpy.Ros(sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8080/rosbridge")
robot.run(timeout=60)


def call(service, kind, request=None):
    return roslibpy.Service(robot, service, kind).call(roslibpy.ServiceRequest(request or {}), timeout=60)


print("motions:", *(m["name"] for m in call("/motions/list", "poise_msgs/MotionsList")["motions"]))

# events leave while a motion plays
events = roslibpy.Topic(robot, "/events", "poise_msgs/Event")
events.subscribe(lambda e: print("event:", e["command"]["type"], e["command"]["command"]))

player = actionlib.ActionClient(robot, "/play_motion", "text_msgs/TextActionAction")
nod = actionlib.Goal(player, roslibpy.Message({"command": {"type": "motion", "command": "nod", "options": "approach"}}))
nod.on("feedback", lambda f: None)
nod.send()
print("nod:", nod.wait(60))

# where the robot is now
states, seen, here = roslibpy.Topic(robot, "/joint_states", "sensor_msgs/JointState"), threading.Event(), {}


def look(message):
    here.update(zip(message["name"], message["position"]))
    seen.set()


states.subscribe(look)
seen.wait(60)
joint = sys.argv[2] if len(sys.argv) > 2 else "tail_joint1"
begin = here[joint]

# a trajectory of our own, called off on its way: the robot ramps down
arm = actionlib.ActionClient(robot, "/follow_joint_trajectory", "control_msgs/FollowJointTrajectoryAction")
points = [
    {"positions": [begin], "time_from_start": {"secs": 0, "nsecs": 0}},
    {"positions": [begin + 0.5], "time_from_start": {"secs": 5, "nsecs": 0}},
]
slow = actionlib.Goal(arm, roslibpy.Message({"trajectory": {"joint_names": [joint], "points": points}}))
over = threading.Event()
slow.on("result", lambda r: over.set())
slow.send()
threading.Timer(1.0, slow.cancel).start()
over.wait(60)
print(f"{joint}: called off at {here[joint] - begin:.2f} of 0.50 rad")

robot.close()
print("done")
