#!/usr/bin/env python3
"""What ROS xacro (PyPI package xacro) makes of our test files.

    expand_xacro.py expand FOLDER       every case of FOLDER/cases.json, as JSON: name -> XML
    expand_xacro.py eval < EXPRESSIONS   one expression a line, as JSON: list of [str, repr] or null

With --write the results go to FOLDER/expected/NAME.xml (expand), and
--write FILE puts the list into a file (eval). With --tolerant a case that
fails has the result null.

Two things that xacro leaves to a ROS installation are supplied here: $(find p)
is FOLDER/packages/p, and $(dirname) is the folder of the file being read, which
xacro 2.1.1 documents and does not know. Paths are written as if FOLDER were the
root of the file system.
"""

import argparse
import json
import os
import sys

import xacro
from xacro import substitution_args

PINNED = "2.1.1"


def supply_packages(folder):
    def find(package):
        path = os.path.join(folder, "packages", package)
        if not os.path.isdir(path):
            raise substitution_args.SubstitutionException("no package " + package)
        return path

    substitution_args._eval_find = find
    substitution_args._eval_dict["find"] = find
    substitution_args._eval_dirname = lambda _: os.path.dirname(os.path.abspath(xacro.filestack[-1]))


def expand(folder, tolerant):
    folder = os.path.abspath(folder)
    supply_packages(folder)
    with open(os.path.join(folder, "cases.json")) as f:
        cases = json.load(f)
    results = {}
    for case in cases:
        os.environ.update(case.get("env", {}))
        path = os.path.join(folder, "cases", case["file"])
        try:
            doc = xacro.process_file(path, mappings=dict(case.get("args", {})), verbosity=0)
        except (Exception, SystemExit) as e:
            if tolerant:
                results[case["name"]] = None
                continue
            sys.exit("expand_xacro.py: %s: %s" % (case["name"], e))
        for name in case.get("env", {}):
            del os.environ[name]
        results[case["name"]] = doc.toprettyxml(indent="  ").replace(folder, "")
    return results


def evaluate(lines):
    names = xacro.Table(xacro._global_symbols)
    values = {
        "n": 7, "x": 0.5, "s": "Forward left", "t": "", "on": True,
        "l": [3, 1.5, "a", [2]], "q": (1, 2), "d": xacro.YamlDictWrapper(a=1, b=dict(c=[10, 20, 30])), "none": None,
    }
    for name, v in values.items():
        dict.__setitem__(names, name, v)
    results = []
    for line in lines:
        try:
            v = xacro.safe_eval(line.rstrip("\n"), names)
            results.append([str(v), repr(v)])
        except Exception:
            results.append(None)
    return results


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("what", choices=["expand", "eval"])
    options.add_argument("folder", nargs="?")
    options.add_argument("--write", nargs="?", const=True)
    options.add_argument("--tolerant", action="store_true")
    options = options.parse_args()

    import importlib.metadata
    version = importlib.metadata.version("xacro")
    if version != PINNED:
        sys.exit("expand_xacro.py: version %s of xacro, %s expected" % (version, PINNED))

    if options.what == "eval":
        results = evaluate(sys.stdin)
        if options.write:
            with open(options.write, "w") as f:
                f.write("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
            return
    else:
        results = expand(options.folder, options.tolerant)
        if options.write:
            os.makedirs(os.path.join(options.folder, "expected"), exist_ok=True)
            for name, text in results.items():
                with open(os.path.join(options.folder, "expected", name + ".xml"), "w") as f:
                    f.write(text)
            return
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
