"""What a roslibpy user does with Poise, step by step: python python_suite.py PORT.

The test server has /chatter, /joint_states, /set, /fail and /text.
"""

import logging
import sys
import threading

import roslibpy
from roslibpy.ros1 import actionlib

PATIENCE = 120  # s; when it is over, something hangs

logging.getLogger("roslibpy").setLevel(logging.CRITICAL)
logging.getLogger("twisted").setLevel(logging.CRITICAL)


class Failure(Exception):
    pass


def same(got, want, what):
    if got != want:
        raise Failure(f"{what}: {got!r}, want {want!r}")


class Box:
    """Collects what callbacks bring, and waits for it."""

    def __init__(self):
        self.items = []
        self.arrived = threading.Condition()

    def put(self, item=None):
        with self.arrived:
            self.items.append(item)
            self.arrived.notify_all()

    def take(self, what, count=1, patience=PATIENCE):
        with self.arrived:
            if not self.arrived.wait_for(lambda: len(self.items) >= count, patience):
                raise Failure(f"{what}: {len(self.items)} of {count} came")
            return list(self.items)


def subscribe_and_publish(ros):
    # two objects: one of roslibpy's cannot end both its roles
    listener = roslibpy.Topic(ros, "/from_roslibpy", "std_msgs/String")
    talker = roslibpy.Topic(ros, "/from_roslibpy", "std_msgs/String")
    box = Box()
    listener.subscribe(lambda m: box.put(m["data"]))
    talker.publish(roslibpy.Message({"data": "one"}))
    talker.publish(roslibpy.Message({"data": "two"}))
    same(box.take("messages", 2), ["one", "two"], "messages")
    listener.unsubscribe()
    talker.unadvertise()


def headers_of_ros1(ros):
    listener = roslibpy.Topic(ros, "/stamped", "geometry_msgs/PointStamped")
    talker = roslibpy.Topic(ros, "/stamped", "geometry_msgs/PointStamped")
    box = Box()
    listener.subscribe(box.put)
    header = roslibpy.Header(seq=7, stamp=roslibpy.Time(5, 6), frame_id="map")
    talker.publish(roslibpy.Message({"header": dict(header, stamp=dict(header["stamp"])), "point": {"x": 1.0}}))
    got = box.take("stamped point")[0]
    same(got["header"]["stamp"], {"secs": 5, "nsecs": 6}, "stamp")
    same(got["point"], {"x": 1, "y": 0, "z": 0}, "point")
    listener.unsubscribe()
    talker.unadvertise()


def services(ros):
    service = roslibpy.Service(ros, "/set", "std_srvs/SetBool")
    answer = service.call(roslibpy.ServiceRequest({"data": True}), timeout=PATIENCE)
    same(dict(answer), {"success": True, "message": "was told"}, "/set")
    try:
        roslibpy.Service(ros, "/fail", "std_srvs/Trigger").call(roslibpy.ServiceRequest(), timeout=PATIENCE)
    except roslibpy.core.ServiceException as e:
        if "knee says no" not in str(e):
            raise Failure(f"/fail: {e}")
    else:
        raise Failure("/fail did not fail")


def served_service(ros):
    def handler(request, response):
        response["success"] = not request["data"]
        response["message"] = "from roslibpy"
        return True

    mine = roslibpy.Service(ros, "/mine_py", "std_srvs/SetBool")
    mine.advertise(handler)
    box = Box()
    caller = roslibpy.Service(ros, "/mine_py", "std_srvs/SetBool")
    caller.call(roslibpy.ServiceRequest({"data": False}), callback=box.put, errback=box.put)
    same(dict(box.take("/mine_py")[0]), {"success": True, "message": "from roslibpy"}, "/mine_py")
    mine.unadvertise()


def goals_of_ros2(ros):
    client = roslibpy.ActionClient(ros, "/text", "text_msgs/action/TextAction")

    def send(command, cancel=False):
        result, feedback, error = Box(), Box(), Box()
        goal = client.send_goal(roslibpy.Goal({"command": {"command": command}}), result.put, feedback.put, error.put)
        if cancel:
            client.cancel_goal(goal)
        client.wait_goal(goal, PATIENCE)
        return result.items, [f["status"] for f in feedback.items], error.items

    result, feedback, _ = send("count")
    same(result[0]["status"], roslibpy.GoalStatus.SUCCEEDED, "status")
    same(result[0]["values"]["error_string"], "counted", "result")
    same(feedback, ["1", "2", "3"], "feedback")
    _, _, error = send("refuse")
    same(error[0], {"status": roslibpy.GoalStatus.ABORTED, "values": "the left knee is hot"}, "rejected")
    result, _, _ = send("fall")
    same((result[0]["status"], result[0]["values"]["error_string"]), (roslibpy.GoalStatus.ABORTED, "fell"), "aborted")
    result, _, _ = send("wait", cancel=True)
    same(result[0]["status"], roslibpy.GoalStatus.CANCELED, "cancelled")
    # a cancel waits for nothing, so it may overtake the goal that was sent just before
    if result[0]["values"]["error_string"] not in ("stopped", "cancelled before it came"):
        raise Failure(f"cancelled: {result[0]}")


def goals_of_ros1(ros):
    client = actionlib.ActionClient(ros, "/text", "text_msgs/TextActionAction")
    goal = actionlib.Goal(client, roslibpy.Message({"command": {"command": "count"}}))
    feedback = Box()
    goal.on("feedback", feedback.put)
    goal.send()
    same(goal.wait(PATIENCE)["error_string"], "counted", "result")
    same([f["status"] for f in feedback.take("feedback", 3)], ["1", "2", "3"], "feedback")
    goal = actionlib.Goal(client, roslibpy.Message({"command": {"command": "wait"}}))
    status = Box()
    goal.on("status", status.put)
    goal.send()
    status.take("status")  # a cancel may overtake the goal that was sent just before
    goal.cancel()
    same(goal.wait(PATIENCE)["error_string"], "stopped", "cancelled")
    same(goal.status["status"], actionlib.GoalStatus.PREEMPTED, "status")
    client.dispose()


def rosapi(ros):
    same(ros.get_topic_type("/joint_states"), "sensor_msgs/msg/JointState", "get_topic_type")
    if "/chatter" not in ros.get_topics():
        raise Failure("get_topics has no /chatter")
    same(ros.get_topics_for_type("sensor_msgs/msg/JointState"), ["/joint_states"], "get_topics_for_type")
    if "/set" not in ros.get_services():
        raise Failure("get_services has no /set")
    same(ros.get_service_type("/set"), "std_srvs/srv/SetBool", "get_service_type")
    if "/set" not in ros.get_services_for_type("std_srvs/SetBool"):
        raise Failure("get_services_for_type has no /set")
    same(ros.get_service_request_details("std_srvs/SetBool")["typedefs"][0]["fieldnames"], ["data"], "get_service_request_details")
    same(ros.get_service_response_details("std_srvs/SetBool")["typedefs"][0]["fieldnames"], ["success", "message"], "get_service_response_details")
    same(ros.get_message_details("std_msgs/msg/String")["typedefs"][0]["fieldtypes"], ["string"], "get_message_details")
    if "/poise" not in ros.get_nodes():
        raise Failure("get_nodes has no /poise")
    if "/chatter" not in ros.get_node_details("/poise")["publishing"]:
        raise Failure("get_node_details")
    same(ros.get_params(), ["/robot/legs"], "get_params")
    same(ros.get_param("/robot/legs"), 4, "get_param")
    if ros.get_time().to_sec() < 1e9:
        raise Failure("get_time")
    box = Box()
    ros.get_action_servers(box.put)
    same(box.take("get_action_servers")[0]["action_servers"], ["/text"], "get_action_servers")


def reconnect(ros):
    """The server goes away and comes back: roslibpy finds it again by itself."""
    topic = roslibpy.Topic(ros, "/joint_states", "sensor_msgs/msg/JointState")
    box = Box()
    topic.subscribe(box.put)
    box.take("before")
    closed = Box()
    ros.on("close", closed.put)
    roslibpy.Service(ros, "/restart", "std_srvs/SetBool").call(roslibpy.ServiceRequest({"data": True}), callback=lambda _: None, errback=lambda _: None)
    closed.take("close")
    same(box.take("after", 2)[1]["name"], ["a", "b"], "after reconnecting")


def main():
    ros = roslibpy.Ros("127.0.0.1", int(sys.argv[1]))
    ros.run(timeout=PATIENCE)
    for step in (subscribe_and_publish, headers_of_ros1, services, served_service, goals_of_ros2, goals_of_ros1, rosapi, reconnect):
        try:
            step(ros)
        except Exception as e:  # whatever it is, the test is to say which step
            print(f"{step.__name__}: {type(e).__name__}: {e}", file=sys.stderr, flush=True)
            import os

            os._exit(1)
        print(f"ok {step.__name__}", flush=True)
    print("all ok", flush=True)
    ros.terminate()


if __name__ == "__main__":
    main()
