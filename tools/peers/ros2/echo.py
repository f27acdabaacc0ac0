"""A Cyclone DDS peer of the tests of package rtps: it answers every text on one topic by the
same text on another, answers a line of its standard input by how many other participants there are,
and ends with that input.

    python echo.py TOPIC ANSWERS [transient]
"""
import dataclasses
import sys
import threading

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsParticipant
from cyclonedds.core import InstanceState, Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclasses.dataclass
class String_(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str


def main():
    heard, answers = sys.argv[1:3]
    durability = Policy.Durability.TransientLocal if "transient" in sys.argv else Policy.Durability.Volatile
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), durability, Policy.History.KeepLast(100), Policy.DataRepresentation(use_cdrv0_representation=True))
    participant = DomainParticipant(0)
    reader = DataReader(participant, Topic(participant, heard, String_, qos=qos), qos=qos)
    writer = DataWriter(participant, Topic(participant, answers, String_, qos=qos), qos=qos)
    print("ready", flush=True)

    found = BuiltinDataReader(participant, BuiltinTopicDcpsParticipant)
    running = [True]

    def asked():
        for _ in sys.stdin:
            alive = [p for p in found.read(N=1000) if p.sample_info.instance_state == InstanceState.Alive]
            print(len(alive) - 1, flush=True)
        running.clear()

    threading.Thread(target=asked, daemon=True).start()
    while running:
        try:
            for sample in reader.take_iter(timeout=duration(milliseconds=100)):
                if isinstance(sample, String_):
                    writer.write(sample)
        except StopIteration:
            pass


main()
