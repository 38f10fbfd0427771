/* A flexible body made of point masses with given shapes, so that its integrals are sums. */
#ifndef POLHODE_TESTS_POINT_MASSES_H
#define POLHODE_TESTS_POINT_MASSES_H

#include <polhode/polhode.h>

#include <string.h>

#include "check.h"

enum { MAX_POINTS = 24, MAX_MODES = 6, MAX_ENDS = 3 };

typedef struct point_masses {
  int count, num_modes;
  double mass[MAX_POINTS];
  double shape[MAX_POINTS][MAX_MODES + 1][3]; /* the place X, then the shape of each mode */
  /* what the body points to */
  double first[3 * (MAX_MODES + 1)], second[9 * (MAX_MODES + 1) * (MAX_MODES + 1)];
  double stiffness[MAX_MODES * MAX_MODES], damping[MAX_MODES * MAX_MODES];
  double amplitudes[MAX_MODES], rates[MAX_MODES];
  double translation[MAX_ENDS][3 * MAX_MODES], rotation[MAX_ENDS][3 * MAX_MODES];
  pol_interface interfaces[MAX_ENDS];
} point_masses;

/* The integrals of the masses and shapes. */
static inline void integrate(point_masses *p, pol_flexible_body *body)
{
  const int n = p->num_modes + 1;
  body->num_modes = p->num_modes;
  body->mass = 0.0;
  memset(p->first, 0, sizeof p->first);
  memset(p->second, 0, sizeof p->second);
  for (int i = 0; i < p->count; i++) {
    body->mass += p->mass[i];
    for (int a = 0; a < n; a++)
      for (int r = 0; r < 3; r++) {
        p->first[3 * a + r] += p->mass[i] * p->shape[i][a][r];
        for (int b = 0; b < n; b++)
          for (int c = 0; c < 3; c++)
            p->second[9 * (a * n + b) + 3 * r + c] +=
                p->mass[i] * p->shape[i][a][r] * p->shape[i][b][c];
      }
  }
  body->first = p->first;
  body->second = p->second;
  body->stiffness = p->stiffness;
  body->damping = p->damping;
  body->amplitudes = p->amplitudes;
  body->rates = p->rates;
  body->interfaces = p->interfaces;
}

/* S S^T / n + diagonal */
static inline void random_definite(uint64_t *seed, int n, double diagonal, double *A)
{
  double S[MAX_MODES * MAX_MODES];
  random_numbers(seed, S, n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      A[i * n + j] = i == j ? diagonal : 0.0;
      for (int k = 0; k < n; k++) A[i * n + j] += S[i * n + k] * S[j * n + k] / n;
    }
}

/* Random masses, shapes, matrices, amplitudes and interfaces "one", "two" (and "three"). */
static inline pol_flexible_body random_flexible(point_masses *p, const char *name, int num_modes,
                                                int num_interfaces, uint64_t *seed)
{
  static const char *const names[MAX_ENDS] = {"one", "two", "three"};
  pol_flexible_body body = pol_flexible_body_default();
  memset(p, 0, sizeof *p);
  p->count = MAX_POINTS;
  p->num_modes = num_modes;
  for (int i = 0; i < p->count; i++) {
    p->mass[i] = 0.1 + 0.05 * random_number(seed);
    for (int a = 0; a <= num_modes; a++) random_numbers(seed, p->shape[i][a], 3);
  }
  random_definite(seed, num_modes, 2.0, p->stiffness);
  random_definite(seed, num_modes, 0.1, p->damping);
  random_numbers(seed, p->amplitudes, num_modes);
  for (int k = 0; k < num_modes; k++) p->amplitudes[k] *= 0.3;
  random_numbers(seed, p->rates, num_modes);
  for (int k = 0; k < num_interfaces; k++) {
    p->interfaces[k] = (pol_interface){
        .name = names[k], .translation = p->translation[k], .rotation = p->rotation[k]};
    random_numbers(seed, p->interfaces[k].position, 3);
    random_numbers(seed, p->translation[k], 3 * num_modes);
    random_numbers(seed, p->rotation[k], 3 * num_modes);
  }
  body.name = name;
  body.num_interfaces = num_interfaces;
  integrate(p, &body);
  random_numbers(seed, body.position, 3);
  random_numbers(seed, body.velocity, 3);
  random_numbers(seed, body.angular_velocity, 3);
  double w[3];
  random_numbers(seed, w, 3);
  for (int i = 0; i < 3; i++) w[i] *= 0.5;
  pol_so3_exp(w, body.rotation);
  return body;
}

#endif
