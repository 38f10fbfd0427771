/* Meshes of blocks and beams: nodes, element matrices, assembly.
 *
 * Hexahedron: trilinear displacements and three incompatible modes 1 - r^2, 1 - s^2, 1 - t^2 for
 * each of them, which are eliminated.  All elements of a block are alike and rectangular, where the
 * modes pass the patch test; they represent bending exactly, so that thin elements do not lock.
 *
 * Beam: the interdependent shape functions of a Timoshenko beam (Friedman and Kosmatka 1993), exact
 * for end loads.  With P = 12 EI/(k G A L^2) and s = x/L,
 *
 *     w  = [(2s^3 - 3s^2 - P s)/(1 + P) + 1,  L (s^3 - (2 + P/2) s^2 + (1 + P/2) s)/(1 + P), ...]
 *
 * for displacement and rotation of the first node, w' less the shear strain is the rotation.  Mass
 * and stiffness are integrated over them; without shear flexibility they are those of Euler and
 * Bernoulli. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/reduction.h>

#include "fem/fem.h"
#include "linalg/eigen.h"

void pol_finite_elements_free(pol_finite_elements **elements)
{
  pol_finite_elements *e = *elements;
  if (!e) return;
  free(e->positions);
  pol_pattern_free(&e->mass_pattern);
  pol_pattern_free(&e->stiffness_pattern);
  free(e->mass);
  free(e->stiffness);
  free(e);
  *elements = NULL;
}

/* --- assembly --------------------------------------------------------------------------------- */

/* A mesh of `count` elements with `corners` nodes each, listed in nodes: the patterns of its
 * matrices, full of zeros.  Takes the positions, which are freed on failure. */
static pol_status create(pol_finite_elements **elements, int num_nodes, int freedoms,
                         double *positions, int count, int corners, const int *nodes)
{
  pol_finite_elements *e = calloc(1, sizeof *e);
  const size_t pairs = (size_t)corners * (size_t)corners;
  pol_block *blocks = malloc(pairs * (size_t)count * sizeof *blocks);
  pol_status status = e && blocks && positions ? POL_OK : POL_NO_MEMORY;
  *elements = NULL;
  if (!e) free(positions);
  if (e) *e = (pol_finite_elements){num_nodes, freedoms, positions, NULL, NULL, NULL, NULL};
  for (int i = 0; i < count && !status; i++)
    for (int k = 0; k < corners * corners; k++)
      blocks[(size_t)i * pairs + (size_t)k] =
          (pol_block){freedoms * nodes[corners * i + k / corners],
                      freedoms * nodes[corners * i + k % corners], freedoms, freedoms};
  for (int k = 0; k < 2 && !status; k++)
    status = pol_pattern_create(k ? &e->stiffness_pattern : &e->mass_pattern, freedoms * num_nodes,
                                freedoms * num_nodes, (int)pairs * count, blocks);
  free(blocks);
  if (!status) {
    e->mass = calloc((size_t)pol_pattern_nonzeros(e->mass_pattern), sizeof *e->mass);
    e->stiffness = calloc((size_t)pol_pattern_nonzeros(e->stiffness_pattern), sizeof *e->stiffness);
    if (!e->mass || !e->stiffness) status = POL_NO_MEMORY;
  }
  if (status)
    pol_finite_elements_free(&e);
  else
    *elements = e;
  return status;
}

/* Adds the matrices of one element, by rows; both patterns are the same. */
static void add_element(pol_finite_elements *e, int corners, const int *nodes, const double *mass,
                        const double *stiffness)
{
  const int f = e->freedoms, size = corners * f;
  for (int a = 0; a < corners; a++)
    for (int c = 0; c < f; c++)
      for (int b = 0; b < corners; b++) {
        /* the freedoms of a node follow each other in a column */
        const int at = pol_pattern_address(e->mass_pattern, f * nodes[b], f * nodes[a] + c);
        for (int d = 0; d < f; d++) {
          e->mass[at + d] += mass[size * (f * b + d) + f * a + c];
          e->stiffness[at + d] += stiffness[size * (f * b + d) + f * a + c];
        }
      }
}

/* --- blocks ----------------------------------------------------------------------------------- */

enum { CORNERS = 8, SOLID = 24, INNER = 9, ALL = SOLID + INNER };

/* Mass and stiffness of a box of size h, by rows. */
static pol_status make_hexahedron(const double h[3], const pol_material *material,
                                  double mass[SOLID * SOLID], double stiffness[SOLID * SOLID])
{
  const double gauss = 1.0 / sqrt(3.0), volume = h[0] * h[1] * h[2] / 8.0;
  const double nu = material->poisson;
  const double lame = material->young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
  const double shear = material->young / (2.0 + 2.0 * nu);
  double K[ALL * ALL] = {0.0};
  memset(mass, 0, SOLID * SOLID * sizeof *mass);
  for (int point = 0; point < 8; point++) {
    const double r[3] = {point & 1 ? gauss : -gauss, point & 2 ? gauss : -gauss,
                         point & 4 ? gauss : -gauss};
    double N[CORNERS], gradient[ALL / 3][3] = {{0.0}};
    for (int a = 0; a < CORNERS; a++) {
      const double sign[3] = {a & 1 ? 1.0 : -1.0, a & 2 ? 1.0 : -1.0, a & 4 ? 1.0 : -1.0};
      double factor[3];
      for (int i = 0; i < 3; i++) factor[i] = 0.5 * (1.0 + sign[i] * r[i]);
      N[a] = factor[0] * factor[1] * factor[2];
      for (int i = 0; i < 3; i++)
        gradient[a][i] = sign[i] / h[i] * factor[(i + 1) % 3] * factor[(i + 2) % 3];
    }
    for (int i = 0; i < 3; i++) gradient[CORNERS + i][i] = -4.0 * r[i] / h[i]; /* of 1 - r^2 */
    for (int a = 0; a < CORNERS; a++)
      for (int b = 0; b < CORNERS; b++)
        for (int i = 0; i < 3; i++)
          mass[SOLID * (3 * a + i) + 3 * b + i] += material->density * volume * N[a] * N[b];
    /* the energy of grad u = e_i g_a^T: lame tr^2/2 + shear e : e */
    for (int a = 0; a < ALL / 3; a++)
      for (int b = 0; b < ALL / 3; b++) {
        const double *ga = gradient[a], *gb = gradient[b];
        const double dot = ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2];
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++)
            K[ALL * (3 * a + i) + 3 * b + j] +=
                volume * (lame * ga[i] * gb[j] + shear * (ga[j] * gb[i] + (i == j ? dot : 0.0)));
      }
  }
  /* the incompatible modes are without load: K_uu - K_ui K_ii^-1 K_iu */
  double inner[INNER * INNER], coupling[INNER * SOLID];
  int column;
  for (int i = 0; i < INNER; i++) {
    for (int j = 0; j < INNER; j++) inner[i + INNER * j] = K[ALL * (SOLID + i) + SOLID + j];
    for (int j = 0; j < SOLID; j++) coupling[i + INNER * j] = K[ALL * (SOLID + i) + j];
  }
  const pol_status status = poli_full_solve(INNER, inner, SOLID, coupling, &column);
  for (int i = 0; i < SOLID; i++)
    for (int j = 0; j < SOLID; j++) {
      double sum = K[ALL * i + j];
      for (int k = 0; k < INNER; k++) sum -= K[ALL * i + SOLID + k] * coupling[k + INNER * j];
      stiffness[SOLID * i + j] = sum;
    }
  return status;
}

static int is_positive(double number)
{
  return number > 0.0 && isfinite(number);
}

/* Frees elements whose sizes lead to numbers beyond the range of the machine. */
static pol_status check_range(pol_finite_elements **elements)
{
  const pol_finite_elements *e = *elements;
  int valid = 1;
  for (int k = 0; k < e->mass_pattern->start[e->mass_pattern->cols]; k++)
    valid &= isfinite(e->mass[k]);
  for (int k = 0; k < e->stiffness_pattern->start[e->stiffness_pattern->cols]; k++)
    valid &= isfinite(e->stiffness[k]);
  if (valid) return POL_OK;
  pol_finite_elements_free(elements);
  return POL_BAD_ARGUMENT;
}

pol_status pol_finite_elements_block(pol_finite_elements **elements, const double size[3],
                                     const int counts[3], const pol_material *material)
{
  const double most = 2e6; /* nodes: three freedoms each and 81 entries a row are below 2^31 */
  double h[3], nodes = 1.0;
  int valid = is_positive(material->young) && is_positive(material->density) &&
              material->poisson > -1.0 && material->poisson < 0.5;
  *elements = NULL;
  for (int i = 0; i < 3; i++) {
    valid &= is_positive(size[i]) && counts[i] >= 1;
    h[i] = size[i] / counts[i];
    nodes *= 1.0 + counts[i];
  }
  if (!valid || nodes > most) return POL_BAD_ARGUMENT;
  const int nx = counts[0] + 1, ny = counts[1] + 1, num_nodes = (int)nodes;
  const int count = counts[0] * counts[1] * counts[2];
  double *positions = malloc(3 * (size_t)num_nodes * sizeof *positions);
  int *corners = malloc(CORNERS * (size_t)count * sizeof *corners);
  pol_status status = corners && positions ? POL_OK : POL_NO_MEMORY;
  for (int n = 0; n < num_nodes && !status; n++) {
    const int at[3] = {n % nx, n / nx % ny, n / nx / ny};
    for (int i = 0; i < 3; i++) positions[3 * n + i] = at[i] * h[i] - (i > 0 ? 0.5 * size[i] : 0.0);
  }
  for (int e = 0; e < count && !status; e++) {
    const int at[3] = {e % counts[0], e / counts[0] % counts[1], e / counts[0] / counts[1]};
    for (int a = 0; a < CORNERS; a++)
      corners[CORNERS * e + a] =
          at[0] + (a & 1) + nx * (at[1] + (a >> 1 & 1) + ny * (at[2] + (a >> 2)));
  }
  if (status)
    free(positions);
  else
    status = create(elements, num_nodes, 3, positions, count, CORNERS, corners);
  double mass[SOLID * SOLID], stiffness[SOLID * SOLID];
  if (!status) status = make_hexahedron(h, material, mass, stiffness);
  if (status > 0) status = POL_BAD_ARGUMENT; /* singular: sizes beyond the range of the machine */
  for (int e = 0; e < count && !status; e++)
    add_element(*elements, CORNERS, corners + CORNERS * e, mass, stiffness);
  free(corners);
  if (status) pol_finite_elements_free(elements);
  return status ? status : check_range(elements);
}

/* --- beams ------------------------------------------------------------------------------------ */

enum { BEAM = 12 };

/* Bending in one plane: displacement and its rotation at both ends, by rows; bending and shear
 * stiffness, mass and rotational inertia by length. */
static void make_bending(double L, double bending, double shear, double mass, double inertia,
                         double M[16], double K[16])
{
  static const double points[] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                                  0.93056815579702629};
  static const double weights[] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                   0.17392742256872693};
  const double P = 12.0 * bending / (shear * L * L), c = 1.0 / (1.0 + P);
  memset(M, 0, 16 * sizeof *M);
  memset(K, 0, 16 * sizeof *K);
  for (int g = 0; g < 4; g++) {
    const double s = points[g], s2 = s * s, s3 = s2 * s;
    const double w[4] = {c * (2.0 * s3 - 3.0 * s2 - P * s) + 1.0,
                         c * L * (s3 - (2.0 + 0.5 * P) * s2 + (1.0 + 0.5 * P) * s),
                         -c * (2.0 * s3 - 3.0 * s2 - P * s),
                         c * L * (s3 - (1.0 - 0.5 * P) * s2 - 0.5 * P * s)};
    const double turn[4] = {6.0 * c / L * (s2 - s), c * (3.0 * s2 - (4.0 + P) * s) + 1.0,
                            -6.0 * c / L * (s2 - s), c * (3.0 * s2 - (2.0 - P) * s)};
    const double curvature[4] = {6.0 * c / (L * L) * (2.0 * s - 1.0), c / L * (6.0 * s - (4.0 + P)),
                                 -6.0 * c / (L * L) * (2.0 * s - 1.0),
                                 c / L * (6.0 * s - (2.0 - P))};
    const double strain[4] = {-c * P / L, -0.5 * c * P, c * P / L, -0.5 * c * P};
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        M[4 * i + j] += weights[g] * L * (mass * w[i] * w[j] + inertia * turn[i] * turn[j]);
        K[4 * i + j] += weights[g] * L *
                        (bending * curvature[i] * curvature[j] + shear * strain[i] * strain[j]);
      }
  }
}

/* An element in axes of its own, x along it: freedoms ux, uy, uz, rx, ry, rz at both ends. */
static void make_beam(const pol_beam *beam, double L, double mass[BEAM * BEAM],
                      double stiffness[BEAM * BEAM])
{
  const double *k = beam->stiffness, *J = beam->inertia;
  const double linear[2] = {2.0, 1.0};
  double M[16], K[16];
  memset(mass, 0, BEAM * BEAM * sizeof *mass);
  memset(stiffness, 0, BEAM * BEAM * sizeof *stiffness);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) { /* stretching and torsion */
      const double sign = i == j ? 1.0 : -1.0;
      mass[BEAM * (6 * i) + 6 * j] = beam->mass * L / 6.0 * linear[i != j];
      stiffness[BEAM * (6 * i) + 6 * j] = sign * k[21] / L;
      mass[BEAM * (6 * i + 3) + 6 * j + 3] = J[0] * L / 6.0 * linear[i != j];
      stiffness[BEAM * (6 * i + 3) + 6 * j + 3] = sign * k[0] / L;
    }
  /* uy and rz = uy';  uz and ry = -uz' */
  static const int freedoms[2][4] = {{1, 5, 7, 11}, {2, 4, 8, 10}};
  for (int plane = 0; plane < 2; plane++) {
    make_bending(L, plane ? k[7] : k[14], plane ? k[35] : k[28], beam->mass, plane ? J[4] : J[8], M,
                 K);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        const double sign = plane && i % 2 != j % 2 ? -1.0 : 1.0;
        mass[BEAM * freedoms[plane][i] + freedoms[plane][j]] = sign * M[4 * i + j];
        stiffness[BEAM * freedoms[plane][i] + freedoms[plane][j]] = sign * K[4 * i + j];
      }
  }
}

/* The axes of element k as columns: x from node to node, y and z near those of the section. */
static double element_axes(const pol_beam *beam, int k, double A[9])
{
  const double *from = beam->positions + 3 * k;
  const double *q = beam->ends ? beam->ends + 8 * k : beam->rotations + 4 * k;
  double section[9], x[3], y[3], z[3], length = 0.0, along = 0.0, square = 0.0;
  pol_quat_to_matrix(q, section);
  for (int i = 0; i < 3; i++) length = hypot(length, from[3 + i] - from[i]);
  for (int i = 0; i < 3; i++) x[i] = (from[3 + i] - from[i]) / length;
  for (int i = 0; i < 3; i++) along += x[i] * section[3 * i + 1];
  for (int i = 0; i < 3; i++) y[i] = section[3 * i + 1] - along * x[i];
  for (int i = 0; i < 3; i++) square += y[i] * y[i];
  for (int i = 0; i < 3; i++) y[i] /= sqrt(square);
  for (int i = 0; i < 3; i++)
    z[i] = x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3];
  for (int i = 0; i < 3; i++) {
    A[3 * i] = x[i];
    A[3 * i + 1] = y[i];
    A[3 * i + 2] = z[i];
  }
  return length;
}

/* Blocks of three rows and columns from the axes of the element to the global ones: A B A^T. */
static void turn_element(const double A[9], double B[BEAM * BEAM])
{
  for (int row = 0; row < BEAM; row += 3)
    for (int column = 0; column < BEAM; column += 3) {
      double half[9] = {0.0}, whole[9] = {0.0};
      for (int i = 0; i < 27; i++)
        half[i / 3] += A[i / 9 * 3 + i % 3] * B[BEAM * (row + i % 3) + column + i / 3 % 3];
      for (int i = 0; i < 27; i++)
        whole[i / 3] += half[i / 9 * 3 + i % 3] * A[i / 3 % 3 * 3 + i % 3];
      for (int i = 0; i < 9; i++) B[BEAM * (row + i / 3) + column + i % 3] = whole[i];
    }
}

pol_status pol_finite_elements_beam(pol_finite_elements **elements, const pol_beam *beam)
{
  const int count = beam->num_nodes - 1;
  int valid = count >= 1 && is_positive(beam->mass);
  *elements = NULL;
  for (int i = 0; i < 36; i++)
    valid &= i % 7 == 0 ? is_positive(beam->stiffness[i]) : beam->stiffness[i] == 0.0;
  for (int i = 0; i < 9; i++)
    valid &= i % 4 == 0 ? beam->inertia[i] >= 0.0 : beam->inertia[i] == 0.0;
  for (int i = 0; i < 2; i++) valid &= beam->center[i] == 0.0;
  if (!valid) return POL_BAD_ARGUMENT;
  const size_t size = 3 * (size_t)beam->num_nodes * sizeof(double);
  double *positions = malloc(size);
  int *ends = malloc(2 * (size_t)count * sizeof *ends);
  pol_status status = POL_NO_MEMORY;
  if (positions && ends) {
    memcpy(positions, beam->positions, size);
    for (int k = 0; k < 2 * count; k++) ends[k] = k / 2 + k % 2;
    status = create(elements, beam->num_nodes, 6, positions, count, 2, ends);
  } else {
    free(positions);
  }
  for (int k = 0; k < count && !status; k++) {
    double mass[BEAM * BEAM], stiffness[BEAM * BEAM], A[9];
    make_beam(beam, element_axes(beam, k, A), mass, stiffness);
    turn_element(A, mass);
    turn_element(A, stiffness);
    add_element(*elements, 2, ends + 2 * k, mass, stiffness);
  }
  free(ends);
  return status ? status : check_range(elements);
}
