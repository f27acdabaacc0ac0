"""External controllers, by roslibpy, as a test tells them: a command a line
comes in, and a line leaves for every assignment that carries an id of theirs.

    python controller.py PORT
"""

import json
import sys
import threading

import roslibpy

tell = threading.Lock()


def say(**what):
    with tell:
        print(json.dumps(what), flush=True)


class Controller:
    def __init__(self, port, name, needed, wanted, pending, operational, mode):
        self.name, self.needed, self.wanted, self.mode = name, needed, wanted, mode
        self.pending, self.priority = pending, operational
        self.id, self.operational = 0, False
        self.ros = roslibpy.Ros("127.0.0.1", port)
        self.ros.run(timeout=120)
        self.claim = roslibpy.Topic(self.ros, "/resource_claim", "poise_msgs/ResourceRequest")
        self.state = roslibpy.Topic(self.ros, "/resource_requester_state", "resource_control_msgs/ResourceRequesterState")
        self.ref = roslibpy.Topic(self.ros, f"/controllers/{name}/ref_joints", "sensor_msgs/JointState")
        for topic in (self.claim, self.state, self.ref):
            topic.advertise()
        roslibpy.Topic(self.ros, "/resource_assignment", "resource_control_msgs/ResourceAssignment").subscribe(self.assigned)

    def request(self):
        self.id += 1
        n = len(self.needed) + len(self.wanted)
        self.claim.publish(roslibpy.Message({
            "requester_name": self.name, "request_id": self.id, "needed": self.needed, "wanted": self.wanted,
            "pri_pending": [self.pending] * n, "pri_operational": [self.priority] * n, "lease": 60.0}))

    def answer(self, goes_on, request=None):
        self.operational = goes_on
        self.state.publish(roslibpy.Message({"requester_name": self.name, "request_id": self.id if request is None else request,
                                             "is_operational": goes_on}))

    def assigned(self, table):
        if self.id == 0 or self.id not in table["request_ids"]:
            return
        owned = [r for r, o in zip(table["resources"], table["owners"]) if o == self.name]
        say(name=self.name, id=self.id, owned=owned)
        if self.mode == "never" or not owned and not self.operational:
            return
        self.answer(bool(owned) and all(r in owned for r in self.needed), self.id - 1 if self.mode == "other" else None)
        if self.mode == "twice":
            self.answer(self.operational)

    def send(self, joint, q):
        self.ref.publish(roslibpy.Message({"name": [joint], "position": [q]}))


everyone = {}
for line in sys.stdin:
    c = json.loads(line)
    name = c["name"]
    if c["do"] == "open":
        if name in everyone:
            everyone[name].ros.close()
        everyone[name] = Controller(int(sys.argv[1]), name, c["needed"], c["wanted"], c["pending"], c["operational"], c["mode"])
        say(name=name, id=0, owned=[])
    elif c["do"] == "request":
        everyone[name].request()
    elif c["do"] == "answer":
        everyone[name].answer(c["goes_on"])
    elif c["do"] == "send":
        everyone[name].send(c["joint"], c["q"])
    elif c["do"] == "close":
        everyone.pop(name).ros.close()
sys.exit(0)
