#!/usr/bin/env python3
"""A robot in MuJoCo behind the servo bus, in lock step.

The first line of the input is JSON and says what there is: urdf, joints with their motors, ground, start. What
follows are numbers (little-endian, 64 bits): a tick's time and the force on the base, then nine
numbers for the setpoint of each motor, the last of which is the time that it takes to arrive. The process makes the steps of that period
and answers with what is measured, as numbers too: see answer. Go's side is
internal/mujoco. It ends when its input does.
"""
import json
import math
import sys

import mujoco
import numpy as np

import physics

OFF, POSITION, VELOCITY, EFFORT, IMPEDANCE, BRAKE = range(6)
DAMPING_TIME, VELOCITY_GAIN = 0.05, 20  # of plain servos, as servo/physics has them
HEAD = 6  # numbers before the setpoints
BALL = 0.002  # m, radius of the balls of a sole
PRESSED = 0.3  # N from which on a touch switch is closed


class Bus:
    def __init__(self, first):
        r = physics.Robot.__new__(physics.Robot)
        r.urdf, r.floating, r.joints, r.virtual = first["urdf"], first["floating"], first["joints"], set(first["virtual"])
        r.kp = r.kd = r.armature = 0
        self.robot, self.step = r, first["step"]
        x, y, z, w = first["slope"]
        m = self.m = r.mujoco(friction=first["friction"], step=first["step"], boxes=first["boxes"], slope=[w, x, y, z], heights=first.get("heights"), soles=self.soles(first))
        m.actuator_gainprm[:, 0], m.actuator_biasprm[:] = 1, 0  # a control is a torque
        m.actuator_forcelimited[:] = 0
        m.jnt_actfrclimited[:] = 0  # a control goes beyond the limit where damping takes it back: drive keeps it
        frame = {"q": first["q"]}
        if r.floating:
            frame["base"] = {"position": first["base"][:3], "orientation": first["base"][3:]}
        self.d = r.place(m, frame)
        self.d.ctrl[:] = 0
        self.motors = first["motors"]
        actuators = {m.actuator(i).name: i for i in range(m.nu)}
        names = {m.joint(i).name: i for i in range(m.njnt)}
        self.real = []  # motors whose joint moves in MuJoCo
        at = []  # of each of them: actuator, position and velocity in MuJoCo's arrays
        for i, p in enumerate(self.motors):
            j = names.get(p["Joint"])
            if j is None:
                continue
            dof = m.jnt_dofadr[j]
            m.dof_armature[dof], m.dof_damping[dof], m.dof_frictionloss[dof] = p["Armature"], p["Damping"], p["Friction"]
            self.real.append(i)
            at.append((actuators[p["Joint"]], m.jnt_qposadr[j], dof))
        self.actuator, self.qpos, self.dof = np.array(at, dtype=int).reshape(-1, 3).T.copy()
        self.real = np.array(self.real, dtype=int)
        for name, factor in first["masses"].items():
            b = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, name)
            if b > 0:
                m.body_mass[b] *= factor
                m.body_inertia[b] *= factor
        mujoco.mj_setConst(m, self.d)
        self.place(frame)
        self.q, self.v, self.control = self.d.qpos, self.d.qvel, self.d.ctrl
        self.overs = False  # some motor gives all it can
        of = lambda key: np.array([p[key] for p in self.motors], dtype=float)
        self.quantum, self.quantised = of("Quantum"), of("Quantum") > 0
        self.nominal = of("Voltage").max(initial=0)
        self.supply, self.resistance, self.volts = first["supply"] or self.nominal, first["resistance"], 1.0
        n = len(self.motors)
        self.tau, self.feeds = np.zeros(n), (of("Voltage") > 0) & (of("Limit") > 0)
        self.current = np.where(self.feeds, of("Stall") / np.where(self.feeds, of("Limit"), 1), 0)
        r = self.real  # what drive needs, of motors whose joint moves
        self.limit, self.damping, self.offset = np.where(of("Limit") > 0, of("Limit"), math.inf)[r], of("Damping")[r], of("Offset")[r]
        self.powered = of("Voltage")[r] > 0
        self.own, self.damps, self.brake = of("Kp")[r], of("Kd")[r], of("Brake")[r]
        self.sag()
        self.goal = np.zeros((n, 8))
        self.goal[:, 1] = first["q"]
        self.ramp, self.left = np.array(first["q"], dtype=float), np.zeros(n)
        self.line, self.latest = [], np.zeros(n)  # setpoints on their way, when the last one arrives
        self.made, self.asked = 0, 0.0  # steps made, time that was asked for
        self.understand()
        self.foot = np.full(m.nbody, -1)  # of each body, the foot that it belongs to
        for k, feet in enumerate(first["feet"]):
            for name in feet:
                self.foot[m.body(name).id] = k
        self.tips = np.array([m.body(feet[0]).id for feet in first["feet"]], dtype=int)
        self.middle = np.array(first["middles"], dtype=float).reshape(-1, 3)
        ground = [m.geom("ground").id] + [m.geom(f"box{i}").id for i in range(len(first["boxes"]))]
        self.ground = np.zeros(m.ngeom, dtype=bool)
        self.ground[ground] = True
        self.up = self.d.geom_xmat[m.geom("ground").id].reshape(3, 3)[:, 2].copy()
        self.base = m.body(1).id if m.nbody > 1 else 0
        self.every = first["every"]
        mujoco.mj_forward(m, self.d)

    def soles(self, first):
        """Balls for the soles of discs where there is a field of heights: on the edge, half-way and in the middle. A disc on the prisms
        of a field has up to 50 contacts, some with the sides that prisms have within the ground: they throw the robot over."""
        if not first.get("heights"):
            return []
        balls = []
        for links, middle, radius in zip(first["feet"], first["middles"], first["radii"]):
            at = [[middle[0], middle[1], middle[2] + BALL]]
            for share, n in ((1, 16), (0.5, 8)):
                at += [[middle[0] + share * radius * math.cos(a), middle[1] + share * radius * math.sin(a), middle[2] + BALL] for a in 2 * math.pi * np.arange(n) / n]
            balls.append((links, at, BALL))
        return balls

    def place(self, frame):
        self.d = self.robot.place(self.m, frame)
        self.d.ctrl[:] = 0

    def take(self, setpoints):
        """Puts setpoints on their way, n x 9: the last number of each is how long it takes, s."""
        steps = np.ceil(setpoints[:, 8] / self.step - 1e-6)
        late = np.maximum(0, steps * self.step - setpoints[:, 8])
        told = (setpoints[:, 0] >= OFF) & (setpoints[:, 0] <= BRAKE)
        # one does not overtake another to the same servo
        self.latest = np.where(told, np.maximum(self.made + steps, self.latest), self.latest)
        self.line += [(self.latest[i], i, late[i], setpoints[i, :8]) for i in np.flatnonzero(told)]
        self.line.sort(key=lambda x: x[0])  # is stable

    def receive(self):
        """Takes the setpoints that arrived: see servo/physics."""
        while self.line and self.line[0][0] <= self.made:
            _, i, late, p = self.line.pop(0)
            if p[0] == POSITION and self.goal[i, 0] != POSITION:
                self.ramp[i] = self.angles()[i]  # it begins where it is
            self.goal[i], self.left[i] = p, p[7] - late
            if self.quantised[i]:
                self.goal[i, 1] = self.quantum[i] * round(p[1] / self.quantum[i])
        self.understand()

    def understand(self):
        """Finds what the setpoints mean for drive: gains, and what does not depend on the state."""
        mode, position, velocity, effort, kp, kd, stiffness, _ = self.goal[self.real].T
        positions, speeds, impedes = mode == POSITION, mode == VELOCITY, mode == IMPEDANCE
        keeps = VELOCITY_GAIN * np.maximum(self.brake, self.own * DAMPING_TIME)
        self.kd = np.select([positions, speeds, impedes, mode == BRAKE], [self.damps, keeps, kd, self.brake], 0)
        gain = np.where(positions, self.own * np.clip(stiffness, 0, 1), np.where(impedes, kp, 0))
        sagging = positions & self.powered
        self.stiff, self.sagging = np.where(sagging, 0, gain), np.where(sagging, gain, 0)
        self.follows, self.target = positions, np.where(impedes, position, 0)
        self.given = self.kd * np.where(speeds | impedes, velocity, 0) + np.where((mode == OFF) | (mode == BRAKE), 0, effort)
        self.works = ((mode != OFF) & (mode != BRAKE)).astype(float)
        self.m.dof_damping[self.dof] = self.damping + self.kd

    def angles(self):
        q = self.goal[:, 1].copy()
        q[self.real] = self.d.qpos[self.qpos]
        return q

    def follow(self):
        """Moves the servos' own ramps by a step: straight to the goal in the time that is left."""
        ramp, left = self.ramp, self.left
        np.maximum(left, self.step, out=left)
        ramp += (self.goal[:, 1] - ramp) * (self.step / left)
        left -= self.step

    def drive(self):
        """Sets what the motors give in the next step: see servo/physics."""
        np.copyto(self.target, self.ramp[self.real], where=self.follows)
        # damping acts at the end of the step, as ours does, unless the motor gives all it can
        steady = (self.stiff + self.volts * self.sagging) * (self.target - self.q[self.qpos]) + self.given
        tau = steady - self.kd * self.v[self.dof]
        most = np.where(self.powered, self.limit * self.volts, self.limit)
        over = np.abs(tau) > most
        if over.any():
            tau = np.where(over, np.copysign(most, tau), tau)
            steady = np.where(over, tau, steady)
            self.m.dof_damping[self.dof] = self.damping + np.where(over, 0, self.kd)
        elif self.overs:
            self.m.dof_damping[self.dof] = self.damping + self.kd
        self.overs = over.any()
        self.control[self.actuator] = steady + self.offset
        self.tau[self.real] = tau * self.works

    def sag(self):
        """Lets the supply give way to the current that the motors take: see servo/physics."""
        if self.nominal:
            self.volts = max(0.0, self.supply - self.resistance * float(self.current @ np.abs(self.tau))) / self.nominal

    def advance(self, dt, push, begins, ends):
        """Makes the steps of a period; returns how the base moved in each, and what was seen of the feet."""
        m, d = self.m, self.d
        self.asked += dt
        steps = max(1, round(self.asked / self.step) - self.made) if dt else 0
        moved, seen = np.zeros((steps + 1, 10)), []
        floating = self.robot.floating
        if floating:
            moved[0, :4], moved[0, 4:] = d.qpos[3:7], d.qvel[:6]
        pushed = bool(push.any())
        for k in range(steps):
            if pushed:  # as long as it acts within the step
                share = min(ends, (k + 1) * self.step) - max(begins, k * self.step)
                d.xfrc_applied[self.base, :3] = push * max(0.0, min(1.0, share / self.step))
            if self.line and self.line[0][0] <= self.made:
                self.receive()
            self.follow()
            self.drive()
            self.made += 1
            mujoco.mj_step(m, d)
            self.sag()
            if floating:
                moved[k + 1, :4], moved[k + 1, 4:] = d.qpos[3:7], d.qvel[:6]
                if self.every and self.made % self.every == 0:
                    seen.append(self.look())
        mujoco.mj_forward(m, d)
        d.xfrc_applied[:] = 0
        return moved, seen

    def contacts(self):
        """Forces of the ground on the robot in the axes of the world, where they act, and on which bodies."""
        m, d = self.m, self.d
        c = d.contact
        first = c.efc_address
        has = first >= 0
        geom, frame, pos, first = c.geom[has], c.frame[has].reshape(-1, 3, 3), c.pos[has], first[has]
        f = d.efc_force[first[:, None] + np.arange(3)]  # elliptic cones: along the normal and two tangents
        f = np.einsum("ki,kij->kj", f, frame)
        below = self.ground[geom[:, 0]]  # the first of the two is the ground
        f[~below] *= -1
        return f, pos, m.geom_bodyid[np.where(below, geom[:, 1], geom[:, 0])]

    def feel(self, force, pos, body):
        """Force of the ground on each foot and its moment about the middle of the sole, in the axes of the world."""
        foot, n = self.foot[body], len(self.tips)
        F, M = np.zeros((n, 3)), np.zeros((n, 3))
        stands = foot >= 0
        np.add.at(F, foot[stands], force[stands])
        np.add.at(M, foot[stands], np.cross(pos[stands], force[stands]))
        X = self.d.xmat[self.tips].reshape(-1, 3, 3)
        middle = self.d.xpos[self.tips] + np.einsum("kij,kj->ki", X, self.middle)
        return F, M - np.cross(middle, F), middle, X

    def pressure(self, force, pos):
        """The measured zero-moment point, as sim.ZMP has it; not a number if nothing carries."""
        fz = force[:, 2]
        carry = fz > 0
        if not carry.any():
            return [math.nan, math.nan]
        over = pos[:, 2] - pos[carry, 2].mean()
        return [((pos[:, k] * fz).sum() - (over * force[:, k]).sum()) / fz.sum() for k in (0, 1)]

    def look(self):
        """What is judged of feet after a step: the zero-moment point, the largest force on what is no foot, and of each foot the force
        upwards from the ground, where the middle of its sole is and how its tip is turned."""
        force, pos, body = self.contacts()
        F, _, middle, X = self.feel(force, pos, body)
        beside = self.foot[body] < 0
        least = np.bincount(body[beside], np.maximum(force[beside, 2], 0)).max() if beside.any() else 0.0
        return np.concatenate([self.pressure(force, pos), [least], np.concatenate([(F @ self.up)[:, None], middle, X.reshape(-1, 9)], axis=1).ravel()])

    def answer(self, moved, seen):
        """All that is measured: whether it is finite, how many steps were made and how many looks were taken; of each motor position, velocity, the
        position without steps, and torque; voltage; pose of the base; zero-moment point; of each foot force, moment, pressed, load; the steps; the looks."""
        d = self.d
        exact, v = self.angles(), np.zeros(len(self.motors))
        v[self.real] = d.qvel[self.dof]
        q = exact.copy()
        rounds = self.real[self.quantised[self.real]]
        q[rounds] = self.quantum[rounds] * np.round(exact[rounds] / self.quantum[rounds])
        base = np.zeros(7)
        if self.robot.floating:
            base[:3], base[3:] = d.qpos[:3], d.qpos[[4, 5, 6, 3]]
        force, pos, body = self.contacts()
        F, M, _, X = self.feel(force, pos, body)
        feet = np.concatenate([np.einsum("kji,kj->ki", X, F), np.einsum("kji,kj->ki", X, M), (F @ self.up > PRESSED)[:, None], F[:, 2:]], axis=1)
        finite = np.isfinite(exact).all() and np.isfinite(v).all()
        return np.concatenate([[finite, len(moved) - 1, len(seen)], q, v, exact, self.tau, [self.volts], base, self.pressure(force, pos), feet.ravel(), moved.ravel()] + seen)


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    bus = Bus(json.loads(source.readline()))
    size = 8 * (HEAD + 9 * len(bus.motors))
    moved, seen = np.zeros((1, 10)), []
    while True:
        sink.write(bus.answer(moved, seen).tobytes())
        sink.flush()
        question = source.read(size)
        if len(question) < size:
            break
        x = np.frombuffer(question)
        bus.take(x[HEAD:].reshape(-1, 9))
        moved, seen = bus.advance(x[0], x[1:4], x[4], x[5])


if __name__ == "__main__":
    main()
