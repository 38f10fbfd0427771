/* Export to VTK: one UnstructuredGrid file (.vtu, XML; VTK file formats) a frame and a collection
 * (.pvd) with their times.
 *
 * Each body, named marker and joint is a point, with a cell of its own, with its name, its kind (0
 * body, 1 marker, 2 joint), the three axes of its frame in global axes (the columns of its rotation
 * matrix), velocity, angular velocity, and of joints the force and torque; what a point does not
 * have is zero, and the axes of a point without rotation are the global ones.  Numbers are written
 * with 17 digits, as text.
 *
 * Bodies and markers are found by the names of their channels, so that CSV results can be exported
 * too.  A joint is where its second marker is: that takes the model.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/model.h>
#include <polhode/output.h>

#include "io/result/result.h"
#include "lie/small.h"

typedef enum point_kind { BODY, MARKER, JOINT } point_kind;

/* Quantities of a point, each a few channels, and what they are called in the file. */
enum { POSITION, QUATERNION, VELOCITY, ANGULAR_VELOCITY, FORCE, TORQUE, NUM_QUANTITIES };
static const char *const quantity_names[NUM_QUANTITIES] = {
    "position", "quaternion", "velocity", "angular_velocity_global", "force", "torque"};
static const char *const vectors[] = {"velocity", "angular_velocity", "force", "torque"};

typedef struct vtk_point {
  point_kind kind;
  char *name;
  int column[NUM_QUANTITIES]; /* its first number in a frame; -1 if it does not have it */
  /* joints: the point of the model that it is on, -1 for the ground, and where in its axes */
  int body;
  double arm[3];
} vtk_point;

typedef struct exporter {
  pol_result *result;
  const char *folder;
  long every, candidates, frames; /* frames of the candidates, which are each every-th row */
  int num_points, capacity;
  vtk_point *points;
  int width;                   /* numbers of a frame */
  int *channels;               /* of each of them; the time is the first */
  double *frame;               /* the numbers of one */
  double *times;               /* of all frames */
  int last_body, last_channel; /* that were found for a joint: the next are near */
  char *message;
  size_t size;
} exporter;

/* --- which channels --------------------------------------------------------------------------- */

/* Gives a point the quantity, if all its channels BASE.QUANTITY.COMPONENT are there: looks from
 * `from` on as far as one object goes. */
static void add_quantity(exporter *e, vtk_point *point, int quantity, int from, const char *base,
                         size_t length)
{
  const char *name = quantity_names[quantity], *parts = quantity == QUATERNION ? "wxyz" : "xyz";
  const size_t name_length = strlen(name);
  const int end = pol_result_count(e->result) < from + 64 ? pol_result_count(e->result) : from + 64;
  int channels[4], count = 0;
  for (; parts[count] != '\0'; count++) {
    channels[count] = -1;
    for (int i = from; i < end && channels[count] < 0; i++) {
      const char *channel = pol_result_channel(e->result, i)->name;
      if (strncmp(channel, base, length) != 0 || channel[length] != '.') continue;
      const char *rest = channel + length + 1;
      if (strncmp(rest, name, name_length) == 0 && rest[name_length] == '.' &&
          rest[name_length + 1] == parts[count] && rest[name_length + 2] == '\0')
        channels[count] = i;
    }
    if (channels[count] < 0) return;
  }
  point->column[quantity] = e->width;
  for (int k = 0; k < count; k++) e->channels[e->width++] = channels[k];
}

/* A new point without anything; NULL if memory is out. */
static vtk_point *add_point(exporter *e, point_kind kind, const char *name, size_t length)
{
  if (e->num_points == e->capacity) {
    const int capacity = e->capacity ? 2 * e->capacity : 16;
    vtk_point *longer = realloc(e->points, (size_t)capacity * sizeof *longer);
    if (longer == NULL) return NULL;
    e->points = longer;
    e->capacity = capacity;
  }
  vtk_point *point = &e->points[e->num_points];
  *point = (vtk_point){.kind = kind, .body = -1};
  for (int i = 0; i < NUM_QUANTITIES; i++) point->column[i] = -1;
  point->name = poli_format("%.*s", (int)length, name);
  if (point->name == NULL) return NULL;
  e->num_points++;
  return point;
}

/* Bodies and markers: whatever has the three channels of a position, "....position.x" first. */
static pol_status find_bodies(exporter *e)
{
  static const char suffix[] = ".position.x", prefix[] = "marker.";
  for (int i = 0; i < pol_result_count(e->result); i++) {
    const char *name = pol_result_channel(e->result, i)->name;
    const size_t length = strlen(name);
    if (length < sizeof suffix || strcmp(name + length - (sizeof suffix - 1), suffix) != 0)
      continue;
    const size_t base = length - (sizeof suffix - 1);
    const char *group = pol_result_channel(e->result, i)->group;
    const int is_marker = group[0] != '\0' ? strcmp(group, "markers") == 0
                                           : strncmp(name, prefix, sizeof prefix - 1) == 0;
    const size_t skip = is_marker && base > sizeof prefix - 1 ? sizeof prefix - 1 : 0;
    vtk_point *point = add_point(e, is_marker ? MARKER : BODY, name + skip, base - skip);
    if (point == NULL) return POL_NO_MEMORY;
    for (int q = POSITION; q <= ANGULAR_VELOCITY; q++) add_quantity(e, point, q, i, name, base);
    if (point->column[POSITION] >= 0) continue;
    free(point->name);
    e->num_points--;
  }
  return POL_OK;
}

static pol_status add_joint(exporter *e, const pol_mechanism *mechanism, int index)
{
  const pol_joint *joint = pol_mechanism_joint(mechanism, index);
  const pol_marker *marker = pol_mechanism_marker(mechanism, joint->marker[1]);
  const size_t length = strlen(joint->name);
  const int count = pol_result_count(e->result), num_points = e->num_points;
  int body = -1;
  if (marker->body != POL_GROUND) {
    const char *name = pol_mechanism_body(mechanism, marker->body)->name;
    for (int k = 0; k < num_points && body < 0; k++) {
      const int i = (e->last_body + k) % num_points;
      if (e->points[i].kind == BODY && strcmp(e->points[i].name, name) == 0) body = i;
    }
    if (body < 0) return POL_OK; /* not recorded */
    e->last_body = body;
  }
  vtk_point *point = add_point(e, JOINT, joint->name, length);
  if (point == NULL) return POL_NO_MEMORY;
  point->body = body;
  poli_v3_copy(marker->position, point->arm);
  for (int k = 0; k < count; k++) {
    const int i = (e->last_channel + k) % count;
    const char *name = pol_result_channel(e->result, i)->name;
    if (strncmp(name, joint->name, length) != 0 || name[length] != '.') continue;
    e->last_channel = i;
    break;
  }
  add_quantity(e, point, FORCE, e->last_channel, joint->name, length);
  add_quantity(e, point, TORQUE, e->last_channel, joint->name, length);
  return POL_OK;
}

/* Joints, if the result has the text of its model. */
static pol_status find_joints(exporter *e)
{
  const pol_result_info *info = pol_result_about(e->result);
  pol_errors errors = {0};
  pol_model *model;
  if (info->model == NULL) return POL_OK;
  pol_status status = pol_model_read_text(&model, info->model, info->num_overrides,
                                          (const char *const *)info->overrides, &errors);
  pol_errors_clear(&errors);
  /* a model that this version cannot read is as good as none */
  if (status != POL_OK) return status == POL_NO_MEMORY ? status : POL_OK;
  for (int i = 0; status == POL_OK && i < pol_mechanism_num_joints(model->mechanism); i++)
    status = add_joint(e, model->mechanism, i);
  pol_model_free(&model);
  return status;
}

/* --- files ------------------------------------------------------------------------------------ */

static void rotation_of(const exporter *e, int index, double R[9])
{
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const vtk_point *point = &e->points[index];
  if (point->kind == JOINT && point->body >= 0) point = &e->points[point->body];
  poli_m3_copy(identity, R);
  if (point->column[QUATERNION] >= 0) pol_quat_to_matrix(e->frame + point->column[QUATERNION], R);
}

static void put_vector(FILE *file, const double *x, int count)
{
  char text[40];
  for (int i = 0; i < count; i++) {
    poli_print_number(text, sizeof text, x[i]);
    fprintf(file, "%s%s", text, i + 1 < count ? " " : "\n");
  }
}

static void open_array(FILE *file, const char *type, const char *name, int components)
{
  fprintf(file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n",
          type, name, components);
}

static const char close_array[] = "</DataArray>\n";

/* What every point has: first, first + step, ... */
static void put_numbers(const exporter *e, FILE *file, const char *type, const char *name,
                        int first, int step)
{
  open_array(file, type, name, 1);
  for (int i = 0; i < e->num_points; i++) fprintf(file, "%d\n", first + step * i);
  fputs(close_array, file);
}

static void put_point_data(const exporter *e, FILE *file)
{
  static const char *const axes[] = {"axis_x", "axis_y", "axis_z"};
  static const double zero[3] = {0.0, 0.0, 0.0};
  /* names as VTK writes strings: codes of characters, each string ended by 0 */
  fputs("<PointData>\n<Array type=\"String\" Name=\"name\" format=\"ascii\">\n", file);
  for (int i = 0; i < e->num_points; i++) {
    for (const char *c = e->points[i].name; *c != '\0'; c++)
      fprintf(file, "%d ", (unsigned char)*c);
    fputs("0\n", file);
  }
  fputs("</Array>\n", file);
  open_array(file, "Int32", "kind", 1);
  for (int i = 0; i < e->num_points; i++) fprintf(file, "%d\n", (int)e->points[i].kind);
  fputs(close_array, file);
  for (int axis = 0; axis < 3; axis++) {
    open_array(file, "Float64", axes[axis], 3);
    for (int i = 0; i < e->num_points; i++) {
      double R[9];
      rotation_of(e, i, R);
      put_vector(file, (double[3]){R[axis], R[3 + axis], R[6 + axis]}, 3);
    }
    fputs(close_array, file);
  }
  for (int q = VELOCITY; q < NUM_QUANTITIES; q++) {
    open_array(file, "Float64", vectors[q - VELOCITY], 3);
    for (int i = 0; i < e->num_points; i++) {
      const int column = e->points[i].column[q];
      put_vector(file, column >= 0 ? e->frame + column : zero, 3);
    }
    fputs(close_array, file);
  }
  fputs("</PointData>\n", file);
}

/* The points of a frame, a cell for each (a vertex), and what they have. */
static void put_frame(const exporter *e, FILE *file)
{
  enum { VTK_VERTEX = 1 };
  fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" "
        "byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n"
        "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
        "format=\"ascii\">\n",
        file);
  put_vector(file, e->frame, 1);
  fprintf(file,
          "</DataArray>\n</FieldData>\n"
          "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<Points>\n",
          e->num_points, e->num_points);
  open_array(file, "Float64", "position", 3);
  for (int i = 0; i < e->num_points; i++) {
    const vtk_point *point = &e->points[i];
    double R[9], arm[3], x[3];
    if (point->kind != JOINT) {
      poli_v3_copy(e->frame + point->column[POSITION], x);
    } else if (point->body < 0) {
      poli_v3_copy(point->arm, x);
    } else {
      rotation_of(e, i, R);
      poli_m3_apply(R, point->arm, arm);
      poli_v3_add(e->frame + e->points[point->body].column[POSITION], arm, x);
    }
    put_vector(file, x, 3);
  }
  fputs(close_array, file);
  fputs("</Points>\n<Cells>\n", file);
  put_numbers(e, file, "Int32", "connectivity", 0, 1);
  put_numbers(e, file, "Int32", "offsets", 1, 1);
  put_numbers(e, file, "UInt8", "types", VTK_VERTEX, 0);
  fputs("</Cells>\n", file);
  put_point_data(e, file);
  fputs("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", file);
}

/* Writes frame n, or the collection if n is negative. */
static pol_status write_file(const exporter *e, long n)
{
  char *path = n < 0 ? poli_format("%s/motion.pvd", e->folder)
                     : poli_format("%s/frame_%06ld.vtu", e->folder, n);
  if (path == NULL) return POL_NO_MEMORY;
  errno = 0;
  /* the user has not named this file: it must not lead to another one */
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
  if (file != NULL && n >= 0) put_frame(e, file);
  if (file != NULL && n < 0) {
    char time[40];
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
          "byte_order=\"LittleEndian\">\n<Collection>\n",
          file);
    for (long k = 0; k < e->frames; k++) {
      poli_print_number(time, sizeof time, e->times[k]);
      fprintf(file, "<DataSet timestep=\"%s\" part=\"0\" file=\"frame_%06ld.vtu\"/>\n", time, k);
    }
    fputs("</Collection>\n</VTKFile>\n", file);
  }
  const int failed = file == NULL || pol_output_close(file, path, POL_OK) != POL_OK;
  if (failed)
    snprintf(e->message, e->size, "%s cannot be written: %s", path,
             errno == ELOOP ? "it is a symbolic link" : strerror(errno));
  free(path);
  return failed ? POL_IO : POL_OK;
}

/* How many frames the collection in the folder lists that an export before has left; 0 if there is
 * none. */
static pol_status count_old_frames(const exporter *e, long *count)
{
  char line[256];
  char *path = poli_format("%s/motion.pvd", e->folder);
  *count = 0;
  if (path == NULL) return POL_NO_MEMORY;
  FILE *file = fopen(path, "rb");
  free(path);
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    long n;
    if (sscanf(line, "<DataSet timestep=\"%*[^\"]\" part=\"0\" file=\"frame_%ld.vtu\"/>", &n) ==
            1 &&
        n == *count)
      ++*count;
  }
  if (file != NULL) fclose(file);
  return POL_OK;
}

/* All files, and no others from an export before. */
static pol_status write_files(exporter *e)
{
  long old_frames;
  e->frame = malloc((size_t)e->width * sizeof *e->frame);
  e->times = malloc(((size_t)e->frames + 1) * sizeof *e->times);
  if (e->frame == NULL || e->times == NULL) return POL_NO_MEMORY;
  pol_status status = count_old_frames(e, &old_frames);
  const long gaps = e->frames - 1;
  for (long n = 0; status == POL_OK && n < e->frames; n++) {
    /* the candidates, or as many as there are frames, evenly from the first to the last */
    const long row = e->frames < 2 || e->frames == e->candidates
                         ? n
                         : (n * (e->candidates - 1) + gaps / 2) / gaps;
    status = pol_result_read(e->result, e->width, e->channels, row * e->every, 1, e->frame);
    e->times[n] = e->frame[0];
    if (status == POL_OK) {
      status = write_file(e, n);
    } else if (status == POL_IO) {
      snprintf(e->message, e->size, "%s", POL_RESULT_DAMAGED);
      return POL_BAD_ARGUMENT; /* POL_IO is kept for the files that are written */
    }
  }
  if (status == POL_OK) status = write_file(e, -1);
  /* frames that the new collection does not list */
  for (long n = e->frames; status == POL_OK && n < old_frames; n++) {
    char *path = poli_format("%s/frame_%06ld.vtu", e->folder, n);
    if (path == NULL) return POL_NO_MEMORY;
    remove(path);
    free(path);
  }
  return status;
}

static pol_status export(exporter *e)
{
  const int t = pol_result_find_channel(e->result, "t");
  const size_t count = (size_t)pol_result_count(e->result);
  /* the time, and each channel once at most, but for the bodies of joints */
  e->channels = malloc((count + 1) * sizeof *e->channels);
  if (e->channels == NULL) return POL_NO_MEMORY;
  e->channels[e->width++] = t >= 0 ? t : 0;
  pol_status status = find_bodies(e);
  if (status == POL_OK && e->num_points == 0) {
    snprintf(e->message, e->size, "there are no channels NAME.position.x, .y and .z");
    return POL_BAD_ARGUMENT;
  }
  if (status == POL_OK) status = find_joints(e);
  return status == POL_OK ? write_files(e) : status;
}

pol_status pol_vtk_export(pol_result *result, const char *folder, long every, long most,
                          long *frames, char *message, size_t size)
{
  char unwanted[256];
  if (message == NULL) {
    message = unwanted;
    size = sizeof unwanted;
  }
  if (every < 1 || most < 0) {
    snprintf(message, size, every < 1 ? "every must be at least 1" : "most must not be negative");
    return POL_BAD_ARGUMENT;
  }
  const long rows = pol_result_rows(result);
  const long candidates = rows > 0 ? (rows - 1) / every + 1 : 0;
  exporter e = {.result = result,
                .folder = folder,
                .every = every,
                .candidates = candidates,
                .frames = most > 0 && most < candidates ? most : candidates,
                .message = message,
                .size = size};
  pol_status status = export(&e);
  if (status == POL_NO_MEMORY) snprintf(message, size, "%s", pol_status_text(status));
  if (frames != NULL) *frames = status == POL_OK ? e.frames : 0;
  for (int i = 0; i < e.num_points; i++) free(e.points[i].name);
  free(e.points);
  free(e.channels);
  free(e.frame);
  free(e.times);
  return status;
}
