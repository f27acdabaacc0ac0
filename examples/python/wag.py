"""An external controller (in a process of its own): wags the tail, loses it to a yawn, gets it back.

    pip install roslibpy
    poise serve &
    python examples/python/wag.py [URL]

It asks the arbiter for what it wants, answers what it is told, and streams references;
docs/controllers.md has the rules.
"""

import math
import sys
import threading
import time

import roslibpy


class Controller:
    def __init__(self, url, name, needed=(), wanted=(), priority=40.0):
        self.name, self.needed, self.wanted, self.priority = name, list(needed), list(wanted), priority
        self.id, self.owned, self.operational, self.offered = 0, [], False, False
        self.ros = roslibpy.Ros(url)
        self.ros.run(timeout=60)
        self.claim = roslibpy.Topic(self.ros, "/resource_claim", "poise_msgs/ResourceRequest")
        self.state = roslibpy.Topic(self.ros, "/resource_requester_state", "resource_control_msgs/ResourceRequesterState")
        self.ref = roslibpy.Topic(self.ros, f"/controllers/{name}/ref_joints", "sensor_msgs/JointState")
        roslibpy.Topic(self.ros, "/resource_assignment", "resource_control_msgs/ResourceAssignment").subscribe(self.assigned)

    def request(self):
        self.id, self.offered = self.id + 1, False
        pri = [self.priority] * len(self.needed + self.wanted)
        self.claim.publish(roslibpy.Message({"requester_name": self.name, "request_id": self.id, "needed": self.needed,
                                             "wanted": self.wanted, "pri_pending": pri, "pri_operational": pri, "lease": 1.0}))

    def answer(self, goes_on):
        self.state.publish(roslibpy.Message({"requester_name": self.name, "request_id": self.id, "is_operational": goes_on}))

    def assigned(self, table):
        if self.id not in table["request_ids"]:
            return  # the facts, for everybody
        owned = [r for r, o in zip(table["resources"], table["owners"]) if o == self.name]
        if not self.offered:  # the answer to the request: an offer, or nothing
            self.offered = all(r in owned for r in self.needed) and bool(owned)
            self.answer(self.offered)
            return
        if not self.operational and not owned:
            return  # denied; topic resource_state says why
        if owned != self.owned:
            print(f"{self.name}: has {' '.join(owned) or 'nothing'}", flush=True)
        # without what it only wants it goes on; everything lost is waited for
        self.operational, self.owned = all(r in owned for r in self.needed), owned
        self.answer(self.operational)

    def quit(self):
        self.answer(False)
        self.operational, self.owned = False, []

    def wait(self, what, so):
        for _ in range(6000):
            if so():
                return
            time.sleep(0.01)
        sys.exit(f"{self.name}: still waiting until {what}")


url = sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8080/rosbridge"
# the ears keep the wag operational while the tail is away
wag = Controller(url, "wag", wanted=["tail", "ears"])
yawn = Controller(url, "yawn", needed=["tail"], priority=60.0)


def stream():
    while True:  # 50 values a second are followed without a staircase
        t = time.time()
        wag.ref.publish(roslibpy.Message({"name": ["tail_joint1"], "position": [0.15 * math.sin(2 * math.pi * t)],
                                          "velocity": [0.3 * math.pi * math.cos(2 * math.pi * t)]}))
        time.sleep(0.02)


wag.request()
wag.wait("it has the tail", lambda: "tail" in wag.owned)
threading.Thread(target=stream, daemon=True).start()
time.sleep(1)
yawn.request()
wag.wait("it has lost the tail", lambda: "tail" not in wag.owned and "tail" in yawn.owned)
time.sleep(0.5)
yawn.quit()
wag.wait("it has the tail back", lambda: "tail" in wag.owned)
time.sleep(0.5)
wag.quit()
print("wagged, yawned and wagged again")
yawn.ros.close()
wag.ros.terminate()
