/* MJCF: geoms, as mass and as shapes; <inertial>; sites. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/file/mesh.h"
#include "io/robot/mjcf.h"
#include "lie/small.h"

static const double pi = 3.14159265358979323846;

/* An asset of that kind by the name that an attribute of the geom has. */
static const xmlNode *find_asset(const poli_mjcf *m, const xmlNode *at, const char *kind)
{
  char *wanted = poli_mjcf_text(m, at, kind);
  const xmlNode *found = NULL;
  for (const xmlNode *list = poli_xml_child(m->top, "asset"); wanted && list && !found;
       list = poli_xml_next(list))
    for (const xmlNode *a = poli_xml_child(list, kind); a && !found; a = poli_xml_next(a)) {
      char *name = poli_xml_text(a, "name"), *file = name ? NULL : poli_xml_text(a, "file");
      if (file) { /* without a name: that of the file without folder and ending */
        const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
        const char *dot = strrchr(base, '.');
        const size_t length = dot ? (size_t)(dot - base) : strlen(base);
        if (strlen(wanted) == length && strncmp(wanted, base, length) == 0) found = a;
        xmlFree(file);
      }
      if (name && strcmp(name, wanted) == 0) found = a;
      if (name) xmlFree(name);
    }
  if (wanted) xmlFree(wanted);
  return found;
}

/* Type, size and pose of a geom, pose of a site. */
static void read_part(poli_mjcf *m, poli_mjcf_part *part, const char *path)
{
  static const char *const types[] = {"sphere", "capsule", "ellipsoid", "cylinder",
                                      "box",    "mesh",    "plane"};
  static const int sizes[] = {1, 2, 3, 2, 3, 0, 0};
  const int before = m->robot->errors->count;
  poli_mjcf_pose(m, part->at, path, &part->pose);
  if (part->is_geom) {
    char *type = poli_mjcf_text(m, part->at, "type");
    int k = 0;
    while (type && k < POLI_OTHER && strcmp(types[k], type) != 0) k++;
    if (k == POLI_OTHER && strcmp(type, "hfield") != 0 && strcmp(type, "sdf") != 0)
      poli_robot_error(m->robot, part->at, path, type,
                       "must have the type sphere, capsule, ellipsoid, cylinder, box, mesh, plane "
                       "or hfield",
                       "");
    if (type) xmlFree(type);
    part->type = (poli_mjcf_type)k;
    part->mesh = find_asset(m, part->at, "mesh");
    int count = poli_mjcf_numbers(m, part->at, "size", path, 1, 3, part->size);
    double ends[6], along[3];
    if (k != POLI_SPHERE && k < POLI_MESH &&
        poli_mjcf_numbers(m, part->at, "fromto", path, 6, 6, ends)) {
      poli_v3_subtract(ends, ends + 3, along);
      poli_v3_add(ends, ends + 3, part->pose.position);
      poli_v3_scale(0.5, part->pose.position, part->pose.position);
      poli_mjcf_turn_z(along, part->pose.R);
      const int is_thick = k == POLI_BOX || k == POLI_ELLIPSOID;
      if (is_thick) part->size[1] = part->size[0];
      part->size[is_thick ? 2 : 1] = 0.5 * sqrt(poli_v3_dot(along, along));
      count = 3;
    }
    int good = k == POLI_OTHER || count >= sizes[k];
    for (int i = 0; good && k < POLI_OTHER && i < sizes[k]; i++) good = part->size[i] > 0.0;
    if (!good)
      poli_robot_error(m->robot, part->at, path, "",
                       "must have positive sizes, as many as its type", "");
    if (k == POLI_MESH && !part->mesh)
      poli_robot_error(m->robot, part->at, path, "", "must have a mesh that <asset> has", "");
    if (k != POLI_MESH && part->mesh)
      poli_robot_error(m->robot, part->at, path, "", "must be of type mesh, since it has one", "");
  }
  poli_pose_product(&part->frame, &part->pose, &part->pose);
  part->is_wrong = m->robot->errors->count > before;
}

/* The file of a mesh and its scale; NULL if it cannot be used, which is noted. */
static char *mesh_file(poli_mjcf *m, const xmlNode *asset, const char *path, double scale[3])
{
  char *file = poli_xml_text(asset, "file"), *folder = poli_mjcf_setting(m, "meshdir");
  if (!folder) folder = poli_mjcf_setting(m, "assetdir");
  scale[0] = scale[1] = scale[2] = 1.0;
  poli_mjcf_numbers(m, asset, "scale", path, 3, 3, scale);
  char *found = NULL;
  if (!file) {
    poli_robot_note(m->robot, "%s: its mesh is not used: it has no file", path);
  } else {
    const int plain = file[0] == '/' || !folder || !folder[0];
    char *name = plain ? poli_format("%s", file) : poli_format("%s/%s", folder, file);
    if (name)
      found = poli_robot_mesh(m->robot, name, path);
    else
      m->robot->status = POL_NO_MEMORY;
    free(name);
  }
  if (file) xmlFree(file);
  if (folder) xmlFree(folder);
  return found;
}

/* Volume, centre and inertia of a mesh at density 1; an error if it has none. */
static double mesh_solid(poli_mjcf *m, const poli_mjcf_part *g, const char *path, poli_solid *solid)
{
  double scale[3];
  char reason[400] = "its mesh has no file";
  poli_mesh mesh = {0};
  poli_moments moments = {0};
  char *file = mesh_file(m, g->mesh, path, scale);
  char *whole = file ? poli_format("%s%s", file[0] == '/' ? "" : m->robot->folder, file) : NULL;
  pol_status status = POL_BAD_ARGUMENT;
  char *name = file ? NULL : poli_xml_text(g->mesh, "file");
  if (name)
    snprintf(reason, sizeof reason, "the file %.200s is not there or is not STL, OBJ or DAE", name);
  if (name) xmlFree(name);
  if (whole) status = poli_mesh_read(&mesh, whole, 1.0, reason, sizeof reason);
  for (size_t i = 0; status == POL_OK && i < 3 * mesh.num_points; i++)
    mesh.points[i] *= scale[i % 3];
  if (status == POL_OK) status = poli_mesh_moments(&mesh, &moments, reason, sizeof reason);
  if (status == POL_NO_MEMORY) {
    m->robot->status = status;
  } else if (status) {
    char *rule = poli_format("cannot have mass: %s", reason);
    if (rule) poli_robot_error(m->robot, g->at, path, "", rule, "");
    free(rule);
  } else {
    const double *S = moments.second;
    poli_v3_copy(moments.center, solid->center);
    for (int i = 0; i < 9; i++) solid->inertia[i] = (i % 4 == 0 ? S[0] + S[4] + S[8] : 0.0) - S[i];
  }
  poli_mesh_free(&mesh);
  free(file);
  free(whole);
  return status ? 0.0 : moments.volume;
}

/* Mass, centre and inertia in the axes of the geom: by its mass, or by its density. */
static void geom_solid(poli_mjcf *m, const poli_mjcf_part *g, const char *path, poli_solid *solid)
{
  const double r = g->size[0], h = g->size[1], *s = g->size;
  double volume = 0.0, moments[3] = {0.0, 0.0, 0.0}; /* at density 1 */
  *solid = (poli_solid){0};
  if (g->type == POLI_SPHERE) {
    volume = 4.0 / 3.0 * pi * r * r * r;
    moments[0] = moments[1] = moments[2] = 0.4 * volume * r * r;
  } else if (g->type == POLI_BOX || g->type == POLI_ELLIPSOID) {
    volume = (g->type == POLI_BOX ? 8.0 : 4.0 / 3.0 * pi) * s[0] * s[1] * s[2];
    const double share = volume / (g->type == POLI_BOX ? 3.0 : 5.0);
    for (int i = 0; i < 3; i++) {
      const double a = s[(i + 1) % 3], b = s[(i + 2) % 3];
      moments[i] = share * (a * a + b * b);
    }
  } else if (g->type == POLI_CYLINDER || g->type == POLI_CAPSULE) {
    /* a cylinder, and half a ball at each end of a capsule */
    const double tube = 2.0 * pi * r * r * h;
    const double caps = g->type == POLI_CAPSULE ? 4.0 / 3.0 * pi * r * r * r : 0.0;
    volume = tube + caps;
    moments[0] = moments[1] =
        tube * (r * r / 4.0 + h * h / 3.0) + caps * (0.4 * r * r + h * h + 0.75 * h * r);
    moments[2] = 0.5 * tube * r * r + 0.4 * caps * r * r;
  }
  for (int i = 0; i < 3; i++) solid->inertia[4 * i] = moments[i];
  double density = 1000.0, mass;
  poli_mjcf_numbers(m, g->at, "density", path, 1, 1, &density);
  const int has_mass = poli_mjcf_numbers(m, g->at, "mass", path, 1, 1, &mass);
  if ((has_mass && mass < 0.0) || density < 0.0)
    poli_robot_error(m->robot, g->at, path, "", "must not have a negative mass or density", "");
  if (has_mass ? !(mass > 0.0) : !(density > 0.0)) {
    *solid = (poli_solid){0};
    return;
  }
  if (g->type == POLI_MESH && g->mesh) volume = mesh_solid(m, g, path, solid);
  if (has_mass && volume > 0.0) density = mass / volume;
  solid->mass = density * volume;
  int finite = isfinite(solid->mass) != 0;
  for (int i = 0; i < 9; i++) {
    solid->inertia[i] *= density;
    finite &= isfinite(solid->inertia[i]) != 0;
  }
  if (!finite) {
    poli_robot_error(m->robot, g->at, path, "",
                     "has a mass or inertia that is too large to calculate with", "");
    *solid = (poli_solid){.mass = 1.0, .inertia = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
  }
}

/* Mass, centre and inertia of <inertial>, in the axes of the body. */
static void read_inertial(poli_mjcf *m, poli_mjcf_body *b)
{
  char *path = poli_format("inertial of %s", b->path);
  poli_solid solid = {0};
  poli_pose pose;
  double diagonal[3] = {0.0, 0.0, 0.0}, full[6];
  if (!path) {
    m->robot->status = POL_NO_MEMORY;
    return;
  }
  poli_mjcf_pose(m, b->inertial, path, &pose);
  if (!poli_mjcf_numbers(m, b->inertial, "mass", path, 1, 1, &solid.mass))
    poli_robot_error(m->robot, b->inertial, path, "", "must have a mass", "");
  if (poli_mjcf_numbers(m, b->inertial, "fullinertia", path, 6, 6, full)) {
    static const int places[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2}; /* xx, yy, zz, xy, xz, yz */
    for (int i = 0; i < 9; i++) solid.inertia[i] = full[places[i]];
  } else {
    poli_mjcf_numbers(m, b->inertial, "diaginertia", path, 3, 3, diagonal);
    for (int i = 0; i < 3; i++) solid.inertia[4 * i] = fmax(diagonal[i], m->least_inertia);
  }
  if (solid.mass < 0.0)
    poli_robot_error(m->robot, b->inertial, path, "", "must not have a negative mass", "");
  solid.mass = fmax(solid.mass, m->least_mass);
  poli_pose_product(&b->inertial_frame, &pose, &pose);
  b->solid = (poli_solid){0};
  poli_solid_add(&b->solid, &solid, &pose);
  free(path);
}

void poli_mjcf_sum_masses(poli_mjcf *m)
{
  for (int i = 0; i < m->num_parts && !m->robot->status; i++) {
    poli_mjcf_part *part = &m->parts[i];
    poli_mjcf_body *b = &m->bodies[part->body];
    const int needed = m->inertia_from_geoms == 1 || (m->inertia_from_geoms == 2 && !b->inertial);
    char *path = poli_mjcf_path(m, part->at, part->body);
    poli_solid solid;
    if (!path) return;
    read_part(m, part, path);
    if (part->is_geom && needed && !part->is_wrong && b->first != 0) {
      geom_solid(m, part, path, &solid);
      poli_solid_add(&b->solid, &solid, &part->pose);
    }
    free(path);
  }
  for (int i = 1; i < m->num_bodies && !m->robot->status; i++) {
    poli_mjcf_body *b = &m->bodies[i], *first = &m->bodies[b->first];
    poli_pose own;
    if (b->inertial && (m->inertia_from_geoms != 1 || !(b->solid.mass > 0.0))) read_inertial(m, b);
    poli_pose_between(&first->pose, &b->pose, &own);
    poli_solid_add(&first->total, &b->solid, &own);
  }
  m->bodies[0].frame = poli_pose_identity;
  for (int i = 1; i < m->num_bodies; i++) {
    poli_mjcf_body *b = &m->bodies[i];
    double offset[3];
    b->frame = b->pose;
    poli_m3_apply(b->pose.R, b->total.center, offset);
    poli_v3_add(b->frame.position, offset, b->frame.position);
  }
}

/* --- shapes and markers ----------------------------------------------------------------------- */

/* red, green, blue and opacity of a geom or its material; 0 if it has none. */
static int read_color(poli_mjcf *m, const xmlNode *at, const char *path, double rgba[4])
{
  const xmlNode *material = find_asset(m, at, "material");
  return poli_mjcf_numbers(m, at, "rgba", path, 4, 4, rgba) ||
         (material && poli_mjcf_numbers(m, material, "rgba", path, 4, 4, rgba));
}

/* Shapes of a geom at a pose in the frame of its body. */
static void add_shapes(poli_mjcf *m, const poli_mjcf_part *g, const char *path,
                       const poli_pose *pose, json_t *shapes)
{
  poli_robot *robot = m->robot;
  double rgba[4] = {0.0}, edges[3], scale[3];
  const double *color = read_color(m, g->at, path, rgba) ? rgba : NULL;
  poli_v3_scale(2.0, g->size, edges);
  if (color && !(rgba[3] > 0.0)) return; /* not visible */
  if (g->type == POLI_SPHERE ||
      (g->type == POLI_ELLIPSOID && g->size[0] == g->size[1] && g->size[0] == g->size[2])) {
    poli_robot_add_shape(robot, shapes,
                         json_pack("{s:s, s:f}", "type", "sphere", "radius", g->size[0]), pose,
                         color);
  } else if (g->type == POLI_CYLINDER || g->type == POLI_CAPSULE) {
    poli_robot_add_shape(robot, shapes,
                         json_pack("{s:s, s:f, s:f}", "type", "cylinder", "radius", g->size[0],
                                   "length", 2.0 * g->size[1]),
                         pose, color);
    for (int end = -1; end <= 1 && g->type == POLI_CAPSULE; end += 2) {
      poli_pose tip = poli_pose_identity;
      tip.position[2] = end * g->size[1];
      poli_pose_product(pose, &tip, &tip);
      poli_robot_add_shape(robot, shapes,
                           json_pack("{s:s, s:f}", "type", "sphere", "radius", g->size[0]), &tip,
                           color);
    }
  } else if (g->type == POLI_BOX) {
    poli_robot_add_shape(
        robot, shapes, json_pack("{s:s, s:o}", "type", "box", "size", poli_json_numbers(edges, 3)),
        pose, color);
  } else if (g->type == POLI_PLANE) { /* a thin slab below it; sizes of zero are infinite */
    for (int i = 0; i < 2; i++) edges[i] = g->size[i] > 0.0 ? edges[i] : 10.0;
    edges[2] = 1e-3;
    poli_pose below = poli_pose_identity;
    below.position[2] = -0.5 * edges[2];
    poli_pose_product(pose, &below, &below);
    poli_robot_add_shape(
        robot, shapes, json_pack("{s:s, s:o}", "type", "box", "size", poli_json_numbers(edges, 3)),
        &below, color);
  } else if (g->type == POLI_MESH && g->mesh) {
    char *file = mesh_file(m, g->mesh, path, scale);
    const char *problem = poli_robot_scale_problem(scale);
    if (file && problem)
      poli_robot_note(robot, "%s is not shown: of its mesh, %s", path, problem);
    else if (file)
      poli_robot_add_shape(
          robot, shapes,
          json_pack("{s:s, s:s, s:f}", "type", "mesh", "file", file, "scale", scale[0]), pose,
          color);
    free(file);
  } else {
    poli_robot_note(robot, "%s is not shown: there are no shapes of its type", path);
  }
}

void poli_mjcf_add_parts(poli_mjcf *m)
{
  for (int i = 0; i < m->num_parts && !m->robot->status; i++) {
    poli_mjcf_part *part = &m->parts[i];
    const poli_mjcf_body *b = &m->bodies[part->body], *first = &m->bodies[b->first];
    char *path = poli_mjcf_path(m, part->at, part->body);
    char *name = part->is_geom ? NULL : poli_xml_text(part->at, "name");
    poli_pose own;
    poli_pose_product(&b->pose, &part->pose, &own);
    poli_pose_between(&first->frame, &own, &own);
    if (path && part->is_geom && !part->is_wrong)
      add_shapes(m, part, path, &own, first->shapes);
    else if (path && name)
      poli_robot_add_marker(m->robot, name, path, first->model_name, &own, &part->marker);
    if (name) xmlFree(name);
    free(path);
  }
}
