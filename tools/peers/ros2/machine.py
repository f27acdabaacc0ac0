"""A robot of ROS 2 on Cyclone DDS for Poise to drive, as one of ros2_control, Isaac or Gazebo: /machine/joint_states
come at 200 Hz, best effort as of a sensor, and the joints go where /machine/joint_commands says. It prints "ready",
and ends with its standard input.

    python machine.py JOINT...
"""
import sys
import threading
import time

from cyclonedds.core import Policy, Qos
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic

import client as c


def main():
    node = c.Client()
    joints = dict.fromkeys(sys.argv[1:], 0.0)
    commands = node.reader("rt/machine/joint_commands", c.JointState, depth=10)
    sensor = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(5), Policy.DataRepresentation(use_cdrv0_representation=True))
    states = DataWriter(node.participant, Topic(node.participant, "rt/machine/joint_states", c.JointState, qos=sensor), qos=sensor)
    running = [True]
    threading.Thread(target=lambda: (sys.stdin.read(), running.clear()), daemon=True).start()
    print("ready", flush=True)
    while running:
        for m in commands.take(N=10):
            if m.sample_info.valid_data:
                joints.update((n, x) for n, x in zip(m.name, m.position) if n in joints)
        now = time.time()
        stamp = c.Time(int(now), int(now % 1 * 1e9))
        states.write(c.JointState(c.Header(stamp, ""), list(joints), list(joints.values()), [], []))
        time.sleep(0.005)


main()
