/* Random search for a controller: 32 copies of a pendulum with a motor learn to stand upright. Each
 * copy has gains of its own, and the best of a round are the centre of the next. */
#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>

enum { COPIES = 32, ROUNDS = 5, CALLS = 200, STEPS = 5 };

/* A number from -1 to 1. */
static double random_number(void)
{
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return (double)(state >> 8) / 8388608.0 - 1.0;
}

static pol_mechanism *create_pendulum(void)
{
  pol_mechanism *mechanism;
  pol_body rod = pol_body_default();
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE};
  pol_force motor = pol_force_default();
  const pol_variable variables[] = {{.name = "torque", .expression = "0", .input = 1},
                                    {.name = "angle", .expression = "hinge.angle"},
                                    {.name = "rate", .expression = "hinge.rate"}};
  if (pol_mechanism_create(&mechanism)) return NULL;
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  rod.name = "rod", rod.position[2] = 0.5; /* upright: angle 0 */
  rod.inertia[0] = rod.inertia[4] = 1.0 / 12, rod.inertia[8] = 1e-3;
  rod.angular_velocity[1] = 0.5, rod.given = POL_GIVEN_ANGULAR_VELOCITY;
  motor.name = "motor", motor.type = POL_JOINT_SPRING, motor.joint = 0;
  motor.expressions[0] = "torque";
  pol_mechanism_add_body(mechanism, &rod, NULL);
  pol_mechanism_add_joint_at(mechanism, &hinge, POL_GROUND, 0, (double[]){0, 0, 0},
                             (double[]){0, 1, 0}, NULL);
  for (int k = 0; k < 3; k++) pol_mechanism_add_variable(mechanism, &variables[k], NULL);
  pol_mechanism_add_force(mechanism, &motor, NULL);
  return mechanism;
}

int main(void)
{
  pol_mechanism *mechanism = create_pendulum();
  pol_batch_settings settings = pol_batch_settings_default();
  pol_batch *batch;
  pol_diagnostics wrong;
  settings.count = COPIES; /* settings.threads is 0: all processors */
  settings.simulation.step = 2e-3;
  settings.inputs = (const char *const[]){"torque"}, settings.num_inputs = 1;
  settings.outputs = (const char *const[]){"angle", "rate"}, settings.num_outputs = 2;
  if (pol_batch_create(&batch, mechanism, &settings, &wrong)) {
    fprintf(stderr, "%s\n", wrong.message);
    return 1;
  }
  double best[2] = {0.0, 0.0}, least = HUGE_VAL;
  for (int round = 0; round < ROUNDS; round++) {
    double gain[COPIES][2], cost[COPIES] = {0.0};
    const double width = 40.0 * pow(0.7, round);
    for (int i = 0; i < COPIES; i++)
      for (int k = 0; k < 2; k++) gain[i][k] = best[k] + (i ? width * random_number() : 0.0);
    pol_batch_reset(batch, NULL, NULL, NULL);
    for (int call = 0; call < CALLS; call++) { /* a control every 10 ms, for 2 s */
      const double *seen = pol_batch_outputs(batch);
      for (int i = 0; i < COPIES; i++) {
        const double u = -gain[i][0] * seen[2 * i] - gain[i][1] * seen[2 * i + 1];
        pol_batch_inputs(batch)[i] = fmax(-20.0, fmin(20.0, u));
        cost[i] += seen[2 * i] * seen[2 * i] + 1e-3 * u * u;
      }
      pol_batch_step(batch, STEPS); /* a copy that fails does not stop the others */
    }
    for (int i = 0; i < COPIES; i++) {
      if (pol_batch_status(batch)[i] || !(cost[i] < least)) continue;
      least = cost[i], best[0] = gain[i][0], best[1] = gain[i][1];
    }
    printf("round %d: cost %8.4f, torque = -%.3f angle - %.3f rate\n", round + 1, least, best[0],
           best[1]);
  }
  pol_batch_free(&batch);
  pol_mechanism_free(&mechanism);
  return least > 10.0; /* standing, not turning round and round */
}
