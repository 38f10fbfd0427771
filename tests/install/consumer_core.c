/* A program outside of polhode's tree that needs the core alone: it solves a linear system with
 * LAPACK and with KLU.   consumer_core VERSION */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <polhode/polhode.h>

/* Solves 2 x + y = 4, x + 3 y = 7; returns whether the solution is (1, 2). */
static int solves(const pol_pattern *pattern, pol_solver_kind kind)
{
  const double values[4] = {2.0, 1.0, 1.0, 3.0};
  double x[2] = {4.0, 7.0};
  pol_solver *solver = NULL;
  pol_status status = pol_solver_create(&solver, pattern, kind);
  if (status == POL_OK) status = pol_solver_factor(solver, values);
  if (status == POL_OK) pol_solver_solve(solver, x);
  pol_solver_free(&solver);
  return status == POL_OK && fabs(x[0] - 1.0) + fabs(x[1] - 2.0) < 1e-12;
}

int main(int argc, char **argv)
{
  const pol_block all = {0, 0, 2, 2};
  pol_pattern *pattern = NULL;
  if (argc != 2 || strcmp(argv[1], pol_version()) != 0) return 1;
  if (pol_pattern_create(&pattern, 2, 2, 1, &all) != POL_OK) return 1;
  const int good = solves(pattern, POL_SOLVER_DENSE) && solves(pattern, POL_SOLVER_SPARSE);
  pol_pattern_free(&pattern);
  printf("polhode %s: %s\n", pol_version(), pol_status_text(good ? POL_OK : POL_SINGULAR));
  return good ? 0 : 1;
}
