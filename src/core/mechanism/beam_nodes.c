/* A beam as the bodies and forces that it is made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/beam.h"
#include "mechanism/builder.h"

/* The axes of the section at an end of element k. */
static const double *end_axes(const pol_beam *beam, int k, int end)
{
  return beam->ends ? beam->ends + 8 * k + 4 * end : beam->rotations + 4 * (k + end);
}

/* The deformation of element k as it is given, of the kind asked for; POL_RETRY if its ends are
 * turned too far against each other. */
static pol_status given_deformation(const pol_beam *beam, int k, pol_beam_strain kind, double d[6])
{
  const double *first = end_axes(beam, k, 0), *x = beam->positions + 3 * k;
  double back[4], turn[4], R[9], Q[9], apart[3], r[3], w[3];
  poli_deformation deformation;
  pol_quat_conjugate(first, back);
  pol_quat_multiply(back, end_axes(beam, k, 1), turn);
  pol_quat_normalize(turn);
  pol_quat_to_matrix(turn, Q);
  pol_quat_to_matrix(first, R);
  poli_v3_subtract(x + 3, x, apart);
  poli_m3_apply_transposed(R, apart, r);
  poli_m3_apply_transposed(Q, r, w);
  const pol_status status = poli_deformation_set(kind, Q, r, w, &deformation);
  memcpy(d, deformation.d, sizeof deformation.d);
  return status;
}

static double element_length(const pol_beam *beam, int k)
{
  double d[6];
  if (beam->lengths) return beam->lengths[k];
  (void)given_deformation(beam, k, POL_BEAM_SE3, d); /* of a helix */
  return sqrt(poli_v3_dot(d + 3, d + 3));
}

/* Adds a straight piece of the beam, from the node to half of element k, in the axes of the section
 * there, to the body of the node: mass, first moment, inertia about the node. */
static void add_segment(const pol_beam *beam, int k, int end, const double node[4], double *mass,
                        double first[3], double inertia[9])
{
  const double length = 0.5 * element_length(beam, k), m = length * beam->mass;
  /* the mass is on a line along x: its middle, and the mean squares of its coordinates */
  const double r[3] = {(end == 0 ? 0.5 : -0.5) * length, beam->center[0], beam->center[1]};
  const double squares[3] = {length * length / 3.0, r[1] * r[1], r[2] * r[2]};
  double back[4], turn[4], A[9], product[9], own[9], J[9], moment[3];
  pol_quat_conjugate(node, back);
  pol_quat_multiply(back, end_axes(beam, k, end), turn);
  pol_quat_to_matrix(turn, A);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      own[3 * i + j] = length * beam->inertia[3 * i + j] +
                       m * (i == j ? squares[(i + 1) % 3] + squares[(i + 2) % 3] : -r[i] * r[j]);
  poli_m3_multiply(A, own, product);
  poli_m3_multiply_by_transposed(product, A, J);
  poli_m3_apply(A, r, moment);
  *mass += m;
  for (int i = 0; i < 3; i++) first[i] += m * moment[i];
  for (int i = 0; i < 9; i++) inertia[i] += J[i];
}

static pol_status add_node(pol_mechanism *mechanism, const pol_beam *beam, int k, const char *name)
{
  const double *q = beam->rotations + 4 * k, *x = beam->positions + 3 * k;
  pol_body body = pol_body_default();
  double first[3] = {0.0}, center[3], R[9], arm[3];
  body.name = name;
  body.mass = 0.0;
  memset(body.inertia, 0, sizeof body.inertia);
  if (k > 0) add_segment(beam, k - 1, 1, q, &body.mass, first, body.inertia);
  if (k + 1 < beam->num_nodes) add_segment(beam, k, 0, q, &body.mass, first, body.inertia);
  poli_beam_center(beam, k, center);
  /* about the centre of mass */
  for (int i = 0; i < 3; i++) {
    body.inertia[4 * i] -= poli_v3_dot(first, center);
    for (int j = 0; j < 3; j++) body.inertia[3 * i + j] += first[i] * center[j];
  }
  memcpy(body.rotation, q, sizeof body.rotation);
  pol_quat_to_matrix(q, R);
  poli_m3_apply(R, center, arm);
  poli_v3_add(x, arm, body.position);
  body.given = beam->given;
  poli_v3_subtract(body.position, beam->positions, arm);
  poli_v3_copy(beam->velocity, body.velocity);
  poli_v3_add_scaled_cross(1.0, beam->angular_velocity, arm, body.velocity);
  poli_m3_apply_transposed(R, beam->angular_velocity, body.angular_velocity);
  return pol_mechanism_add_body(mechanism, &body, NULL);
}

void poli_beam_center(const pol_beam *beam, int k, double center[3])
{
  double mass = 0.0, first[3] = {0.0}, unused[9] = {0.0};
  const double *q = beam->rotations + 4 * k;
  if (k > 0) add_segment(beam, k - 1, 1, q, &mass, first, unused);
  if (k + 1 < beam->num_nodes) add_segment(beam, k, 0, q, &mass, first, unused);
  poli_v3_scale(1.0 / mass, first, center);
  /* round-off of equal elements is no offset */
  const double length = mass / beam->mass;
  if (poli_v3_dot(center, center) <= 1e-24 * length * length) memset(center, 0, 3 * sizeof *center);
}

static pol_status add_element(pol_mechanism *mechanism, const pol_beam *beam, int k,
                              const char *name, int first)
{
  pol_force force = pol_force_default();
  pol_section section;
  double d[6];
  pol_status status = POL_OK;
  for (int end = 0; end < 2 && !status; end++) {
    pol_marker marker = pol_marker_default();
    double back[4];
    marker.body = first + k + end;
    poli_beam_center(beam, k + end, marker.position);
    poli_v3_scale(-1.0, marker.position, marker.position);
    pol_quat_conjugate(beam->rotations + 4 * (k + end), back);
    pol_quat_multiply(back, end_axes(beam, k, end), marker.rotation);
    pol_quat_normalize(marker.rotation);
    status = pol_mechanism_add_marker(mechanism, &marker, &force.marker[end]);
  }
  if (status) return status;
  force.name = name;
  force.type = POL_BEAM;
  force.strain = beam->strain;
  force.length = element_length(beam, k);
  force.section = &section;
  memcpy(section.stiffness, beam->stiffness, sizeof section.stiffness);
  memcpy(section.damping, beam->damping, sizeof section.damping);
  if (given_deformation(beam, k, beam->strain, d))
    return poli_mechanism_refuse_force(
        mechanism, name, "section.strain",
        "must be that of ends turned by at most 3 rad, of directors 1.5 rad: take more elements");
  for (int i = 0; i < 6; i++) section.strain[i] = d[i] / force.length;
  return pol_mechanism_add_force(mechanism, &force, NULL);
}

pol_status poli_beam_add_ends(pol_mechanism *mechanism, const pol_beam *beam, int first)
{
  const size_t size = strlen(beam->name) + 32;
  char *name = malloc(size);
  pol_status status = name ? POL_OK : POL_NO_MEMORY;
  for (int end = 0; end < 2 && !status; end++) {
    const int node = end == 0 ? 0 : beam->num_nodes - 1;
    pol_marker marker = pol_marker_default();
    snprintf(name, size, end == 0 ? "%s_first" : "%s_last", beam->name);
    marker.name = name;
    marker.body = first + node;
    poli_beam_center(beam, node, marker.position);
    poli_v3_scale(-1.0, marker.position, marker.position);
    status = pol_mechanism_add_marker(mechanism, &marker, NULL);
  }
  free(name);
  return status;
}

/* Calls one of the two for each node or element, with its name. */
static pol_status add_all(pol_mechanism *mechanism, const pol_beam *beam, int elements, int first)
{
  const size_t size = strlen(beam->name) + 32;
  char *name = malloc(size);
  pol_status status = name ? POL_OK : POL_NO_MEMORY;
  for (int k = 0; k < beam->num_nodes - elements && !status; k++) {
    snprintf(name, size, elements ? "%s_%d_%d" : "%s_%d", beam->name, k, k + 1);
    status = elements ? add_element(mechanism, beam, k, name, first)
                      : add_node(mechanism, beam, k, name);
  }
  free(name);
  return status;
}

pol_status poli_beam_add_nodes(pol_mechanism *mechanism, const pol_beam *beam)
{
  return add_all(mechanism, beam, 0, 0);
}

pol_status poli_beam_add_elements(pol_mechanism *mechanism, const pol_beam *beam, int first)
{
  return add_all(mechanism, beam, 1, first);
}

pol_status pol_mechanism_add_beam(pol_mechanism *mechanism, const pol_beam *beam, int *first)
{
  const int start = pol_mechanism_num_bodies(mechanism);
  if (first) *first = POL_NOT_FOUND;
  if (!beam || !beam->name || !beam->positions || !beam->rotations || beam->num_nodes < 2)
    return POL_BAD_ARGUMENT;
  pol_status status = poli_beam_add_nodes(mechanism, beam);
  if (!status) status = poli_beam_add_ends(mechanism, beam, start);
  if (!status) status = poli_beam_add_elements(mechanism, beam, start);
  if (!status && first) *first = start;
  return status;
}
