/* A chain of links along x with spherical joints that hangs from the ground. */
#ifndef POLHODE_TESTS_SIMULATION_CHAIN_H
#define POLHODE_TESTS_SIMULATION_CHAIN_H

#include <stdio.h>

#include <polhode/mechanism.h>

/* Rods of 0.1 m; two of three are off their line by `off`.  NULL: no memory. */
static inline pol_mechanism *make_chain(int links, double off)
{
  static const double gravity[3] = {0.0, 0.0, -9.81};
  pol_mechanism *mechanism;
  pol_status status = pol_mechanism_create(&mechanism);
  if (!status) pol_mechanism_set_gravity(mechanism, gravity);
  for (int i = 0; i < links && !status; i++) {
    char name[32], joint_name[32];
    snprintf(name, sizeof name, "link %d", i + 1);
    snprintf(joint_name, sizeof joint_name, "joint %d", i + 1);
    const pol_body body = {.name = name,
                           .mass = 0.05,
                           .inertia = {6.25e-7, 0, 0, 0, 4.2e-5, 0, 0, 0, 4.2e-5},
                           .position = {0.1 * i + 0.05, i % 3 ? off : 0.0, 0.0},
                           .rotation = {1.0, 0.0, 0.0, 0.0}};
    const pol_marker ends[2] = {
        {.name = "",
         .body = i ? i - 1 : POL_GROUND,
         .position = {i ? 0.05 : 0.0, 0.0, 0.0},
         .rotation = {1.0, 0.0, 0.0, 0.0}},
        {.name = "", .body = i, .position = {-0.05, 0.0, 0.0}, .rotation = {1.0, 0.0, 0.0, 0.0}}};
    pol_joint joint = {.name = joint_name, .type = POL_SPHERICAL};
    status = pol_mechanism_add_body(mechanism, &body, NULL);
    for (int k = 0; k < 2 && !status; k++)
      status = pol_mechanism_add_marker(mechanism, &ends[k], &joint.marker[k]);
    if (!status) status = pol_mechanism_add_joint(mechanism, &joint, NULL);
  }
  if (status) pol_mechanism_free(&mechanism);
  return mechanism;
}

#endif
