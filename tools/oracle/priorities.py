"""Compares the levels of random robots with a cascade of quadprog, clarabel and proxsuite.

    python tools/oracle/priorities.py PROBLEMS

The file is written by wholebody TestWriteProblemsForTheOracle: thousands of random robots, each in
a random state, on random contacts and with requests that contradict each other; the rows of
each level from their definitions, and the residual and slack that Poise answers. Each level is
solved here in the null space of the equations above, with the inequalities above as its rows (cascade.py).
A level must not differ from theirs by more than 1e-6 relative to max(1, reference), unless the solver is the worse one: it
ends a little early at times, or leaves 1e-9 of a level above, by which levels below gain thousandfold and more. Then Poise is better
in the order of priorities; the rest is compared to 1e-4, or not at all where the solver missed a level by more than 1e-6, and
the state is counted. Where no solver finishes a level, or Poise says that it did not, the levels above it are compared. Exit code 1 if anything differs by
more, or if fewer than 99 of 100 levels are compared.
"""

import collections
import struct
import sys

import numpy as np

from cascade import TOLERANCE, Levels

LOOSE = 1e-4  # where the solver is not optimal itself


class Reader:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.at = 0

    def number(self):
        (x,) = struct.unpack_from("<d", self.data, self.at)
        self.at += 8
        return x

    def matrix(self, rows, columns):
        x = np.frombuffer(self.data, "<f8", rows * columns, self.at)
        self.at += 8 * rows * columns
        return x.reshape(rows, columns)

    def name(self):
        self.at += 32
        return self.data[self.at - 32 : self.at].rstrip(b"\0").decode()


def problem(r):
    """Levels, and the residual and slack of each that Poise answers, and whether it says that it is optimal."""
    n, count = int(r.number()), int(r.number())
    levels, said = Levels(n), []
    for _ in range(count):
        equations, rows = int(r.number()), int(r.number())
        A, b = r.matrix(equations, n), r.matrix(1, equations)[0]
        D, f = r.matrix(rows, n), r.matrix(1, rows)[0]
        levels.all.append((A, b, D, f))
        said.append((r.number(), r.number(), r.number() == 1))
    return levels, said


def main():
    r = Reader(sys.argv[1])
    robots, states, unsolved, hard, worst, wrong, worse = int(r.number()), 0, 0, 0, 0.0, 0, 0
    levels_all = levels_seen = told = 0
    by = collections.Counter()
    for robot in range(robots):
        if robot % 250 == 0 and robot > 0:
            print(f"  {robot} of {robots} robots: differs by {worst:.1e}, {wrong} wrong, {levels_seen} of {levels_all} levels compared, not to the end in {unsolved} states, worse in {worse}", flush=True)
        name, _, count = r.name(), r.number(), int(r.number())
        for _ in range(count):
            levels, said = problem(r)
            states += 1
            want, failed = levels.solve()
            by.update(levels.by)
            unsolved += failed
            levels_all += len(want)
            tolerance = TOLERANCE
            for k, ((residual, slack), (a, b, optimal)) in enumerate(zip(want[: levels.solved], said[: levels.solved], strict=True)):
                if not optimal:
                    told += 1
                    break
                size = max(1.0, residual, slack)
                off = max(abs(a - residual), abs(b - slack)) / size
                gained = (np.hypot(residual, slack) - np.hypot(a, b)) / size
                hard += residual > 1e-6 or slack > 1e-6
                if gained > 1e-10 and tolerance == TOLERANCE:
                    tolerance, worse = LOOSE, worse + (off > TOLERANCE or k + 1 < len(want))
                    if gained > TOLERANCE:
                        break
                levels_seen += 1
                if off > tolerance:
                    wrong += 1
                    print(f"  {name}, level {k + 1}: residual {a:.9g}, slack {b:.9g}; solvers {residual:.9g}, {slack:.9g}")
                    break
                if tolerance == TOLERANCE:
                    worst = max(worst, off)
    print(
        f"{robots} random robots: {states} states, {levels_seen} of {levels_all} levels compared, {hard} of them not served whole, differs by {worst:.1e}; "
        f"the solvers did not get to the end of {unsolved} states, and were worse in {worse}; in {told} Poise says that a level is not optimal; found by {dict(by)}"
    )
    if wrong or levels_seen < 0.99 * levels_all:
        sys.exit(f"priorities: {wrong} states differ by more than they may, {levels_seen} of {levels_all} levels were compared")


if __name__ == "__main__":
    main()
