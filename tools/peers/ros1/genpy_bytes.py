"""Messages as genpy, which rospy has its messages from, writes and reads them.

Reads JSON lines from standard input: first all types, each without those inside it,

    {"type": "std_msgs/Bool", "text": "bool data\n"}

then messages, as JSON by field names and as the bytes to be judged (base64):

    {"type": "std_msgs/Bool", "message": {"data": true}, "bytes": "..."}

Answers each line by one. A type: the md5 sum that genpy gives its class. A message: the bytes
that genpy makes of the JSON, and those that it makes of what it read from the given bytes.

    {"md5": "..."}
    {"bytes": "...", "again": "..."}
"""

import base64
import io
import json
import sys
import types as types_module

import genpy
from genmsg import MsgContext
from genmsg.msg_loader import load_msg_from_string
from genpy.generator import msg_generator


def integer(text):
    return -0.0 if text == "-0" else int(text)  # JSON does not tell -0.0 from -0


def classes_of(types):
    """The classes of all types, by genpy's generator; packages of ROS are stood in for by theirs."""
    context = MsgContext.create_default()
    specs = {t["type"]: load_msg_from_string(context, t["text"], t["type"]) for t in types}
    for name, spec in specs.items():
        context.register(name, spec)
    modules = {}
    for name in specs:
        package = name.split("/")[0]
        if package not in modules:
            modules[package] = types_module.ModuleType(package + ".msg")
            sys.modules[package] = types_module.ModuleType(package)
            sys.modules[package].msg = sys.modules[package + ".msg"] = modules[package]
    classes = {}
    for name, spec in specs.items():
        package, short = name.split("/")
        scope = {}
        exec("\n".join(msg_generator(context, spec, {})), scope)
        classes[name] = scope[short]
        setattr(modules[package], short, scope[short])
    modules["std_msgs"]._Header = modules["std_msgs"]
    return classes


def member(classes, kind, value):
    if kind == "time":
        secs, nsecs = value.values()
        return genpy.Time(secs & 0xffffffff, nsecs)  # which has no sign in ROS 1
    if kind == "duration":
        return genpy.Duration(*value.values())
    if kind.endswith("]"):
        of = kind[:kind.index("[")]
        if isinstance(value, str):
            return base64.b64decode(value)
        return [member(classes, of, v) for v in value]
    if "/" in kind:
        return build(classes, kind, value)
    if kind == "byte" and value > 127:  # which is signed in genpy
        return value - 256
    return value


def build(classes, name, value):
    message = classes[name]()
    values = list(value.values())  # in order: genpy renames fields that are words of Python
    if len(values) != len(message.__slots__):
        raise ValueError("%d fields, genpy has %s" % (len(values), message.__slots__))
    for slot, kind, one in zip(message.__slots__, message._slot_types, values):
        setattr(message, slot, member(classes, kind, one))
    return message


def text_of(message):
    out = io.BytesIO()
    message.serialize(out)
    return base64.b64encode(out.getvalue()).decode()


def judge(classes, q):
    read = classes[q["type"]]().deserialize(base64.b64decode(q.get("bytes", "")))
    return {"bytes": text_of(build(classes, q["type"], q["message"])), "again": text_of(read)}


def main():
    lines = [json.loads(line, parse_int=integer) for line in sys.stdin]
    classes = classes_of([q for q in lines if "text" in q])
    for q in lines:
        try:
            answer = {"md5": classes[q["type"]]._md5sum} if "text" in q else judge(classes, q)
        except Exception as e:  # the answer says which line it was
            answer = {"error": "%s: %s: %s" % (q["type"], type(e).__name__, e)}
        print(json.dumps(answer))


main()
