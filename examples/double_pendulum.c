/* A double pendulum: two rods of 1 kg and 1 m on hinges about y, released from the horizontal. */
#include <polhode/polhode.h>
#include <stdio.h>

int main(void)
{
  const double gravity[3] = {0, 0, -9.81}, axis[3] = {0, 1, 0};
  const double shoulder[3] = {0, 0, 0}, elbow[3] = {1, 0, 0};
  pol_joint hinge = {.name = "shoulder", .type = POL_REVOLUTE};
  pol_body rod = pol_body_default(); /* 1 kg, axes of the body = global axes */
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_diagnostics wrong;
  pol_body_state tip;
  int upper, lower;

  if (pol_mechanism_create(&mechanism)) return 1;
  pol_mechanism_set_gravity(mechanism, gravity);
  rod.inertia[0] = 1e-4, rod.inertia[4] = rod.inertia[8] = 1.0 / 12;
  rod.name = "upper", rod.position[0] = 0.5;
  pol_mechanism_add_body(mechanism, &rod, &upper);
  rod.name = "lower", rod.position[0] = 1.5;
  pol_mechanism_add_body(mechanism, &rod, &lower);
  pol_mechanism_add_joint_at(mechanism, &hinge, POL_GROUND, upper, shoulder, axis, NULL);
  hinge.name = "elbow";
  pol_mechanism_add_joint_at(mechanism, &hinge, upper, lower, elbow, axis, NULL);

  /* refuses a mechanism with errors, and reports the first one */
  settings.output.step = 0.1;
  if (pol_simulation_create(&simulation, mechanism, &settings, &wrong)) {
    fprintf(stderr, "%s\n", wrong.message);
    pol_mechanism_free(&mechanism);
    return 1;
  }
  while (!pol_simulation_finished(simulation) && !pol_simulation_step(simulation)) {
    pol_simulation_body(simulation, lower, &tip);
    printf("t %.1f s  x %8.5f m  z %8.5f m\n", pol_simulation_state(simulation)->t, tip.position[0],
           tip.position[2]);
  }
  const int done = pol_simulation_finished(simulation);
  if (!done) fprintf(stderr, "%s\n", pol_simulation_diagnostics(simulation)->message);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return done ? 0 : 1;
}
