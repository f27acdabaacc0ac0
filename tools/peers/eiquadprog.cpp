// Times eiquadprog on the problems that Poise wrote (wholebody TestWriteProblemsForPeers), and
// compares the answers. Two kinds of problems:
//
//   0  a quadratic program, solved as it is
//   1  levels of strict priorities, solved by a cascade of quadratic programs: equations alone
//      by QR, requests in the null space of those above, with the inequalities above as rows;
//      levels of inequalities alone come in as rows of the next request, which all problems
//      of the file allow
//
// With WITH_RT, programs of 30 unknowns are solved by the variant of fixed size, which is a
// template and so compiled for this processor; without, by the library of the wheel.
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

#include "bench.hpp"
#ifdef WITH_RT
#include <eiquadprog/eiquadprog-rt.hpp>
#else
#include <eiquadprog/eiquadprog-fast.hpp>
#endif

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Reader {
  std::ifstream in;
  double number() {
    double x;
    in.read(reinterpret_cast<char*>(&x), sizeof x);
    return x;
  }
  MatrixXd matrix(int rows, int columns) {
    Rows m(rows, columns);
    in.read(reinterpret_cast<char*>(m.data()), sizeof(double) * rows * columns);
    return m;
  }
  VectorXd vector(int n) { return matrix(n, 1); }
};

struct Program {
  MatrixXd H, CE, CI;
  VectorXd g, ce, ci, want;
};

struct Level {
  MatrixXd A, D;
  VectorXd b, f;
  double residual, slack;
};

struct Stack {
  int n;
  std::vector<Level> levels;
};

struct Set {
  std::string name;
  std::vector<Program> programs;
  std::vector<Stack> stacks;
};

Set read(Reader& r) {
  Set s;
  char name[32];
  r.in.read(name, sizeof name);
  s.name = name;
  const int kind = r.number(), count = r.number();
  for (int i = 0; i < count; ++i) {
    const int n = r.number(), m = r.number();
    if (kind == 0) {
      const int rows = r.number();
      Program p;
      p.H = r.matrix(n, n), p.g = r.vector(n);
      p.CE = r.matrix(m, n), p.ce = r.vector(m);
      p.CI = r.matrix(rows, n), p.ci = r.vector(rows);
      p.want = r.vector(n);
      s.programs.push_back(p);
      continue;
    }
    Stack stack{n, {}};
    for (int k = 0; k < m; ++k) {
      const int equations = r.number(), rows = r.number();
      Level l;
      l.A = r.matrix(equations, n), l.b = r.vector(equations);
      l.D = r.matrix(rows, n), l.f = r.vector(rows);
      l.residual = r.number(), l.slack = r.number();
      r.number();  // whether Poise says that it is optimal
      stack.levels.push_back(l);
    }
    s.stacks.push_back(stack);
  }
  return s;
}

#ifdef WITH_RT
template <int N, int E, int I>
bool time(const Set& s) {
  const Program& one = s.programs[0];
  if (one.H.rows() != N || one.CE.rows() != E || one.CI.rows() != I) return false;
  struct Copy {
    typename RtMatrixX<N, N>::d H;
    typename RtVectorX<N>::d g;
    typename RtMatrixX<E, N>::d CE;
    typename RtVectorX<E>::d ce;
    typename RtMatrixX<I, N>::d CI;
    typename RtVectorX<I>::d ci;
  };
  auto copies = std::make_unique<std::vector<Copy>>(s.programs.size());
  for (size_t i = 0; i < s.programs.size(); ++i) {
    const Program& p = s.programs[i];
    Copy& c = (*copies)[i];
    c.H = p.H, c.g = p.g, c.CE = p.CE, c.ce = p.ce, c.CI = p.CI, c.ci = p.ci;
  }
  auto solver = std::make_unique<eiquadprog::solvers::RtEiquadprog<N, E, I>>();
  typename RtVectorX<N>::d x;
  double off = 0;
  auto call = [&](int i) {
    const Copy& c = (*copies)[i];
    solver->solve_quadprog(c.H, c.g, c.CE, c.ce, c.CI, c.ci, x);
  };
  for (size_t i = 0; i < s.programs.size(); ++i) {
    call(i);
    off = std::max(off, (x - s.programs[i].want).norm() / (1 + s.programs[i].want.norm()));
  }
  std::printf("check eiquadprog-rt %s %.2g\n", s.name.c_str(), off);
  reportLeast("eiquadprog-rt", "qp", s.name, s.programs.size(), call);
  return true;
}
#else
VectorXd quadratic(eiquadprog::solvers::EiquadprogFast& solver, const MatrixXd& H, const VectorXd& g, const MatrixXd& CE,
                   const VectorXd& ce, const MatrixXd& CI, const VectorXd& ci, bool& ok) {
  VectorXd x(H.rows());
  solver.reset(H.rows(), CE.rows(), CI.rows());
  ok = solver.solve_quadprog(H, g, CE, ce, CI, ci, x) == eiquadprog::solvers::EIQUADPROG_FAST_OPTIMAL;
  return x;
}

// cascade solves a stack; every level of inequalities must be one that can be kept.
bool cascade(const Stack& s, eiquadprog::solvers::EiquadprogFast& solver, VectorXd& x) {
  x = VectorXd::Zero(s.n);
  MatrixXd Z = MatrixXd::Identity(s.n, s.n);
  MatrixXd D(0, s.n);
  VectorXd f;
  for (size_t k = 0; k < s.levels.size(); ++k) {
    const Level& l = s.levels[k];
    if (l.D.rows()) {
      MatrixXd both(D.rows() + l.D.rows(), s.n);
      both << D, l.D;
      VectorXd bounds(f.size() + l.f.size());
      bounds << f, l.f;
      D.swap(both), f.swap(bounds);
    }
    if (!l.A.rows() || !Z.cols()) continue;
    const MatrixXd AZ = l.A * Z;
    const VectorXd e = l.b - l.A * x;
    const bool last = k + 1 == s.levels.size();
    Eigen::ColPivHouseholderQR<MatrixXd> qr;
    if (!last) {
      qr.setThreshold(1e-9);
      qr.compute(AZ.transpose());
    }
    VectorXd u;
    if (!D.rows()) {
      u = AZ.completeOrthogonalDecomposition().solve(e);
    } else {
      MatrixXd H = AZ.transpose() * AZ;
      H.diagonal().array() += last ? 0 : 1e-8;
      const VectorXd g = -(AZ.transpose() * e);
      const MatrixXd C = D * Z;
      const VectorXd c = D * x - f;
      bool ok = false;
      for (double room = 1e-9; !ok && room < 1e-4; room *= 10)  // rounding leaves no interior at times
        u = quadratic(solver, H, g, MatrixXd(0, Z.cols()), VectorXd(0), C, VectorXd(c.array() + room), ok);
      if (!ok) return false;
    }
    x += Z * u;
    if (!last) {
      const MatrixXd Q = qr.householderQ() * MatrixXd::Identity(Z.cols(), Z.cols());
      Z = (Z * Q.rightCols(Z.cols() - qr.rank())).eval();
    }
  }
  return true;
}

void timeStacks(const Set& s) {
  eiquadprog::solvers::EiquadprogFast solver;
  VectorXd x;
  double off = 0;
  for (const Stack& stack : s.stacks) {
    if (!cascade(stack, solver, x)) {
      std::printf("check eiquadprog %s failed\n", s.name.c_str());
      return;
    }
    for (const Level& l : stack.levels) {
      const double residual = l.A.rows() ? (l.A * x - l.b).norm() : 0;
      const double slack = l.D.rows() ? (l.f - l.D * x).cwiseMax(0).norm() : 0;
      off = std::max(off, std::abs(residual - l.residual) / (1 + l.residual));
      off = std::max(off, std::abs(slack - l.slack) / (1 + l.slack));
    }
  }
  std::printf("check eiquadprog %s %.2g\n", s.name.c_str(), off);
  reportLeast("eiquadprog", "stack", s.name, s.stacks.size(), [&](int i) { cascade(s.stacks[i], solver, x); });
}

void time(const Set& s) {
  eiquadprog::solvers::EiquadprogFast solver;
  const Program& one = s.programs[0];
  solver.reset(one.H.rows(), one.CE.rows(), one.CI.rows());
  VectorXd x(one.H.rows());
  double off = 0;
  auto call = [&](int i) {
    const Program& p = s.programs[i];
    solver.solve_quadprog(p.H, p.g, p.CE, p.ce, p.CI, p.ci, x);
  };
  for (size_t i = 0; i < s.programs.size(); ++i) {
    call(i);
    off = std::max(off, (x - s.programs[i].want).norm() / (1 + s.programs[i].want.norm()));
  }
  std::printf("check eiquadprog %s %.2g\n", s.name.c_str(), off);
  reportLeast("eiquadprog", "qp", s.name, s.programs.size(), call);
}
#endif

int main(int argc, char** argv) {
  Reader r{std::ifstream(argv[1], std::ios::binary)};
  for (int sets = r.number(); sets > 0; --sets) {
    const Set s = read(r);
#ifdef WITH_RT
    if (!s.programs.empty()) time<30, 6, 54>(s) || time<30, 18, 44>(s);
#else
    s.programs.empty() ? timeStacks(s) : time(s);
#endif
  }
}
