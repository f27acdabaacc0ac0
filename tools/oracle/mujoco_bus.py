#!/usr/bin/env python3
"""A robot in MuJoCo behind the servo bus, in lock step: JSON lines in, JSON lines out.

The first line says what there is: urdf, joints with their motors, ground, start. Each further
line has the setpoints of a tick, each with the time it takes to arrive; the process makes the
steps of that period and answers with what is measured: joints, inertial unit, touch. Go's side is
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
PRESSED = 0.3  # N from which on a touch switch is closed


class Bus:
    def __init__(self, first):
        r = physics.Robot.__new__(physics.Robot)
        r.urdf, r.floating, r.joints, r.virtual = first["urdf"], first["floating"], first["joints"], set(first["virtual"])
        r.kp = r.kd = r.armature = 0
        self.robot, self.step = r, first["step"]
        x, y, z, w = first["slope"]
        m = self.m = r.mujoco(friction=first["friction"], step=first["step"], boxes=first["boxes"], slope=[w, x, y, z], heights=first.get("heights"))
        m.actuator_gainprm[:, 0], m.actuator_biasprm[:] = 1, 0  # a control is a torque
        m.actuator_forcelimited[:] = 0
        m.jnt_actfrclimited[:] = 0  # a control goes beyond the limit where damping takes it back: drive keeps it
        frame = {"q": first["q"]}
        if r.floating:
            frame["base"] = {"position": first["base"][:3], "orientation": first["base"][3:]}
        self.d = r.place(m, frame)
        self.d.ctrl[:] = 0
        self.motors = first["motors"]
        self.tau = [0.0] * len(self.motors)
        actuators = {m.actuator(i).name: i for i in range(m.nu)}
        names = {m.joint(i).name: i for i in range(m.njnt)}
        self.at = []  # of each joint: actuator, position and velocity in MuJoCo's arrays, or None
        for p in self.motors:
            j = names.get(p["Joint"])
            if j is None:
                self.at.append(None)
                continue
            dof = m.jnt_dofadr[j]
            m.dof_armature[dof], m.dof_damping[dof], m.dof_frictionloss[dof] = p["Armature"], p["Damping"], p["Friction"]
            self.at.append((actuators[p["Joint"]], m.jnt_qposadr[j], dof))
        for name, factor in first["masses"].items():
            b = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, name)
            if b > 0:
                m.body_mass[b] *= factor
                m.body_inertia[b] *= factor
        mujoco.mj_setConst(m, self.d)
        self.place(frame)
        self.nominal = max((p["Voltage"] for p in self.motors), default=0)
        self.supply, self.resistance, self.volts = first["supply"] or self.nominal, first["resistance"], 1.0
        self.sag()
        self.goal = [[OFF, q, 0, 0, 0, 0, 0, 0] for q in first["q"]]
        self.ramp, self.left = list(first["q"]), [0.0] * len(self.motors)
        self.line, self.made = [[] for _ in self.motors], 0  # setpoints on their way, steps so far
        self.feet = [{m.body(n).id for n in feet} for feet in first["feet"]]
        self.tips = [m.body(feet[0]).id for feet in first["feet"]]
        self.ground = {m.geom("ground").id} | {m.geom(f"box{i}").id for i in range(len(first["boxes"]))}
        self.base = m.body(1).id if m.nbody > 1 else 0
        self.specific, self.steps = np.zeros(3), 0
        mujoco.mj_forward(m, self.d)

    def place(self, frame):
        self.d = self.robot.place(self.m, frame)
        self.d.ctrl[:] = 0

    def take(self, setpoints):
        """Puts setpoints on their way: the last number of each is how long it takes, s."""
        for i, p in enumerate(setpoints):
            if OFF <= p[0] <= BRAKE:
                steps = math.ceil(p[8] / self.step - 1e-6)
                self.line[i].append((self.made + steps, max(0, steps * self.step - p[8]), p[:8]))

    def receive(self, i):
        """Takes the setpoints that arrived: see servo/physics."""
        while self.line[i] and self.line[i][0][0] <= self.made:
            _, late, p = self.line[i].pop(0)
            if p[0] == POSITION and self.goal[i][0] != POSITION:
                self.ramp[i] = self.angle(i)  # it begins where it is
            quantum = self.motors[i]["Quantum"]
            if quantum:
                p[1] = quantum * round(p[1] / quantum)
            self.goal[i], self.left[i] = p, p[7] - late

    def angle(self, i):
        return self.d.qpos[self.at[i][1]] if self.at[i] else self.goal[i][1]

    def drive(self, i):
        """Sets what a motor gives in the next step: see servo/physics."""
        if not self.at[i]:
            return
        actuator, q, v = self.at[i]
        p, goal = self.motors[i], self.goal[i]
        share = self.volts if p["Voltage"] else 1.0
        mode, position, velocity, effort, kp, kd, stiffness, _ = goal
        if mode == POSITION:
            if self.left[i] <= self.step:
                self.ramp[i], self.left[i] = position, 0
            else:
                self.ramp[i] += (position - self.ramp[i]) * self.step / self.left[i]
                self.left[i] -= self.step
            position, velocity, kp, kd = self.ramp[i], 0, p["Kp"] * share * min(1, max(0, stiffness)), p["Kd"]
        elif mode == VELOCITY:
            position, kp, kd = 0, 0, VELOCITY_GAIN * max(p["Brake"], p["Kp"] * DAMPING_TIME)
        elif mode == EFFORT:
            position = velocity = kp = kd = 0
        elif mode != IMPEDANCE:
            position = velocity = effort = kp = 0
            kd = p["Brake"] if mode == BRAKE else 0
        # damping acts at the end of the step, as ours does, unless the motor gives all it can
        steady = kp * (position - self.d.qpos[q]) + kd * velocity + effort
        tau = steady - kd * self.d.qvel[v]
        if p["Limit"] and abs(tau) > p["Limit"] * share:
            steady = tau = math.copysign(p["Limit"] * share, tau)
            kd = 0
        self.m.dof_damping[v] = p["Damping"] + kd
        self.d.ctrl[actuator] = steady + p["Offset"]
        self.tau[i] = tau if mode not in (OFF, BRAKE) else 0.0

    def sag(self):
        """Lets the supply give way to the current that the motors take: see servo/physics."""
        if not self.nominal:
            return
        current = sum(p["Stall"] * abs(tau) / p["Limit"] for p, tau in zip(self.motors, self.tau) if p["Voltage"] and p["Limit"])
        self.volts = max(0, self.supply - self.resistance * current) / self.nominal

    def advance(self, dt, push):
        m, d = self.m, self.d
        for _ in range(max(1, round(dt / self.step)) if dt else 0):
            for i in range(len(self.motors)):
                self.receive(i)
                self.drive(i)
            self.made += 1
            d.xfrc_applied[:] = 0
            if push:
                d.xfrc_applied[self.base, :3] = push
            before = d.qvel[:3].copy() if self.robot.floating else None
            mujoco.mj_step(m, d)
            self.sag()
            if self.robot.floating:
                self.specific += (d.qvel[:3] - before) / self.step - m.opt.gravity
                self.steps += 1
        mujoco.mj_forward(m, d)

    def touch(self):
        """Force of the ground on each foot, in the axes of its tip, and the centre of its pressure on all of them."""
        m, d, f = self.m, self.d, np.zeros(6)
        moment = np.zeros(3)
        out = np.zeros((len(self.feet), 3))
        for i in range(d.ncon):
            c = d.contact[i]
            mujoco.mj_contactForce(m, d, i, f)
            force = c.frame.reshape(3, 3).T @ f[:3]
            geom, sign = (c.geom2, 1) if c.geom1 in self.ground else (c.geom1, -1)
            for k, bodies in enumerate(self.feet):
                if m.geom_bodyid[geom] in bodies:
                    out[k] += sign * force
                    moment += np.array([c.pos[0], c.pos[1], 1]) * sign * force[2]
        felt = [list(d.xmat[tip].reshape(3, 3).T @ force) + [float(force[2] > PRESSED)] for tip, force in zip(self.tips, out)]
        return felt, [float(force[2]) for force in out], list(map(float, moment[:2] / moment[2])) if moment[2] > 0 else [0.0, 0.0]

    def answer(self):
        m, d = self.m, self.d
        touch, load, pressure = self.touch()
        out = {"Q": [], "V": [], "Exact": [], "Tau": self.tau, "Base": [], "IMU": [0.0] * 10, "Touch": touch, "Load": load, "Pressure": pressure,
               "Volts": self.volts, "Error": ""}
        for i, p in enumerate(self.motors):
            q, quantum = self.angle(i), p["Quantum"]
            out["Exact"].append(float(q))
            out["Q"].append(float(quantum * round(q / quantum) if quantum and self.at[i] else q))
            out["V"].append(float(d.qvel[self.at[i][2]]) if self.at[i] else 0.0)
        if self.robot.floating:
            w, x, y, z = map(float, d.qpos[3:7])
            out["Base"] = list(map(float, d.qpos[:3])) + [x, y, z, w]
            mean = self.specific / self.steps if self.steps else -m.opt.gravity
            R = d.xmat[self.base].reshape(3, 3)
            out["IMU"] = [x, y, z, w] + list(map(float, d.qvel[3:6])) + list(map(float, R.T @ mean))
            self.specific, self.steps = np.zeros(3), 0
        if not all(map(math.isfinite, out["Q"] + out["V"])):
            out = {"Error": "a number is not finite"}
        return out


def main():
    bus = None
    for line in sys.stdin:
        question = json.loads(line)
        if bus is None:
            bus = Bus(question)
        else:
            bus.take(question["setpoints"])
            bus.advance(question["dt"], question.get("push"))
        print(json.dumps(bus.answer()), flush=True)


if __name__ == "__main__":
    main()
