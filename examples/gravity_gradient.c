/* A force of one's own: a satellite in a circular orbit that swings about the direction to the
 * Earth.  Attraction and gravity gradient,
 *
 *     F = -mu m x / r^3,      T = 3 mu / r^3 n x J n     (body axes, n = R^T x / r),
 *
 * are a callback; the library forms its derivatives by differences.  In the plane of the orbit
 * small swings have the frequency omega sqrt(3 (Jy - Jx) / Jz) with the body's x axis pointing
 * outwards. */
#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>

static const double mu = 3.986004418e14; /* of the Earth, m^3/s^2 */

/* The second of the two bodies is the satellite, the first the ground: the Earth's centre. */
static pol_status attraction(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  const pol_body *satellite = user;
  const double *x = motion[1].position, *R = motion[1].rotation, *J = satellite->inertia;
  double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), pull = mu / (r * r * r);
  double n[3], Jn[3];
  (void)t;
  if (r == 0.0) return POL_RETRY;
  for (int i = 0; i < 3; i++) n[i] = (R[i] * x[0] + R[i + 3] * x[1] + R[i + 6] * x[2]) / r;
  for (int i = 0; i < 3; i++) Jn[i] = J[3 * i] * n[0] + J[3 * i + 1] * n[1] + J[3 * i + 2] * n[2];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    wrench[6 + i] = 3.0 * pull * (n[j] * Jn[k] - n[k] * Jn[j]);
    wrench[9 + i] = -pull * satellite->mass * x[i];
  }
  return POL_OK;
}

/* The angle from outwards to the body's x axis, in the plane of the orbit. */
static double pitch(const pol_body_state *state)
{
  double angle = atan2(state->rotation[3], state->rotation[0]);
  return remainder(angle - atan2(state->position[1], state->position[0]), 2.0 * acos(-1.0));
}

int main(void)
{
  const double radius = 7e6, omega = sqrt(mu / (radius * radius * radius));
  pol_body satellite = {.name = "satellite",
                        .mass = 100.0,
                        .inertia = {2.0, 0, 0, 0, 20.0, 0, 0, 0, 19.0},
                        .position = {radius, 0.0, 0.0},
                        .rotation = {cos(0.05), 0.0, 0.0, sin(0.05)},
                        .velocity = {0.0, radius * omega, 0.0},
                        .angular_velocity = {0.0, 0.0, omega},
                        .given = POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY};
  pol_force gravity = {.name = "gravity",
                       .type = POL_CALLBACK_FORCE,
                       .bodies = {POL_GROUND, 0},
                       .callback = {.wrench = attraction, .length = 1e6, .user = &satellite}};
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism = NULL;
  pol_simulation *simulation = NULL;
  pol_diagnostics d = {.message = "the mechanism could not be built"};
  const double swing = omega * sqrt(3.0 * (20.0 - 2.0) / 19.0);

  settings.step = 5.0;
  settings.end = 5000.0;
  pol_status status = pol_mechanism_create(&mechanism);
  if (!status) status = pol_mechanism_add_body(mechanism, &satellite, NULL);
  if (!status) status = pol_mechanism_add_force(mechanism, &gravity, NULL);
  if (!status) status = pol_simulation_create(&simulation, mechanism, &settings, &d);
  for (long n = 1; !status && !pol_simulation_finished(simulation); n++) {
    status = pol_simulation_step(simulation);
    if (status) {
      d = *pol_simulation_diagnostics(simulation);
      break;
    }
    const double t = pol_simulation_state(simulation)->t;
    pol_body_state body;
    pol_simulation_body(simulation, 0, &body);
    if (n % 100 == 0)
      printf("t %6.0f s  pitch %8.5f rad  small swings %8.5f rad\n", t, pitch(&body),
             0.1 * cos(swing * t));
  }
  if (status) fprintf(stderr, "gravity_gradient: %s: %s\n", d.where, d.message);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return status ? 1 : 0;
}
