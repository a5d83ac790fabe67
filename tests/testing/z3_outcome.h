// What Z3 says of a claim whose opposite a solver was given.
//
//   z3::solver solver = Solver(context);
//   solver.add(before != after);
//   EXPECT_EQ(Outcome(solver), "proved");
#ifndef TENON_TESTS_TESTING_Z3_OUTCOME_H_
#define TENON_TESTS_TESTING_Z3_OUTCOME_H_

#include <string>

#include <z3++.h>

namespace tenon {

// It gives up after a minute.
inline z3::solver Solver(z3::context& context) {
  constexpr unsigned milliseconds = 60000;
  z3::solver solver(context);
  z3::params params(context);
  params.set("timeout", milliseconds);
  solver.set(params);
  return solver;
}

// "proved", or what speaks against it.
inline std::string Outcome(z3::solver& solver) {
  switch (solver.check()) {
    case z3::unsat:
      return "proved";
    case z3::sat:
      return std::string("wrong, for instance where ") +
             Z3_model_to_string(solver.ctx(), solver.get_model());
    case z3::unknown:
      break;
  }
  return "not decided: " + solver.reason_unknown();
}

}  // namespace tenon

#endif  // TENON_TESTS_TESTING_Z3_OUTCOME_H_
