/* Modes: eigenvalues and eigenvectors of the linearised equations.
 *
 * Small models: those of the matrix A of linear.c.  Motions that nothing resists have zero
 * eigenvalues, often defective (a free body drifts), which an eigenvalue solver would return as a
 * ring of numbers of the size of the square root of round-off.  So they are found by rank and split
 * off first: with an orthonormal basis (Z, Y), A Z = 0,
 *
 *     A (Z, Y) = (Z, Y) [ 0  Z^T A Y ]
 *                       [ 0  Y^T A Y ],
 *
 * and the same for Y^T A Y as long as it is singular.  An eigenvector y of the lower right block
 * with the eigenvalue s gives the eigenvector Z Z^T A Y y/s + Y y of A.  Before that, the
 * velocities are scaled so that both off-diagonal blocks of A have the same norm.
 *
 * Large models: modes_large.c.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"
#include "lie/small.h"
#include "linalg/eigen.h"

struct pol_modes {
  pol_analysis *analysis;
  int count, zeros, is_large;
  double unsteady;
  void *memory;
  pol_mode *modes;
  double *shapes;         /* 2 nv numbers a mode */
  double *q, *w;          /* workspace */
  unsigned char *is_node; /* of a beam: for each body */
};

/* Eigenvalues with their increments w, before they are put in order. */
typedef struct found {
  int count, zeros;
  double *re, *im; /* pairs: the first has im > 0, the second is not listed */
  double *w;       /* 2 nv numbers each: real and imaginary part */
} found;

pol_modes_options pol_modes_options_default(void)
{
  return (pol_modes_options){0};
}

/* --- small models ------------------------------------------------------------------------------
 */

/* B = Q^T A Q, n x n; work has n^2 numbers. */
static void turn_matrix(int n, const double *A, const double *Q, double *work, double *B)
{
  poli_full_multiply(n, n, n, 0, A, Q, work);
  poli_full_multiply(n, n, n, 1, Q, work, B);
}

static double largest_entry(int n, const double *x)
{
  double largest = 0.0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

/* Splits zero eigenvalues off A (n x n): on return A is in the basis Q (n x n), block upper
 * triangular with *zeros zeros on the diagonal first; starts[] holds where each block begins, and
 * *blocks is their number.  work: 4 n^2. */
static pol_status split_zeros(int n, double *A, double *Q, double *work, int *starts, int *blocks,
                              int *zeros)
{
  const size_t size = (size_t)n * (size_t)n;
  double *rest = work, *basis = work + size, *turned = work + 2 * size, *product = work + 3 * size;
  memset(Q, 0, size * sizeof *Q);
  for (int i = 0; i < n; i++) Q[poli_at(i, i, n)] = 1.0;
  *zeros = *blocks = 0;
  const double largest = largest_entry(n * n, A);
  while (*zeros < n) {
    const int k = n - *zeros;
    int more;
    for (int j = 0; j < k; j++)
      memcpy(rest + poli_at(0, j, k), A + *zeros + poli_at(0, *zeros + j, n),
             (size_t)k * sizeof *rest);
    /* a rest that is all round-off of the whole */
    if (largest_entry(k * k, rest) <= 2e-15 * n * largest)
      memset(rest, 0, (size_t)k * (size_t)k * sizeof *rest);
    pol_status status = poli_full_null_space(k, rest, 2e-15 * n, basis, &more);
    if (status || more == 0) return status;
    /* the basis as part of one of all n */
    memset(turned, 0, size * sizeof *turned);
    for (int i = 0; i < *zeros; i++) turned[poli_at(i, i, n)] = 1.0;
    for (int j = 0; j < k; j++)
      memcpy(turned + *zeros + poli_at(0, *zeros + j, n), basis + poli_at(0, j, k),
             (size_t)k * sizeof *basis);
    turn_matrix(n, A, turned, product, rest);
    memcpy(A, rest, size * sizeof *A);
    poli_full_multiply(n, n, n, 0, Q, turned, product);
    memcpy(Q, product, size * sizeof *Q);
    starts[(*blocks)++] = *zeros;
    /* what is zero up to round-off is zero */
    for (int j = *zeros; j < *zeros + more; j++)
      for (int i = *zeros; i < n; i++) A[poli_at(i, j, n)] = 0.0;
    *zeros += more;
  }
  return POL_OK;
}

/* The upper part of an eigenvector of the block triangular A: (s - 0) x_i = sum A_ij x_j over the
 * later blocks, from the last one of the zeros up.  x has n real and n imaginary parts. */
static void complete_vector(int n, const double *A, const int *starts, int blocks, int zeros,
                            double re, double im, double *x)
{
  const double square = re * re + im * im;
  for (int b = blocks - 1; b >= 0; b--) {
    const int end = b + 1 < blocks ? starts[b + 1] : zeros;
    for (int i = starts[b]; i < end; i++) {
      double sum[2] = {0.0, 0.0};
      for (int j = end; j < n; j++) {
        sum[0] += A[poli_at(i, j, n)] * x[j];
        sum[1] += A[poli_at(i, j, n)] * x[n + j];
      }
      x[i] = (sum[0] * re + sum[1] * im) / square;
      x[n + i] = (sum[1] * re - sum[0] * im) / square;
    }
  }
}

/* Adds an eigenvalue whose vector (n real and n imaginary parts) is in the basis Q of z. */
static void add_found(found *f, const poli_linear *lin, double scale, const double *Q, double re,
                      double im, const double *x, double *z)
{
  const int n = lin->nx, nv = lin->nv;
  double *w = f->w + 2 * (size_t)f->count * (size_t)nv;
  for (int part = 0; part < 2; part++) {
    poli_full_multiply(n, 1, n, 0, Q, x + poli_at(0, part, n), z);
    for (int i = lin->np; i < n; i++) z[i] *= scale;
    poli_full_multiply(nv, 1, n, 0, lin->W, z, w + poli_at(0, part, nv));
  }
  f->re[f->count] = re;
  f->im[f->count++] = im;
}

/* Out of equilibrium the stiffness may be nothing but round-off of terms that cancel: those of the
 * bodies by themselves, of gravity and of accelerations.  Then it is zero.  down: the sum of its
 * squares. */
static void drop_roundoff(const pol_analysis *a, poli_linear *lin, double *down)
{
  const double *g = a->formulation->gravity;
  const int n = lin->nx, np = lin->np;
  double acceleration = sqrt(poli_v3_dot(g, g));
  for (int i = 0; i < a->dae->group.nv; i++) acceleration = fmax(acceleration, fabs(a->vd[i]));
  const double own = fmax(lin->fastest * lin->fastest, acceleration / a->length);
  if (sqrt(*down) > 4.0 * n * DBL_EPSILON * own) return;
  for (int j = 0; j < np; j++)
    memset(lin->A + poli_at(np, j, n), 0, (size_t)(n - np) * sizeof *lin->A);
  *down = 0.0;
}

static pol_status solve_full(pol_analysis *a, const pol_modes_options *options, double *unsteady,
                             found *f, pol_diagnostics *diagnostics)
{
  poli_linear *lin = NULL;
  pol_status status = poli_linear_create(&lin, a, options->frame, 0, NULL, diagnostics);
  if (status) return status;
  const int n = lin->nx;
  const size_t size = (size_t)n * (size_t)n;
  double *Q, *work, *block, *V, *re, *im, *x, *z;
  int *starts, blocks = 0, zeros = 0;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, size, &Q, &block, &V);
    POLI_TAKE(&arena, work, 4 * size);
    POLI_TAKE_EACH(&arena, n, &re, &im, &z);
    POLI_TAKE(&arena, x, 2 * n);
    POLI_TAKE(&arena, starts, n);
  } while (poli_arena_again(&arena));
  if (!arena.memory) status = POL_NO_MEMORY;

  /* s = scale times the scaled one */
  double up = 0.0, down = 0.0, scale = 1.0;
  for (int j = 0; j < n && !status; j++)
    for (int i = 0; i < n; i++)
      if ((i < lin->np) != (j < lin->np))
        *(j < lin->np ? &down : &up) += pow(lin->A[poli_at(i, j, n)], 2.0);
  if (!status) drop_roundoff(a, lin, &down);
  if (up > 0.0 && down > 0.0) scale = pow(down / up, 0.25);
  for (int j = 0; j < n && !status; j++)
    for (int i = 0; i < n; i++)
      lin->A[poli_at(i, j, n)] *= (j < lin->np ? 1.0 : scale) / (i < lin->np ? 1.0 : scale);
  if (!status) status = split_zeros(n, lin->A, Q, work, starts, &blocks, &zeros);
  const int k = n - zeros;
  for (int j = 0; j < k && !status; j++)
    memcpy(block + poli_at(0, j, k), lin->A + zeros + poli_at(0, zeros + j, n),
           (size_t)k * sizeof *block);
  if (!status) status = poli_full_eigen(k, block, re, im, V);

  /* zeros with their motion, one each; then the others, one of each pair */
  for (int i = 0; i < zeros && !status; i++) {
    memset(x, 0, 2 * (size_t)n * sizeof *x);
    x[i] = 1.0;
    add_found(f, lin, scale, Q, 0.0, 0.0, x, z);
  }
  for (int i = 0; i < k && !status; i++) {
    if (im[i] < 0.0) continue;
    memset(x, 0, 2 * (size_t)n * sizeof *x);
    memcpy(x + zeros, V + poli_at(0, i, k), (size_t)k * sizeof *x);
    if (im[i] > 0.0) memcpy(x + n + zeros, V + poli_at(0, i + 1, k), (size_t)k * sizeof *x);
    complete_vector(n, lin->A, starts, blocks, zeros, re[i], im[i], x);
    add_found(f, lin, scale, Q, re[i], im[i], x, z);
  }
  f->zeros = zeros;
  *unsteady = lin->unsteady;
  free(arena.memory);
  poli_linear_free(&lin);
  return status;
}

/* f has room for count + 3. */
static pol_status solve_large(pol_analysis *a, const pol_modes_options *options, int count,
                              double *unsteady, found *f, pol_diagnostics *diagnostics)
{
  const size_t nv = (size_t)a->dae->group.nv;
  double *re, *im, *w;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, count + 3, &re, &im);
    POLI_TAKE(&arena, w, nv * (size_t)(count + 3));
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  int have = 0;
  double zero = 0.0;
  const pol_status status =
      poli_modes_large(a, options, count, re, im, w, &have, &zero, unsteady, diagnostics);
  for (int k = 0; k < have && !status; k++) {
    const int is_zero = hypot(re[k], im[k]) <= zero, is_pair = im[k] > 0.0 && k + 1 < have;
    if (im[k] != 0.0 && !is_pair) continue;
    /* a pair that is zero gives two modes */
    for (int part = 0; part < (is_pair && is_zero ? 2 : 1); part++) {
      double *to = f->w + 2 * (size_t)f->count * nv;
      memcpy(to, w + (size_t)(k + part) * nv, nv * sizeof *to);
      if (is_pair && !is_zero) memcpy(to + nv, w + (size_t)(k + 1) * nv, nv * sizeof *to);
      f->re[f->count] = is_zero ? 0.0 : re[k];
      f->im[f->count++] = is_zero ? 0.0 : im[k];
      f->zeros += is_zero;
    }
    k += is_pair;
  }
  free(arena.memory);
  return status;
}

/* --- the list -----------------------------------------------------------------------------------
 */

/* Shapes are scaled so that their largest part is 1 m and, at the phase of that part, real. */
static void scale_shape(const pol_analysis *a, double *w)
{
  const int nv = a->dae->group.nv;
  double real_size, imaginary_size;
  const int real = poli_analysis_largest(a, w, &real_size);
  const int imaginary = poli_analysis_largest(a, w + nv, &imaginary_size);
  const int part = real_size >= imaginary_size ? real : imaginary;
  if (part < 0) return;
  const double x = w[part], y = w[nv + part], square = x * x + y * y;
  double size = 0.0, both;
  for (int i = 0; i < nv; i++) {
    const double re = w[i], im = w[nv + i];
    w[i] = (re * x + im * y) / square;
    w[nv + i] = (im * x - re * y) / square;
  }
  for (int k = 0; k < 2; k++) {
    poli_analysis_largest(a, w + k * nv, &both);
    size = fmax(size, both);
  }
  for (int i = 0; i < 2 * nv; i++) w[i] /= size > 0.0 ? size : 1.0;
}

static double size_of(const pol_mode *mode)
{
  return hypot(mode->re, mode->im);
}

static int compare_modes(const void *a, const void *b)
{
  const double x = size_of(a), y = size_of(b);
  return x < y ? -1 : x > y;
}

/* Beams have high frequencies that round-off of full matrices would mix with the low ones: those
 * that are asked for are found by iteration, which sees the low ones first. */
static int is_stiff_structure(const pol_analysis *a)
{
  int beams = 0;
  for (int k = 0; k < pol_mechanism_num_forces(a->mechanism); k++)
    beams += pol_mechanism_force(a->mechanism, k)->type == POL_BEAM;
  return beams >= 5;
}

/* Room for the modes that are found and for their results. */
static pol_status take_room(pol_modes *modes, int count, found *f)
{
  const pol_analysis *a = modes->analysis;
  const size_t room = (size_t)count + 3, nv = (size_t)a->dae->group.nv;
  poli_arena arena = {0};
  *f = (found){0};
  do {
    POLI_TAKE_EACH(&arena, room, &f->re, &f->im);
    POLI_TAKE(&arena, f->w, 2 * room * nv);
    POLI_TAKE(&arena, modes->modes, room);
    POLI_TAKE(&arena, modes->q, a->dae->group.nq);
    POLI_TAKE(&arena, modes->w, nv);
    POLI_TAKE(&arena, modes->is_node, a->formulation->num_bodies);
  } while (poli_arena_again(&arena));
  free(modes->memory);
  modes->memory = arena.memory;
  return modes->memory ? POL_OK : POL_NO_MEMORY;
}

static void mark_nodes(pol_modes *modes)
{
  const pol_mechanism *mechanism = modes->analysis->mechanism;
  for (int k = 0; k < pol_mechanism_num_forces(mechanism); k++) {
    const pol_force *force = pol_mechanism_force(mechanism, k);
    for (int i = 0; i < 2 && force->type == POL_BEAM; i++) {
      const int body = pol_mechanism_marker(mechanism, force->marker[i])->body;
      if (body >= 0) modes->is_node[body] = 1;
    }
  }
}

/* How many eigenvalues the model has, as poli_linear counts them; the operator of modes_large.c
 * has more rows, whose eigenvalues mean nothing. */
static int num_eigenvalues(const pol_analysis *a)
{
  const unsigned char *dropped = pol_analysis_dropped(a, NULL);
  int held = 0, tangent = 0;
  for (int i = 0; i < pol_dae_num_constraints(a->dae); i++) {
    tangent += !dropped[i];
    held += !dropped[i] && i < a->dae->num_holonomic;
  }
  return poli_analysis_first_state(a) - held + a->dae->group.nv - tangent;
}

/* The iteration finds zeros first: it is repeated with as many more until enough others follow. */
static pol_status solve(pol_modes *modes, const pol_modes_options *options, int wanted, found *f,
                        pol_diagnostics *diagnostics)
{
  pol_analysis *a = modes->analysis;
  const int nv = a->dae->group.nv;
  pol_status status;
  if (!modes->is_large) {
    status = take_room(modes, 2 * nv, f);
    return status ? status : solve_full(a, options, &modes->unsteady, f, diagnostics);
  }
  const int all = num_eigenvalues(a);
  int count = 0;
  do {
    const int before = count;
    /* twice the zeros: Arnoldi's method finds the last ones of a multiple eigenvalue late */
    count = 2 * (wanted + f->zeros);
    if (count <= before || count > all) count = all;
    status = take_room(modes, count, f);
    if (!status) status = solve_large(a, options, count, &modes->unsteady, f, diagnostics);
  } while (!status && f->count - f->zeros < wanted && count < all);
  return status;
}

static pol_status fill(pol_modes *modes, const pol_modes_options *options,
                       pol_diagnostics *diagnostics)
{
  pol_analysis *a = modes->analysis;
  const int nv = a->dae->group.nv;
  modes->is_large = options->large > 0 ||
                    (options->large == 0 && (nv > POLI_FULL_VELOCITIES || is_stiff_structure(a)));
  const int wanted = options->count > 0 ? options->count : modes->is_large ? 20 : 2 * nv;
  found f = {0};
  const pol_status status = solve(modes, options, wanted, &f, diagnostics);
  if (status) return status;
  for (int k = 0; k < f.count; k++) {
    double *w = f.w + 2 * (size_t)k * (size_t)nv;
    const double size = hypot(f.re[k], f.im[k]);
    const double re = fabs(f.re[k]) > 1e-9 * size ? f.re[k] : 0.0; /* else round-off */
    scale_shape(a, w);
    modes->modes[k] = (pol_mode){.re = re,
                                 .im = f.im[k],
                                 .frequency = f.im[k] / (8.0 * atan(1.0)),
                                 .damping = re != 0.0 ? -re / size : 0.0,
                                 .shape_re = w,
                                 .shape_im = w + nv};
  }
  qsort(modes->modes, (size_t)f.count, sizeof *modes->modes, compare_modes);
  mark_nodes(modes);
  modes->zeros = f.zeros;
  modes->count = f.count - f.zeros > wanted ? f.zeros + wanted : f.count;
  return POL_OK;
}

pol_status pol_modes_create(pol_modes **modes, pol_analysis *analysis,
                            const pol_modes_options *options, pol_diagnostics *diagnostics)
{
  const pol_modes_options usual = pol_modes_options_default();
  pol_diagnostics own = {.equation = -1, .t = analysis->state.t};
  pol_modes *created = calloc(1, sizeof *created);
  pol_status status = POL_NO_MEMORY;
  *modes = NULL;
  if (!options) options = &usual;
  if (created) {
    created->analysis = analysis;
    status = options->count < 0 ? poli_analysis_fail(analysis, POL_BAD_ARGUMENT,
                                                     "count must not be negative", NULL, &own)
                                : fill(created, options, &own);
  }
  if (!status) {
    *modes = created;
    return POL_OK;
  }
  poli_analysis_fail(analysis, status, NULL, NULL, &own);
  if (diagnostics) *diagnostics = own;
  pol_modes_free(&created);
  return status;
}

void pol_modes_free(pol_modes **modes)
{
  if (!modes || !*modes) return;
  free((*modes)->memory);
  free(*modes);
  *modes = NULL;
}

int pol_modes_count(const pol_modes *modes)
{
  return modes->count;
}

const pol_mode *pol_modes_get(const pol_modes *modes, int index)
{
  return index >= 0 && index < modes->count ? &modes->modes[index] : NULL;
}

int pol_modes_zeros(const pol_modes *modes)
{
  return modes->zeros;
}

double pol_modes_unsteady(const pol_modes *modes)
{
  return modes->unsteady;
}

int pol_modes_iterated(const pol_modes *modes)
{
  return modes->is_large;
}

const pol_analysis *poli_modes_analysis(const pol_modes *modes)
{
  return modes->analysis;
}

const unsigned char *poli_modes_nodes(const pol_modes *modes)
{
  return modes->is_node;
}

pol_status pol_modes_pose(const pol_modes *modes, int index, double phase, double amplitude,
                          double *q, double *v)
{
  const pol_mode *mode = pol_modes_get(modes, index);
  const pol_analysis *a = modes->analysis;
  const pol_dae *dae = a->dae;
  if (!mode) return POL_BAD_ARGUMENT;
  const double c = amplitude * cos(phase), s = amplitude * sin(phase);
  for (int i = 0; i < dae->group.nv; i++) {
    const double re = mode->shape_re[i], im = mode->shape_im[i];
    const double wave = im * c + re * s; /* imaginary part of shape exp(i phase) */
    modes->w[i] = re * c - im * s;
    v[i] = a->v[i] + mode->re * modes->w[i] - mode->im * wave;
  }
  pol_group_move(&dae->group, a->q, modes->w, q);
  memcpy(modes->q, q, (size_t)dae->group.nq * sizeof *q);
  if (pol_assembler_position(a->assembler, a->state.t, modes->q, NULL) == POL_OK)
    memcpy(q, modes->q, (size_t)dae->group.nq * sizeof *q);
  return POL_OK;
}

double pol_modes_amplitude(const pol_modes *modes, int index)
{
  const pol_mode *mode = pol_modes_get(modes, index);
  const pol_analysis *a = modes->analysis;
  double rotation = 0.0, translation = 0.0;
  for (int i = 0; i < a->formulation->num_bodies && mode; i++) {
    const poli_placed_body *body = &a->formulation->bodies[i];
    for (int k = 0; k < body->chart->dim; k++) {
      double *part = k < body->chart->num_rotations ? &rotation : &translation;
      *part = fmax(*part, hypot(mode->shape_re[body->v + k], mode->shape_im[body->v + k]));
    }
  }
  /* the first limit that is reached */
  const double inverse = fmax(translation / (0.1 * a->length), rotation / 0.3);
  return inverse > 0.0 ? 1.0 / inverse : 0.1 * a->length;
}
