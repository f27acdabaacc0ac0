"""Compares poise kin and poise dyn with Pinocchio and MuJoCo, for any URDF.

    python tools/oracle/dynamics.py --poise bin/poise [--states N] [--seed S] [URDF | URDF:floating] …

Without files it takes every robot of ../shared/robots and those shipped, fixed and
floating. With
--write DIR it stores what Pinocchio says, in the form of the golden files, one
file for each robot. Exit code 1 if anything differs by more than it may.

Both tools get the same robot in their own coordinates; a map v_tool = G(q)·v
brings ours to theirs, so forces come back by Gᵀ:

  * a mimic follower is a joint of its own there: its row of G is the multiplier;
  * MuJoCo's free base has its linear velocity in world axes;
  * Pinocchio's planar joint has its velocity in the axes of the body.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pinocchio as pin

# Relative to max(1, max|reference|). Forward dynamics loses what the condition of
# the mass matrix takes. MuJoCo diagonalises inertia tensors when it reads a file;
# versions before 3 stopped early there and would need 1e-6.
TOLERANCE = {"pinocchio": 1e-9, "mujoco": 1e-9}
FORWARD_FACTOR = 10
GRAVITY = 9.81


class Poise:
    """The program under test."""

    def __init__(self, binary, urdf, floating):
        self.binary, self.urdf, self.floating = binary, str(urdf), floating
        base = self.base()
        out = subprocess.run([binary, "check", self.urdf, "--json", base], capture_output=True, text=True)
        if out.returncode != 0:
            raise RuntimeError(out.stderr)
        self.robot = json.loads(out.stdout)
        self.nq, self.nv, self.joints = self.robot["nq"], self.robot["nv"], self.robot["joints"]

    def base(self):
        return "--floating" if self.floating else "--fixed"

    def ask(self, command, op, requests):
        """Answers of one stream; a refusal is a dictionary with "error"."""
        lines = "".join(json.dumps(r) + "\n" for r in requests)
        out = subprocess.run([self.binary, command, self.urdf, op, self.base()], input=lines, capture_output=True, text=True)
        answers = [json.loads(line) for line in out.stdout.splitlines()]
        if len(answers) != len(requests) or out.stderr:
            raise RuntimeError(f"poise {command} {op}: {len(answers)} answers to {len(requests)} requests\n{out.stderr}")
        return answers


class Coordinates:
    """Where each joint stands in our arrays."""

    def __init__(self, poise):
        self.nq, self.nv, self.floating = poise.nq, poise.nv, poise.floating
        self.at = {}  # joint → (type, q index, v index, multiplier, offset)
        q, v = (7, 6) if poise.floating else (0, 0)
        for j in poise.joints:
            self.at[j["name"]] = (j["type"], q, v, 1.0, 0.0)
            q += {"floating": 7, "planar": 3}.get(j["type"], 1)
            v += {"floating": 6, "planar": 3}.get(j["type"], 1)
        for m in poise.robot["mimic"]:
            kind, qi, vi, _, _ = self.at[m["of"]]
            self.at[m["name"]] = (kind, qi, vi, m["multiplier"], m["offset"])

    def random(self, rng, joints):
        """A state with joints within their limits."""
        q = np.zeros(self.nq)

        def free(i):
            q[i : i + 3] = rng.uniform(-1, 1, 3)
            u = rng.normal(size=4)
            q[i + 3 : i + 7] = u / np.linalg.norm(u)

        if self.floating:
            free(0)
        for j in joints:
            kind, i, _, _, _ = self.at[j["name"]]
            if kind == "floating":
                free(i)
            elif kind == "planar":
                q[i : i + 3] = rng.uniform(-1, 1, 3)
            else:
                lower = -np.pi if j["lower"] is None else j["lower"]
                upper = np.pi if j["upper"] is None else j["upper"]
                q[i] = rng.uniform(max(lower, -1e3), min(upper, 1e3))
        return q, rng.uniform(-2, 2, self.nv), rng.uniform(-10, 10, self.nv), rng.uniform(-20, 20, self.nv)


def rotation(q):
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


class Pinocchio:
    name = "pinocchio"

    def __init__(self, urdf, coords):
        self.c = coords
        text = pathlib.Path(urdf).read_text()
        self.m = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if coords.floating else pin.buildModelFromXML(text)
        self.m.gravity.linear = np.array([0, 0, -GRAVITY])
        self.d = self.m.createData()

    def state(self, q, v, a):
        """q, v, a, G and Ġ·v in Pinocchio's coordinates."""
        m, c = self.m, self.c
        qp, G, bias = pin.neutral(m), np.zeros((m.nv, c.nv)), np.zeros(m.nv)
        for i in range(1, m.njoints):
            iq, iv = m.joints[i].idx_q, m.joints[i].idx_v
            if c.floating and i == 1:
                qp[:7] = q[:7]
                G[:6, :6] = np.eye(6)
                continue
            kind, jq, jv, ratio, offset = c.at[m.names[i]]
            if kind == "floating":
                qp[iq : iq + 7] = q[jq : jq + 7]
                G[iv : iv + 6, jv : jv + 6] = np.eye(6)
            elif kind == "planar":
                s, co = np.sin(q[jq + 2]), np.cos(q[jq + 2])
                qp[iq : iq + 4] = q[jq], q[jq + 1], co, s
                back = np.array([[co, s], [-s, co]])
                G[iv : iv + 2, jv : jv + 2] = back
                G[iv + 2, jv + 2] = 1
                bias[iv : iv + 2] = v[jv + 2] * np.array([[-s, co], [-co, -s]]) @ v[jv : jv + 2]
            else:
                x = ratio * q[jq] + offset
                if m.joints[i].nq == 2:
                    qp[iq : iq + 2] = np.cos(x), np.sin(x)
                else:
                    qp[iq] = x
                G[iv, jv] = ratio
        return qp, G @ v, G @ a + bias, G, bias

    def answer(self, q, v, a, tau, links):
        m, d = self.m, self.d
        qp, vp, ap, G, bias = self.state(q, v, a)
        out = {"rnea": G.T @ pin.rnea(m, d, qp, vp, ap), "gravity": G.T @ pin.computeGeneralizedGravity(m, d, qp)}
        M = pin.crba(m, d, qp)
        M = np.triu(M) + np.triu(M, 1).T
        out["crba"] = G.T @ M @ G
        h = G.T @ (pin.nonLinearEffects(m, d, qp, vp) + M @ bias)
        out["aba"] = None
        if M.size and least_pivot(out["crba"]) > 1e-11:
            out["aba"] = np.linalg.solve(out["crba"], tau - h)

        # Pinocchio leaves out what is welded to the world: put it back
        still, moving = m.inertias[0].mass, pin.computeTotalMass(m)
        out["mass"] = still + moving
        out["moving"] = moving
        if out["mass"] > 0:
            com = pin.centerOfMass(m, d, qp, vp) if moving > 0 else np.zeros(3)
            whole = (still * m.inertias[0].lever + moving * com) / out["mass"]
            hg = pin.computeCentroidalMomentum(m, d, qp, vp)
            out["com_moving"], out["com"] = com, whole
            out["vcom_moving"] = d.vcom[0].copy()
            out["vcom"] = hg.linear / out["mass"]
            out["h_moving"] = np.r_[hg.linear, hg.angular]
            out["h"] = np.r_[hg.linear, hg.angular + np.cross(com - whole, hg.linear)]

        pin.forwardKinematics(m, d, qp, vp, np.zeros(m.nv) + bias)
        pin.updateFramePlacements(m, d)
        out["frames"] = {}
        for link in links:
            f = m.getFrameId(link, pin.BODY)
            X = d.oMf[f]
            J = pin.computeFrameJacobian(m, d, qp, f, pin.LOCAL_WORLD_ALIGNED) @ G
            acc = pin.getFrameClassicalAcceleration(m, d, f, pin.LOCAL_WORLD_ALIGNED)
            out["frames"][link] = {
                "position": X.translation.copy(),
                "quaternion": pin.Quaternion(X.rotation).coeffs(),
                "jacobian": J,
                "jdotv": np.r_[acc.linear, acc.angular],
            }
        return out


class MuJoCo:
    name = "mujoco"

    def __init__(self, urdf, coords):
        self.c = coords
        self.m = mujoco.MjModel.from_xml_string(mujoco_urdf(urdf, coords.floating))
        m = self.m
        m.dof_damping[:] = m.dof_frictionloss[:] = m.dof_armature[:] = 0
        m.opt.gravity[:] = 0, 0, -GRAVITY
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.d = mujoco.MjData(m)

    def answer(self, q, v, a, tau, links):
        m, d, c = self.m, self.d, self.c
        G, bias = np.zeros((m.nv, c.nv)), np.zeros(m.nv)
        for i in range(m.njnt):
            iq, iv = m.jnt_qposadr[i], m.jnt_dofadr[i]
            if m.jnt_type[i] == mujoco.mjtJoint.mjJNT_FREE:
                R = rotation(q[3:7])
                d.qpos[iq : iq + 3] = q[:3]
                d.qpos[iq + 3 : iq + 7] = q[6], q[3], q[4], q[5]
                G[iv : iv + 3, :3] = R
                G[iv + 3 : iv + 6, 3:6] = np.eye(3)
                bias[iv : iv + 3] = R @ np.cross(v[3:6], v[:3])
                continue
            _, jq, jv, ratio, offset = c.at[m.joint(i).name]
            d.qpos[iq] = ratio * q[jq] + offset
            G[iv, jv] = ratio
        d.qvel[:] = G @ v
        d.qacc[:] = G @ a + bias
        mujoco.mj_inverse(m, d)
        out = {"rnea": G.T @ d.qfrc_inverse}
        mujoco.mj_forward(m, d)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M) if fullM_takes_data() else mujoco.mj_fullM(m, M, d.qM)
        out["crba"] = G.T @ M @ G
        if c.floating:
            mujoco.mj_subtreeVel(m, d)
            out["com"], out["vcom"] = d.subtree_com[0].copy(), d.subtree_linvel[0].copy()
            out["h"] = np.r_[d.subtree_linvel[0] * m.body_subtreemass[0], d.subtree_angmom[0]]
        out["frames"] = {}
        for link in links:
            b = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, link)
            if b < 0:
                continue
            J = np.zeros((6, m.nv))
            mujoco.mj_jacBody(m, d, J[:3], J[3:], b)
            w, x, y, z = d.xquat[b]
            out["frames"][link] = {"position": d.xpos[b].copy(), "quaternion": np.array([x, y, z, w]), "jacobian": J @ G}
        return out


def fullM_takes_data():
    return "mjData" in mujoco.mj_fullM.__doc__.split("\n")[0] or "d:" in mujoco.mj_fullM.__doc__.split("\n")[0]


def mujoco_urdf(urdf, floating):
    """The URDF without shapes, for MuJoCo: a free base is a joint of the file."""
    root = ET.fromstring(pathlib.Path(urdf).read_bytes())
    for link in root.iter("link"):
        for shape in link.findall("visual") + link.findall("collision"):
            link.remove(shape)
    for other in [e for e in root if e.tag not in ("link", "joint")]:
        root.remove(other)
    option = ET.SubElement(ET.SubElement(root, "mujoco"), "compiler")
    option.attrib.update(inertiafromgeom="false", fusestatic="false", balanceinertia="false", discardvisual="false")
    if floating:
        children = {j.find("child").get("link") for j in root.findall("joint")}
        base = next(l.get("name") for l in root.findall("link") if l.get("name") not in children)
        if base == "world":
            base = rename(root, "world", "own_world")
        ET.SubElement(root, "link", name="world")  # this name makes it MuJoCo's world
        joint = ET.SubElement(root, "joint", name="base_of_the_oracle", type="floating")
        ET.SubElement(joint, "parent", link="world")
        ET.SubElement(joint, "child", link=base)
    return ET.tostring(root, encoding="unicode")


def rename(root, old, new):
    """Gives a link another name."""
    for e in root.findall("link"):
        if e.get("name") == old:
            e.set("name", new)
    for e in root.findall("joint/parent") + root.findall("joint/child"):
        if e.get("link") == old:
            e.set("link", new)
    return new


def least_pivot(M):
    """Least pivot of M scaled to a unit diagonal: 0 if M is singular."""
    diagonal = np.diag(M)
    if diagonal.min() <= 1e-15 * diagonal.max():
        return 0.0
    s = 1 / np.sqrt(diagonal)
    return float(np.linalg.eigvalsh(M * np.outer(s, s)).min())


class Report:
    """The largest difference of each quantity."""

    def __init__(self):
        self.worst, self.failed = {}, []

    def compare(self, tool, what, got, want):
        got, want = np.asarray(got, float), np.asarray(want, float)
        if got.shape != want.shape:
            self.failed.append(f"{tool} {what}: shape {got.shape}, want {want.shape}")
            return
        if want.size == 0:
            return
        error = np.abs(got - want).max() / max(1.0, np.abs(want).max())
        key = (tool, what)
        self.worst[key] = max(self.worst.get(key, 0.0), error)
        limit = TOLERANCE[tool] * (FORWARD_FACTOR if what == "aba" else 1)
        if not error <= limit:
            self.failed.append(f"{tool} {what}: differs by {error:.3g}, allowed {limit:g}")

    def line(self, tool):
        return "  ".join(f"{what} {e:.1e}" for (t, what), e in sorted(self.worst.items()) if t == tool)


def compare(report, poise, tool, states, links):
    tau_answers = poise.ask("dyn", "rnea", [{"q": list(q), "v": list(v), "a": list(a)} for q, v, a, _ in states])
    M_answers = poise.ask("dyn", "crba", [{"q": list(q)} for q, *_ in states])
    g_answers = poise.ask("dyn", "gravity", [{"q": list(q)} for q, *_ in states])
    a_answers = poise.ask("dyn", "aba", [{"q": list(q), "v": list(v), "tau": list(t)} for q, v, _, t in states])
    c_answers = poise.ask("dyn", "com", [{"q": list(q), "v": list(v)} for q, v, *_ in states])
    h_answers = poise.ask("dyn", "centroidal", [{"q": list(q), "v": list(v)} for q, v, *_ in states])
    fk = {l: poise.ask("kin", "fk", [{"q": list(q), "frame": l} for q, *_ in states]) for l in links}
    jac = {l: poise.ask("kin", "jacobian", [{"q": list(q), "frame": l} for q, *_ in states]) for l in links}
    references = []
    for i, (q, v, a, t) in enumerate(states):
        ref = tool.answer(q, v, a, t, links)
        references.append(ref)
        report.compare(tool.name, "rnea", tau_answers[i]["tau"], ref["rnea"])
        report.compare(tool.name, "crba", np.reshape(M_answers[i]["M"], ref["crba"].shape), ref["crba"])
        if "gravity" in ref:
            report.compare(tool.name, "gravity", g_answers[i]["tau"], ref["gravity"])
        if "aba" in ref:
            if ref["aba"] is None:
                if "error" not in a_answers[i] and poise.nv:
                    report.failed.append("aba: an answer, but the mass matrix is singular")
            elif "error" in a_answers[i]:
                report.failed.append(f"aba: {a_answers[i]['error']}")
            else:
                report.compare(tool.name, "aba", a_answers[i]["a"], ref["aba"])
        if "com" in ref:
            report.compare(tool.name, "com", c_answers[i]["com"], ref["com"])
            report.compare(tool.name, "vcom", c_answers[i]["vcom"], ref["vcom"])
            report.compare(tool.name, "h", h_answers[i]["h"], ref["h"])
        for link, f in ref["frames"].items():
            p, o = fk[link][i]["position"], fk[link][i]["orientation"]
            quat = np.array([o["x"], o["y"], o["z"], o["w"]])
            report.compare(tool.name, "position", [p["x"], p["y"], p["z"]], f["position"])
            report.compare(tool.name, "orientation", quat * np.sign(quat @ f["quaternion"]), f["quaternion"])
            report.compare(tool.name, "jacobian", np.reshape(jac[link][i]["J"], f["jacobian"].shape), f["jacobian"])
    return references


def tips(urdf):
    """The links that carry nothing, at most six of them."""
    root = ET.fromstring(pathlib.Path(urdf).read_bytes())
    parents = {j.find("parent").get("link") for j in root.findall("joint")}
    links = [l.get("name") for l in root.findall("link")]
    return [l for l in links if l not in parents][:6] or links[:1]


def golden(poise, states, references, seed, urdf):
    """What Pinocchio says, in the form of the golden files."""
    cases = []
    for (q, v, a, t), ref in zip(states, references):
        case = {"q": q, "v": v, "a": a, "rnea": ref["rnea"], "crba": ref["crba"], "gravity": ref["gravity"]}
        if ref["aba"] is not None:
            case.update(tau_in=t, aba=ref["aba"])
        if "com" in ref:
            case.update(com=ref["com_moving"], com_with_base=ref["com"], vcom=ref["vcom_moving"], h=ref["h_moving"])
        case["frames"] = {
            l: {"position": f["position"], "quaternion_xyzw": f["quaternion"], "jacobian": f["jacobian"], "jdotv": f["jdotv"]}
            for l, f in ref["frames"].items()
        }
        cases.append(case)
    last = references[-1]
    return {
        "robot": poise.robot["name"],
        "urdf": str(urdf),
        "floating": poise.floating,
        "kinematics_only": last["mass"] == 0,
        "mass_matrix_singular": last["aba"] is None,
        "nq": poise.nq,
        "nv": poise.nv,
        "mass_total": last["mass"],
        "mass_moving": last["moving"],
        "joint_names": [j["name"] for j in poise.joints],
        "mimic": poise.robot["mimic"],
        "gravity": [0, 0, -GRAVITY],
        "tool": f"Pinocchio {pin.__version__}",
        "seed": seed,
        "cases": cases,
    }


def plain(x):
    return x.tolist() if isinstance(x, np.ndarray) else float(x) if isinstance(x, np.floating) else x


def check(binary, urdf, floating, states, seed, write):
    """Compares one robot and returns whether all agrees."""
    poise = Poise(binary, urdf, floating)
    coords = Coordinates(poise)
    rng = np.random.default_rng(seed)
    drawn = [coords.random(rng, poise.joints) for _ in range(states)]
    links = tips(urdf)
    report = Report()
    name = f"{pathlib.Path(urdf).stem} {'floating' if floating else 'fixed'}"
    references = compare_with_mass(report, poise, Pinocchio(urdf, coords), drawn, links)
    print(f"{name}: {states} states, nv {poise.nv}\n  pinocchio: {report.line('pinocchio')}")
    kinds = {kind for kind, *_ in coords.at.values()}
    if kinds & {"planar", "floating"}:
        print("  mujoco: not compared, it reads no such joints inside a tree")
    else:
        try:
            tool = MuJoCo(urdf, coords)
        except ValueError as e:
            print(f"  mujoco: cannot read it: {re.sub(chr(10), ' ', str(e))}")
        else:
            compare_with_mass(report, poise, tool, drawn, links)
            print(f"  mujoco: {report.line('mujoco')}")
    for f in report.failed[:20]:
        print(f"  DIFFERS {f}")
    if write:
        out = pathlib.Path(write) / f"{pathlib.Path(urdf).stem}{'_floating' if floating else ''}.json"
        out.write_text(json.dumps(golden(poise, drawn, references, seed, urdf), default=plain, indent=1))
    return not report.failed


def compare_with_mass(report, poise, tool, states, links):
    """compare, for robots without mass too: com and centroidal refuse them."""
    if poise.robot["mass"] > 0:
        return compare(report, poise, tool, states, links)
    inner = poise.ask

    def ask(command, op, requests):
        if op in ("com", "centroidal"):
            return [{} for _ in requests]
        return inner(command, op, requests)

    poise.ask = ask
    return compare(report, poise, tool, states, links)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--poise", default="bin/poise", help="the program to check")
    parser.add_argument("--states", type=int, default=20, help="random states for each robot")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", metavar="DIR", help="store what Pinocchio says as golden files")
    parser.add_argument("urdf", nargs="*", help="FILE, fixed, or FILE:floating")
    args = parser.parse_args()

    jobs = []
    for u in args.urdf:
        file, _, base = u.partition(":")
        jobs.append((file, base == "floating"))
    if not jobs:
        shared = pathlib.Path(__file__).resolve().parents[3] / "shared" / "robots"
        files = sorted(f for f in shared.glob("*/*.urdf") if "nomesh" not in f.name)
        if not files:
            sys.exit("oracle: ../shared/robots is absent; name a URDF")
        files += sorted(pathlib.Path(__file__).resolve().parents[2].glob("robot/shipped/*/*.urdf"))
        jobs = [(f, floating) for f in files for floating in (False, True)]

    good = True
    for file, floating in jobs:
        good &= check(args.poise, file, floating, args.states, args.seed, args.write)
    print("all agree" if good else "some differ")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
