/* Chains and ladders of four-bars of any size, as drivers of other programs have them
 * (peers/peers.h). */
#ifndef POLHODE_BENCH_MODELS_H
#define POLHODE_BENCH_MODELS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/polhode.h>

#include "peers/peers.h"

/* The loops with hinges, of which three constraints per loop are redundant; the other loops have
 * joints that leave none. */
enum { BENCH_HINGED = PEER_MODELS, BENCH_MODELS };

static inline void bench_check(pol_status status, const char *what)
{
  if (status == POL_OK) return;
  fprintf(stderr, "bench: %s: %s\n", what, pol_status_text(status));
  exit(1);
}

static inline void bench_add_body(pol_mechanism *mechanism, int i, double mass,
                                  const double inertia[3], double x, double z, double turn)
{
  char name[24];
  snprintf(name, sizeof name, "b%d", i);
  const pol_body body = {.name = name,
                         .mass = mass,
                         .inertia = {inertia[0], 0, 0, 0, inertia[1], 0, 0, 0, inertia[2]},
                         .position = {x, 0.0, z},
                         .rotation = {1.0, 0.0, 0.0, 0.0},
                         .velocity = {turn * z, 0.0, 0.0},
                         .angular_velocity = {0.0, z < 1.0 ? turn : 0.0, 0.0}};
  bench_check(pol_mechanism_add_body(mechanism, &body, NULL), "body");
}

/* z of the markers of a hinge is its axis. */
static const double bench_about_y[4] = {0.70710678118654752440, -0.70710678118654752440, 0.0, 0.0};
static const double bench_about_z[4] = {1.0, 0.0, 0.0, 0.0};

/* Between points (x, 0, z) of two bodies. */
static inline void bench_add_joint(pol_mechanism *mechanism, int i, pol_joint_type type,
                                   const double axis[4], const int bodies[2], const double x[2],
                                   const double z[2])
{
  char name[24];
  snprintf(name, sizeof name, "j%d", i);
  pol_joint joint = {.name = name, .type = type};
  for (int k = 0; k < 2; k++) {
    pol_marker marker = {.name = "", .body = bodies[k], .position = {x[k], 0.0, z[k]}};
    memcpy(marker.rotation, axis, sizeof marker.rotation);
    bench_check(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[k]), "marker");
  }
  bench_check(pol_mechanism_add_joint(mechanism, &joint, NULL), "joint");
}

/* With so many bodies; loops have an odd number, at least that. */
static inline pol_mechanism *bench_make_model(int model, int *bodies)
{
  const double gravity[3] = {0.0, 0.0, -peer_gravity}, half = 0.5 * peer_link_length;
  const double rocker[3] = {peer_bar_inertia, peer_bar_inertia, peer_bar_spin};
  const double coupler[3] = {peer_bar_spin, peer_bar_inertia, peer_bar_inertia};
  pol_mechanism *mechanism;
  bench_check(pol_mechanism_create(&mechanism), "mechanism");
  pol_mechanism_set_gravity(mechanism, gravity);
  if (model < PEER_LOOPS) {
    const pol_joint_type type = model == PEER_SPHERICAL ? POL_SPHERICAL : POL_REVOLUTE;
    for (int i = 0; i < *bodies; i++) {
      bench_add_body(mechanism, i, peer_link_mass, peer_link_inertia, (2 * i + 1) * half, 0.0, 0.0);
      bench_add_joint(mechanism, i, type, i % 2 ? bench_about_z : bench_about_y,
                      (int[2]){i ? i - 1 : POL_GROUND, i}, (double[2]){i ? half : 0.0, -half},
                      (double[2]){0.0, 0.0});
    }
    return mechanism;
  }
  /* Rocker i is body 2 i and carries coupler 2 i + 1. */
  const int count = *bodies / 2;
  *bodies = 2 * count + 1;
  for (int i = 0; i < *bodies; i++)
    bench_add_body(mechanism, i, 1.0, i % 2 ? coupler : rocker, 0.5 * i, i % 2 ? 1.0 : 0.5, 1.0);
  const pol_joint_type inner = model == BENCH_HINGED ? POL_REVOLUTE : POL_SPHERICAL;
  const pol_joint_type outer = model == BENCH_HINGED ? POL_REVOLUTE : POL_CYLINDRICAL;
  for (int i = 0; i <= count; i++) {
    bench_add_joint(mechanism, 3 * i, POL_REVOLUTE, bench_about_y, (int[2]){POL_GROUND, 2 * i},
                    (double[2]){i, 0.0}, (double[2]){0.0, -0.5});
    if (i == count) break;
    bench_add_joint(mechanism, 3 * i + 1, inner, bench_about_y, (int[2]){2 * i, 2 * i + 1},
                    (double[2]){0.0, -0.5}, (double[2]){0.5, 0.0});
    bench_add_joint(mechanism, 3 * i + 2, outer, bench_about_y, (int[2]){2 * i + 2, 2 * i + 1},
                    (double[2]){0.0, 0.5}, (double[2]){0.5, 0.0});
  }
  return mechanism;
}

#endif
