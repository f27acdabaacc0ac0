"""Durations of state-to-state motions as Ruckig computes them.

Reads one task per line from standard input, numbers separated by blanks:

    interface axes  then for each axis  p0 v0 a0 p1 v1 a1 vmin vmax amin amax jerk

where interface is "position" or "velocity". Writes one line for each: the
duration of the motion synchronised in time, or -1 if Ruckig has no answer (it
gives none that lasts longer than about two hours).
"""

import sys

import ruckig

FIELDS = 11


def duration(solver, task, motion):
    try:
        result = solver.calculate(task, motion)
    except (ruckig.RuckigError, ValueError):  # ValueError: a code that the module does not know
        return "-1"
    good = result in (ruckig.Result.Working, ruckig.Result.Finished)
    return repr(motion.duration) if good else "-1"


def main():
    solvers, out = {}, []
    for line in sys.stdin:
        words = line.split()
        axes = int(words[1])
        values = [float(w) for w in words[2:]]
        if axes not in solvers:
            solvers[axes] = ruckig.Ruckig(axes), ruckig.InputParameter(axes), ruckig.Trajectory(axes)
        solver, task, motion = solvers[axes]
        kinds = ruckig.ControlInterface
        task.control_interface = kinds.Position if words[0] == "position" else kinds.Velocity
        (task.current_position, task.current_velocity, task.current_acceleration,
         task.target_position, task.target_velocity, task.target_acceleration,
         task.min_velocity, task.max_velocity, task.min_acceleration,
         task.max_acceleration, task.max_jerk) = (values[k::FIELDS] for k in range(FIELDS))
        out.append(duration(solver, task, motion))
    print("\n".join(out))


if __name__ == "__main__":
    main()
