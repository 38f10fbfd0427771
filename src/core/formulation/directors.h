/* What the files of the director formulation share: combinations of the vectors of two bodies,
 * products of them, and where their terms go.  The equations are in directors.c. */
#ifndef POLHODE_FORMULATION_DIRECTORS_H
#define POLHODE_FORMULATION_DIRECTORS_H

#include "formulation/formulation.h"

enum { POLI_CENTRE = 3, POLI_VECTORS = 4, POLI_PAIR = 2 * 3 * POLI_VECTORS };

/* Coefficients of the vectors of two bodies: the directors and the centre of mass of each. */
typedef struct poli_combination {
  double c[2][POLI_VECTORS];
} poli_combination;

typedef struct poli_product {
  double factor;
  poli_combination left, right;
  double fixed[3]; /* and a constant part of the left one */
} poli_product;

/* Two bodies: what their vectors are, and their rates. */
typedef struct poli_pair {
  const poli_placed_body *body[2]; /* NULL for the ground */
  const double *vector[2][POLI_VECTORS], *rate[2][POLI_VECTORS];
} poli_pair;

/* A product and its two vectors, now and their rates. */
typedef struct poli_evaluated {
  const poli_product *p;
  double left[3], right[3], left_rate[3], right_rate[3];
} poli_evaluated;

/* Entry (k, l) of the constant mass matrix of a body's vectors. */
double poli_director_inertia(const pol_body *body, int k, int l);

/* Where vector k of a body starts among its coordinates; -1 if it does not move. */
int poli_vector_offset(const poli_placed_body *body, int k);

/* The pair of these bodies (POL_GROUND or an index) at q, with the rates v (NULL: at rest). */
void poli_pair_place(const pol_formulation *formulation, const double *q, const double *v,
                     const int body[2], poli_pair *pair);

/* The vector that a combination stands for. */
void poli_combine(const poli_combination *a, const double *const vectors[2][POLI_VECTORS],
                  double out[3]);

/* Row `row` of a view (mechanism/joint.h) as a product; its offset stays in the view. */
poli_product poli_product_of_view(const poli_view *view, int row);
poli_evaluated poli_product_evaluate(const poli_product *p, const poli_pair *bodies);
/* f l . r and its rate */
double poli_product_position(const poli_evaluated *x);
double poli_product_velocity(const poli_evaluated *x);

/* values[vector k of body b, vector l of body c] += scale x (3 x 3 block, row-major) */
void poli_pair_add_block(const poli_pair *bodies, const poli_slot slot[2][2], int b, int k, int c,
                         int l, double scale, const double block[9], double *values);

/* values += K, by the vectors of both bodies in their order */
void poli_pair_add_square(const poli_pair *bodies, const poli_slot slot[2][2],
                          double (*K)[POLI_PAIR], double *values);

/* Adds the terms POL_FORCE, POL_STIFFNESS and POL_DAMPING of one force element; directors_forces.c.
 * The stiffness is by a configuration of whose motion the point makes this share. */
pol_status poli_directors_force(const pol_formulation *formulation, const poli_placed_force *force,
                                const pol_point *at, double share, unsigned want,
                                const pol_terms *out);
/* The same between two configurations (pol_dae.discrete_force); mean is at their mean. */
pol_status poli_directors_force_between(const pol_formulation *formulation,
                                        const poli_placed_force *force, const double *q0,
                                        const double *q1, const pol_point *mean, unsigned want,
                                        const pol_terms *out);

/* Those of a beam element with the deformation `directors`, between two configurations or, if all
 * pairs are the same, at a point; the mean has the rates.  directors_beam.c */
pol_status poli_directors_beam(const poli_placed_force *force, const poli_pair *before,
                               const poli_pair *after, const poli_pair *mean, double share,
                               unsigned want, const pol_terms *out);

/* The rigid frame of a body, and what its velocities are of those of its coordinates: out += row L,
 * or row N1 if `turned`, for a row of six numbers */
void poli_directors_rigid_frame(const pol_formulation *formulation, const pol_point *at, int body,
                                poli_frame *frame);
void poli_directors_add_row(const pol_formulation *formulation, const pol_point *at, int body,
                            const double row[6], int turned, double *out);

#endif
