"""Debian's rosbag as the other side of wire/ros1/bag.

  bags.py write FILE none|bz2|lz4   a bag of known messages; prints them
  bags.py read FILE                 prints the messages of a bag
  bags.py reindex FILE              rosbag's own way of an index

A line for each message in the order of time: topic, type, md5sum, time in ns, bytes in hex.
"""
import sys

import genpy
import rosbag
from sensor_msgs.msg import JointState
from std_msgs.msg import String


def show(path):
    with rosbag.Bag(path) as bag:
        for topic, (kind, data, md5sum, _, _), t in bag.read_messages(raw=True):
            print(topic, kind, md5sum, t.to_nsec(), data.hex())


def write(path, compression):
    with rosbag.Bag(path, "w", compression=compression, chunk_threshold=4096) as bag:
        for i in range(300):
            t = genpy.Time(1700000000, 1000000 * i)
            state = JointState(name=["a", "b"], position=[i / 7, -i / 3])
            state.header.seq, state.header.stamp = i, t
            bag.write("/joint_states", state, t)
            if i % 10 == 0:
                # behind the others in the file, before them in time
                bag.write("/late", String("message %d" % i), genpy.Time(1700000000, max(0, 1000000 * i - 40500000)))


if sys.argv[1] == "write":
    write(sys.argv[2], sys.argv[3])
    show(sys.argv[2])
elif sys.argv[1] == "read":
    show(sys.argv[2])
elif sys.argv[1] == "reindex":
    with rosbag.Bag(sys.argv[2], "a", allow_unindexed=True) as unindexed:
        for _ in unindexed.reindex():
            pass
    show(sys.argv[2])
