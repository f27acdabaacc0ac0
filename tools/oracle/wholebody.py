"""Compares poise dyn wholebody with a cascade of public solvers.

    python tools/oracle/wholebody.py --poise bin/poise [--states N] [--seed S]

Mass matrix, bias forces and Jacobians are Pinocchio's; the levels are written down here once
more, and each is solved as a quadratic program by quadprog (cascade.py) with
proximal steps, in the null space of the equations
above, with the inequalities above as its rows. Residuals and slacks of all levels must be those
that poise answers. Robots are those of ../shared/robots that stand on single points. Exit code
1 if anything differs by more than it may.
"""

import argparse
import itertools
import pathlib
import sys
import tempfile

import numpy as np
import pinocchio as pin

from cascade import TOLERANCE, Levels
from contact import ROBOTS, Robot, ask, describe
from dynamics import Coordinates, Pinocchio, rotation


def convex(P):
    """Corners of the hull, counter-clockwise, by wrapping."""
    if len(P) < 3:
        return P
    at, hull = np.lexsort((P[:, 1], P[:, 0]))[0], []
    while True:
        hull.append(at)
        to = (at + 1) % len(P)
        for i in range(len(P)):
            d = P[to] - P[at]
            if d[0] * (P[i] - P[at])[1] - d[1] * (P[i] - P[at])[0] < 0:
                to = i
        at = to
        if at == hull[0] or len(hull) > len(P):
            return P[hull]


def inradius(edges):
    """Of the circles that touch three edges from inside, the greatest that leaves none."""
    best = 0.0
    for three in itertools.combinations(edges, 3):
        A = np.array([[*k, -1.0] for _, k in three])
        if abs(np.linalg.det(A)) > 1e-12:
            c = np.linalg.solve(A, [k @ a for a, k in three])
            if all(k @ (c[:2] - a) >= c[2] - 1e-9 for a, k in edges):
                best = max(best, c[2])
    return best


class Case:
    """One state and request, in Pinocchio's terms."""

    def __init__(self, tool, coords, feet, rng):
        self.rng, self.nv = rng, coords.nv
        self.tool, self.coords, self.feet = tool, coords, feet

    def point(self, link, p):
        """Position, Jacobian and J̇·v of a point, world axes and our coordinates."""
        m, d = self.tool.m, self.tool.d
        frame = m.getFrameId(link, pin.BODY)
        placed = d.oMf[frame]
        r = placed.rotation @ p
        J = pin.getFrameJacobian(m, d, frame, pin.LOCAL_WORLD_ALIGNED)
        a = pin.getFrameClassicalAcceleration(m, d, frame, pin.LOCAL_WORLD_ALIGNED)
        w = pin.getFrameVelocity(m, d, frame, pin.LOCAL_WORLD_ALIGNED).angular
        bias = a.linear + np.cross(a.angular, r) + np.cross(w, np.cross(w, r))
        return placed.translation + r, (J[:3] - pin.skew(r) @ J[3:]) @ self.G, bias

    def update(self, q, v):
        m, d = self.tool.m, self.tool.d
        qp, vp, ap, self.G, _ = self.tool.state(q, v, np.zeros(self.nv))
        pin.forwardKinematics(m, d, qp, vp, ap)
        pin.computeJointJacobians(m, d, qp)
        pin.updateFramePlacements(m, d)
        M = pin.crba(m, d, qp)
        M = np.triu(M) + np.triu(M, 1).T
        self.M = self.G.T @ M @ self.G
        self.h = self.G.T @ pin.rnea(m, d, qp, vp, ap)
        self.R, self.p, self.w, self.vb = rotation(q[3:7]), np.array(q[:3]), v[3:6], v[:3]

    def base(self):
        """Jacobian and bias of the base's origin: our v is its twist in its own axes."""
        J = np.zeros((6, self.nv))
        J[:3, :3] = J[3:, 3:6] = self.R
        return J, np.r_[self.R @ np.cross(self.w, self.vb), np.zeros(3)]

    def levels(self, r):
        names = sorted(k for k, s in r["supports"].items() if s > 0)
        nv, n = self.nv, self.nv + 3 * len(names)
        stand = [self.point(*self.feet[k]) for k in names]
        N = np.hstack([J.T for _, J, _ in stand]) if stand else np.zeros((nv, 0))
        motion = np.hstack([self.M, -N])
        unit = np.eye(n)
        row = lambda c: np.r_[c, np.zeros(n - nv)]
        fz = [unit[nv + 3 * i + 2] for i in range(len(names))]
        limits, friction, zmp, at = [], [], [], []
        for j in range(nv - 6):
            if "tau" in r["limits"]:
                limits += [(motion[6 + j], -r["limits"]["tau"] - self.h[6 + j]), (-motion[6 + j], -r["limits"]["tau"] + self.h[6 + j])]
            if "a" in r["limits"]:
                limits += [(unit[6 + j], -r["limits"]["a"]), (-unit[6 + j], -r["limits"]["a"])]
        for i in range(len(names)):
            friction.append((fz[i], 0))
            for c in range(2):
                for sign in (1, -1):
                    friction.append((r["friction"] / np.sqrt(2) * fz[i] + sign * unit[nv + 3 * i + c], 0))
        P = np.array([p[:2] for p, _, _ in stand]).reshape(-1, 2)
        hull = convex(P)
        if len(hull) > 2:
            edges = []
            for a, b in zip(hull, np.roll(hull, -1, axis=0)):
                t = (b - a) / np.linalg.norm(b - a)
                edges.append((a, np.array([-t[1], t[0]])))
            margin = min(r["margin"], inradius(edges) / 2)
            for a, k in edges:
                zmp.append((sum((k @ (p - a) - margin) * z for p, z in zip(P, fz)), 0))
        if "zmp" in r:
            for c in range(2):
                at.append((sum(((p[c] - r["zmp"][c]) * z for p, z in zip(P, fz)), np.zeros(n)), 0))
        J, bias = self.base()
        want = np.r_[r["base"]["linear"], r["base"]["angular"]] - bias
        base = [(row(J[c]), want[c]) for c in range(6)]
        limbs = []
        for k, limb in r["limbs"].items():
            _, J, bias = self.point(*self.feet[k])
            limbs += [(row(J[c]), limb["linear"][c] - bias[c]) for c in range(3)]
        joints = {self.coords.at[k][2]: a for k, a in r["joints"].items()}
        contacts = [(row(J[c]), -bias[c]) for _, J, bias in stand for c in range(3)]
        levels = Levels(n)
        levels.add([(motion[i], -self.h[i]) for i in range(6)])
        levels.add(contacts)
        if r["order"] == "seed":
            levels.add(inequalities=limits)
            levels.add(inequalities=friction)
            levels.add(inequalities=zmp)
            if at:
                levels.add(at)
            levels.add(base)
            levels.add(limbs + [(unit[v], a) for v, a in joints.items()])
        else:
            busy = {v for k in names + list(r["limbs"]) for v in self.moving(k)}
            levels.add(self.tilt(names, row))
            levels.add(inequalities=limits + friction + zmp)
            levels.add([(unit[v], joints.get(v, 0)) for v in range(6, nv) if v not in busy])
            if at:
                levels.add(at)
            levels.add([base[c] for c in (2, 3, 4)])
            levels.add([base[c] for c in (0, 1, 5)])
            levels.add(limbs + [(unit[v], a) for v, a in joints.items() if v in busy])
        levels.add([(motion[j], -self.h[j]) for j in range(6, nv)] + [(1e-2 * unit[i], 0) for i in range(6, n)])
        return levels

    def moving(self, leg):
        _, J, _ = self.point(*self.feet[leg])
        m = self.tool.m
        joint = m.frames[m.getFrameId(self.feet[leg][0], pin.BODY)].parentJoint
        return {self.coords.at[m.names[i]][2] for i in m.supports[joint] if i > 1}

    def tilt(self, names, row):
        """Feet on one point do not tilt, in legs of five joints or more."""
        m, d, rows = self.tool.m, self.tool.d, []
        for k in names:
            if len(self.moving(k)) >= 5:
                frame = m.getFrameId(self.feet[k][0], pin.BODY)
                J = pin.getFrameJacobian(m, d, frame, pin.LOCAL_WORLD_ALIGNED)[3:] @ self.G
                a = pin.getFrameAcceleration(m, d, frame, pin.LOCAL_WORLD_ALIGNED).angular
                rows += [(row(J[c]), -a[c]) for c in range(2)]
        return rows


def draw(rng, coords, robot, feet):
    """A state, and a request of which much cannot be had."""
    q, v, _, _ = coords.random(rng, robot.joints)
    v *= rng.choice([0, 0.3])
    count = rng.integers(0, len(feet) + 1)
    stands = set(rng.choice(sorted(feet), count, replace=False))
    r = {
        "q": list(q), "v": list(v), "supports": {k: 1 for k in sorted(stands)}, "friction": float(rng.choice([0, 0.3, 0.6, 1.2])),
        "margin": 0.05 * rng.random(), "order": str(rng.choice(["seed", "default"])),
        "base": {"linear": list(4 * rng.normal(size=3)), "angular": list(10 * rng.normal(size=3))},
        "limbs": {k: {"linear": list(5 * rng.normal(size=3))} for k in sorted(set(feet) - stands) if rng.random() < 0.5},
        "joints": {j["name"]: 20 * rng.normal() for j in robot.joints if rng.random() < 0.2}, "limits": {},
    }
    if rng.random() < 0.7:
        r["limits"]["tau"] = float(rng.choice([5, 30, 100]))
    if rng.random() < 0.7:
        r["limits"]["a"] = float(rng.choice([30, 100, 200]))
    if rng.random() < 0.3 and stands:
        r["zmp"] = list(0.2 * rng.normal(size=2))
    return r


def compare(binary, folder, urdf, feet, states, seed):
    robot = Robot(binary, folder)
    coords = Coordinates(robot)
    case = Case(Pinocchio(urdf, coords), coords, feet, None)
    rng = np.random.default_rng(seed)
    requests = [draw(rng, coords, robot, feet) for _ in range(states)]
    worst, compared, unsolved, hard = 0.0, 0, 0, 0
    for r, answer in zip(requests, ask(binary, folder, "wholebody", requests)):
        case.update(np.array(r["q"]), np.array(r["v"]))
        want, failed = case.levels(r).solve()
        if failed:
            unsolved += 1
            continue
        for (residual, slack), level in zip(want, answer["levels"], strict=True):
            size = max(1.0, residual, slack)
            off = max(abs(level["residual"] - residual), abs(level["slack"] - slack)) / size
            if off > TOLERANCE:
                print(f"  {r['order']} {level['name']}: residual {level['residual']:.9g}, slack {level['slack']:.9g}; solvers {residual:.9g}, {slack:.9g}")
            worst = max(worst, off)
            hard += residual > 1e-6 or slack > 1e-6
        compared += 1
    return worst, compared, unsolved, hard


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--poise", default="bin/poise")
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    good = True
    for name in ROBOTS:
        with tempfile.TemporaryDirectory() as where:
            worst, compared, unsolved, hard = compare(args.poise, *describe(name, "points", pathlib.Path(where)), args.states, args.seed)
        print(f"{name} on points: {compared} states, {hard} levels not served whole, differs by {worst:.1e}; the solvers failed in {unsolved}")
        good &= worst <= TOLERANCE and compared >= 0.9 * args.states
    if not good:
        sys.exit(f"wholebody: differs by more than {TOLERANCE:g}, or the solvers failed too often")


if __name__ == "__main__":
    main()
