/* Force elements in directors (directors.c), at a point and between two configurations.
 *
 * Points of bodies are linear in the coordinates: a force F between two points acts on each vector
 * with the coefficient that the vector has in their separation d.  A torque t acts on each director
 * with t x d_i / 2.  A spring on a joint coordinate theta acts with T times the gradient of theta,
 * which is a product (directors.h) or the angle of two products, theta = atan2(s, c).
 *
 * Between q0 and q1 (Kinon/Betsch/Schneider 2023, (86) and appendix; Gonzalez 1996) potentials are
 * differenced in their quadratic invariants: with the means m and pi = d . d, l = |d|,
 *
 *     spring-damper          f = Q grad pi(q_m),  Q = (V(pi1) - V(pi0))/(pi1 - pi0)
 *                              = k/2 - (k l0 + a)/(l_0 + l_1)                   linear law
 *                              = k ((pi_0 + pi_1)/2 - l0^2) - a/(l_0 + l_1)     squared law
 *     joint displacement     f = (k (theta_m - rest) - a) grad theta(q_m)
 *     joint angle            f = (k (theta_m - rest) - a) D/sin(D) (c_m grad s(q_m) - s_m grad
 * c(q_m)), D = theta_1 - theta_0
 *
 * free of cancellation, so that f . (q1 - q0) is the change of the potential to round-off, for an
 * angle where the joint holds at q0 and q1 (c^2 + s^2 = 1).  Beams: directors_beam.c.  Everything
 * else is taken at the mean configuration and velocity, which is the same for potentials that are
 * at most quadratic.
 */
#include <math.h>
#include <string.h>

#include "formulation/directors.h"
#include "lie/small.h"
#include "mechanism/coordinate.h"

/* An element, its bodies and where its terms go. */
typedef struct element {
  const poli_placed_force *force;
  const pol_point *at;
  unsigned want;
  const pol_terms *out;
  double share; /* how far the point moves with the configuration that stiffness is by */
  poli_pair bodies;
} element;

static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

/* --- forces between points -------------------------------------------------------------------- */

/* balance -= (coefficient of each vector) F */
static void subtract_force(const element *e, const poli_combination *at, const double F[3])
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++) {
      int offset = poli_vector_offset(e->bodies.body[b], k);
      if (offset >= 0)
        poli_v3_add_scaled(-at->c[b][k], F, e->out->balance + e->bodies.body[b]->v + offset);
    }
}

/* values -= scale (coefficients of l) x (coefficients of r) block */
static void subtract_blocks(const element *e, double scale, const poli_combination *l,
                            const poli_combination *r, const double block[9], double *values)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int m = 0; m < POLI_VECTORS; m++)
          poli_pair_add_block(&e->bodies, e->force->coupling, b, k, c, m,
                              -scale * l->c[b][k] * r->c[c][m], block, values);
}

/* The separation of the two points of an element. */
static poli_combination separation(const poli_force_kernel *kernel)
{
  poli_combination d = {{{0.0, 0.0, 0.0, -1.0}, {0.0, 0.0, 0.0, 1.0}}};
  for (int i = 0; i < 3; i++) {
    d.c[0][i] = -kernel->point[0][i];
    d.c[1][i] = kernel->point[1][i];
  }
  return d;
}

/* F on the second point, and its derivatives by the separation and its rate. */
static void add_between_points(const element *e, const poli_combination *d, const poli_law *law)
{
  if (e->want & POL_FORCE) subtract_force(e, d, law->F);
  if (e->want & POL_STIFFNESS) subtract_blocks(e, e->share, d, d, law->F_d, e->out->stiffness);
  if (e->want & POL_DAMPING) subtract_blocks(e, 1.0, d, d, law->F_rate, e->out->damping);
}

/* --- applied forces and torques --------------------------------------------------------------- */

/* An applied force at a point of the second body, or a torque t on it, t x d_i / 2 on each
 * director; in body axes it is a combination itself. */
static void add_applied(const element *e, int is_torque)
{
  const pol_force *given = e->force->kernel.force;
  const int following = given->frame == POL_BODY_AXES;
  const double share = e->share;
  poli_combination at = {{{0.0}}}, vector = {{{0.0}}};
  double *stiffness = e->out->stiffness, *now = vector.c[1], F[3], skew[9];
  poli_v3_scale(poli_force_scale(given, e->at->t), given->vector, now);
  if (following)
    poli_combine(&vector, e->bodies.vector, F);
  else
    poli_v3_copy(now, F);
  if (!is_torque) {
    at.c[1][POLI_CENTRE] = 1.0;
    poli_v3_copy(given->point, at.c[1]);
    if (following && e->want & POL_STIFFNESS)
      subtract_blocks(e, share, &at, &vector, identity, stiffness);
    if (e->want & POL_FORCE) subtract_force(e, &at, F);
    return;
  }
  for (int k = 0; k < 3; k++) {
    const double *d = e->bodies.vector[1][k];
    if (e->want & POL_FORCE)
      poli_v3_add_scaled_cross(-0.5, F, d, e->out->balance + e->bodies.body[1]->v + 3 * k);
    if (!(e->want & POL_STIFFNESS)) continue;
    poli_m3_skew(F, skew);
    poli_pair_add_block(&e->bodies, e->force->coupling, 1, k, 1, k, -0.5 * share, skew, stiffness);
    poli_m3_skew(d, skew);
    for (int l = 0; l < 3 && following; l++)
      poli_pair_add_block(&e->bodies, e->force->coupling, 1, k, 1, l, 0.5 * share * now[l], skew,
                          stiffness);
  }
}

/* --- springs on joint coordinates ------------------------------------------------------------- */

/* A coordinate with its derivatives by the vectors of a pair: first body, then second, the vectors
 * in their order. */
typedef struct coordinate {
  double value, rate;
  double g[POLI_PAIR], H[POLI_PAIR][POLI_PAIR];
} coordinate;

static int place_of(int b, int k)
{
  return 3 * (POLI_VECTORS * b + k);
}

/* g: gradient of a product. */
static void product_gradient(const poli_evaluated *x, double g[POLI_PAIR])
{
  const poli_product *p = x->p;
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++)
      for (int i = 0; i < 3; i++)
        g[place_of(b, k) + i] =
            p->factor * (p->left.c[b][k] * x->right[i] + p->right.c[b][k] * x->left[i]);
}

/* H += scale x the constant second derivatives of a product. */
static void add_product_hessian(const poli_product *p, double scale, double (*H)[POLI_PAIR])
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int l = 0; l < POLI_VECTORS; l++) {
          double h = scale * p->factor *
                     (p->left.c[b][k] * p->right.c[c][l] + p->right.c[b][k] * p->left.c[c][l]);
          for (int i = 0; i < 3; i++) H[place_of(b, k) + i][place_of(c, l) + i] += h;
        }
}

/* The products that a coordinate is made of, d or c and s, with their offsets. */
static int products_of(const poli_coordinate_kernel *kernel, poli_product p[2], double offset[2])
{
  int count = 0;
  for (int v = 0; v < kernel->rows.num_views; v++)
    for (int r = 0; r < kernel->rows.view[v].num_rows; r++, count++) {
      p[count] = poli_product_of_view(&kernel->rows.view[v], r);
      offset[count] = kernel->rows.view[v].offset[r];
    }
  return count;
}

/* The rates of the vectors of a pair, in their order. */
static void pair_rates(const poli_pair *bodies, double v[POLI_PAIR])
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++) poli_v3_copy(bodies->rate[b][k], v + place_of(b, k));
}

static double dot(const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < POLI_PAIR; i++) sum += a[i] * b[i];
  return sum;
}

/* With the derivatives slope and bend of the coordinate by its rows, whose gradients are B:
 * g = sum slope_i B_i,  H = sum slope_i H_i + sum bend_ij B_i B_j^T. */
static pol_status place_coordinate(const poli_coordinate_kernel *kernel, const poli_pair *bodies,
                                   double remembered, coordinate *x)
{
  poli_product p[2];
  double offset[2], row[2] = {0.0}, slope[2], bend[2][2], B[2][POLI_PAIR] = {{0.0}}, v[POLI_PAIR];
  int count = products_of(kernel, p, offset);
  memset(x, 0, sizeof *x);
  for (int k = 0; k < count; k++) {
    poli_evaluated now = poli_product_evaluate(&p[k], bodies);
    row[k] = poli_product_position(&now) - offset[k];
    product_gradient(&now, B[k]);
  }
  pol_status status = poli_coordinate_chain(kernel, row, slope, bend);
  x->value = poli_coordinate_of_rows(kernel, row);
  if (kernel->angular) x->value = poli_angle_unwrap(x->value, remembered);
  for (int k = 0; k < count; k++) {
    add_product_hessian(&p[k], slope[k], x->H);
    for (int i = 0; i < POLI_PAIR; i++) x->g[i] += slope[k] * B[k][i];
  }
  for (int i = 0; i < POLI_PAIR; i++)
    for (int j = 0; j < POLI_PAIR; j++)
      for (int k = 0; k < count; k++)
        x->H[i][j] += B[k][i] * (bend[k][0] * B[0][j] + bend[k][1] * B[1][j]);
  pair_rates(bodies, v);
  x->rate = dot(x->g, v);
  return status;
}

void poli_pair_add_square(const poli_pair *bodies, const poli_slot slot[2][2],
                          double (*K)[POLI_PAIR], double *values)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int l = 0; l < POLI_VECTORS; l++) {
          double block[9];
          for (int i = 0; i < 9; i++) block[i] = K[place_of(b, k) + i / 3][place_of(c, l) + i % 3];
          poli_pair_add_block(bodies, slot, b, k, c, l, 1.0, block, values);
        }
}

/* The terms T g of an element on a coordinate, T minus that of its law and g the gradient with
 * derivatives H: damping c g g^T, stiffness T H + g (k by_q + c H^T v)^T, where k and c are the
 * derivatives of T and by_q is the gradient of the value; H is overwritten. */
static void add_coordinate_law(const element *e, poli_joint_law law, const double *g,
                               const double *by_q, double (*H)[POLI_PAIR])
{
  const double T = -law.T, k = -law.by_value, c = -law.by_rate;
  double v[POLI_PAIR], slope[POLI_PAIR], D[POLI_PAIR][POLI_PAIR];
  pair_rates(&e->bodies, v);
  for (int b = 0; b < 2 && e->want & POL_FORCE; b++)
    for (int n = 0; n < POLI_VECTORS; n++) {
      int offset = poli_vector_offset(e->bodies.body[b], n);
      if (offset < 0) continue;
      poli_v3_add_scaled(T, g + place_of(b, n), e->out->balance + e->bodies.body[b]->v + offset);
    }
  if (e->want & POL_DAMPING) {
    for (int i = 0; i < POLI_PAIR; i++)
      for (int j = 0; j < POLI_PAIR; j++) D[i][j] = c * g[i] * g[j];
    poli_pair_add_square(&e->bodies, e->force->coupling, D, e->out->damping);
  }
  if (!(e->want & POL_STIFFNESS)) return;
  for (int j = 0; j < POLI_PAIR; j++) {
    slope[j] = k * by_q[j];
    for (int i = 0; i < POLI_PAIR; i++) slope[j] += c * H[i][j] * v[i];
  }
  for (int i = 0; i < POLI_PAIR; i++)
    for (int j = 0; j < POLI_PAIR; j++) H[i][j] = T * H[i][j] + g[i] * slope[j];
  poli_pair_add_square(&e->bodies, e->force->coupling, H, e->out->stiffness);
}

/* dg/dlambda of friction */
static void add_friction_feedback(const element *e, poli_joint_law law, const double *g)
{
  const poli_joint_load *load = &e->force->spring.load;
  double slope[POL_MAX_JOINT_ROWS];
  poli_joint_load_value(load, e->at->lambda + e->force->load_row, slope);
  for (int b = 0; b < 2; b++)
    for (int n = 0; n < POLI_VECTORS; n++) {
      const int offset = poli_vector_offset(e->bodies.body[b], n);
      const poli_slot slot = e->force->feedback[b];
      for (int k = 0; k < 3 * load->num_rows && offset >= 0; k++)
        e->out->feedback[slot.address + k / 3 * slot.stride + offset + k % 3] -=
            law.by_load * g[place_of(b, n) + k % 3] * slope[k / 3];
    }
}

static double remembered(const element *e)
{
  return e->at->history && e->force->history >= 0 ? e->at->history[e->force->history] : 0.0;
}

/* --- forces that see rigid frames --------------------------------------------------------------
 */

/* Bushings and callbacks are no polynomials.  Their frame has the rotation R nearest to the
 * directors (Higham 1986: R <- (R + R^-T)/2), whose variation is dphi = R^T sum d_i x dd_i/2 where
 * the directors are orthonormal.  With y = L q' the velocities of that frame and
 * N1 = d(L q')/dq their terms are those of evaluate.c,
 *
 *     balance = L^T W,   damping = L^T D_c L,   stiffness = L^T (K_c L + D_c N1) + dL^T/dq W,
 *
 * with the sign that forces have there. */

/* R becomes the nearest rotation; directors that are orthonormal to 0.1 need four rounds. */
static void make_rotation(double R[9])
{
  for (int round = 0; round < 4; round++) {
    double row[3][3];
    for (int k = 0; k < 3; k++) poli_v3_cross(R + 3 * ((k + 1) % 3), R + 3 * ((k + 2) % 3), row[k]);
    double determinant = poli_v3_dot(R, row[0]);
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) R[3 * k + i] = 0.5 * (R[3 * k + i] + row[k][i] / determinant);
  }
}

void poli_directors_make_rigid(poli_frame *frame)
{
  double spin[3];
  poli_m3_apply(frame->R, frame->w, spin); /* its own rotation back, to the order of the defect */
  make_rotation(frame->R);
  poli_m3_apply_transposed(frame->R, spin, frame->w);
}

/* What one body sees of L and N1: six rows, three columns for each of its vectors. */
typedef struct rigid_maps {
  poli_frame frame;
  double L[POLI_VECTORS][6][3], N1[POLI_VECTORS][6][3];
} rigid_maps;

static void set_rigid_maps(const pol_formulation *f, const pol_point *at, int index,
                           const poli_pair *bodies, int b, rigid_maps *maps)
{
  memset(maps, 0, sizeof *maps);
  maps->frame = *poli_ground_frame();
  if (index == POL_GROUND) return;
  poli_formulation_frame(f, at->q, at->v, index, &maps->frame);
  for (int i = 0; i < 3; i++) maps->L[POLI_CENTRE][3 + i][i] = 1.0;
  if (!bodies->body[b]->chart->polynomial) return;
  const double *R = maps->frame.R;
  double spin[3] = {0.0};
  make_rotation(maps->frame.R);
  for (int k = 0; k < 3; k++)
    poli_v3_add_scaled_cross(0.5, bodies->vector[b][k], bodies->rate[b][k], spin);
  poli_m3_apply_transposed(R, spin, maps->frame.w);
  for (int k = 0; k < 3; k++) {
    double skew[9], left[9], moving[9], turning[9];
    poli_m3_skew(bodies->vector[b][k], skew);
    poli_m3_multiply_transposed(R, skew, left);
    poli_m3_skew(bodies->rate[b][k], skew);
    poli_m3_multiply_transposed(R, skew, moving);
    poli_m3_skew(maps->frame.w, skew);
    poli_m3_multiply(skew, left, turning);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        maps->L[k][i][j] = 0.5 * left[3 * i + j];
        maps->N1[k][i][j] = 0.5 * (turning[3 * i + j] - moving[3 * i + j]);
      }
  }
}

/* The maps of one body. */
static void set_maps_of(const pol_formulation *f, const pol_point *at, int body, rigid_maps *maps)
{
  const int ends[2] = {body, POL_GROUND};
  poli_pair pair;
  poli_pair_place(f, at->q, at->v, ends, &pair);
  set_rigid_maps(f, at, body, &pair, 0, maps);
}

void poli_directors_rigid_frame(const pol_formulation *formulation, const pol_point *at, int body,
                                poli_frame *frame)
{
  rigid_maps maps;
  set_maps_of(formulation, at, body, &maps);
  *frame = maps.frame;
}

void poli_directors_add_row(const pol_formulation *formulation, const pol_point *at, int body,
                            const double row[6], int turned, double *out)
{
  rigid_maps maps;
  set_maps_of(formulation, at, body, &maps);
  for (int k = 0; k < POLI_VECTORS; k++) {
    double(*map)[3] = turned ? maps.N1[k] : maps.L[k];
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 3; j++) out[3 * k + j] += row[i] * map[i][j];
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
static void add_turned_torque(const poli_pair *bodies, int b, int k, int m, rigid_maps *maps,
                              const double tau[3], double block[9])
{
  const double *R = maps->frame.R;
  double t[3], local[9], tau_skew[9], turned[9], skew[9], last[9];
  if (k == POLI_CENTRE || m == POLI_CENTRE) return;
  for (int i = 0; i < 9; i++) local[i] = maps->L[m][i / 3][i % 3];
  poli_m3_apply(R, tau, t);
  poli_m3_skew(tau, tau_skew);
  poli_m3_multiply(tau_skew, local, turned);
  poli_m3_multiply(R, turned, local);
  poli_m3_skew(bodies->vector[b][k], skew);
  poli_m3_multiply(skew, local, last);
  for (int i = 0; i < 9; i++) block[i] += 0.5 * last[i];
  if (k == m) poli_m3_add_skew(0.5, t, block);
}

static void subtract_rigid_blocks(const poli_placed_force *force, double share, unsigned want,
                                  const pol_terms *out, const poli_pair *bodies, rigid_maps maps[2],
                                  double wrench[2][6], poli_force_blocks *blocks)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int m = 0; m < POLI_VECTORS; m++) {
          const double *K = &blocks->by_position[6 * b][6 * c];
          const double *D = &blocks->by_velocity[6 * b][6 * c];
          double stiffness[9] = {0.0}, damping[9] = {0.0};
          if (poli_vector_offset(bodies->body[b], k) < 0 ||
              poli_vector_offset(bodies->body[c], m) < 0)
            continue;
          add_sandwich(maps[b].L[k], D, maps[c].L[m], damping);
          add_sandwich(maps[b].L[k], K, maps[c].L[m], stiffness);
          add_sandwich(maps[b].L[k], D, maps[c].N1[m], stiffness);
          if (b == c) add_turned_torque(bodies, b, k, m, &maps[b], wrench[b], stiffness);
          if (want & POL_DAMPING)
            poli_pair_add_block(bodies, force->coupling, b, k, c, m, -1.0, damping, out->damping);
          if (want & POL_STIFFNESS)
            poli_pair_add_block(bodies, force->coupling, b, k, c, m, -share, stiffness,
                                out->stiffness);
        }
}

static pol_status add_rigid_force(const pol_formulation *formulation,
                                  const poli_placed_force *force, const pol_point *at, double share,
                                  unsigned want, const pol_terms *out)
{
  const poli_force_kernel *kernel = &force->kernel;
  poli_pair pair;
  const poli_pair *bodies = &pair;
  rigid_maps maps[2];
  double wrench[2][6];
  poli_force_blocks blocks;
  poli_pair_place(formulation, at->q, at->v, kernel->body, &pair);
  for (int b = 0; b < 2; b++) set_rigid_maps(formulation, at, kernel->body[b], bodies, b, &maps[b]);
  pol_status status = poli_force_wrenches(kernel, at->t, &maps[0].frame, &maps[1].frame, wrench);
  if (status) return status;
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS && want & POL_FORCE; k++) {
      int offset = poli_vector_offset(bodies->body[b], k);
      for (int i = 0; offset >= 0 && i < 18; i++)
        out->balance[bodies->body[b]->v + offset + i % 3] -=
            maps[b].L[k][i / 3][i % 3] * wrench[b][i / 3];
    }
  if (!(want & (POL_STIFFNESS | POL_DAMPING))) return POL_OK;
  status = poli_force_derivatives(kernel, at->t, &maps[0].frame, &maps[1].frame, &blocks);
  if (!status) subtract_rigid_blocks(force, share, want, out, bodies, maps, wrench, &blocks);
  return status;
}

/* --- at a point ------------------------------------------------------------------------------- */

pol_status poli_directors_force(const pol_formulation *formulation, const poli_placed_force *force,
                                const pol_point *at, double share, unsigned want,
                                const pol_terms *out)
{
  element e = {.force = force, .at = at, .want = want, .out = out, .share = share};
  poli_pair_place(formulation, at->q, at->v, force->kernel.body, &e.bodies);
  const pol_force_type type = force->kernel.force->type;
  if (poli_force_is_on_joint(type)) {
    coordinate x;
    pol_status found = place_coordinate(&force->spring.coordinate, &e.bodies, remembered(&e), &x);
    if (found) return found;
    const poli_joint_memory memory = poli_placed_memory(force, at);
    const poli_joint_law law = poli_joint_law_at(force->kernel.force, x.value, x.rate, &memory);
    if (want & POL_FEEDBACK && force->spring.load.num_rows > 0) add_friction_feedback(&e, law, x.g);
    add_coordinate_law(&e, law, x.g, x.g, x.H);
    return POL_OK;
  }
  if (poli_force_sees_frames(force->kernel.force))
    return add_rigid_force(formulation, force, at, share, want, out);
  if (type == POL_BEAM)
    return poli_directors_beam(force, &e.bodies, &e.bodies, &e.bodies, share, want, out);
  if (type == POL_APPLIED_FORCE || type == POL_APPLIED_TORQUE) {
    add_applied(&e, type == POL_APPLIED_TORQUE);
    return POL_OK;
  }
  const poli_pair *bodies = &e.bodies;
  poli_combination d = separation(&force->kernel);
  double now[3], rate[3];
  poli_law law;
  poli_combine(&d, bodies->vector, now);
  poli_combine(&d, bodies->rate, rate);
  pol_status status = poli_force_law(force->kernel.force, at->t, now, rate, &law);
  if (!status) add_between_points(&e, &d, &law);
  return status;
}

/* --- between two configurations --------------------------------------------------------------- */

/* The pairs of an element at q0, at q1 and at their mean, which has the rates. */
typedef struct step_ends {
  poli_pair before, after;
} step_ends;

/* The spring and actuator of a spring-damper: F = -2 Q d_m,
 * dF/dd1 = -(4 Q' d_m d1^T + Q I),  Q' = dQ/dpi1. */
static pol_status spring_between(const pol_force *force, double t, const double d0[3],
                                 const double d1[3], const double mean[3], poli_law *law)
{
  double square0 = poli_v3_dot(d0, d0), square1 = poli_v3_dot(d1, d1);
  double length1 = sqrt(square1), sum = sqrt(square0) + length1, k = force->stiffness[0];
  if (square0 == 0.0 || square1 == 0.0) return POL_RETRY;
  int squared = force->law == POL_SQUARED_SPRING;
  double push = poli_force_scale(force, t) * force->actuator + (squared ? 0.0 : k * force->length);
  double Q = -push / sum, slope = push / (2.0 * length1 * sum * sum);
  if (squared) {
    Q += k * (0.5 * (square0 + square1) - force->length * force->length);
    slope += 0.5 * k;
  } else {
    Q += 0.5 * k;
  }
  for (int i = 0; i < 3; i++) {
    law->F[i] -= 2.0 * Q * mean[i];
    for (int j = 0; j < 3; j++)
      law->F_d[3 * i + j] -= 4.0 * slope * mean[i] * d1[j] + (i == j ? Q : 0.0);
  }
  return POL_OK;
}

static pol_status add_spring_damper_between(const element *e, const step_ends *ends)
{
  poli_combination d = separation(&e->force->kernel);
  pol_force damper = *e->force->kernel.force;
  double before[3], after[3], mean[3], rate[3];
  poli_law law;
  poli_combine(&d, ends->before.vector, before);
  poli_combine(&d, ends->after.vector, after);
  poli_combine(&d, e->bodies.vector, mean);
  poli_combine(&d, e->bodies.rate, rate);
  /* the damper at the mean, which moves half as far as q1 */
  damper.stiffness[0] = damper.actuator = 0.0;
  pol_status status = poli_force_law(&damper, e->at->t, mean, rate, &law);
  for (int i = 0; i < 9; i++) law.F_d[i] *= e->share;
  if (!status) status = spring_between(e->force->kernel.force, e->at->t, before, after, mean, &law);
  element whole = *e; /* the derivatives are by q1 already */
  whole.share = 1.0;
  if (!status) add_between_points(&whole, &d, &law);
  return status;
}

/* The discrete gradient of a coordinate, and its derivative by q1. */
typedef struct discrete_coordinate {
  double before, after;                  /* the two values */
  double g[POLI_PAIR];                   /* g . (q1 - q0) = value1 - value0 */
  double by_after[POLI_PAIR][POLI_PAIR]; /* dg/dq1 */
  double value_by_after[POLI_PAIR];      /* d(after)/dq1 */
} discrete_coordinate;

/* D/sin(D), and its derivative */
static double over_sine(double D, double *slope)
{
  if (fabs(D) < 1e-2) {
    double D2 = D * D;
    *slope = D * (1.0 / 3.0 + D2 * (7.0 / 90.0 + D2 * 31.0 / 2520.0));
    return 1.0 + D2 * (1.0 / 6.0 + D2 * (7.0 / 360.0 + D2 * 31.0 / 15120.0));
  }
  double sine = sin(D);
  *slope = (sine - D * cos(D)) / (sine * sine);
  return D / sine;
}

/* g = W n, n = c_m grad s(q_m) - s_m grad c(q_m), W = D/sin(D). */
static pol_status angle_between(const element *e, const step_ends *ends, const poli_product p[2],
                                const coordinate *before, const coordinate *after,
                                discrete_coordinate *x)
{
  double grad_c[POLI_PAIR], grad_s[POLI_PAIR], after_c[POLI_PAIR], after_s[POLI_PAIR], n[POLI_PAIR];
  poli_evaluated c[3], s[3];
  const poli_pair *pairs[3] = {&ends->before, &ends->after, &e->bodies};
  for (int i = 0; i < 3; i++) {
    c[i] = poli_product_evaluate(&p[0], pairs[i]);
    s[i] = poli_product_evaluate(&p[1], pairs[i]);
  }
  double mean_c = 0.5 * (poli_product_position(&c[0]) + poli_product_position(&c[1]));
  double mean_s = 0.5 * (poli_product_position(&s[0]) + poli_product_position(&s[1]));
  double slope, turn = after->value - before->value, W = over_sine(turn, &slope);
  if (fabs(turn) > 3.0) return POL_RETRY; /* half a turn in a step has no direction */
  product_gradient(&c[2], grad_c);
  product_gradient(&s[2], grad_s);
  product_gradient(&c[1], after_c);
  product_gradient(&s[1], after_s);
  add_product_hessian(&p[1], 0.5 * W * mean_c, x->by_after);
  add_product_hessian(&p[0], -0.5 * W * mean_s, x->by_after);
  for (int i = 0; i < POLI_PAIR; i++) {
    n[i] = mean_c * grad_s[i] - mean_s * grad_c[i];
    x->g[i] = W * n[i];
  }
  for (int i = 0; i < POLI_PAIR; i++)
    for (int j = 0; j < POLI_PAIR; j++)
      x->by_after[i][j] +=
          slope * n[i] * after->g[j] + 0.5 * W * (grad_s[i] * after_c[j] - grad_c[i] * after_s[j]);
  return POL_OK;
}

static pol_status coordinate_between(const element *e, const step_ends *ends,
                                     discrete_coordinate *x)
{
  const poli_coordinate_kernel *kernel = &e->force->spring.coordinate;
  coordinate before, after;
  poli_product p[2];
  double offset[2];
  memset(x, 0, sizeof *x);
  pol_status status = place_coordinate(kernel, &ends->before, remembered(e), &before);
  if (!status) status = place_coordinate(kernel, &ends->after, before.value, &after);
  if (status) return status;
  products_of(kernel, p, offset);
  x->before = before.value;
  x->after = after.value;
  memcpy(x->value_by_after, after.g, sizeof after.g);
  if (kernel->angular) return angle_between(e, ends, p, &before, &after, x);
  poli_evaluated mean = poli_product_evaluate(&p[0], &e->bodies);
  product_gradient(&mean, x->g);
  add_product_hessian(&p[0], 0.5, x->by_after);
  return POL_OK;
}

pol_status poli_directors_force_between(const pol_formulation *formulation,
                                        const poli_placed_force *force, const double *q0,
                                        const double *q1, const pol_point *mean, unsigned want,
                                        const pol_terms *out)
{
  element e = {.force = force, .at = mean, .want = want, .out = out, .share = 0.5};
  step_ends ends;
  pol_force_type type = force->kernel.force->type;
  const int beam = type == POL_BEAM && !poli_force_sees_frames(force->kernel.force);
  if (type != POL_SPRING_DAMPER && !poli_force_is_on_joint(type) && !beam)
    return poli_directors_force(formulation, force, mean, 0.5, want, out);
  poli_pair_place(formulation, mean->q, mean->v, force->kernel.body, &e.bodies);
  poli_pair_place(formulation, q0, NULL, force->kernel.body, &ends.before);
  poli_pair_place(formulation, q1, NULL, force->kernel.body, &ends.after);
  if (type == POL_SPRING_DAMPER) return add_spring_damper_between(&e, &ends);
  if (beam)
    return poli_directors_beam(force, &ends.before, &ends.after, &e.bodies, e.share, want, out);
  double v[POLI_PAIR];
  discrete_coordinate x;
  pol_status status = coordinate_between(&e, &ends, &x);
  if (status) return status;
  pair_rates(&e.bodies, v);
  const poli_joint_memory memory = poli_placed_memory(force, mean);
  add_coordinate_law(
      &e, poli_joint_law_between(force->kernel.force, x.before, x.after, dot(x.g, v), &memory), x.g,
      x.value_by_after, x.by_after);
  return POL_OK;
}
