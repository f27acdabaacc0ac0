"""Levels of strict priorities, solved one after the other by public solvers.

Each level is a quadratic program in the null space of the equations above, with the
inequalities above as its rows. quadprog is asked first, by proximal steps, for it wants strict
convexity; where it does not come to an end (it goes round in circles at times, so it has a process of its own), clarabel
and proxsuite, and the better one counts. Which rows hold is taken from them, and the minimum on these rows is then found to
rounding.
"""

import collections
import multiprocessing

import clarabel
import numpy as np
import proxsuite
import quadprog
import scipy.sparse

RHO, STEPS = 1e-5, 60  # of proximal steps
TOLERANCE = 1e-6  # relative to max(1, reference)
ROOM = (0, 1e-10, 1e-9, 1e-8)  # rounding leaves no interior at times
PATIENCE = 10  # s until quadprog is taken to go round in circles


def proximal(H, q, C, low, prox):
    """x of least ½x·H·x − q·x with C·x ≥ low, and its multipliers, by steps that add prox·|x − x_before|²; None without."""
    x = np.zeros(len(q))
    for _ in range(STEPS):
        try:
            after, _, _, _, multipliers, _ = quadprog.solve_qp(H + np.diag(prox), q + prox * x, C.T, low)
        except ValueError:
            return None
        far, change, x = prox > 0, np.abs(after - x), after
        if not far.any() or change[far].max() < 3e-9 * max(1.0, np.abs(x[far]).max()):
            return x, multipliers
    return None


def serve(line):
    while True:
        line.send(proximal(*line.recv()))


class Worker:
    """quadprog in a process of its own, which is ended where it does not come back."""

    def __init__(self):
        self.line = None

    def solve(self, *program):
        if self.line is None:
            self.line, theirs = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
            self.process.start()
        self.line.send(program)
        if self.line.poll(PATIENCE):
            return self.line.recv()
        self.process.kill()
        self.line = None
        return None


worker = Worker()


class Program:
    """min |E·u − e|² + |w|² with D·u + w ≥ f and G·u ≥ g."""

    def __init__(self, E, e, D, f, G, g):
        n, soft = E.shape[1], len(f)
        self.n, self.soft, self.E, self.e, self.D, self.f = n, soft, E, e, D, f
        C = np.block([[D, np.eye(soft)], [G, np.zeros((len(g), soft))]])
        size, low = np.linalg.norm(C, axis=1), np.r_[f, g]
        self.free = size > 1e-8  # the levels above have decided on the others
        self.C, self.low = C[self.free] / size[self.free, None], low[self.free] / size[self.free]
        self.H = np.zeros((n + soft, n + soft))
        self.H[:n, :n], self.H[n:, n:] = E.T @ E, np.eye(soft)
        self.q = np.r_[E.T @ e, np.zeros(soft)]

    def solve(self):
        """u, which rows hold it, and who found it: None if no solver did."""
        loose = np.zeros(len(self.free), bool)
        if not len(self.low):
            return np.linalg.lstsq(self.E, self.e, rcond=1e-10)[0], loose, "numpy"
        if (u := self.whole()) is not None:
            return u, loose, "quadprog"
        found = [y for y in map(self.quadprog, ROOM[:2]) if y][:1] or [y for y in (self.clarabel(), self.proxsuite()) if y]
        if not found:
            return np.zeros(self.n), loose, None
        x, multipliers, who = min(map(self.polish, found), key=lambda y: self.cost(y[0]))
        holds = loose
        holds[self.free] = self.on(multipliers)
        return x[: self.n], holds, who

    def cost(self, x):
        u = x[: self.n]
        return np.linalg.norm(np.r_[self.E @ u - self.e, np.maximum(0, self.f - self.D @ u)])

    def on(self, multipliers):
        return multipliers > 1e-6 * max(1.0, np.abs(self.q).max())

    def whole(self):
        """The shortest u of inequalities that can all be kept, where the level has nothing else; None otherwise."""
        if len(self.e):
            return None
        C = self.C[:, : self.n]
        size = np.linalg.norm(C, axis=1)
        free = size > 1e-8
        if (self.low[~free] > 1e-9).any():
            return None
        if not free.any():
            return np.zeros(self.n)
        for room in ROOM:
            if y := worker.solve(np.eye(self.n), np.zeros(self.n), C[free] / size[free, None], self.low[free] / size[free] - room, np.zeros(self.n)):
                return y[0]
        return None

    def quadprog(self, room):
        y = worker.solve(self.H, self.q, self.C, self.low - room, np.r_[np.full(self.n, RHO), np.zeros(self.soft)])
        return y and (*y, "quadprog")

    def clarabel(self):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        P, A = scipy.sparse.csc_matrix(np.triu(self.H)), scipy.sparse.csc_matrix(-self.C)
        r = clarabel.DefaultSolver(P, -self.q, A, -self.low, [clarabel.NonnegativeConeT(len(self.low))], settings).solve()
        return self.kept(np.array(r.x), np.array(r.z), "clarabel")

    def proxsuite(self):
        p = proxsuite.proxqp.dense.QP(len(self.q), 0, len(self.low))
        p.settings.eps_abs, p.settings.eps_rel, p.settings.max_iter = 1e-11, 0, 2000
        p.init(self.H, -self.q, None, None, self.C, self.low, np.full(len(self.low), 1e20))
        p.solve()
        return self.kept(p.results.x, -p.results.z, "proxsuite")

    def kept(self, x, multipliers, who):
        """An answer that breaks no row; None if it does."""
        ok = np.isfinite(x).all() and (self.low - self.C @ x).max() < 1e-9
        return (x, multipliers, who) if ok else None

    def polish(self, found):
        """The minimum on the rows that have multipliers, near x; x itself where that breaks another row."""
        x, multipliers, who = found
        on, Z, y = self.on(multipliers), np.eye(len(x)), x
        if on.any():
            K = self.C[on]
            y = x + np.linalg.lstsq(K, self.low[on] - K @ x, rcond=1e-9)[0]
            _, s, V = np.linalg.svd(K)
            Z = V[(s > 1e-9).sum() :].T
        R = np.block([[self.E, np.zeros((len(self.E), self.soft))], [np.zeros((self.soft, self.n)), np.eye(self.soft)]])
        y = y + Z @ np.linalg.lstsq(R @ Z, np.r_[self.e, np.zeros(self.soft)] - R @ y, rcond=1e-10)[0]
        if (self.low - self.C @ y).max() < 1e-12 * max(1.0, np.abs(self.low).max()):
            return y, multipliers, who
        return found


class Levels:
    """Equations A·x = b and inequalities D·x ≥ f, level by level."""

    def __init__(self, n):
        self.n, self.all = n, []
        self.solved = 0  # levels of the last solve from the top, until the first that no solver finished
        self.by = collections.Counter()  # how many levels each solver found

    def add(self, equations=(), inequalities=()):
        A = np.array([c for c, _ in equations]).reshape(-1, self.n)
        D = np.array([c for c, _ in inequalities]).reshape(-1, self.n)
        self.all.append((A, np.array([b for _, b in equations]), D, np.array([b for _, b in inequalities])))

    def solve(self):
        """Residual and slack of each level at its optimum, and whether one was not solved; then the levels below count for nothing."""
        x, Z = np.zeros(self.n), np.eye(self.n)
        rows, bounds = np.zeros((0, self.n)), np.zeros(0)
        values, failed, self.solved = [], False, 0
        for A, b, D, f in self.all:
            if failed:
                values.append((np.nan, np.nan))
                continue
            both = np.r_[D, rows]
            holds = np.zeros(len(both), bool)
            if len(b) + len(f) and Z.shape[1]:
                u, holds, by = Program(left(A, Z), b - A @ x, left(D, Z), f - D @ x, left(rows, Z), bounds - rows @ x).solve()
                failed = by is None
                self.by[by] += 1
                x = x + Z @ u
            # equations, and rows that hold this level back, stay as they are
            fixed = np.r_[A, both[holds]]
            if len(fixed):
                size = np.maximum(np.linalg.norm(fixed, axis=1), 1e-30)
                _, s, V = np.linalg.svd(fixed @ Z / size[:, None])
                Z = Z @ V[(s > 1e-8).sum() :].T
            self.solved += not failed
            values.append((np.linalg.norm(A @ x - b), np.linalg.norm(np.maximum(0, f - D @ x))))
            bounds = np.r_[np.minimum(f, D @ x), np.minimum(bounds, rows @ x)][~holds]
            rows = both[~holds]
        return values, failed


def left(rows, Z):
    """What the levels above left of rows; nothing but rounding is nothing."""
    y = rows @ Z
    y[np.linalg.norm(y, axis=1) <= 1e-9 * np.linalg.norm(rows, axis=1)] = 0
    return y
