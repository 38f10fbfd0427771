/* A beam as the bodies and forces that it is made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/beam.h"

/* The deformation from node k to the next one. */
static void relaxed(const pol_beam *beam, int k, double d[6])
{
  const double *q = beam->rotations + 4 * k, *x = beam->positions + 3 * k;
  double back[4], turn[4], R[9], Q[9], apart[3], r[3];
  poli_deformation deformation;
  pol_quat_conjugate(q, back);
  pol_quat_multiply(back, q + 4, turn);
  pol_quat_normalize(turn);
  pol_quat_to_matrix(turn, Q);
  pol_quat_to_matrix(q, R);
  poli_v3_subtract(x + 3, x, apart);
  poli_m3_apply_transposed(R, apart, r);
  (void)poli_deformation_set(beam->strain, Q, r, &deformation);
  memcpy(d, deformation.d, sizeof deformation.d);
}

/* Of the helix between the nodes, whichever deformation is used. */
static double element_length(const pol_beam *beam, int k)
{
  double d[6];
  pol_beam helix = *beam;
  helix.strain = POL_BEAM_SE3;
  if (beam->lengths) return beam->lengths[k];
  relaxed(&helix, k, d);
  return sqrt(poli_v3_dot(d + 3, d + 3));
}

/* "blade_3", or "blade_3_4" of an element */
static void write_name(const pol_beam *beam, int node, int is_element, size_t size, char *name)
{
  if (is_element)
    snprintf(name, size, "%s_%d_%d", beam->name, node, node + 1);
  else
    snprintf(name, size, "%s_%d", beam->name, node);
}

static pol_status add_node(pol_mechanism *mechanism, const pol_beam *beam, int k, char *name,
                           size_t size, int *marker)
{
  pol_body body = pol_body_default();
  pol_marker at = pol_marker_default();
  double share = 0.0;
  if (k > 0) share += 0.5 * element_length(beam, k - 1);
  if (k + 1 < beam->num_nodes) share += 0.5 * element_length(beam, k);
  write_name(beam, k, 0, size, name);
  body.name = name;
  body.mass = share * beam->mass;
  for (int i = 0; i < 9; i++) body.inertia[i] = share * beam->inertia[i];
  memcpy(body.position, beam->positions + 3 * k, sizeof body.position);
  memcpy(body.rotation, beam->rotations + 4 * k, sizeof body.rotation);
  pol_status status = pol_mechanism_add_body(mechanism, &body, &at.body);
  return status ? status : pol_mechanism_add_marker(mechanism, &at, marker);
}

static pol_status add_element(pol_mechanism *mechanism, const pol_beam *beam, int k, char *name,
                              size_t size, const int marker[2])
{
  pol_force force = pol_force_default();
  pol_section section;
  double d[6];
  write_name(beam, k, 1, size, name);
  force.name = name;
  force.type = POL_BEAM;
  memcpy(force.marker, marker, sizeof force.marker);
  force.strain = beam->strain;
  force.length = element_length(beam, k);
  force.section = &section;
  memcpy(section.stiffness, beam->stiffness, sizeof section.stiffness);
  memcpy(section.damping, beam->damping, sizeof section.damping);
  relaxed(beam, k, d);
  section.mass = beam->lumped ? 0.0 : beam->mass;
  for (int i = 0; i < 6; i++) section.strain[i] = d[i] / force.length;
  return pol_mechanism_add_force(mechanism, &force, NULL);
}

pol_status pol_mechanism_add_beam(pol_mechanism *mechanism, const pol_beam *beam, int *first)
{
  if (first) *first = POL_NOT_FOUND;
  if (!beam || !beam->name || !beam->positions || !beam->rotations || beam->num_nodes < 2)
    return POL_BAD_ARGUMENT;
  const size_t size = strlen(beam->name) + 32;
  const int start = pol_mechanism_num_bodies(mechanism);
  char *name = malloc(size);
  int marker[2] = {POL_NOT_FOUND, POL_NOT_FOUND};
  pol_status status = name ? POL_OK : POL_NO_MEMORY;
  for (int k = 0; k < beam->num_nodes && !status; k++) {
    marker[0] = marker[1];
    status = add_node(mechanism, beam, k, name, size, &marker[1]);
    if (!status && k > 0) status = add_element(mechanism, beam, k - 1, name, size, marker);
  }
  free(name);
  if (!status && first) *first = start;
  return status;
}
