"""An external controller, by the messages of the original stack over rospy: it asks
for the gripper, answers the rounds, leads the joint, is pushed aside by a goal with a higher
priority, and leaves. Prints "ok NAME" for every check that held, "all ok" at the end.
"""
import os
import subprocess
import time

import genpy.dynamic
import rospy
from actionlib_msgs.msg import GoalStatus
from sensor_msgs.msg import JointState

from goals import Client

PATIENCE = 60.0


def message(name):
    text = subprocess.run([os.environ["POISE_BINARY"], "interface", "show", "--ros1", "--full", name], check=True, capture_output=True, text=True).stdout
    return genpy.dynamic.generate_dynamic(name, text)[name]


def ok(name, held=True, *why):
    if not held:
        raise AssertionError("%s: %s" % (name, why))
    print("ok", name, flush=True)


def wait(what, f):
    end = time.time() + PATIENCE
    while not f():
        if time.time() > end:
            raise AssertionError("never: " + what)
        time.sleep(0.01)


rospy.init_node("outside", disable_signals=True)
Request = message("resource_control_msgs/ResourceRequest")
Assignment = message("resource_control_msgs/ResourceAssignment")
State = message("resource_control_msgs/ResourceRequesterState")
NAME, JOINT = "squeezer", "finger_left_joint"
owned, answered = [], []
states = rospy.Publisher("/resource_requester_state", State, queue_size=100)
requests = rospy.Publisher("/resource_request", Request, queue_size=10)


def assigned(m):
    """Every assignment with ids of requests is to be answered: go on with it, or quit."""
    mine = [r for r, owner in zip(m.resources, m.owners) if owner == NAME]
    owned[:] = mine
    for number in m.request_ids:
        answered.append(number)
        states.publish(State(requester_name=NAME, request_id=number, is_operational=bool(mine)))


rospy.Subscriber("/resource_assignment", Assignment, assigned, queue_size=100)
joints = {}
rospy.Subscriber("/joint_states", JointState, lambda m: joints.update(zip(m.name, m.position)), queue_size=10)
wait("the topics are connected", lambda: states.get_num_connections() and requests.get_num_connections() and JOINT in joints)
request = Request()
request.requester_name, request.request_id = NAME, 1
request.resources = ["gripper"]
requests.publish(request)
wait("the gripper is assigned", lambda: owned)
ok("an external controller owns what it asked for", owned == ["gripper"], owned)
out = rospy.Publisher("/controllers/%s/ref_joints" % NAME, JointState, queue_size=10)
wait("its reference is read", lambda: out.get_num_connections())
target = 0.02


def lead():
    m = JointState(name=[JOINT], position=[target])
    m.header.stamp = rospy.Time.now()
    out.publish(m)
    states.publish(State(requester_name=NAME, request_id=answered[-1] if answered else 1, is_operational=True))
    time.sleep(0.02)
    return abs(joints[JOINT] - target) < 1e-3


wait("the joint follows", lead)
ok("an external controller leads a joint")

# a goal with a higher priority takes it away
Action = message("control_msgs/GripperCommandAction")
client = Client("/gripper_cmd", Action)
ok("gripper_cmd", client.wait_for_server(rospy.Duration(PATIENCE)))
goal = type(Action().action_goal.goal)()
goal.command.position, goal.command.max_effort = 0.005, 10
client.send_goal(goal)
ok("a gripper's goal ends", client.wait_for_result(rospy.Duration(PATIENCE)))
ok("a gripper's goal succeeds", client.get_state() == GoalStatus.SUCCEEDED and client.get_result().reached_goal and abs(client.get_result().position - 0.005) < 1e-3,
   client.get_state(), client.get_goal_status_text(), client.get_result())
goal.command.position = 1
client.send_goal(goal)
ok("a gripper's goal out of reach ends", client.wait_for_result(rospy.Duration(PATIENCE)))
ok("a gripper's goal out of reach is refused", client.get_state() in (GoalStatus.REJECTED, GoalStatus.ABORTED) and not client.get_result().reached_goal and client.get_goal_status_text(),
   client.get_state(), client.get_goal_status_text())
print("all ok", flush=True)
os._exit(0)
