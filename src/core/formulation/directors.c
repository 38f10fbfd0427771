/* The terms of the equations of motion in directors (Betsch/Steinmann 2001; Kinon/Betsch/Schneider
 * 2023, section 6.2): a body is given by four vectors, the directors d1, d2, d3, which are the
 * columns of its rotation matrix, and its centre of mass x.  The mass matrix is constant,
 *
 *     T = sum E_ij d_i' . d_j' / 2 + m x' . x' / 2,     E = tr(J)/2 I - J,
 *
 * and every constraint is a sum of products of two vectors that are combinations of those of two
 * bodies, with constant coefficients:
 *
 *     phi = sum f l . r - offset,      l = sum over the vectors of l_k (vector k),  r likewise.
 *
 * A row a . R1^T (tau (x2 - x1) + R2 s) - offset of a joint (mechanism/joint.h) has
 * l = sum a_i d_i of the first body and r = tau (x2 - x1) + sum s_j d_j of the second; a distance
 * has l = r = x2 + R2 s - x1 - R1 p and f = 1/2, a row in global axes that r and l constant; the
 * six constraints of a body's own say that its directors are orthonormal.  So derivatives with
 * respect to the coordinates need nothing but the coefficients.  Points of bodies are linear in the
 * coordinates: a force F between two points acts on each vector with the coefficient of that
 * vector.  A torque t acts on each director with t x d_i/2.  A joint coordinate is a function of
 * such products (mechanism/coordinate.h), by the chain rule.
 */
#include <string.h>

#include "formulation/directors.h"
#include "formulation/expressions.h"
#include "lie/small.h"

enum { INTERNAL = 6 };

static const double zero[3] = {0.0, 0.0, 0.0};
static const double unit[POLI_VECTORS][3] = {
    {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}};

/* Everything one evaluation shares. */
typedef struct director_evaluation {
  const pol_formulation *f;
  const pol_point *at;
  unsigned want;
  const pol_terms *out;
} director_evaluation;

int poli_vector_offset(const poli_placed_body *body, int k)
{
  if (!body) return -1;
  if (body->chart->polynomial) return 3 * k;
  return k == POLI_CENTRE ? 0 : -1; /* a point mass */
}

void poli_pair_place(const pol_formulation *formulation, const double *q, const double *v,
                     const int body[2], poli_pair *pair)
{
  for (int b = 0; b < 2; b++) {
    const poli_placed_body *placed = body[b] == POL_GROUND ? NULL : &formulation->bodies[body[b]];
    pair->body[b] = placed;
    for (int k = 0; k < POLI_VECTORS; k++) {
      int offset = poli_vector_offset(placed, k);
      pair->vector[b][k] = offset < 0 ? unit[k] : q + placed->q + offset;
      pair->rate[b][k] = offset < 0 || !v ? zero : v + placed->v + offset;
    }
  }
}

void poli_combine(const poli_combination *a, const double *const vectors[2][POLI_VECTORS],
                  double out[3])
{
  memset(out, 0, 3 * sizeof *out);
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++) poli_v3_add_scaled(a->c[b][k], vectors[b][k], out);
}

/* --- constraints as products ------------------------------------------------------------------ */

poli_product poli_product_of_view(const poli_view *view, int row)
{
  poli_product p = {.factor = view->distance ? 0.5 : 1.0};
  p.right.c[0][POLI_CENTRE] = -view->tau;
  p.right.c[1][POLI_CENTRE] = view->tau;
  for (int i = 0; i < 3; i++) {
    p.right.c[1][i] = view->s[i];
    if (view->distance || view->global)
      p.right.c[0][i] = -view->point[i];
    else
      p.left.c[0][i] = view->axis[row][i];
    if (view->global) p.fixed[i] = view->axis[row][i];
  }
  if (view->distance) p.left = p.right;
  return p;
}

poli_evaluated poli_product_evaluate(const poli_product *p, const poli_pair *bodies)
{
  poli_evaluated x = {.p = p};
  poli_combine(&p->left, bodies->vector, x.left);
  poli_v3_add(x.left, p->fixed, x.left);
  poli_combine(&p->right, bodies->vector, x.right);
  poli_combine(&p->left, bodies->rate, x.left_rate);
  poli_combine(&p->right, bodies->rate, x.right_rate);
  return x;
}

double poli_product_position(const poli_evaluated *x)
{
  return x->p->factor * poli_v3_dot(x->left, x->right);
}

double poli_product_velocity(const poli_evaluated *x)
{
  return x->p->factor * (poli_v3_dot(x->left_rate, x->right) + poli_v3_dot(x->left, x->right_rate));
}

/* values[row, columns of vector k] += scale (l_k right + r_k left), over all vectors */
static void add_gradient(const poli_product *p, double scale, const double left[3],
                         const double right[3], const poli_pair *bodies, const poli_slot slot[2],
                         int row, double *values)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++) {
      int offset = poli_vector_offset(bodies->body[b], k);
      if (offset < 0) continue;
      for (int i = 0; i < 3; i++)
        values[slot[b].address + (offset + i) * slot[b].stride + row] +=
            scale * p->factor * (p->left.c[b][k] * right[i] + p->right.c[b][k] * left[i]);
    }
}

void poli_pair_add_block(const poli_pair *bodies, const poli_slot slot[2][2], int b, int k, int c,
                         int l, double scale, const double block[9], double *values)
{
  int row = poli_vector_offset(bodies->body[b], k), col = poli_vector_offset(bodies->body[c], l);
  if (row < 0 || col < 0 || scale == 0.0) return;
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++)
      values[slot[b][c].address + (col + j) * slot[b][c].stride + row + i] +=
          scale * block[3 * i + j];
}

static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

/* Where the terms of one constraint go. */
typedef struct place {
  int row;                   /* among the constraints */
  int first;                 /* the row of its slots */
  const poli_slot *jacobian; /* one a body */
  const poli_slot (*coupling)[2];
} place;

/* All terms of one product whose coefficients stand still. */
static void add_product(const director_evaluation *e, const poli_product *p, double offset,
                        const poli_pair *bodies, const place *to)
{
  poli_evaluated x = poli_product_evaluate(p, bodies);
  const pol_terms *out = e->out;
  const int local = to->row - to->first, pairs = 2 * POLI_VECTORS;
  if (e->want & POL_POSITION) out->position[to->row] += poli_product_position(&x) - offset;
  if (e->want & POL_VELOCITY) out->velocity[to->row] += poli_product_velocity(&x);
  if (e->want & POL_ACCELERATION)
    out->acceleration[to->row] += 2.0 * p->factor * poli_v3_dot(x.left_rate, x.right_rate);
  for (int n = 0; n < pairs && e->want & POL_REACTION; n++) {
    /* multiplier (l_k right + r_k left) */
    const int b = n / POLI_VECTORS, k = n % POLI_VECTORS;
    const int at = poli_vector_offset(bodies->body[b], k);
    if (at < 0) continue;
    const double multiplier = e->at->lambda[to->row];
    double *balance = out->balance + bodies->body[b]->v + at;
    poli_v3_add_scaled(multiplier * p->factor * p->left.c[b][k], x.right, balance);
    poli_v3_add_scaled(multiplier * p->factor * p->right.c[b][k], x.left, balance);
  }
  if (e->want & POL_JACOBIAN)
    add_gradient(p, 1.0, x.left, x.right, bodies, to->jacobian, local, out->jacobian);
  if (e->want & POL_CURVATURE)
    add_gradient(p, 1.0, x.left_rate, x.right_rate, bodies, to->jacobian, local, out->curvature);
  for (int n = 0; n < pairs * pairs && e->want & POL_GEOMETRIC_STIFFNESS; n++) {
    /* multiplier f (l_k r_l + r_k l_l) I */
    const int b = n / pairs / POLI_VECTORS, k = n / pairs % POLI_VECTORS;
    const int c = n % pairs / POLI_VECTORS, l = n % POLI_VECTORS;
    const double sum = p->left.c[b][k] * p->right.c[c][l] + p->right.c[b][k] * p->left.c[c][l];
    poli_pair_add_block(bodies, to->coupling, b, k, c, l, e->at->lambda[to->row] * p->factor * sum,
                        identity, out->stiffness);
  }
}

static void add_joint(const director_evaluation *e, const poli_placed_joint *joint,
                      const poli_joint_kernel *kernel)
{
  poli_pair bodies;
  int row = joint->row - 1;
  poli_pair_place(e->f, e->at->q, e->at->v, kernel->body, &bodies);
  for (int v = 0; v < kernel->num_views; v++)
    for (int r = 0; r < kernel->view[v].num_rows; r++) {
      poli_product p = poli_product_of_view(&kernel->view[v], r);
      if (!kernel->view[v].adds) row++;
      place to = {row, joint->row, joint->jacobian, joint->coupling};
      add_product(e, &p, kernel->view[v].offset[r], &bodies, &to);
    }
}

/* A drive is the joint of this instant, and its axis and offset move (mechanism/drive.h). */
static void add_drive(const director_evaluation *e, const poli_placed_drive *drive)
{
  poli_joint_kernel kernels[3];
  const poli_placed_joint *placed = &drive->placed;
  poli_pair bodies;
  poli_drive_kernels_at(&drive->kernel, e->at->t, 3, kernels);
  add_joint(e, placed, &kernels[0]);
  poli_pair_place(e->f, e->at->q, e->at->v, placed->kernel.body, &bodies);
  poli_product turning = poli_product_of_view(&kernels[1].view[0], 0);
  poli_product bending = poli_product_of_view(&kernels[2].view[0], 0);
  poli_evaluated turn = poli_product_evaluate(&turning, &bodies),
                 bend = poli_product_evaluate(&bending, &bodies);
  if (e->want & POL_VELOCITY)
    e->out->velocity[placed->row] += poli_product_position(&turn) - kernels[1].view[0].offset[0];
  if (e->want & POL_ACCELERATION)
    e->out->acceleration[placed->row] += 2.0 * poli_product_velocity(&turn) +
                                         poli_product_position(&bend) -
                                         kernels[2].view[0].offset[0];
  if (e->want & POL_CURVATURE)
    add_gradient(&turning, 1.0, turn.left, turn.right, &bodies, placed->jacobian, 0,
                 e->out->curvature);
}

/* The constraints of a body's own: lengths, then angles. */
static void add_internal(const director_evaluation *e, int index)
{
  static const int directors[INTERNAL][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const poli_placed_body *body = &e->f->bodies[index];
  const int ends[2] = {index, POL_GROUND};
  const poli_slot jacobian[2] = {body->internal}, coupling[2][2] = {{body->diagonal}};
  poli_pair bodies;
  poli_pair_place(e->f, e->at->q, e->at->v, ends, &bodies);
  for (int i = 0; i < INTERNAL; i++) {
    poli_product p = {.factor = i < 3 ? 0.5 : 1.0};
    place to = {body->internal_row + i, body->internal_row, jacobian, coupling};
    p.left.c[0][directors[i][0]] = p.right.c[0][directors[i][1]] = 1.0;
    add_product(e, &p, i < 3 ? 0.5 : 0.0, &bodies, &to);
  }
}

/* --- bodies ----------------------------------------------------------------------------------- */

double poli_director_inertia(const pol_body *body, int k, int l)
{
  const double *J = body->inertia;
  if (k == POLI_CENTRE || l == POLI_CENTRE) return k == l ? body->mass : 0.0;
  return (k == l ? 0.5 * (J[0] + J[4] + J[8]) : 0.0) - J[3 * k + l];
}

static void subtract_weight(const pol_formulation *f, int index, const pol_terms *out)
{
  const poli_placed_body *body = &f->bodies[index];
  poli_v3_add_scaled(-body->body->mass, f->gravity,
                     out->balance + body->v + poli_vector_offset(body, POLI_CENTRE));
}

/* Constant mass, and the weight. */
static void add_body(const director_evaluation *e, int index)
{
  const poli_placed_body *body = &e->f->bodies[index];
  for (int k = 0; k < POLI_VECTORS; k++) {
    int row = poli_vector_offset(body, k);
    for (int l = 0; l < POLI_VECTORS && row >= 0; l++) {
      int col = poli_vector_offset(body, l);
      if (col < 0) continue;
      double mass = poli_director_inertia(body->body, k, l);
      if (e->want & POL_INERTIA)
        poli_v3_add_scaled(mass, e->at->vd + body->v + col, e->out->balance + body->v + row);
      for (int i = 0; i < 3 && e->want & POL_MASS; i++)
        e->out->mass[body->diagonal.address + (col + i) * body->diagonal.stride + row + i] += mass;
    }
  }
  if (e->want & POL_FORCE) subtract_weight(e->f, index, e->out);
}

/* --- all terms -------------------------------------------------------------------------------- */

/* All forces at the point, or between the two configurations of the way.  Only their terms read
 * velocities, multipliers and expressions: where none of them is asked for, neither are these. */
static pol_status add_forces(const pol_formulation *f, const pol_point *at,
                             const poli_expression_way *way, unsigned want, const pol_terms *out,
                             double *scratch)
{
  static const unsigned of_forces = POL_FORCE | POL_STIFFNESS | POL_DAMPING | POL_FEEDBACK;
  poli_scratch parts;
  poli_formulation_share_scratch(f, scratch, &parts);
  pol_status status = POL_OK;
  if (want & of_forces && f->num_consumers) {
    /* expressions see rigid frames */
    for (int b = 0; b < f->num_bodies; b++) poli_directors_rigid_frame(f, at, b, &parts.frames[b]);
    status = poli_expressions_inputs(f, at, parts.frames, 0, parts.inputs);
    if (status) scratch[0] = -(f->num_forces + 1);
  }
  for (int k = 0; k < f->num_forces && want & of_forces && !status; k++) {
    poli_changed_force changed;
    const poli_placed_force *force = poli_expressions_force(f, k, parts.inputs, &changed, &status);
    if (status) {
      scratch[0] = -(k + 1);
      return status;
    }
    status = way->q0 ? poli_directors_force_between(f, force, way->q0, way->q1, at, want, out)
                     : poli_directors_force(f, force, at, 1.0, want, out);
    if (status) scratch[0] = k + 1;
  }
  if (status || !f->num_consumers) return status;
  unsigned balance = want & (POL_FORCE | POL_INERTIA);
  status = poli_expressions_balance(f, at, balance, parts.inputs, out->balance, &scratch[0]);
  if (status) return status;
  return poli_expressions_add(f, at, way, want, out, parts.frames, NULL, parts.inputs,
                              parts.derivatives);
}

pol_status poli_directors_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                   double *scratch, void *user)
{
  const pol_formulation *f = user;
  director_evaluation e = {.f = f, .at = at, .want = want, .out = out};
  const poli_expression_way here = {.balance = scratch + poli_formulation_scratch(f)};
  scratch[0] = 0.0; /* what failed; see evaluate.c */
  pol_status status = poli_functions_check(f, at->t, want, scratch);
  if (status) return status;
  for (int b = 0; b < f->num_bodies; b++) {
    add_body(&e, b);
    if (f->bodies[b].internal_row >= 0) add_internal(&e, b);
  }
  for (int k = 0; k < f->num_joints; k++) add_joint(&e, &f->joints[k], &f->joints[k].kernel);
  for (int k = 0; k < f->num_drives; k++) add_drive(&e, &f->drives[k]);
  return add_forces(f, at, &here, want, out, scratch);
}

pol_status poli_directors_discrete_force(const double *q0, const pol_point *at, unsigned want,
                                         const pol_terms *out, double *scratch, void *user)
{
  const pol_formulation *f = user;
  double *balance = scratch + poli_formulation_scratch(f), *middle = balance + f->dae.group.nv;
  const poli_expression_way way = {.q0 = q0, .q1 = at->q, .balance = balance};
  pol_point mean = *at;
  scratch[0] = 0.0;
  pol_status status = poli_functions_check(f, at->t, want, scratch);
  if (status) return status;
  for (int i = 0; i < f->dae.group.nq; i++) middle[i] = 0.5 * (q0[i] + at->q[i]);
  mean.q = middle;
  for (int b = 0; b < f->num_bodies && want & POL_FORCE; b++) subtract_weight(f, b, out);
  return add_forces(f, &mean, &way, want, out, scratch);
}
