/* Solids of revolution and boxes as triangles. */
#include "draw/viewer/solids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 32, RINGS = 16, MOST_CORNERS = 6 * SIDES * RINGS };

static const double pi = 3.14159265358979323846;

static pol_status allocate(poli_solid *solid, size_t corners)
{
  *solid = (poli_solid){.points = malloc(3 * corners * sizeof *solid->points + 1),
                        .normals = malloc(3 * corners * sizeof *solid->normals + 1)};
  return solid->points != NULL && solid->normals != NULL ? POL_OK : POL_NO_MEMORY;
}

static void add_corner(poli_solid *solid, const double point[3], const double normal[3])
{
  const double size = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  for (int i = 0; i < 3; i++) {
    solid->points[3 * solid->count + (size_t)i] = (float)point[i];
    solid->normals[3 * solid->count + (size_t)i] = (float)(size > 0.0 ? normal[i] / size : 0.0);
  }
  solid->count++;
}

/* The band between two circles about z, counterclockwise from outside; each has a radius, a height
 * and a normal (outwards and along z). */
typedef struct circle {
  double radius, height, out, up;
} circle;

static void add_band(poli_solid *solid, circle low, circle high)
{
  const circle *rims[] = {&low, &high};
  static const int order[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 0}, {1, 1}, {1, 0}}; /* rim, next */
  for (int i = 0; i < SIDES; i++)
    for (int k = 0; k < 6; k++) {
      const circle *rim = rims[order[k][0]];
      /* a triangle with two corners in one point is none */
      if (rims[k < 3 ? 0 : 1]->radius == 0.0) continue;
      const double angle = 2.0 * pi * (i + order[k][1]) / SIDES, c = cos(angle), s = sin(angle);
      const double point[3] = {rim->radius * c, rim->radius * s, rim->height};
      const double normal[3] = {rim->out * c, rim->out * s, rim->up};
      add_corner(solid, point, normal);
    }
}

static void add_box(poli_solid *solid)
{
  static const int corners[6][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}};
  for (int face = 0; face < 6; face++)
    for (int k = 0; k < 6; k++) {
      const int axis = face / 2, sign = face % 2 ? 1 : -1;
      double point[3], normal[3] = {0.0, 0.0, 0.0};
      point[axis] = 0.5 * sign;
      normal[axis] = sign;
      /* on the lower side the other way around */
      point[(axis + 1) % 3] = 0.5 * corners[k][sign > 0 ? 0 : 1];
      point[(axis + 2) % 3] = 0.5 * corners[k][sign > 0 ? 1 : 0];
      add_corner(solid, point, normal);
    }
}

pol_status poli_solid_create(poli_solid *solid, pol_shape_type type)
{
  const pol_status status = allocate(solid, MOST_CORNERS);
  if (status != POL_OK) return status;
  if (type == POL_BOX) add_box(solid);
  if (type == POL_CYLINDER || type == POL_CONE) {
    /* the side of a cone rises by its length over its radius */
    const double top = type == POL_CYLINDER ? 0.5 : 0.0, up = type == POL_CYLINDER ? 0.0 : 0.5;
    add_band(solid, (circle){0.0, -0.5, 0.0, -1.0}, (circle){0.5, -0.5, 0.0, -1.0});
    add_band(solid, (circle){0.5, -0.5, 1.0, up}, (circle){top, 0.5, 1.0, up});
    if (top > 0.0) add_band(solid, (circle){top, 0.5, 0.0, 1.0}, (circle){0.0, 0.5, 0.0, 1.0});
  }
  for (int i = 0; type == POL_SPHERE && i < RINGS; i++) {
    const double low = pi * i / RINGS, high = pi * (i + 1) / RINGS;
    const double first = i > 0 ? sin(low) : 0.0, last = i + 1 < RINGS ? sin(high) : 0.0;
    add_band(solid, (circle){0.5 * first, -0.5 * cos(low), first, -cos(low)},
             (circle){0.5 * last, -0.5 * cos(high), last, -cos(high)});
  }
  return POL_OK;
}

pol_status poli_solid_of_mesh(poli_solid *solid, const double *points, size_t count)
{
  const pol_status status = allocate(solid, count);
  for (size_t t = 0; status == POL_OK && t + 2 < count; t += 3) {
    double p[3][3], n[3];
    for (size_t i = 0; i < 9; i++) p[i / 3][i % 3] = points[3 * t + i];
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      n[i] = (p[1][j] - p[0][j]) * (p[2][k] - p[0][k]) - (p[1][k] - p[0][k]) * (p[2][j] - p[0][j]);
    }
    for (int i = 0; i < 3; i++) add_corner(solid, p[i], n);
  }
  return status;
}

void poli_solid_free(poli_solid *solid)
{
  free(solid->points);
  free(solid->normals);
  *solid = (poli_solid){0};
}
