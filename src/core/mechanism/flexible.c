/* Flexible bodies as plain data; see flexible.h and pol_flexible_body. */
#include "mechanism/flexible.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "base/arena.h"
#include "lie/small.h"

static const double symmetry_tolerance = 1e-9;  /* relative to the diagonal */
static const double definite_tolerance = 1e-12; /* of a matrix with a unit diagonal */

/* --- rules ------------------------------------------------------------------------------------ */

static void swap_rows_and_columns(double *A, int n, int a, int b)
{
  for (int j = 0; j < n && a != b; j++) {
    const double kept = A[a * n + j];
    A[a * n + j] = A[b * n + j];
    A[b * n + j] = kept;
  }
  for (int i = 0; i < n && a != b; i++) {
    const double kept = A[i * n + a];
    A[i * n + a] = A[i * n + b];
    A[i * n + b] = kept;
  }
}

/* The smallest pivot of a symmetric matrix A, n x n, which is overwritten, after scaling its
 * diagonal to 1: positive if A is positive definite, 0 if an eigenvalue is zero, negative if one is
 * negative. */
static double smallest_pivot(double *A, int n)
{
  double smallest = 1.0;
  for (int i = 0; i < n; i++) {
    const double a = A[i * n + i], scale = a > 0.0 ? 1.0 / sqrt(a) : 1.0;
    if (a < 0.0) return -1.0;
    for (int j = 0; j < n; j++) {
      A[i * n + j] *= scale;
      A[j * n + i] *= scale;
    }
  }
  for (int k = 0; k < n; k++) {
    int best = k;
    double rest = 0.0;
    for (int i = k; i < n; i++) {
      if (A[i * n + i] > A[best * n + best]) best = i;
      for (int j = k; j < n; j++) rest = fmax(rest, fabs(A[i * n + j]));
    }
    swap_rows_and_columns(A, n, k, best);
    const double pivot = A[k * n + k];
    if (pivot <= definite_tolerance) return rest <= n * definite_tolerance ? 0.0 : -rest;
    smallest = fmin(smallest, pivot);
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) A[i * n + j] -= A[i * n + k] * A[k * n + j] / pivot;
  }
  return smallest;
}

/* Finite and symmetric, without negative eigenvalues. */
static void check_matrix(poli_rules *check, const char *field, const double *A, int n)
{
  const int before = check->broken;
  char path[64], value[32];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n && check->broken == before; j++) {
      snprintf(path, sizeof path, "%s[%d][%d]", field, i, j);
      snprintf(value, sizeof value, "%.10g", A[i * n + j]);
      if (!isfinite(A[i * n + j]))
        poli_refuse(check, path, value, "", "%s", poli_number_words(POLI_ANY_NUMBER));
      else if (j < i && fabs(A[i * n + j] - A[j * n + i]) >
                            symmetry_tolerance * sqrt(fabs(A[i * n + i] * A[j * n + j])))
        poli_refuse(check, path, value, "", "must equal [%d][%d]: the matrix must be symmetric", j,
                    i);
    }
  if (check->broken > before) return;
  double *copy = malloc((size_t)n * (size_t)n * sizeof *copy);
  if (!copy) {
    check->status = POL_NO_MEMORY;
    return;
  }
  memcpy(copy, A, (size_t)n * (size_t)n * sizeof *copy);
  if (smallest_pivot(copy, n) < 0.0)
    poli_refuse(check, field, "", "", "must not have negative eigenvalues");
  free(copy);
}

/* The mass matrix of (angular velocity, velocity, modes) without deformation, n = 6 + num_modes;
 * formulation/floating_frame.h. */
static void undeformed_mass(const pol_flexible_body *body, double *M)
{
  const int modes = body->num_modes, n = 6 + modes;
  const double *S = poli_flexible_second(body, 0, 0), *s = body->first;
  const double skew[9] = {0.0, -s[2], s[1], s[2], 0.0, -s[0], -s[1], s[0], 0.0};
  memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      M[i * n + j] = (i == j ? S[0] + S[4] + S[8] : 0.0) - S[3 * i + j];
      M[i * n + 3 + j] = M[(3 + j) * n + i] = skew[3 * i + j];
    }
    M[(3 + i) * n + 3 + i] = body->mass;
  }
  for (int k = 0; k < modes; k++) {
    const double *mixed = poli_flexible_second(body, 0, k + 1), *own = body->first + 3 * (k + 1);
    for (int i = 0; i < 3; i++) {
      const int next = (i + 1) % 3, last = (i + 2) % 3;
      M[i * n + 6 + k] = M[(6 + k) * n + i] = mixed[3 * next + last] - mixed[3 * last + next];
      M[(3 + i) * n + 6 + k] = M[(6 + k) * n + 3 + i] = own[i];
    }
    for (int l = 0; l < modes; l++) {
      const double *S_kl = poli_flexible_second(body, k + 1, l + 1);
      M[(6 + k) * n + 6 + l] =
          body->inertia ? body->inertia[k * modes + l] : S_kl[0] + S_kl[4] + S_kl[8];
    }
  }
}

/* The integrals: finite, second_ab the transpose of second_ba, the mass matrix positive definite.
 */
static void check_integrals(poli_rules *check, const pol_flexible_body *body)
{
  const int before = check->broken, count = body->num_modes + 1, n = 6 + body->num_modes;
  char path[64];
  poli_vector_rules(check, "first", body->first, 3 * count);
  for (int a = 0; a < count; a++)
    for (int b = 0; b < count && check->broken == before; b++) {
      const double *S = poli_flexible_second(body, a, b), *T = poli_flexible_second(body, b, a);
      const double *own = poli_flexible_second(body, a, a),
                   *other = poli_flexible_second(body, b, b);
      const double size =
          sqrt(fabs(own[0] + own[4] + own[8]) * fabs(other[0] + other[4] + other[8]));
      snprintf(path, sizeof path, "second[%d][%d]", a, b);
      for (int i = 0; i < 9 && check->broken == before; i++)
        if (!isfinite(S[i]))
          poli_refuse(check, path, "", "", "must be nine finite numbers");
        else if (fabs(S[i] - T[3 * (i % 3) + i / 3]) > symmetry_tolerance * size)
          poli_refuse(check, path, "", "", "must be the transpose of second[%d][%d]", b, a);
    }
  if (body->inertia) check_matrix(check, "inertia", body->inertia, body->num_modes);
  if (check->broken > before || !(body->mass > 0.0)) return;
  double *M = malloc((size_t)n * (size_t)n * sizeof *M);
  if (!M) {
    check->status = POL_NO_MEMORY;
    return;
  }
  undeformed_mass(body, M);
  if (!(smallest_pivot(M, n) > 0.0))
    poli_refuse(
        check, "second", "", "",
        "must give a positive definite mass matrix of frame and modes: a mode must not be a "
        "rigid motion or depend on the others");
  free(M);
}

static void check_interfaces(poli_rules *check, const pol_flexible_body *body)
{
  for (int k = 0; k < body->num_interfaces; k++) {
    const pol_interface *one = &body->interfaces[k];
    poli_rules inner = *check;
    char inside[48];
    snprintf(inside, sizeof inside, "interfaces[%d].", k);
    inner.inside = inside;
    int same = k;
    for (int i = k - 1; i >= 0 && one->name; i--)
      if (body->interfaces[i].name && strcmp(body->interfaces[i].name, one->name) == 0) same = i;
    char *name = one->name && *one->name && body->name ? poli_interface_name(body, k) : NULL;
    if (!one->name || !*one->name)
      poli_refuse(&inner, "name", "", "", "is required");
    else if (same < k)
      poli_refuse(&inner, "name", one->name, "", "must be unique: interfaces[%d] has the same name",
                  same);
    else if (name)
      poli_name_rules(&inner, name);
    else if (body->name)
      inner.status = POL_NO_MEMORY;
    free(name);
    poli_vector_rules(&inner, "position", one->position, 3);
    if (!one->translation || !one->rotation)
      poli_refuse(&inner, one->translation ? "rotation" : "translation", "", "", "is required");
    else
      for (int i = 0; i < 2; i++)
        poli_vector_rules(&inner, i ? "rotation" : "translation",
                          i ? one->rotation : one->translation, 3 * body->num_modes);
    check->broken = inner.broken;
    if (inner.status) check->status = inner.status;
  }
}

void poli_flexible_rules(poli_rules *check, const pol_flexible_body *body)
{
  char value[16];
  poli_name_rules(check, body->name);
  poli_number_rules(check, "mass", &body->mass, 1, POLI_POSITIVE_NUMBER);
  poli_vector_rules(check, "position", body->position, 3);
  poli_vector_rules(check, "velocity", body->velocity, 3);
  poli_vector_rules(check, "angular_velocity", body->angular_velocity, 3);
  poli_rotation_rules(check, body->rotation);
  snprintf(value, sizeof value, "%d", body->num_modes);
  if (body->num_modes < 1) {
    poli_refuse(check, "num_modes", value, "", "must be at least 1");
    return;
  }
  if (!body->first || !body->second || !body->stiffness ||
      (body->num_interfaces > 0 && !body->interfaces)) {
    poli_refuse(check,
                !body->first       ? "first"
                : !body->second    ? "second"
                : !body->stiffness ? "stiffness"
                                   : "interfaces",
                "", "", "is required");
    return;
  }
  check_integrals(check, body);
  check_matrix(check, "stiffness", body->stiffness, body->num_modes);
  if (body->damping) check_matrix(check, "damping", body->damping, body->num_modes);
  if (body->amplitudes) poli_vector_rules(check, "amplitudes", body->amplitudes, body->num_modes);
  if (body->rates) poli_vector_rules(check, "rates", body->rates, body->num_modes);
  check_interfaces(check, body);
}

/* --- copy ------------------------------------------------------------------------------------- */

static void fill(double *to, const double *from, int count)
{
  if (from) memcpy(to, from, (size_t)count * sizeof *to);
}

/* Numbers as they are, symmetric matrices exactly symmetric; *to has room, which is zero. */
static void fill_symmetric(double *to, const double *from, int n)
{
  for (int i = 0; i < n && from; i++)
    for (int j = 0; j < n; j++) to[i * n + j] = 0.5 * from[i * n + j] + 0.5 * from[j * n + i];
}

pol_flexible_body *poli_flexible_copy(const pol_flexible_body *body)
{
  const int n = body->num_modes, num = body->num_interfaces;
  pol_flexible_body *copy;
  pol_interface *interfaces;
  double *first, *second, *stiffness, *damping, *inertia, *amplitudes, *rates, *shapes;
  char *names;
  size_t length = strlen(body->name) + 1;
  for (int k = 0; k < num; k++) length += strlen(body->interfaces[k].name) + 1;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, copy, 1);
    POLI_TAKE(&arena, first, 3 * (n + 1));
    POLI_TAKE(&arena, second, 9 * (n + 1) * (n + 1));
    POLI_TAKE_EACH(&arena, n * n, &stiffness, &damping, &inertia);
    POLI_TAKE_EACH(&arena, n, &amplitudes, &rates);
    POLI_TAKE(&arena, interfaces, num);
    POLI_TAKE(&arena, shapes, 6 * n * num);
    POLI_TAKE(&arena, names, length);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return NULL;
  *copy = *body;
  pol_quat_normalize(copy->rotation);
  copy->name = strcpy(names, body->name);
  names += strlen(names) + 1;
  fill(first, body->first, 3 * (n + 1));
  for (int a = 0; a <= n; a++) /* exactly transposed */
    for (int b = 0; b <= n; b++)
      for (int i = 0; i < 9; i++)
        second[9 * (a * (n + 1) + b) + i] =
            0.5 * poli_flexible_second(body, a, b)[i] +
            0.5 * poli_flexible_second(body, b, a)[3 * (i % 3) + i / 3];
  copy->first = first;
  copy->second = second;
  fill_symmetric(stiffness, body->stiffness, n);
  fill_symmetric(damping, body->damping, n);
  fill_symmetric(inertia, body->inertia, n);
  for (int k = 0; k < n * n && !body->inertia; k++) {
    const double *S = poli_flexible_second(copy, k / n + 1, k % n + 1);
    inertia[k] = S[0] + S[4] + S[8];
  }
  fill(amplitudes, body->amplitudes, n);
  fill(rates, body->rates, n);
  copy->stiffness = stiffness;
  copy->damping = damping;
  copy->inertia = inertia;
  copy->amplitudes = amplitudes;
  copy->rates = rates;
  copy->interfaces = interfaces;
  for (int k = 0; k < num; k++, shapes += 6 * n) {
    interfaces[k] = body->interfaces[k];
    interfaces[k].name = strcpy(names, body->interfaces[k].name);
    names += strlen(names) + 1;
    fill(shapes, body->interfaces[k].translation, 3 * n);
    fill(shapes + 3 * n, body->interfaces[k].rotation, 3 * n);
    interfaces[k].translation = shapes;
    interfaces[k].rotation = shapes + 3 * n;
  }
  return copy;
}

/* --- frames ----------------------------------------------------------------------------------- */

pol_flexible_body pol_flexible_body_default(void)
{
  return (pol_flexible_body){.mass = 1.0, .rotation = {1.0, 0.0, 0.0, 0.0}};
}

char *poli_interface_name(const pol_flexible_body *body, int k)
{
  return poli_format("%s.%s", body->name, body->interfaces[k].name);
}

/* sum of the columns times the numbers */
static void combine(const double *columns, const double *numbers, int count, double sum[3])
{
  memset(sum, 0, 3 * sizeof *sum);
  for (int k = 0; k < count; k++) poli_v3_add_scaled(numbers[k], columns + 3 * k, sum);
}

pol_body poli_flexible_frame(const pol_flexible_body *body, int number)
{
  const double *S = body->second;
  pol_body frame = {.given = body->given, .flexible = body, .interface = number};
  poli_v3_copy(body->position, frame.position);
  memcpy(frame.rotation, body->rotation, sizeof frame.rotation);
  poli_v3_copy(body->velocity, frame.velocity);
  poli_v3_copy(body->angular_velocity, frame.angular_velocity);
  if (number == 0) {
    frame.mass = body->mass;
    for (int i = 0; i < 9; i++) frame.inertia[i] = (i % 4 == 0 ? S[0] + S[4] + S[8] : 0.0) - S[i];
    return frame;
  }
  const pol_interface *own = &body->interfaces[number - 1];
  double arm[3], rate[3], local[3], turn[3], R[9], E[9], T[9], step[4], spin[3];
  frame.given = 0;
  pol_quat_to_matrix(body->rotation, R);
  combine(own->translation, body->amplitudes, body->num_modes, arm);
  poli_v3_add(own->position, arm, arm);
  combine(own->translation, body->rates, body->num_modes, rate);
  /* x + R arm, u + R (w x arm + rate) */
  poli_m3_apply(R, arm, local);
  poli_v3_add(frame.position, local, frame.position);
  poli_v3_add_scaled_cross(1.0, body->angular_velocity, arm, rate);
  poli_m3_apply(R, rate, local);
  poli_v3_add(frame.velocity, local, frame.velocity);
  /* R exp(turn), exp(turn)^T w + T(turn) turn' */
  combine(own->rotation, body->amplitudes, body->num_modes, turn);
  combine(own->rotation, body->rates, body->num_modes, rate);
  pol_so3_exp(turn, step);
  pol_quat_multiply(body->rotation, step, frame.rotation);
  pol_quat_normalize(frame.rotation);
  pol_quat_to_matrix(step, E);
  pol_so3_tangent(turn, T);
  poli_m3_apply_transposed(E, body->angular_velocity, frame.angular_velocity);
  poli_m3_apply(T, rate, spin);
  poli_v3_add(frame.angular_velocity, spin, frame.angular_velocity);
  return frame;
}

pol_body poli_flexible_rigid(const pol_body *frame, double point[3])
{
  const pol_flexible_body *body = frame->flexible;
  pol_body rigid = poli_flexible_frame(body, 0);
  double centre[3];
  poli_v3_scale(1.0 / body->mass, body->first, centre);
  for (int i = 0; i < 3; i++) {
    rigid.inertia[4 * i] -= body->mass * poli_v3_dot(centre, centre);
    for (int j = 0; j < 3; j++) rigid.inertia[3 * i + j] += body->mass * centre[i] * centre[j];
  }
  if (frame->interface > 0)
    poli_v3_add(point, body->interfaces[frame->interface - 1].position, point);
  poli_v3_subtract(point, centre, point);
  return rigid;
}
