/* A double pendulum: two rods of 1 kg and 1 m on hinges about y, released from the horizontal. */
#include <polhode/polhode.h>
#include <stdio.h>

int main(void)
{
  pol_mechanism *mechanism;
  if (pol_mechanism_create(&mechanism)) return 1;
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  for (int i = 0; i < 2; i++) {
    pol_body rod = pol_body_default(); /* 1 kg, axes of the body = global axes */
    pol_joint hinge = {.name = i == 0 ? "shoulder" : "elbow", .type = POL_REVOLUTE};
    rod.name = i == 0 ? "upper" : "lower", rod.position[0] = i + 0.5;
    rod.inertia[0] = 1e-4, rod.inertia[4] = rod.inertia[8] = 1.0 / 12;
    pol_mechanism_add_body(mechanism, &rod, NULL);
    pol_mechanism_add_joint_at(mechanism, &hinge, i == 0 ? POL_GROUND : 0, i, (double[]){i, 0, 0},
                               (double[]){0, 1, 0}, NULL);
  }
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  pol_diagnostics wrong;
  settings.output.step = 0.1;
  pol_status status = pol_simulation_create(&simulation, mechanism, &settings, &wrong);
  while (!status && !pol_simulation_finished(simulation)) {
    pol_body_state tip;
    status = pol_simulation_step(simulation);
    pol_simulation_body(simulation, 1, &tip);
    printf("x %8.5f m  z %8.5f m\n", tip.position[0], tip.position[2]);
  }
  if (status && simulation) wrong = *pol_simulation_diagnostics(simulation);
  if (status) fprintf(stderr, "%s\n", wrong.message); /* also errors of the mechanism */
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return status != POL_OK;
}
