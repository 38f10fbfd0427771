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
 * has l = r = x2 + R2 s - x1 - R1 p and f = 1/2; the six constraints of a body's own say that its
 * directors are orthonormal.  So derivatives with respect to the coordinates need nothing but the
 * coefficients.  Points of bodies are linear in the coordinates: a force F between two points acts
 * on each vector with the coefficient of that vector.  A torque t acts on each director with t x
 * d_i/2.
 */
#include <string.h>

#include "formulation/formulation.h"
#include "lie/small.h"

enum { CENTRE = 3, VECTORS = 4, INTERNAL = 6 };

/* Coefficients of the vectors of two bodies: the directors and the centre of mass of each. */
typedef struct combination {
  double c[2][VECTORS];
} combination;

typedef struct product {
  double factor;
  combination left, right;
} product;

/* Two bodies at a point: what their vectors are, and their rates. */
typedef struct pair {
  const pol_placed_body *body[2]; /* NULL for the ground */
  const double *vector[2][VECTORS], *rate[2][VECTORS];
} pair;

static const double zero[3] = {0.0, 0.0, 0.0};
static const double unit[VECTORS][3] = {
    {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}};

/* Everything one evaluation shares. */
typedef struct evaluation {
  const pol_formulation *f;
  const pol_point *at;
  unsigned want;
  const pol_terms *out;
} evaluation;

/* Where vector k of a body starts among its coordinates; -1 if it does not move. */
static int offset_of(const pol_placed_body *body, int k)
{
  if (!body) return -1;
  if (body->chart->polynomial) return 3 * k;
  return k == CENTRE ? 0 : -1; /* a point mass */
}

static void place_pair(const evaluation *e, const int index[2], pair *p)
{
  for (int b = 0; b < 2; b++) {
    const pol_placed_body *body = index[b] == POL_GROUND ? NULL : &e->f->bodies[index[b]];
    p->body[b] = body;
    for (int k = 0; k < VECTORS; k++) {
      int offset = offset_of(body, k);
      p->vector[b][k] = offset < 0 ? unit[k] : e->at->q + body->q + offset;
      p->rate[b][k] = offset < 0 || !e->at->v ? zero : e->at->v + body->v + offset;
    }
  }
}

/* The vector that a combination stands for. */
static void combine(const combination *a, const double *const vectors[2][VECTORS], double out[3])
{
  memset(out, 0, 3 * sizeof *out);
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++) pol_v3_add_scaled(a->c[b][k], vectors[b][k], out);
}

/* --- constraints as products ------------------------------------------------------------------ */

/* Row `row` of a view as a product; its offset stays in the view. */
static product product_of_view(const pol_view *view, int row)
{
  product p = {.factor = view->distance ? 0.5 : 1.0};
  p.right.c[0][CENTRE] = -view->tau;
  p.right.c[1][CENTRE] = view->tau;
  for (int i = 0; i < 3; i++) {
    p.right.c[1][i] = view->s[i];
    if (view->distance)
      p.right.c[0][i] = -view->point[i];
    else
      p.left.c[0][i] = view->axis[row][i];
  }
  if (view->distance) p.left = p.right;
  return p;
}

/* Constraint `row` of a body's own: lengths, then angles. */
static product internal_product(int row, double *offset)
{
  static const int angle[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  int length = row < 3, first = length ? row : angle[row - 3][0];
  product p = {.factor = length ? 0.5 : 1.0};
  p.left.c[0][first] = 1.0;
  p.right.c[0][length ? row : angle[row - 3][1]] = 1.0;
  *offset = length ? 0.5 : 0.0;
  return p;
}

/* A product and its two vectors, now and their rates. */
typedef struct evaluated {
  const product *p;
  double left[3], right[3], left_rate[3], right_rate[3];
} evaluated;

static evaluated evaluate_product(const product *p, const pair *bodies)
{
  evaluated x = {.p = p};
  combine(&p->left, bodies->vector, x.left);
  combine(&p->right, bodies->vector, x.right);
  combine(&p->left, bodies->rate, x.left_rate);
  combine(&p->right, bodies->rate, x.right_rate);
  return x;
}

static double position_of(const evaluated *x)
{
  return x->p->factor * pol_v3_dot(x->left, x->right);
}

static double velocity_of(const evaluated *x)
{
  return x->p->factor * (pol_v3_dot(x->left_rate, x->right) + pol_v3_dot(x->left, x->right_rate));
}

static double acceleration_of(const evaluated *x)
{
  return 2.0 * x->p->factor * pol_v3_dot(x->left_rate, x->right_rate);
}

/* values[row, columns of vector k] += scale (l_k right + r_k left), over all vectors */
static void add_gradient(const product *p, double scale, const double left[3],
                         const double right[3], const pair *bodies, const pol_slot slot[2], int row,
                         double *values)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++) {
      int offset = offset_of(bodies->body[b], k);
      if (offset < 0) continue;
      for (int i = 0; i < 3; i++)
        values[slot[b].address + (offset + i) * slot[b].stride + row] +=
            scale * p->factor * (p->left.c[b][k] * right[i] + p->right.c[b][k] * left[i]);
    }
}

/* balance += multiplier (l_k right + r_k left) */
static void add_reaction(const evaluation *e, const evaluated *x, const pair *bodies,
                         double multiplier)
{
  const product *p = x->p;
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++) {
      int offset = offset_of(bodies->body[b], k);
      if (offset < 0) continue;
      double *balance = e->out->balance + bodies->body[b]->v + offset;
      pol_v3_add_scaled(multiplier * p->factor * p->left.c[b][k], x->right, balance);
      pol_v3_add_scaled(multiplier * p->factor * p->right.c[b][k], x->left, balance);
    }
}

/* values[vector k, vector l] += scale x (3 x 3 block, row-major) in the blocks of a pair */
static void add_small_block(const pair *bodies, const pol_slot slot[2][2], int b, int k, int c,
                            int l, double scale, const double block[9], double *values)
{
  int row = offset_of(bodies->body[b], k), col = offset_of(bodies->body[c], l);
  if (row < 0 || col < 0 || scale == 0.0) return;
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++)
      values[slot[b][c].address + (col + j) * slot[b][c].stride + row + i] +=
          scale * block[3 * i + j];
}

static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

/* stiffness += multiplier f (l_k r_l + r_k l_l) I */
static void add_hessian(const product *p, double multiplier, const pair *bodies,
                        const pol_slot slot[2][2], double *values)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int l = 0; l < VECTORS; l++)
          add_small_block(
              bodies, slot, b, k, c, l,
              multiplier * p->factor *
                  (p->left.c[b][k] * p->right.c[c][l] + p->right.c[b][k] * p->left.c[c][l]),
              identity, values);
}

/* Where the terms of one constraint go. */
typedef struct place {
  int row;                  /* among the constraints */
  int first;                /* the row of its slots */
  const pol_slot *jacobian; /* one a body */
  const pol_slot (*coupling)[2];
} place;

/* All terms of one product whose coefficients stand still. */
static void add_product(const evaluation *e, const product *p, double offset, const pair *bodies,
                        const place *to)
{
  evaluated x = evaluate_product(p, bodies);
  const pol_terms *out = e->out;
  int local = to->row - to->first;
  if (e->want & POL_POSITION) out->position[to->row] += position_of(&x) - offset;
  if (e->want & POL_VELOCITY) out->velocity[to->row] += velocity_of(&x);
  if (e->want & POL_ACCELERATION) out->acceleration[to->row] += acceleration_of(&x);
  if (e->want & POL_REACTION) add_reaction(e, &x, bodies, e->at->lambda[to->row]);
  if (e->want & POL_JACOBIAN)
    add_gradient(p, 1.0, x.left, x.right, bodies, to->jacobian, local, out->jacobian);
  if (e->want & POL_CURVATURE)
    add_gradient(p, 1.0, x.left_rate, x.right_rate, bodies, to->jacobian, local, out->curvature);
  if (e->want & POL_GEOMETRIC_STIFFNESS)
    add_hessian(p, e->at->lambda[to->row], bodies, to->coupling, out->stiffness);
}

static void add_joint(const evaluation *e, const pol_placed_joint *joint,
                      const pol_joint_kernel *kernel)
{
  pair bodies;
  int row = joint->row;
  place_pair(e, kernel->body, &bodies);
  for (int v = 0; v < kernel->num_views; v++)
    for (int r = 0; r < kernel->view[v].num_rows; r++) {
      product p = product_of_view(&kernel->view[v], r);
      place to = {row++, joint->row, joint->jacobian, joint->coupling};
      add_product(e, &p, kernel->view[v].offset[r], &bodies, &to);
    }
}

/* A drive is the joint of this instant, and its axis and offset move (mechanism/drive.h). */
static void add_drive(const evaluation *e, const pol_placed_drive *drive)
{
  pol_joint_kernel kernels[3];
  const pol_placed_joint *placed = &drive->placed;
  pair bodies;
  pol_drive_kernels_at(&drive->kernel, e->at->t, 3, kernels);
  add_joint(e, placed, &kernels[0]);
  place_pair(e, placed->kernel.body, &bodies);
  product turning = product_of_view(&kernels[1].view[0], 0);
  product bending = product_of_view(&kernels[2].view[0], 0);
  evaluated turn = evaluate_product(&turning, &bodies), bend = evaluate_product(&bending, &bodies);
  if (e->want & POL_VELOCITY)
    e->out->velocity[placed->row] += position_of(&turn) - kernels[1].view[0].offset[0];
  if (e->want & POL_ACCELERATION)
    e->out->acceleration[placed->row] +=
        2.0 * velocity_of(&turn) + position_of(&bend) - kernels[2].view[0].offset[0];
  if (e->want & POL_CURVATURE)
    add_gradient(&turning, 1.0, turn.left, turn.right, &bodies, placed->jacobian, 0,
                 e->out->curvature);
}

static void add_internal(const evaluation *e, int index)
{
  const pol_placed_body *body = &e->f->bodies[index];
  const int ends[2] = {index, POL_GROUND};
  const pol_slot jacobian[2] = {body->internal}, coupling[2][2] = {{body->diagonal}};
  pair bodies;
  place_pair(e, ends, &bodies);
  for (int i = 0; i < INTERNAL; i++) {
    double offset;
    product p = internal_product(i, &offset);
    place to = {body->internal_row + i, body->internal_row, jacobian, coupling};
    add_product(e, &p, offset, &bodies, &to);
  }
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Entry (k, l) of the mass matrix of a body's vectors. */
static double mass_of(const pol_body *body, int k, int l)
{
  const double *J = body->inertia;
  if (k == CENTRE || l == CENTRE) return k == l ? body->mass : 0.0;
  return (k == l ? 0.5 * (J[0] + J[4] + J[8]) : 0.0) - J[3 * k + l];
}

/* Constant mass, and the weight. */
static void add_body(const evaluation *e, int index)
{
  const pol_placed_body *body = &e->f->bodies[index];
  for (int k = 0; k < VECTORS; k++) {
    int row = offset_of(body, k);
    for (int l = 0; l < VECTORS && row >= 0; l++) {
      int col = offset_of(body, l);
      if (col < 0) continue;
      double mass = mass_of(body->body, k, l);
      if (e->want & POL_INERTIA)
        pol_v3_add_scaled(mass, e->at->vd + body->v + col, e->out->balance + body->v + row);
      for (int i = 0; i < 3 && e->want & POL_MASS; i++)
        e->out->mass[body->diagonal.address + (col + i) * body->diagonal.stride + row + i] += mass;
    }
  }
  if (e->want & POL_FORCE)
    pol_v3_add_scaled(-body->body->mass, e->f->gravity,
                      e->out->balance + body->v + offset_of(body, CENTRE));
}

/* --- forces ----------------------------------------------------------------------------------- */

/* balance -= (coefficient of each vector) F */
static void subtract_force(const evaluation *e, const combination *at, const pair *bodies,
                           const double F[3])
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++) {
      int offset = offset_of(bodies->body[b], k);
      if (offset >= 0)
        pol_v3_add_scaled(-at->c[b][k], F, e->out->balance + bodies->body[b]->v + offset);
    }
}

/* values -= (coefficients of l) x (coefficients of r) block */
static void subtract_blocks(const combination *l, const combination *r, const double block[9],
                            const pair *bodies, const pol_slot slot[2][2], double *values)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int m = 0; m < VECTORS; m++)
          add_small_block(bodies, slot, b, k, c, m, -l->c[b][k] * r->c[c][m], block, values);
}

/* A law of the separation of two points. */
static pol_status add_law(const evaluation *e, const pol_placed_force *force, const pair *bodies)
{
  const pol_force_kernel *kernel = &force->kernel;
  combination d = {{{0.0, 0.0, 0.0, -1.0}, {0.0, 0.0, 0.0, 1.0}}};
  double separation[3], rate[3];
  pol_law law;
  for (int i = 0; i < 3; i++) {
    d.c[0][i] = -kernel->point[0][i];
    d.c[1][i] = kernel->point[1][i];
  }
  combine(&d, bodies->vector, separation);
  combine(&d, bodies->rate, rate);
  pol_status status = pol_force_law(kernel->force, separation, rate, &law);
  if (status) return status;
  if (e->want & POL_FORCE) subtract_force(e, &d, bodies, law.F);
  if (e->want & POL_STIFFNESS)
    subtract_blocks(&d, &d, law.F_d, bodies, force->coupling, e->out->stiffness);
  if (e->want & POL_DAMPING)
    subtract_blocks(&d, &d, law.F_rate, bodies, force->coupling, e->out->damping);
  return POL_OK;
}

/* A constant force at a point of the second body; with body axes it is a combination itself. */
static void add_applied_force(const evaluation *e, const pol_placed_force *force,
                              const pair *bodies)
{
  const pol_force *given = force->kernel.force;
  combination at = {{{0.0}}}, vector = {{{0.0}}};
  double F[3];
  at.c[1][CENTRE] = 1.0;
  pol_v3_copy(given->point, at.c[1]);
  if (given->frame == POL_BODY_AXES) {
    pol_v3_copy(given->vector, vector.c[1]);
    combine(&vector, bodies->vector, F);
    if (e->want & POL_STIFFNESS)
      subtract_blocks(&at, &vector, identity, bodies, force->coupling, e->out->stiffness);
  } else {
    pol_v3_copy(given->vector, F);
  }
  if (e->want & POL_FORCE) subtract_force(e, &at, bodies, F);
}

/* A constant torque t on the second body: t x d_i / 2 on each director. */
static void add_applied_torque(const evaluation *e, const pol_placed_force *force,
                               const pair *bodies)
{
  const pol_force *given = force->kernel.force;
  int following = given->frame == POL_BODY_AXES;
  combination vector = {{{0.0}}};
  double torque[3], skew[9];
  pol_v3_copy(given->vector, vector.c[1]);
  if (following)
    combine(&vector, bodies->vector, torque);
  else
    pol_v3_copy(given->vector, torque);
  for (int k = 0; k < 3; k++) {
    const double *d = bodies->vector[1][k];
    if (e->want & POL_FORCE)
      pol_v3_add_scaled_cross(-0.5, torque, d, e->out->balance + bodies->body[1]->v + 3 * k);
    if (!(e->want & POL_STIFFNESS)) continue;
    pol_m3_skew(torque, skew);
    add_small_block(bodies, force->coupling, 1, k, 1, k, -0.5, skew, e->out->stiffness);
    if (!following) continue;
    pol_m3_skew(d, skew);
    for (int l = 0; l < 3; l++)
      add_small_block(bodies, force->coupling, 1, k, 1, l, 0.5 * given->vector[l], skew,
                      e->out->stiffness);
  }
}

static pol_status add_force(const evaluation *e, const pol_placed_force *force)
{
  pair bodies;
  place_pair(e, force->kernel.body, &bodies);
  if (pol_force_has_law(force->kernel.force->type)) return add_law(e, force, &bodies);
  if (force->kernel.force->type == POL_APPLIED_FORCE)
    add_applied_force(e, force, &bodies);
  else
    add_applied_torque(e, force, &bodies);
  return POL_OK;
}

pol_status pol_directors_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                  double *scratch, void *user)
{
  const pol_formulation *f = user;
  evaluation e = {.f = f, .at = at, .want = want, .out = out};
  pol_status status = POL_OK;
  (void)scratch;
  for (int b = 0; b < f->num_bodies; b++) {
    add_body(&e, b);
    if (f->bodies[b].internal_row >= 0) add_internal(&e, b);
  }
  for (int k = 0; k < f->num_joints; k++) add_joint(&e, &f->joints[k], &f->joints[k].kernel);
  for (int k = 0; k < f->num_drives; k++) add_drive(&e, &f->drives[k]);
  if (want & (POL_FORCE | POL_STIFFNESS | POL_DAMPING))
    for (int k = 0; k < f->num_forces && !status; k++) status = add_force(&e, &f->forces[k]);
  return status;
}
