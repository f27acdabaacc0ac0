"""A ROS 1 node that serves: an action by actionlib's SimpleActionServer, and a service.

Runs until it is ended. The action /other_arm/follow_joint_trajectory succeeds with the number
of points in its text, aborts without any, and waits to be cancelled if a joint is called
"wait". The service /lamp answers what it was given.
"""
import os
import subprocess

import actionlib
import genpy.dynamic
import rospy


def message(name):
    text = subprocess.run([os.environ["POISE_BINARY"], "interface", "show", "--ros1", "--full", name], check=True, capture_output=True, text=True).stdout
    return genpy.dynamic.generate_dynamic(name, text)[name]


class SetBool(object):
    _type = "std_srvs/SetBool"
    _md5sum = "09fb03525b03e7ea1fd3992bafd87e16"
    _request_class = message("std_srvs/SetBoolRequest")
    _response_class = message("std_srvs/SetBoolResponse")


Action = message("control_msgs/FollowJointTrajectoryAction")


def result(code, text):
    r = type(Action().action_result.result)()
    r.error_code, r.error_string = code, text
    return r


def execute(goal):
    names, points = goal.trajectory.joint_names, goal.trajectory.points
    if not points:
        server.set_aborted(result(-1, "no points"), "no points")
        return
    feedback = type(Action().action_feedback.feedback)()
    feedback.joint_names = names
    server.publish_feedback(feedback)
    while "wait" in names and not rospy.is_shutdown():
        if server.is_preempt_requested():
            server.set_preempted(result(0, ""), "cancelled there")
            return
        rospy.sleep(0.01)
    server.set_succeeded(result(0, "%d points" % len(points)), "done")


rospy.init_node("other", anonymous=False)
rospy.Service("/lamp", SetBool, lambda q: SetBool._response_class(True, "on" if q.data else "off"))
server = actionlib.SimpleActionServer("/other_arm/follow_joint_trajectory", Action, execute, False)
server.start()
rospy.spin()
