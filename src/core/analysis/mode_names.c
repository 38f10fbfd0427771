/* Names of modes: what moves, by the kinetic energy of beams or the largest part of a shape. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "lie/small.h"

enum { AXIAL, BENDING_Y, BENDING_Z, TORSION, NUM_KINDS };
static const char *const kinds[NUM_KINDS] = {"axial", "bending y", "bending z", "torsion"};

/* Adds the kinetic energy of a body, times 2 and by the square of the frequency, by kind, in axes
 * of the section: a node of a beam turns about z where the beam bends along y.  Returns its sum. */
static double add_energy(const poli_placed_body *body, const double *q, const double *shape,
                         double energy[NUM_KINDS])
{
  const double *J = body->body->inertia, *w = shape + body->v;
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u[3], part[NUM_KINDS] = {0.0}, sum = 0.0;
  const int rotations = body->chart->num_rotations;
  if (rotations) pol_quat_to_matrix(q + body->q, R);
  poli_m3_apply_transposed(R, w + rotations, u);
  for (int i = 0; i < 3; i++) part[i] = body->body->mass * u[i] * u[i];
  if (rotations) {
    part[TORSION] = J[0] * w[0] * w[0];
    part[BENDING_Z] += J[4] * w[1] * w[1];
    part[BENDING_Y] += J[8] * w[2] * w[2];
  }
  for (int k = 0; k < NUM_KINDS; k++) {
    energy[k] += part[k];
    sum += part[k];
  }
  return sum;
}

/* Length of the name of the beam that a node "NAME_12" belongs to. */
static int beam_length(const char *node)
{
  const char *end = strrchr(node, '_');
  return end ? (int)(end - node) : (int)strlen(node);
}

/* The name by the nodes of beams; 0 if less than half of the energy is there. */
static int name_by_beams(const pol_analysis *a, const unsigned char *is_node, const pol_mode *mode,
                         char *text, size_t size)
{
  const pol_formulation *f = a->formulation;
  double energy[NUM_KINDS] = {0.0}, others[NUM_KINDS] = {0.0};
  double nodes = 0.0, rest = 0.0, beam = 0.0, most = 0.0;
  const char *current = "", *name = NULL; /* nodes of the present beam, and of that with the most */
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    double *to = is_node[i] ? energy : others;
    if (body->reference != i) continue; /* an interface, whose body counts */
    const double part =
        add_energy(body, a->q, mode->shape_re, to) + add_energy(body, a->q, mode->shape_im, to);
    *(is_node[i] ? &nodes : &rest) += part;
    if (!is_node[i]) continue;
    /* the nodes of a beam follow each other */
    const int length = beam_length(body->body->name);
    const int is_same =
        beam_length(current) == length && strncmp(current, body->body->name, (size_t)length) == 0;
    beam = is_same ? beam + part : part;
    current = body->body->name;
    if (beam > most) {
      most = beam;
      name = current;
    }
  }
  if (!name || nodes < rest) return 0;
  int first = 0;
  for (int k = 0; k < NUM_KINDS; k++)
    if (energy[k] > energy[first]) first = k;
  int second = first == 0;
  for (int k = 0; k < NUM_KINDS; k++)
    if (k != first && energy[k] > energy[second]) second = k;
  const int is_one = most > 0.9 * nodes, is_pure = energy[first] > 0.7 * nodes;
  snprintf(text, size, "%.*s %s%s%s", is_one ? beam_length(name) : 5, is_one ? name : "beams",
           kinds[first], is_pure ? "" : ", ", is_pure ? "" : kinds[second]);
  return 1;
}

void pol_modes_name(const pol_modes *modes, int index, char *text, size_t size)
{
  const pol_mode *mode = pol_modes_get(modes, index);
  const pol_analysis *a = poli_modes_analysis(modes);
  const pol_formulation *f = a->formulation;
  double largest = 0.0;
  if (size == 0) return;
  text[0] = '\0';
  if (!mode || name_by_beams(a, poli_modes_nodes(modes), mode, text, size)) return;
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const int first_mode = body->chart->dim - body->chart->num_modes;
    for (int k = 0; k < body->chart->dim && body->reference == i; k++) {
      const double part = hypot(mode->shape_re[body->v + k], mode->shape_im[body->v + k]);
      const int is_rotation = k < body->chart->num_rotations;
      if (!(part > 1.000001 * largest)) continue; /* of equal parts the first */
      largest = part;
      if (k >= first_mode)
        snprintf(text, size, "%s mode %d", body->body->name, k - first_mode + 1);
      else
        snprintf(text, size, "%s %s %c", body->body->name, is_rotation ? "rotation" : "translation",
                 "xyz"[k % 3]);
    }
  }
}
