#!/usr/bin/env python3
"""MuJoCo judges `poise sim`: the same URDF, the same plain servos, the same scenario.

    physics.py POISE ROBOTS [--short | --speed]

POISE is the binary, ROBOTS the folder with go2, anymal_c, g1 and panda_inertial. Contacts of
MuJoCo are set stiff and explicit; links touch the ground alone. Bounds are those of
docs/physics.md. With --speed the time
of a step is compared instead. Exit code 1 if one is missed.
"""
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

import mujoco
import numpy as np

FRICTION = 0.8
STEP = 0.001


def field(spec, h, quat):
    """A field of heights as the ground; sim.Heights on Go's side."""
    half = [(h["NX"] - 1) * h["Cell"] / 2, (h["NY"] - 1) * h["Cell"] / 2]
    top = h["Highest"]
    f = spec.add_hfield()
    f.name, f.nrow, f.ncol, f.size, f.userdata = "heights", h["NY"], h["NX"], [half[0], half[1], top, 0.1], [z / top for z in h["Z"]]
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, np.array(quat, dtype=float))
    at = R.reshape(3, 3) @ np.array([h["X0"] + half[0], h["Y0"] + half[1], 0])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="heights", name="ground", pos=at, quat=quat)


class Robot:
    def __init__(self, poise, name, source, floating, start, kp, kd, armature, virtual=()):
        self.poise, self.name, self.source, self.floating = poise, name, source, floating
        self.start, self.kp, self.kd, self.armature, self.virtual = start, kp, kd, armature, set(virtual)
        flags = ["--floating"] if floating else ["--fixed"]
        about = json.loads(subprocess.check_output([poise, "check", source, "--json"] + flags))
        self.joints = [j["name"] for j in about["joints"]]
        self.urdf = about_urdf(source)

    def scenario(self, duration, do=(), **more):
        s = {"duration": duration, "step": STEP, "start": {"joints": self.start or {self.joints[0]: 0}},
             "servos": {"all": {"kp": self.kp, "kd": self.kd, "armature": self.armature}}, "do": list(do)}
        s.update(more)
        return s

    def run(self, scenario):
        """The trace and the report of poise sim."""
        with tempfile.TemporaryDirectory() as d:
            file, trace, report = (os.path.join(d, n) for n in ("s.yaml", "t", "r"))
            with open(file, "w") as f:
                json.dump(scenario, f)  # JSON is YAML
            flags = ["--floating"] if self.floating else ["--fixed"]
            p = subprocess.run([self.poise, "sim", self.source, file, "--trace", trace, "--report", report] + flags,
                               capture_output=True, text=True)
            if p.returncode not in (0, 1) or p.stderr:
                raise SystemExit(f"{self.name}: {p.stderr}")
            with open(trace) as t, open(report) as r:
                return [json.loads(line) for line in t], json.load(r)

    def mujoco(self, friction=FRICTION, pitch=0.0, step=STEP, integrator=mujoco.mjtIntegrator.mjINT_IMPLICITFAST, boxes=(), slope=None, heights=None, soles=()):
        """The robot on a plane, or on heights, and on boxes at rest: middle and half of the edges of each. Soles are balls in the place of
        what the links of a foot are: links, its tip first, where balls are in the frame of the tip, and their radius."""
        root = ET.fromstring(self.urdf)
        for link in root.findall("link"):
            for v in link.findall("visual"):
                link.remove(v)
            for c in link.findall("collision"):
                if c.find("geometry/mesh") is not None:
                    link.remove(c)
            inertia = link.find("inertial/inertia")
            if inertia is not None:
                definite(inertia)
        for old in root.findall("mujoco"):
            root.remove(old)
        for j in root.findall("joint"):
            d = j.find("dynamics")
            if d is not None:
                j.remove(d)
            mimic = j.find("mimic")
            if j.get("name") in self.virtual or mimic is not None and mimic.get("joint") in self.virtual:
                j.set("type", "fixed")
        ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", fusestatic="false", discardvisual="false",
                      balanceinertia="true", inertiafromgeom="false")
        spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"))
        if self.floating:
            spec.worldbody.first_body().add_freejoint().name = "base"
        quat = slope or [math.cos(pitch / 2), 0, math.sin(pitch / 2), 0]
        if heights:
            field(spec, heights, quat)
        else:
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], name="ground", quat=quat)
        for i, (middle, half) in enumerate(boxes):
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=middle, name=f"box{i}")
        for links, at, radius in soles:
            for place in at:
                spec.body(links[0]).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], pos=place, mass=0, name=f"sole {links[0]} {place}")
        limits = {j.get("name"): j.find("limit") for j in root.findall("joint")}
        for j in spec.joints:
            if j.name not in self.joints:
                continue
            j.armature = self.armature
            limit = limits[j.name]
            effort = float(limit.get("effort", 0)) if limit is not None else 0
            a = spec.add_actuator()
            a.name, a.target, a.trntype = j.name, j.name, mujoco.mjtTrn.mjTRN_JOINT
            a.set_to_position(kp=self.kp, kv=self.kd)
            if effort:
                a.forcelimited, a.forcerange = 1, [-effort, effort]
        m = spec.compile()
        m.opt.timestep, m.opt.integrator = step, integrator
        m.opt.cone, m.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
        m.opt.gravity[:] = 0, 0, -9.81
        ground = [m.geom("ground").id] + [m.geom(f"box{i}").id for i in range(len(boxes))]
        m.geom_contype[:], m.geom_conaffinity[:] = 1, 2
        m.geom_contype[ground], m.geom_conaffinity[ground] = 2, 1
        for links, _, _ in soles:
            for i in range(m.ngeom):
                if m.body(m.geom_bodyid[i]).name in links and not m.geom(i).name.startswith("sole "):
                    m.geom_contype[i] = m.geom_conaffinity[i] = 0
        m.geom_friction[:, 0] = friction
        m.geom_solref[:] = 2.5 * step, 1
        m.geom_solimp[:, :3] = 0.99, 0.999, 0.0001
        m.geom_condim[:] = 3
        return m

    def place(self, m, frame):
        """MuJoCo's state as the first line of a trace has it."""
        d = mujoco.MjData(m)
        names = {m.joint(i).name: i for i in range(m.njnt)}
        for name, q in zip(self.joints, frame["q"]):
            if name in names:
                d.qpos[m.jnt_qposadr[names[name]]] = q
        if self.floating:
            x, y, z, w = frame["base"]["orientation"]
            d.qpos[:7] = frame["base"]["position"] + [w, x, y, z]
        self.aim(m, d, dict(zip(self.joints, frame["q"])))
        mujoco.mj_forward(m, d)
        return d

    def aim(self, m, d, targets):
        for i in range(m.nu):
            d.ctrl[i] = targets[m.actuator(i).name]

    def angles(self, m, d):
        names = {m.joint(i).name: i for i in range(m.njnt)}
        return np.array([d.qpos[m.jnt_qposadr[names[n]]] if n in names else math.nan for n in self.joints])


def about_urdf(source):
    if os.path.isdir(source):
        source = os.path.join(source, os.path.basename(source.rstrip("/")) + ".urdf")
    with open(source) as f:
        return f.read()


def definite(inertia):
    """Makes an inertia that has no size about some axis, which MuJoCo refuses, a small one."""
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    xx, xy, xz, yy, yz, zz = (float(inertia.get(k)) for k in keys)
    values, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if values[0] > 0:
        return
    A = axes @ np.diag(np.maximum(values, 1e-9)) @ axes.T
    for k, x in zip(keys, (A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2])):
        inertia.set(k, repr(float(x)))


def forces(m, d):
    """Vertical force that each body gets from the ground."""
    out, f = {}, np.zeros(6)
    ground = m.geom("ground").id
    for i in range(d.ncon):
        c = d.contact[i]
        mujoco.mj_contactForce(m, d, i, f)
        up = c.frame.reshape(3, 3).T @ f[:3]
        geom, sign = (c.geom2, 1) if c.geom1 == ground else (c.geom1, -1)
        body = m.body(m.geom_bodyid[geom]).name
        out[body] = out.get(body, 0) + sign * up[2]
    return out


failed = False


def check(robot, what, value, bound):
    global failed
    ok = value <= bound
    failed |= not ok
    print(f"{'ok  ' if ok else 'MISS'} {robot:10s} {what:34s} {value:.3g} (bound {bound:g})", flush=True)


def stand(r, seconds):
    trace, _ = r.run(r.scenario(seconds))
    m = r.mujoco()
    d = r.place(m, trace[0])
    for _ in range(round(seconds / STEP)):
        mujoco.mj_step(m, d)
    last = trace[-1]
    check(r.name, "resting height, m", abs(last["base"]["position"][2] - d.qpos[2]), 1e-3)
    ours = {}
    for c in last["contacts"]:
        ours[c["link"]] = ours.get(c["link"], 0) + c["force"][2]
    theirs = forces(m, d)
    a, b = sum(ours.values()), sum(theirs.values())
    check(r.name, "sum of contact forces", abs(a / b - 1), 0.01)
    worst = max(abs(ours.get(k, 0) - f) / max(f, 0.02 * b) for k, f in theirs.items() if f > 0.02 * b)
    check(r.name, "force of each foot", worst, 0.05)
    check(r.name, "joints at rest, rad", np.nanmax(np.abs(r.angles(m, d) - np.array(last["q"]))), 0.01)


def fall_freely(r, seconds):
    """Nothing drives the joints; MuJoCo integrates by Runge and Kutta."""
    s = r.scenario(seconds)
    s["servos"]["all"]["kp"] = s["servos"]["all"]["kd"] = 0
    if r.floating:
        s["start"]["base"] = {"position": {"x": 0, "y": 0, "z": 50}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}}
        s["do"] = [{"at": 0, "push": {"link": ET.fromstring(r.urdf).find("link").get("name"), "force": [0, 30, 20], "for": 0.1}}]
    trace, _ = r.run(s)
    m = r.mujoco(integrator=mujoco.mjtIntegrator.mjINT_RK4)
    m.actuator_gainprm[:] = 0
    m.actuator_biasprm[:] = 0
    d = r.place(m, trace[0])
    worst = 0
    for n in range(round(seconds / STEP) + 1):
        if n % 10 == 0:
            f = trace[n // 10]
            worst = max(worst, np.nanmax(np.abs(r.angles(m, d) - np.array(f["q"]))))
            if r.floating:
                worst = max(worst, np.abs(np.array(f["base"]["position"]) - d.qpos[:3]).max())
        d.xfrc_applied[:] = 0
        if r.floating and n * STEP < 0.1 - 1e-9:
            d.xfrc_applied[1, :3] = 0, 30, 20  # at the centre of mass of the base
        mujoco.mj_step(m, d)
    check(r.name, "free motion, rad and m", worst, 1e-5)


def squat(r, targets, seconds=2.0):
    """Targets go to another pose and back, each in half the time."""
    back = {n: r.start.get(n, 0) for n in targets}
    half = seconds / 2
    trace, _ = r.run(r.scenario(seconds, [{"at": 0, "joints": targets, "in": half}, {"at": half, "joints": back, "in": half}]))
    m = r.mujoco()
    d = r.place(m, trace[0])
    start = dict(zip(r.joints, trace[0]["q"]))
    worst = 0
    for n in range(round(seconds / STEP) + 1):
        t = n * STEP
        if n % 10 == 0:
            worst = max(worst, np.nanmax(np.abs(r.angles(m, d) - np.array(trace[n // 10]["q"]))))
        aim = dict(start)
        for name, to in targets.items():
            share = t / half if t < half else max(0, 2 - t / half)
            aim[name] = start[name] + (to - start[name]) * min(1, share)
        r.aim(m, d, aim)
        mujoco.mj_step(m, d)
    check(r.name, "joint traces of a squat, rad", worst, 0.01)


def slide(r, pitch, seconds=1.0):
    """Down a slope that is too steep for friction 0.3."""
    trace, _ = r.run(r.scenario(seconds, world={"friction": 0.3, "slope": {"pitch": pitch}}))
    m = r.mujoco(friction=0.3, pitch=pitch)
    d = r.place(m, trace[0])
    begin = d.qpos[:3].copy()
    for _ in range(round(seconds / STEP)):
        mujoco.mj_step(m, d)
    theirs = np.linalg.norm(d.qpos[:3] - begin)
    ours = np.linalg.norm(np.array(trace[-1]["base"]["position"]) - np.array(trace[0]["base"]["position"]))
    check(r.name, f"sliding distance ({theirs:.3f} m)", abs(ours / theirs - 1), 0.05)


def falls(r, force, direction, m, first):
    """Whether the robot falls in MuJoCo, pushed at its base's centre for 0.1 s."""
    d = r.place(m, first)
    body = 1
    for n in range(2000):
        d.xfrc_applied[:] = 0
        if 300 <= n < 400:
            d.xfrc_applied[body, :3] = force * np.array(direction)
        mujoco.mj_step(m, d)
        up = d.xmat[body].reshape(3, 3)[2, 2]
        if up < math.cos(math.pi / 4):
            return True
    return False


def push(r, direction, low, high):
    """The impulse at which a standing robot falls, by bisection."""
    base = ET.fromstring(r.urdf).find("link").get("name")

    def ours(force):
        s = r.scenario(2.0, [{"at": 0.3, "push": {"link": base, "force": [force * x for x in direction], "for": 0.1}}])
        return r.run(s)[1]["figures"]["tilt"]["greatest"] > math.pi / 4

    trace, _ = r.run(r.scenario(0.01))
    m = r.mujoco()
    bounds = []
    for fallen in (ours, lambda f: falls(r, f, direction, m, trace[0])):
        a, b = low, high
        while b / a > 1.02:
            c = math.sqrt(a * b)
            a, b = (a, c) if fallen(c) else (c, b)
        bounds.append(a / 10)
    check(r.name, f"impulse of falling ({bounds[0]:.2f}, {bounds[1]:.2f} N·s)", abs(bounds[0] / bounds[1] - 1), 0.15)


BEAM = """<robot name="beam"><link name="beam">
<inertial><mass value="0.5"/><inertia ixx="{0}" iyy="{1}" izz="{2}" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="{3} {4} {5}"/></geometry></collision></link></robot>"""

WORLD = """<mujoco><option timestep="{step}" cone="elliptic" impratio="10" gravity="0 0 -9.81" integrator="implicitfast"/>
<default><geom friction="{friction} 0.005 0.0001" condim="3" solref="{ref} 1" solimp="0.99 0.999 0.0001"/></default>
<worldbody><geom type="plane" size="5 5 1"/><geom type="box" size="{box}" pos="{at}"/>
<body name="beam" pos="{pos}" quat="{quat}"><freejoint/><inertial pos="0 0 0" mass="0.5" diaginertia="{inertia}"/>
<geom type="box" size="{half}"/></body></worldbody></mujoco>"""


def edges(poise):
    """Beams and plates on boxes of the ground, which they touch by edges and faces as well as by
    corners: they rest as in MuJoCo, and one beyond its balance tips as there."""
    beam, plate = (0.4, 0.04, 0.04), (0.4, 0.4, 0.02)
    narrow, step, pedestal = (0.05, 0.3, 0.1), (0.5, 0.5, 0.1), (0.05, 0.05, 0.1)
    for name, size, box, at, place, yaw, seconds in (
            ("beam across a narrow box", beam, narrow, (0, 0, 0.05), (0.01, 0.02, 0.122), 0.6, 1.0),
            ("beam half over a step", beam, step, (-0.25, 0, 0.05), (-0.03, 0, 0.122), 0.3, 1.0),
            ("plate on a pedestal", plate, pedestal, (0, 0, 0.05), (0.012, -0.01, 0.112), 0.4, 1.0),
            ("beam that tips over a step", beam, step, (-0.25, 0, 0.05), (0.03, 0, 0.1201), 0.0, 0.25)):
        inertia = [0.5 / 12 * (size[(k + 1) % 3] ** 2 + size[(k + 2) % 3] ** 2) for k in range(3)]
        scenario = {"duration": seconds, "step": STEP, "world": {"boxes": [{"size": list(box), "at": list(at)}]},
                    "start": {"base": {"position": dict(zip("xyz", place)),
                                       "orientation": {"x": 0, "y": 0, "z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}}}}
        with tempfile.TemporaryDirectory() as d:
            file, urdf, trace = (os.path.join(d, n) for n in ("s.yaml", "beam.urdf", "t"))
            with open(file, "w") as f, open(urdf, "w") as u:
                json.dump(scenario, f)
                u.write(BEAM.format(*inertia, *size))
            subprocess.run([poise, "sim", urdf, file, "--trace", trace, "--floating"], check=True, capture_output=True)
            with open(trace) as t:
                last = [json.loads(line) for line in t][-1]

        def words(v, scale=1):
            return " ".join(repr(x * scale) for x in v)

        m = mujoco.MjModel.from_xml_string(WORLD.format(
            step=STEP, friction=FRICTION, ref=2.5 * STEP, box=words(box, 0.5), at=words(at), pos=words(place),
            quat=words((math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))), inertia=words(inertia), half=words(size, 0.5)))
        d = mujoco.MjData(m)
        mujoco.mj_step(m, d, nstep=round(seconds / STEP))
        x, y, z, w = last["base"]["orientation"]
        turned = 2 * math.acos(min(1, abs(np.dot([w, x, y, z], d.qpos[3:]))))
        moved = np.abs(np.array(last["base"]["position"]) - d.qpos[:3]).max()
        tips = "tips" in name
        check("boxes", f"{name}: place, m", moved, 0.002 if tips else 0.001)
        check("boxes", f"{name}: turned, rad", turned, 0.03 if tips else 0.002)
        if not tips:
            check("boxes", f"{name}: weight", abs(sum(c["force"][2] for c in last["contacts"]) / (0.5 * 9.81) - 1), 0.01)


def speed(r):
    """A step of the standing pony, ours over MuJoCo's, turn by turn, in time of the processor;
    the least of each counts."""
    trace, _ = r.run(r.scenario(0.01))
    steps = 20000
    with tempfile.TemporaryDirectory() as folder:
        test = os.path.join(folder, "sim.test")
        subprocess.check_call(["go", "test", "-c", "-o", test, "./sim"])

        def used(name, n):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.check_output([test, "-test.run", "xxx", "-test.bench", f"Stand/{name}$", "-test.benchtime", f"{n}x"], cwd="sim")
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        for name, friction in (("smooth", 0.0), ("dry", 0.053)):
            m = r.mujoco()
            m.actuator_gainprm[:, 0], m.actuator_biasprm[:, 1], m.actuator_biasprm[:, 2] = 11.7, -11.7, 0
            m.dof_damping[6:], m.dof_frictionloss[6:] = 0.23, friction
            d = r.place(m, trace[0])
            mujoco.mj_step(m, d, nstep=500)
            ours, theirs = math.inf, math.inf
            for _ in range(4):
                ours = min(ours, (used(name, steps) - used(name, 1)) / steps * 1e6)
                begin = time.process_time()
                mujoco.mj_step(m, d, nstep=steps)
                theirs = min(theirs, (time.process_time() - begin) / steps * 1e6)
            check(r.name, f"step, {name}: {ours:.1f} over {theirs:.1f} µs", ours / theirs, 2)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    short = "--short" in sys.argv
    only = [a[7:] for a in sys.argv[1:] if a.startswith("--only=")]
    poise, folder = arguments[0], arguments[1]
    pony = arguments[2] if len(arguments) > 2 else "robot/shipped/pony"

    def wanted(name):
        return not only or name in only

    legs = {f"joint{leg}{k}": q for leg in "1234" for k, q in (("2", -0.223), ("3", 0.649), ("4", -0.426))}
    virtual = ["joint16", "joint26", "joint36", "joint46", "joint55", "joint56", "eyes_yaw", "eyes_pitch"]
    if wanted("pony"):
        r = Robot(poise, "pony", pony, True, legs | {"joint51": -0.3, "joint53": 0.3}, 20, 0.3, 0.009, virtual)
        if "--speed" in sys.argv:
            speed(r)
            sys.exit(failed)
        stand(r, 2.0)
        squat(r, {n: 1.6 * q for n, q in legs.items()})
        slide(r, 0.4)
        fall_freely(r, 0.15)
        if not short:
            push(r, (0, 1, 0), 2, 60)
            push(r, (1, 0, 0), 2, 80)
    if wanted("boxes"):
        edges(poise)
    if wanted("go2"):
        start = {f"{leg}_{j}_joint": q for leg in ("FL", "FR", "RL", "RR") for j, q in (("thigh", 0.8), ("calf", -1.5))}
        r = Robot(poise, "go2", f"{folder}/go2", True, start, 200, 5, 0.01)
        stand(r, 2.0)
        squat(r, {n: 1.3 * q for n, q in start.items()})
        slide(r, 0.4)
    if wanted("panda"):
        start = {"panda_joint2": -0.785, "panda_joint4": -2.356, "panda_joint6": 1.571, "panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02}
        r = Robot(poise, "panda", f"{folder}/panda_inertial", False, start, 600, 30, 0.1)
        fall_freely(r, 0.15)
        squat(r, {"panda_joint2": 0.2, "panda_joint4": -1.8, "panda_joint1": 0.6})
    if short:
        sys.exit(failed)
    if wanted("anymal_c"):
        start = {f"{leg}_{j}": s * q for leg, s in (("LF", 1), ("RF", 1), ("LH", -1), ("RH", -1)) for j, q in (("HFE", 0.4), ("KFE", -0.8))}
        r = Robot(poise, "anymal_c", f"{folder}/anymal_c", True, start, 800, 20, 0.05)
        stand(r, 2.0)
        squat(r, {n: 1.4 * q for n, q in start.items()})
        slide(r, 0.4)
    if wanted("g1"):
        start = {f"{side}_{j}_joint": q for side in ("left", "right") for j, q in (("hip_pitch", -0.2), ("knee", 0.4), ("ankle_pitch", -0.2))}
        r = Robot(poise, "g1", f"{folder}/g1", True, start, 300, 8, 0.02)
        stand(r, 2.0)
        squat(r, {n: 1.5 * q for n, q in start.items()})
        fall_freely(r, 0.15)
    sys.exit(failed)


if __name__ == "__main__":
    main()
