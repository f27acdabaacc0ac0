"""Compares poise dyn contact with Pinocchio's constraint dynamics.

    python tools/oracle/contact.py --poise bin/poise [--states N] [--seed S]

Given the torques that poise answers, and its residual on the base, Pinocchio holds the
contacts and finds accelerations and contact forces by itself: they must be those that poise
answered. Robots are those of ../shared/robots, on single points (CONTACT_3D), and on fixed feet
(CONTACT_6D), of which one stands where legs have three joints: several would hold each other, and
forces between them be open. Exit code 1 if anything differs by more than it may.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin

from dynamics import Coordinates, Pinocchio, rotation

TOLERANCE = 1e-9  # relative to max(1, max|reference|)


def ask(binary, robot, op, requests):
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    out = subprocess.run([binary, "dyn", str(robot), op], input=lines, capture_output=True, text=True)
    answers = [json.loads(line) for line in out.stdout.splitlines()]
    if len(answers) != len(requests) or any("error" in a for a in answers):
        raise RuntimeError(f"poise dyn {op}: {out.stdout[:400]} {out.stderr}")
    return answers


class Robot:
    """What poise check says of a robot."""

    def __init__(self, binary, folder):
        out = subprocess.run([binary, "check", str(folder), "--json"], capture_output=True, text=True)
        self.robot = json.loads(out.stdout)
        self.floating = True
        self.nq, self.nv, self.joints = self.robot["nq"], self.robot["nv"], self.robot["joints"]


# Robots of ../shared/robots without followers, which Pinocchio would let move freely, and
# the links they stand on.
ROBOTS = {
    "go2": ["FL_foot", "FR_foot", "RL_foot", "RR_foot"],
    "anymal_c": ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"],
    "g1": ["left_ankle_roll_link", "right_ankle_roll_link"],
}
POINT = [0.01, 0.005, -0.02]
# points that make a contact, and how Pinocchio calls it
KINDS = {
    "points": ([POINT], pin.ContactType.CONTACT_3D),
    "fixed feet": ([POINT, [0.01, 0.005, -0.04], [0.03, 0.005, -0.02]], pin.ContactType.CONTACT_6D),
}


def describe(name, kind, where):
    """A folder with the robot, each of its feet a contact of a kind."""
    source = pathlib.Path(__file__).resolve().parents[3] / "shared" / "robots" / name / f"{name}.urdf"
    if not source.exists():
        sys.exit(f"contact: {source} is absent")
    root = ET.fromstring(source.read_bytes())
    children = {j.find("child").get("link") for j in root.findall("joint")}
    base = next(l.get("name") for l in root.findall("link") if l.get("name") not in children)
    for link in root.iter("link"):
        for shape in link.findall("visual") + link.findall("collision"):
            link.remove(shape)
    urdf = where / f"{name}.urdf"
    urdf.write_text(ET.tostring(root, encoding="unicode"))
    chains = "".join(f"  leg{i}: {{base: {base}, tip: {tip}, contact: foot}}\n" for i, tip in enumerate(ROBOTS[name]))
    (where / "robot.yaml").write_text(f"urdf: {name}.urdf\nbase: floating\ncontacts:\n  foot: {{points: {KINDS[kind][0]}, sole: 0.03}}\nchains:\n{chains}")
    return where, urdf, {f"leg{i}": (tip, np.array(POINT)) for i, tip in enumerate(ROBOTS[name])}


def still(tool, coords, feet, names, q, v):
    """The velocity without what moves some feet."""
    m, d = tool.m, tool.d
    qp, _, _, G, _ = tool.state(q, v, v)
    pin.computeJointJacobians(m, d, qp)
    pin.updateFramePlacements(m, d)
    J = np.vstack([pin.getFrameJacobian(m, d, m.getFrameId(feet[n][0], pin.BODY), pin.LOCAL) @ G for n in names])
    return v - np.linalg.pinv(J) @ (J @ v)


def compare(kind, binary, folder, urdf, feet, states, seed):
    robot = Robot(binary, folder)
    coords = Coordinates(robot)
    tool = Pinocchio(urdf, coords)
    m, d = tool.m, tool.d
    rng = np.random.default_rng(seed)
    drawn, requests = [], []
    for _ in range(states):
        q, v, a, _ = coords.random(rng, robot.joints)
        fixed = KINDS[kind][1] == pin.ContactType.CONTACT_6D
        count = rng.integers(1, 2 if fixed and len(feet) > 2 else len(feet) + 1)
        names = sorted(rng.choice(sorted(feet), count, replace=False))
        if fixed:  # points of a foot that turns cannot all stand
            v = still(tool, coords, feet, names, q, v)
        drawn.append((q, v, a, names))
        requests.append({"q": list(q), "v": list(v), "a": list(a), "supports": {n: 1 for n in names}, "friction": 0.8})
    worst, moments = {"a": 0.0, "force": 0.0, "moment": 0.0}, 0.0
    for (q, v, a, names), answer in zip(drawn, ask(binary, folder, "contact", requests)):
        models = pin.StdVec_RigidConstraintModel()
        for n in names:
            link, point = feet[n]
            f = m.frames[m.getFrameId(link, pin.BODY)]
            X = f.placement * pin.SE3(np.eye(3), point)
            models.append(pin.RigidConstraintModel(KINDS[kind][1], m, f.parentJoint, X, pin.LOCAL))
        datas = pin.StdVec_RigidConstraintData()
        for c in models:
            datas.append(c.createData())
        R = rotation(q[3:7])
        r = np.array(answer["residual"])
        tau = np.r_[R.T @ r[:3], R.T @ r[3:], answer["tau"]]
        qp, vp, _, G, _ = tool.state(q, v, a)
        tau_pin = np.linalg.lstsq(G.T, tau, rcond=None)[0]
        pin.initConstraintDynamics(m, d, models, datas)
        acc = pin.constraintDynamics(m, d, qp, vp, tau_pin, models, datas, pin.ProximalSettings(1e-14, 0.0, 1))
        want = np.linalg.lstsq(G, acc, rcond=None)[0]
        worst["a"] = max(worst["a"], np.abs(np.array(answer["a"]) - want).max() / max(1, np.abs(want).max()))
        pin.forwardKinematics(m, d, qp)
        for n, c, data in zip(names, models, datas):
            R = (d.oMi[c.joint1_id] * c.joint1_placement).rotation
            f, t = R @ data.contact_force.linear, R @ data.contact_force.angular
            for key, got, want in (("force", answer["forces"][n]["force"], f), ("moment", answer["forces"][n]["moment"], t)):
                worst[key] = max(worst[key], np.abs(np.array(got) - want).max() / max(1, np.abs(f).max()))
            moments = max(moments, np.abs(t).max())
    if fixed and moments < 0.01:
        raise RuntimeError("no fixed foot has a moment: nothing is compared")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--poise", default="bin/poise")
    parser.add_argument("--states", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    good = True
    for kind in KINDS:
        for name in ROBOTS:
            with tempfile.TemporaryDirectory() as where:
                worst = compare(kind, args.poise, *describe(name, kind, pathlib.Path(where)), args.states, args.seed)
            print(f"{name} on {kind}: {args.states} states  " + "  ".join(f"{k} {e:.1e}" for k, e in worst.items()))
            good &= all(e <= TOLERANCE for e in worst.values())
    if not good:
        sys.exit(f"contact: differs by more than {TOLERANCE:g}")


if __name__ == "__main__":
    main()
