"""Messages as the rosbags package writes and reads them.

Reads JSON lines from standard input. First the types, those inside others before
them, each in one form (1 or 2):

    {"form": 2, "type": "std_srvs/srv/SetBool_Request", "text": "bool data\n"}

then messages, as JSON by field names and as the bytes to be judged (base64):

    {"form": 2, "type": "...", "message": {"data": true}, "bytes": "..."}

Answers each line by one. A type: its md5 sum (form 1) or its hash (form 2), and for each distribution that
has the type whether its fields and its constants are the same:

    {"md5": "...", "fields": {"ros1_noetic": true}, "constants": {"ros1_noetic": true}}

A message: the bytes that rosbags makes of the JSON, little- and big-endian (form 2),
and those it makes of what it read from the given bytes.

    {"bytes": "...", "big": "...", "again": "..."}
"""

import base64
import json
import sys

import numpy
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

EMPTY = "structure_needs_at_least_one_member"
DISTRIBUTIONS = {
    1: {"ros1_noetic": get_typestore(Stores.ROS1_NOETIC)},
    2: {"ros2_humble": get_typestore(Stores.ROS2_HUMBLE), "ros2_jazzy": get_typestore(Stores.ROS2_JAZZY)},
}
STORES = {form: get_typestore(Stores.EMPTY) for form in DISTRIBUTIONS}
TIMES = ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration")
NUMPY = {"byte": "int8", "char": "uint8"}


def name_of(q):
    """rosbags names every type in three parts."""
    return q["type"] if q["type"].count("/") == 2 else q["type"].replace("/", "/msg/")


def register(q):
    """Adds a type to our store, and compares it with those of the distributions."""
    form, name = q["form"], name_of(q)
    package, _, short = name.split("/")
    plain = f"{package}/msg/{short}"
    types = get_types_from_msg(q["text"], plain)
    if name not in STORES[form].fielddefs:
        STORES[form].register({name: types[plain]})
    constants, fields = STORES[form].fielddefs[name]
    answer = {"fields": {}, "constants": {}}
    for word, store in DISTRIBUTIONS[form].items():
        if name in store.fielddefs:
            theirs = store.fielddefs[name]
            answer["constants"][word] = sorted(theirs[0]) == sorted(constants)
            answer["fields"][word] = theirs[1] == fields
    if form == 2:
        answer["rihs"] = STORES[form].hash_rihs01(name)
    if form == 1:
        answer["md5"] = STORES[form].generate_msgdef(name, ros_version=1)[1]
    return answer


def build(store, name, value):
    """Makes a message of JSON."""
    values = []
    if name in TIMES:  # whose fields have other names in ROS 1
        values = list(value.values())
    else:
        for field, desc in store.fielddefs[name][1]:
            values.append(0 if field == EMPTY else member(store, desc, value[field]))
    return store.types[name](*values)


def member(store, desc, value):
    kind, arg = desc
    if kind == Nodetype.NAME:
        return build(store, arg, value)
    if kind == Nodetype.BASE:  # rosbags takes byte for signed
        return value - 256 if arg[0] == "byte" and value > 127 else value
    (item, item_arg), _ = arg
    if item == Nodetype.NAME:
        return [build(store, item_arg, v) for v in value]
    base = item_arg[0]
    if base == "string":
        return value
    dtype = numpy.dtype(NUMPY.get(base, base))
    if isinstance(value, str):
        return numpy.frombuffer(base64.b64decode(value), dtype=dtype)
    return numpy.array(value, dtype=dtype)


def judge(q):
    form, name = q["form"], name_of(q)
    store, given = STORES[form], base64.b64decode(q.get("bytes", ""))
    message = build(store, name, q["message"])

    def text(data):
        return base64.b64encode(data).decode()

    if form == 1:
        return {"bytes": text(store.serialize_ros1(message, name)),
                "again": text(store.serialize_ros1(store.deserialize_ros1(given, name), name))}
    return {"bytes": text(store.serialize_cdr(message, name, little_endian=True)),
            "big": text(store.serialize_cdr(message, name, little_endian=False)),
            "again": text(store.serialize_cdr(store.deserialize_cdr(given, name), name, little_endian=True))}


def integer(text):
    return -0.0 if text == "-0" else int(text)  # JSON does not tell -0.0 from -0


def main():
    for line in sys.stdin:
        q = json.loads(line, parse_int=integer)
        try:
            answer = register(q) if "text" in q else judge(q)
        except Exception as e:  # the answer says which line it was
            answer = {"error": f"{q['type']}: {type(e).__name__}: {e}"}
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
