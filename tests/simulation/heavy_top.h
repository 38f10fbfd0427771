/* The heavy top of Bruels/Cardona 2010 for tests: a spinning body with its tip fixed at the origin.
 */
#ifndef POLHODE_TESTS_HEAVY_TOP_H
#define POLHODE_TESTS_HEAVY_TOP_H

#include <polhode/polhode.h>

/* The body with its usual initial values; the velocity is left to the assembler. */
static inline pol_body heavy_top_body(void)
{
  pol_body body = {.name = "top",
                   .mass = 15.0,
                   .inertia = {0.234375, 0.0, 0.0, 0.0, 0.46875, 0.0, 0.0, 0.0, 0.234375},
                   .position = {0.0, 1.0, 0.0},
                   .rotation = {1.0, 0.0, 0.0, 0.0},
                   .angular_velocity = {0.0, 150.0, -4.61538},
                   .given = POL_GIVEN_ANGULAR_VELOCITY};
  return body;
}

/* The tip is the point (0, -1, 0) of the body, joined to the ground's origin; the joint's first
 * marker is that of the ground (constraint in inertial axes) or of the body (in body axes). */
static inline pol_status heavy_top_create_as(pol_mechanism **mechanism, const pol_body *body,
                                             int ground_first)
{
  static const double gravity[3] = {0.0, 0.0, -9.81};
  pol_marker tip = {.name = "", .position = {0.0, -1.0, 0.0}, .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_marker origin = {.name = "", .body = POL_GROUND, .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_joint joint = {.name = "tip", .type = POL_SPHERICAL};
  pol_status status = pol_mechanism_create(mechanism);
  if (status != POL_OK) return status;
  pol_mechanism_set_gravity(*mechanism, gravity);
  status = pol_mechanism_add_body(*mechanism, body, &tip.body);
  if (status == POL_OK)
    status = pol_mechanism_add_marker(*mechanism, &tip, &joint.marker[ground_first]);
  if (status == POL_OK)
    status = pol_mechanism_add_marker(*mechanism, &origin, &joint.marker[!ground_first]);
  if (status == POL_OK) status = pol_mechanism_add_joint(*mechanism, &joint, NULL);
  if (status != POL_OK) pol_mechanism_free(mechanism);
  return status;
}

static inline pol_status heavy_top_create(pol_mechanism **mechanism, const pol_body *body)
{
  return heavy_top_create_as(mechanism, body, 0);
}

#endif
