"""What tools/peers/ros1/bench.sh times, by rospy and actionlib: timed.py echo | joints | serve."""
import os
import subprocess
import sys

import actionlib
import genpy.dynamic
import rospy
from sensor_msgs.msg import JointState

what = sys.argv[1]
rospy.init_node("rospy_" + what)
NAMES = ["joint_%d" % i for i in range(12)]


def state():
    return JointState(name=NAMES, position=[0] * 12, velocity=[0] * 12, effort=[0] * 12)


if what == "echo":
    pong = rospy.Publisher("/pong", JointState, queue_size=20000, tcp_nodelay=True)
    rospy.Subscriber("/ping", JointState, pong.publish, queue_size=20000, buff_size=1 << 24, tcp_nodelay=True)
    rospy.spin()
out = rospy.Publisher("/joint_states", JointState, queue_size=1000, tcp_nodelay=True)
rate = rospy.Rate(1000 if what == "joints" else 100)
if what == "serve":
    text = subprocess.run([os.environ["POISE_BINARY"], "interface", "show", "--ros1", "--full", "control_msgs/FollowJointTrajectoryAction"],
                          check=True, capture_output=True, text=True).stdout
    Action = genpy.dynamic.generate_dynamic("control_msgs/FollowJointTrajectoryAction", text)["control_msgs/FollowJointTrajectoryAction"]

    def execute(goal):
        rospy.sleep(goal.trajectory.points[-1].time_from_start)
        server.set_succeeded()
    server = actionlib.SimpleActionServer("/follow_joint_trajectory", Action, execute, False)
    server.start()
while not rospy.is_shutdown():
    out.publish(state())
    rate.sleep()
