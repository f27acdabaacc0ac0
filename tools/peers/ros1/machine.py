"""A robot of ROS 1 by rospy, for Poise to drive: /machine/joint_states come at 100 Hz, and the
joints go where /machine/joint_commands says. Besides it has actionlib's
/machine/follow_joint_trajectory, which a goal of one point moves at once.

    machine.py JOINT...
"""
import os
import subprocess
import sys
import threading

import actionlib
import genpy.dynamic
import rospy
from sensor_msgs.msg import JointState


def message(name):
    text = subprocess.run([os.environ["POISE_BINARY"], "interface", "show", "--ros1", "--full", name], check=True, capture_output=True, text=True).stdout
    return genpy.dynamic.generate_dynamic(name, text)[name]


Action = message("control_msgs/FollowJointTrajectoryAction")
joints = dict.fromkeys(sys.argv[1:], 0.0)
lock = threading.Lock()


def command(m):
    with lock:
        for name, position in zip(m.name, m.position):
            joints[name] = position


def execute(goal):
    for p in goal.trajectory.points:
        with lock:
            for name, position in zip(goal.trajectory.joint_names, p.positions):
                joints[name] = position
        until = rospy.get_time() + p.time_from_start.to_sec()
        while rospy.get_time() < until and not rospy.is_shutdown():
            if server.is_preempt_requested():
                server.set_preempted(text="cancelled there")
                return
            rospy.sleep(0.01)
    result = type(Action().action_result.result)()
    result.error_string = "%d points" % len(goal.trajectory.points)
    server.set_succeeded(result)


rospy.init_node("machine")
states = rospy.Publisher("/machine/joint_states", JointState, queue_size=10)
rospy.Subscriber("/machine/joint_commands", JointState, command, queue_size=1, tcp_nodelay=True)
server = actionlib.SimpleActionServer("/machine/follow_joint_trajectory", Action, execute, False)
server.start()
rate = rospy.Rate(100)
while not rospy.is_shutdown():
    m = JointState()
    m.header.stamp = rospy.Time.now()
    with lock:
        m.name, m.position = list(joints), list(joints.values())
    states.publish(m)
    try:
        rate.sleep()
    except rospy.ROSInterruptException:
        break
