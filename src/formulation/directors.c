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
 * d_i/2.  A joint coordinate is a function of such products (mechanism/coordinate.h), by the chain
 * rule.
 *
 * Forces that are no polynomials, those of bushings and callbacks, see the rigid frame with the
 * rotation R nearest to the directors (Higham 1986: R <- (R + R^-T)/2), whose variation is
 * dphi = R^T sum d_i x dd_i/2 where the directors are orthonormal.  With y = L q' the velocities of
 * that frame and N1 = d(L q')/dq their terms are those of evaluate.c.
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
  int row = joint->row - 1;
  place_pair(e, kernel->body, &bodies);
  for (int v = 0; v < kernel->num_views; v++)
    for (int r = 0; r < kernel->view[v].num_rows; r++) {
      product p = product_of_view(&kernel->view[v], r);
      if (!kernel->view[v].adds) row++;
      place to = {row, joint->row, joint->jacobian, joint->coupling};
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
  pol_status status = pol_force_law(kernel->force, e->at->t, separation, rate, &law);
  if (status) return status;
  if (e->want & POL_FORCE) subtract_force(e, &d, bodies, law.F);
  if (e->want & POL_STIFFNESS)
    subtract_blocks(&d, &d, law.F_d, bodies, force->coupling, e->out->stiffness);
  if (e->want & POL_DAMPING)
    subtract_blocks(&d, &d, law.F_rate, bodies, force->coupling, e->out->damping);
  return POL_OK;
}

/* An applied force at a point of the second body; with body axes it is a combination itself. */
static void add_applied_force(const evaluation *e, const pol_placed_force *force,
                              const pair *bodies)
{
  const pol_force *given = force->kernel.force;
  combination at = {{{0.0}}}, vector = {{{0.0}}};
  double F[3], now[3];
  pol_v3_scale(pol_force_scale(given, e->at->t), given->vector, now);
  at.c[1][CENTRE] = 1.0;
  pol_v3_copy(given->point, at.c[1]);
  if (given->frame == POL_BODY_AXES) {
    pol_v3_copy(now, vector.c[1]);
    combine(&vector, bodies->vector, F);
    if (e->want & POL_STIFFNESS)
      subtract_blocks(&at, &vector, identity, bodies, force->coupling, e->out->stiffness);
  } else {
    pol_v3_copy(now, F);
  }
  if (e->want & POL_FORCE) subtract_force(e, &at, bodies, F);
}

/* An applied torque t on the second body: t x d_i / 2 on each director. */
static void add_applied_torque(const evaluation *e, const pol_placed_force *force,
                               const pair *bodies)
{
  const pol_force *given = force->kernel.force;
  int following = given->frame == POL_BODY_AXES;
  combination vector = {{{0.0}}};
  double torque[3], now[3], skew[9];
  pol_v3_scale(pol_force_scale(given, e->at->t), given->vector, now);
  pol_v3_copy(now, vector.c[1]);
  if (following)
    combine(&vector, bodies->vector, torque);
  else
    pol_v3_copy(now, torque);
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
      add_small_block(bodies, force->coupling, 1, k, 1, l, 0.5 * now[l], skew, e->out->stiffness);
  }
}

/* --- springs on joint coordinates ------------------------------------------------------------- */

enum { COLUMNS = 2 * 3 * VECTORS }; /* all numbers of the vectors of two bodies */

/* A coordinate theta at a point. */
typedef struct joint_angle {
  product row[2]; /* of which theta is made */
  int num_rows;
  double slope[2], bend[2][2]; /* derivatives of theta by them */
  double value, rate;
  double B[2][COLUMNS], g[COLUMNS], rate_g[COLUMNS]; /* gradients of rows, theta and theta' */
} joint_angle;

/* gradient = f (l_k right + r_k left) of each vector k */
static void write_gradient(const product *p, const double left[3], const double right[3],
                           double gradient[COLUMNS])
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++)
      for (int i = 0; i < 3; i++)
        gradient[3 * (VECTORS * b + k) + i] =
            p->factor * (p->left.c[b][k] * right[i] + p->right.c[b][k] * left[i]);
}

static pol_status evaluate_angle(const pol_coordinate_kernel *kernel, const pair *bodies,
                                 joint_angle *a)
{
  double row[2] = {0.0, 0.0}, rate[2] = {0.0, 0.0}, Z[2][COLUMNS];
  memset(a, 0, sizeof *a);
  memset(Z, 0, sizeof Z);
  a->num_rows = kernel->rows.num_views;
  for (int i = 0; i < a->num_rows; i++) {
    a->row[i] = product_of_view(&kernel->rows.view[i], 0);
    evaluated x = evaluate_product(&a->row[i], bodies);
    row[i] = position_of(&x) - kernel->rows.view[i].offset[0];
    rate[i] = velocity_of(&x);
    write_gradient(x.p, x.left, x.right, a->B[i]);
    write_gradient(x.p, x.left_rate, x.right_rate, Z[i]);
  }
  pol_status status = pol_coordinate_chain(kernel, row, a->slope, a->bend);
  a->value = pol_coordinate_of_rows(kernel, row);
  a->rate = a->slope[0] * rate[0] + a->slope[1] * rate[1];
  for (int j = 0; j < COLUMNS; j++)
    for (int i = 0; i < 2; i++) {
      double along = a->bend[i][0] * a->B[0][j] + a->bend[i][1] * a->B[1][j];
      a->g[j] += a->slope[i] * a->B[i][j];
      a->rate_g[j] += a->slope[i] * Z[i][j] + rate[i] * along;
    }
  return status;
}

/* values += scale x y^T */
static void add_outer(double scale, const double x[COLUMNS], const double y[COLUMNS],
                      const pair *bodies, const pol_slot slot[2][2], double *values)
{
  for (int m = 0; m < 2 * VECTORS; m++)
    for (int n = 0; n < 2 * VECTORS; n++) {
      double block[9] = {0.0};
      pol_m3_add_outer(1.0, x + 3 * m, y + 3 * n, block);
      add_small_block(bodies, slot, m / VECTORS, m % VECTORS, n / VECTORS, n % VECTORS, scale,
                      block, values);
    }
}

/* T on theta (mechanism/joint_spring.h): balance -= T g, and its derivatives. */
static pol_status add_joint_spring(const evaluation *e, const pol_placed_force *force,
                                   const pair *bodies)
{
  const pol_force *law = force->kernel.force;
  double k = law->stiffness[0], c = law->damping[0];
  joint_angle a;
  pol_status status = evaluate_angle(&force->spring.coordinate, bodies, &a);
  if (status) return status;
  if (force->history >= 0)
    a.value = pol_angle_unwrap(a.value, e->at->history ? e->at->history[force->history] : 0.0);
  double T = law->actuator - c * a.rate - k * (a.value - law->rest);
  for (int m = 0; m < 2 * VECTORS && e->want & POL_FORCE; m++) {
    int offset = offset_of(bodies->body[m / VECTORS], m % VECTORS);
    if (offset >= 0)
      pol_v3_add_scaled(-T, a.g + 3 * m, e->out->balance + bodies->body[m / VECTORS]->v + offset);
  }
  if (e->want & POL_DAMPING) add_outer(c, a.g, a.g, bodies, force->coupling, e->out->damping);
  if (!(e->want & POL_STIFFNESS)) return POL_OK;
  add_outer(k, a.g, a.g, bodies, force->coupling, e->out->stiffness);
  add_outer(c, a.g, a.rate_g, bodies, force->coupling, e->out->stiffness);
  for (int i = 0; i < a.num_rows; i++) {
    add_hessian(&a.row[i], -T * a.slope[i], bodies, force->coupling, e->out->stiffness);
    for (int j = 0; j < a.num_rows; j++)
      add_outer(-T * a.bend[i][j], a.B[i], a.B[j], bodies, force->coupling, e->out->stiffness);
  }
  return POL_OK;
}

/* --- forces on rigid frames ------------------------------------------------------------------- */

/* R becomes the nearest rotation; directors that are orthonormal to 0.1 need four rounds. */
static void make_rotation(double R[9])
{
  for (int round = 0; round < 4; round++) {
    double row[3][3];
    for (int k = 0; k < 3; k++) pol_v3_cross(R + 3 * ((k + 1) % 3), R + 3 * ((k + 2) % 3), row[k]);
    double determinant = pol_v3_dot(R, row[0]);
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) R[3 * k + i] = 0.5 * (R[3 * k + i] + row[k][i] / determinant);
  }
}

void pol_directors_make_rigid(pol_frame *frame)
{
  double spin[3];
  pol_m3_apply(frame->R, frame->w, spin); /* its own rotation back, to the order of the defect */
  make_rotation(frame->R);
  pol_m3_apply_transposed(frame->R, spin, frame->w);
}

/* What one body sees of L and N1: six rows, three columns for each of its vectors. */
typedef struct rigid_maps {
  pol_frame frame;
  double L[VECTORS][6][3], N1[VECTORS][6][3];
} rigid_maps;

static void set_rigid_maps(const evaluation *e, int index, const pair *bodies, int b,
                           rigid_maps *maps)
{
  memset(maps, 0, sizeof *maps);
  maps->frame = *pol_ground_frame();
  if (index == POL_GROUND) return;
  pol_formulation_frame(e->f, e->at->q, e->at->v, index, &maps->frame);
  for (int i = 0; i < 3; i++) maps->L[CENTRE][3 + i][i] = 1.0;
  if (!bodies->body[b]->chart->polynomial) return;
  const double *R = maps->frame.R;
  double spin[3] = {0.0};
  make_rotation(maps->frame.R);
  for (int k = 0; k < 3; k++)
    pol_v3_add_scaled_cross(0.5, bodies->vector[b][k], bodies->rate[b][k], spin);
  pol_m3_apply_transposed(R, spin, maps->frame.w);
  for (int k = 0; k < 3; k++) {
    double skew[9], left[9], moving[9], turning[9];
    pol_m3_skew(bodies->vector[b][k], skew);
    pol_m3_multiply_transposed(R, skew, left);
    pol_m3_skew(bodies->rate[b][k], skew);
    pol_m3_multiply_transposed(R, skew, moving);
    pol_m3_skew(maps->frame.w, skew);
    pol_m3_multiply(skew, left, turning);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        maps->L[k][i][j] = 0.5 * left[3 * i + j];
        maps->N1[k][i][j] = 0.5 * (turning[3 * i + j] - moving[3 * i + j]);
      }
  }
}

/* block += A^T K B, K 6 x 6 with 12 numbers a row */
static void add_sandwich(double A[6][3], const double *K, double B[6][3], double block[9])
{
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++) {
      double entry = K[12 * r + c];
      if (entry == 0.0) continue;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) block[3 * i + j] += A[r][i] * entry * B[c][j];
    }
}

/* The derivative of L^T at a constant torque tau: of t x d_k / 2 with t = R tau. */
static void add_turned_torque(const pair *bodies, int b, int k, int m, rigid_maps *maps,
                              const double tau[3], double block[9])
{
  const double *R = maps->frame.R;
  double t[3], local[9], tau_skew[9], turned[9], skew[9], last[9];
  if (k == CENTRE || m == CENTRE) return;
  for (int i = 0; i < 9; i++) local[i] = maps->L[m][i / 3][i % 3];
  pol_m3_apply(R, tau, t);
  pol_m3_skew(tau, tau_skew);
  pol_m3_multiply(tau_skew, local, turned);
  pol_m3_multiply(R, turned, local);
  pol_m3_skew(bodies->vector[b][k], skew);
  pol_m3_multiply(skew, local, last);
  for (int i = 0; i < 9; i++) block[i] += 0.5 * last[i];
  if (k == m) pol_m3_add_skew(0.5, t, block);
}

static void subtract_rigid_blocks(const evaluation *e, const pol_placed_force *force,
                                  const pair *bodies, rigid_maps maps[2], double wrench[2][6],
                                  pol_force_blocks *blocks)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int m = 0; m < VECTORS; m++) {
          const double *K = &blocks->by_position[6 * b][6 * c];
          const double *D = &blocks->by_velocity[6 * b][6 * c];
          double stiffness[9] = {0.0}, damping[9] = {0.0};
          if (offset_of(bodies->body[b], k) < 0 || offset_of(bodies->body[c], m) < 0) continue;
          add_sandwich(maps[b].L[k], D, maps[c].L[m], damping);
          add_sandwich(maps[b].L[k], K, maps[c].L[m], stiffness);
          add_sandwich(maps[b].L[k], D, maps[c].N1[m], stiffness);
          if (b == c) add_turned_torque(bodies, b, k, m, &maps[b], wrench[b], stiffness);
          if (e->want & POL_DAMPING)
            add_small_block(bodies, force->coupling, b, k, c, m, -1.0, damping, e->out->damping);
          if (e->want & POL_STIFFNESS)
            add_small_block(bodies, force->coupling, b, k, c, m, -1.0, stiffness,
                            e->out->stiffness);
        }
}

static pol_status add_rigid_force(const evaluation *e, const pol_placed_force *force,
                                  const pair *bodies)
{
  const pol_force_kernel *kernel = &force->kernel;
  rigid_maps maps[2];
  double wrench[2][6];
  pol_force_blocks blocks;
  for (int b = 0; b < 2; b++) set_rigid_maps(e, kernel->body[b], bodies, b, &maps[b]);
  pol_status status = pol_force_wrenches(kernel, e->at->t, &maps[0].frame, &maps[1].frame, wrench);
  if (status) return status;
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < VECTORS && e->want & POL_FORCE; k++) {
      int offset = offset_of(bodies->body[b], k);
      for (int i = 0; offset >= 0 && i < 18; i++)
        e->out->balance[bodies->body[b]->v + offset + i % 3] -=
            maps[b].L[k][i / 3][i % 3] * wrench[b][i / 3];
    }
  if (!(e->want & (POL_STIFFNESS | POL_DAMPING))) return POL_OK;
  status = pol_force_derivatives(kernel, e->at->t, &maps[0].frame, &maps[1].frame, &blocks);
  if (!status) subtract_rigid_blocks(e, force, bodies, maps, wrench, &blocks);
  return status;
}

static pol_status add_force(const evaluation *e, const pol_placed_force *force)
{
  pair bodies;
  place_pair(e, force->kernel.body, &bodies);
  if (pol_force_sees_frames(force->kernel.force->type)) return add_rigid_force(e, force, &bodies);
  if (force->kernel.force->type == POL_JOINT_SPRING) return add_joint_spring(e, force, &bodies);
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
  scratch[0] = 0.0; /* what failed; see evaluate.c */
  for (int b = 0; b < f->num_bodies; b++) {
    add_body(&e, b);
    if (f->bodies[b].internal_row >= 0) add_internal(&e, b);
  }
  for (int k = 0; k < f->num_joints; k++) add_joint(&e, &f->joints[k], &f->joints[k].kernel);
  for (int k = 0; k < f->num_drives; k++) add_drive(&e, &f->drives[k]);
  if (want & (POL_FORCE | POL_STIFFNESS | POL_DAMPING))
    for (int k = 0; k < f->num_forces && !status; k++) {
      status = add_force(&e, &f->forces[k]);
      if (status) scratch[0] = k + 1;
    }
  return status;
}
