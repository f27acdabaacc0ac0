"""ROS 1's own Python libraries against a server: rospy, actionlib, tf, rosbag.

Types that Debian does not package are made by genpy from the definitions that publishers
send (topics) and that `poise interface show --ros1` prints. Prints "ok NAME" for every
check that held, and ends with an exception at the first that did not.
"""
import os
import subprocess
import sys
import threading
import time

import genpy.dynamic
import rosgraph
import rospy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from actionlib_msgs.msg import GoalID, GoalStatus, GoalStatusArray

from goals import Client

POISE = os.environ["POISE_BINARY"]
PATIENCE = 60.0


def ok(name, held=True, *why):
    if not held:
        raise AssertionError("%s: %s" % (name, why))
    print("ok", name, flush=True)


def text_of(name):
    out = subprocess.run([POISE, "interface", "show", "--ros1", "--full", name], check=True, capture_output=True, text=True)
    return out.stdout


def message(name):
    """The class of a message, by genpy from its definition; its md5 sum is genpy's own."""
    classes = genpy.dynamic.generate_dynamic(name, text_of(name))
    return classes[name]


def service(name):
    pkg, short = name.split("/")
    sums = subprocess.run([POISE, "interface", "md5", name], check=True, capture_output=True, text=True).stdout.split()
    class Service(object):
        _type = name
        _md5sum = sums[-1]
        _request_class = message(name + "Request")
        _response_class = message(name + "Response")
    return Service


def wait(what, f):
    end = time.time() + PATIENCE
    while not f():
        if time.time() > end:
            raise AssertionError("never: " + what)
        time.sleep(0.01)


def topics():
    got = rospy.wait_for_message("/joint_states", JointState, PATIENCE)
    ok("joint_states", len(got.name) == len(got.position) and got.header.stamp.to_sec() > 1e9, got)
    seqs = []
    sub = rospy.Subscriber("/robot_status", message("poise_msgs/RobotStatus"), lambda m: seqs.append(m.header.seq))
    wait("ten states", lambda: len(seqs) >= 10)
    sub.unregister()
    ok("seq rises", all(b > a for a, b in zip(seqs, seqs[1:])), seqs)
    late = rospy.wait_for_message("/robot_description", String, PATIENCE)
    ok("a latched topic comes to who is late", "<robot" in late.data)
    ok("robot_description is a parameter", rospy.get_param("/robot_description") == late.data)
    ok("joint limits", rospy.get_param("/robot_description_planning/joint_limits/joint_1/max_velocity") > 0)
    reference = rospy.wait_for_message("/joint_states_reference", JointState, PATIENCE)
    ok("joint_states_reference", reference.name == got.name)


def parameters():
    rospy.set_param("/check/a", {"b": 1, "c": [1, 2.5, "x", True]})
    ok("parameters are kept", rospy.get_param("/check") == {"a": {"b": 1, "c": [1, 2.5, "x", True]}})
    ok("a parameter of a namespace", rospy.get_param("/check/a/b") == 1 and rospy.has_param("/check/a"))
    rospy.get_param_cached("/check/a/b")
    rospy.set_param("/check/a/b", 7)
    wait("a cached parameter changes", lambda: rospy.get_param_cached("/check/a/b") == 7)
    ok("a watched parameter is told")
    rospy.delete_param("/check")
    ok("a deleted parameter is gone", not rospy.has_param("/check/a/b"))
    ok("a parameter that is not set", rospy.get_param("/none", 5) == 5)


def services():
    loggers = rospy.ServiceProxy("/poise/get_loggers", __import__("roscpp.srv", fromlist=["GetLoggers"]).GetLoggers)
    loggers.wait_for_service(PATIENCE)
    ok("~get_loggers", loggers().loggers[0].name == "ros.poise")
    kind = service("poise_msgs/GetState")
    state = rospy.ServiceProxy("/get_state", kind, persistent=True)
    for _ in range(3):
        ok("a persistent call", state().success)
    state.close()
    wrong = rospy.ServiceProxy("/get_state", __import__("roscpp.srv", fromlist=["GetLoggers"]).GetLoggers)
    try:
        wrong()
        ok("a call of another type", False)
    except rospy.ServiceException as e:
        ok("a call of another type is refused", "md5sum" in str(e), e)
    try:
        rospy.ServiceProxy("/poise/set_logger_level", __import__("roscpp.srv", fromlist=["x"]).SetLoggerLevel)("ros.poise", "loud")
        ok("a refusal of a service", False)
    except rospy.ServiceException as e:
        ok("a refusal says why", "loud" in str(e), e)


def goal_of(Action, names, target, seconds):
    from trajectory_msgs.msg import JointTrajectoryPoint
    goal = type(Action().action_goal.goal)()
    goal.trajectory.joint_names = list(names)
    point = type(goal.trajectory)._slot_types and JointTrajectoryPoint()
    point.positions = list(target)
    point.time_from_start = rospy.Duration(seconds)
    goal.trajectory.points = [point]
    return goal


def actions():
    Action = message("control_msgs/FollowJointTrajectoryAction")
    ok("md5 of FollowJointTrajectoryAction", Action._md5sum == "bc4f9b743838566551c0390c65f1a248", Action._md5sum)
    now = rospy.wait_for_message("/joint_states", JointState, PATIENCE)
    arm = [(n, p) for n, p in zip(now.name, now.position) if n.startswith("joint_")]
    names, at = [n for n, _ in arm], [p for _, p in arm]

    def to(offset, seconds):
        return goal_of(Action, names, [p + offset for p in at], seconds)
    client = Client("/follow_joint_trajectory", Action)
    ok("wait_for_server", client.wait_for_server(rospy.Duration(PATIENCE)))
    feedback, active = [], []
    client.send_goal(to(0.05, 1.0), active_cb=lambda: active.append(time.time()), feedback_cb=feedback.append)
    ok("a goal ends", client.wait_for_result(rospy.Duration(PATIENCE)))
    ok("a goal succeeds", client.get_state() == GoalStatus.SUCCEEDED, client.get_state(), client.get_goal_status_text())
    ok("result", client.get_result().error_code == 0 and active and feedback, len(feedback))

    client.send_goal(to(0.3, 10.0))
    wait("it runs", lambda: client.get_state() == GoalStatus.ACTIVE)
    client.cancel_goal()
    ok("a cancelled goal ends", client.wait_for_result(rospy.Duration(PATIENCE)))
    ok("a cancelled goal is preempted", client.get_state() == GoalStatus.PREEMPTED, client.get_state())

    bad = to(0, 1.0)
    bad.trajectory.joint_names = ["no_such_joint"] * len(names)
    client.send_goal(bad)
    ok("a wrong goal ends", client.wait_for_result(rospy.Duration(PATIENCE)))
    ok("a wrong goal is rejected with its reason", client.get_state() == GoalStatus.REJECTED and "no_such_joint" in client.get_goal_status_text() + client.get_result().error_string,
       client.get_state(), client.get_goal_status_text())

    # the raw topics: cancel before the goal, cancel up to a time, empty and double ids
    goals = rospy.Publisher("/follow_joint_trajectory/goal", type(Action().action_goal), queue_size=10)
    cancels = rospy.Publisher("/follow_joint_trajectory/cancel", GoalID, queue_size=10)
    results = []
    rospy.Subscriber("/follow_joint_trajectory/result", type(Action().action_result), results.append)
    statuses = []
    rospy.Subscriber("/follow_joint_trajectory/status", GoalStatusArray, statuses.append)
    wait("the topics are connected", lambda: goals.get_num_connections() and cancels.get_num_connections() and statuses)

    def ended(name):
        wait("the end of " + name, lambda: any(r.status.goal_id.id == name for r in results))
        return [r.status.status for r in results if r.status.goal_id.id == name]

    def send(name, offset, seconds, stamp=None):
        g = type(Action().action_goal)()
        g.goal_id.id, g.goal_id.stamp = name, stamp or rospy.Time.now()
        g.goal = to(offset, seconds)
        goals.publish(g)
    cancels.publish(GoalID(id="early"))
    time.sleep(0.3)
    send("early", 0.2, 5.0)
    ok("a cancel before its goal recalls it", ended("early") == [GoalStatus.RECALLED], ended("early"))
    stamp = rospy.Time.now()
    send("old", 0.2, 20.0, stamp - rospy.Duration(10))
    wait("old runs", lambda: any(s.goal_id.id == "old" and s.status == GoalStatus.ACTIVE for s in statuses[-1].status_list))
    cancels.publish(GoalID(stamp=stamp - rospy.Duration(20)))
    time.sleep(0.3)
    ok("a cancel up to a time spares later goals", not [r for r in results if r.status.goal_id.id == "old"])
    cancels.publish(GoalID(stamp=stamp - rospy.Duration(5)))
    ok("a cancel up to a time", ended("old") == [GoalStatus.PREEMPTED], ended("old"))
    count = len(results)
    send("", 0.0, 0.5)
    wait("a goal without a name ends", lambda: len(results) > count)
    ok("a goal without a name gets one", results[-1].status.goal_id.id != "" and results[-1].status.status == GoalStatus.SUCCEEDED, results[-1].status)
    send("twice", 0.1, 1.0)
    send("twice", 0.2, 1.0)
    ok("a name is used once", ended("twice") == [GoalStatus.SUCCEEDED], ended("twice"))
    replaced = ["first", "second"]
    send("first", 0.1, 10.0)
    wait("first runs", lambda: any(s.goal_id.id == "first" and s.status == GoalStatus.ACTIVE for s in statuses[-1].status_list))
    send("second", 0.0, 1.0)
    ok("a newer goal replaces", ended("first") == [GoalStatus.PREEMPTED] and ended("second") == [GoalStatus.SUCCEEDED], ended("first"), ended("second"))
    client.stop_tracking_goal()


def streams():
    """A topic of a ROS node is heard in the graph, and one of the server's own is not forged."""
    forged = rospy.Publisher("/joint_states", JointState, queue_size=10)
    time.sleep(0.5)
    ok("a topic of the server is not read from others", forged.get_num_connections() == 0, forged.get_num_connections())
    forged.unregister()


def frames():
    from tf2_msgs.msg import TFMessage
    seen = rospy.wait_for_message("/tf", TFMessage, PATIENCE)
    still = rospy.wait_for_message("/tf_static", TFMessage, PATIENCE)
    ok("tf and tf_static", seen.transforms and still.transforms)


def bus():
    """What a node says of its connections, and actionlib's beat of an action without goals."""
    uri = rosgraph.Master("/peer").lookupNode("/poise")
    import xmlrpc.client
    node = xmlrpc.client.ServerProxy(uri)
    heard = []
    reader = rospy.Subscriber("/joint_states", JointState, heard.append)
    wait("joint_states", lambda: len(heard) > 10)

    def published():
        code, _, (pubs, subs, calls) = node.getBusStats("/peer")
        return code == 1 and [c for topic, sent, links in pubs if topic == "/joint_states" and sent > 1000 for c in links if c[2] > 10]
    wait("getBusStats counts bytes and messages", published)
    ok("getBusStats")
    reader.unregister()
    beats = []
    reader = rospy.Subscriber("/move_group/status", GoalStatusArray, beats.append)
    wait("status of move_group, without a goal", lambda: len(beats) >= 6)
    ok("move_group, and status without a goal")
    reader.unregister()


def stops():
    kind = service("poise_msgs/Stop")
    call = rospy.ServiceProxy("/stop", kind)
    call.wait_for_service(PATIENCE)
    r = call(2)
    ok("stop", r.success, r)
    reset = rospy.ServiceProxy("/reset", service("poise_msgs/Reset"))
    ok("reset", reset().success)


def main():
    rospy.init_node("peer", anonymous=False, disable_signals=True)
    wait("the server is registered", lambda: any("/poise" in nodes for _, nodes in rosgraph.Master("/peer").getSystemState()[0]))
    for f in (topics, parameters, services, frames, streams, bus, actions, stops):
        f()
    rospy.signal_shutdown("done")
    print("all ok", flush=True)


main()
