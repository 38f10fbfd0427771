/* A mechanism in words, as `polhode check` says it in its table and as JSON. */
#include <stdio.h>

#include "cli/check.h"
#include "cli/text_out.h"

/* Changes of velocities below this, in m/s and rad/s, are round-off. */
static const double negligible_change = 1e-10;

const char *cli_marker_owner(const pol_mechanism *mechanism, int marker)
{
  int body = pol_mechanism_marker(mechanism, marker)->body;
  return body == POL_GROUND ? "ground" : pol_mechanism_body(mechanism, body)->name;
}

void cli_describe_locks(const pol_joint *joint, char *text, size_t size)
{
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int num_rows = pol_joint_rows(joint, rows);
  int rotations = 0;
  size_t used = 0;
  if (joint->type == POL_DISTANCE) {
    snprintf(text, size, "the distance");
    return;
  }
  if (joint->type == POL_ROLLING_SPHERE || joint->type == POL_ROLLING_DISK) {
    snprintf(text, size, "the height and 2 slip velocities, radius %.10g m", joint->radius);
    return;
  }
  text[0] = '\0';
  for (int i = 0; i < num_rows; i++) {
    if (rows[i].kind != POL_ROW_TRANSLATION)
      rotations++;
    else if (used < size)
      used += (size_t)snprintf(text + used, size - used, "%s %c",
                               used > 0 ? ""
                               : i + 1 < num_rows && rows[i + 1].kind == POL_ROW_TRANSLATION
                                   ? "translations"
                                   : "translation",
                               "xyz"[rows[i].axis]);
  }
  if (joint->global_axes && used < size)
    used += (size_t)snprintf(text + used, size - used, " in global axes");
  if (rotations > 0 && used < size)
    snprintf(text + used, size - used, "%s%d rotation%s", used == 0 ? "" : ", ", rotations,
             cli_plural(rotations));
}

void cli_describe_keep(unsigned keep, char *text, size_t size)
{
  static const struct {
    const char *name;
    unsigned bit;
  } kinds[] = {{"position", POL_KEEP_POSITION},
               {"rotation", POL_KEEP_ROTATION},
               {"velocity", POL_KEEP_VELOCITY},
               {"angular velocity", POL_KEEP_ANGULAR_VELOCITY}};
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; k < 4; k++) {
    if (!(keep & 7 * kinds[k].bit)) continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", kinds[k].name);
    for (int axis = 0; axis < 3; axis++)
      if (keep & kinds[k].bit << axis)
        used += (size_t)snprintf(text + used, size - used, " %c", "xyz"[axis]);
  }
}

int cli_is_kept(double change)
{
  return change <= negligible_change;
}

int cli_free_motions(const pol_mechanism *mechanism)
{
  int count = 0;
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    count += pol_mechanism_body(mechanism, i)->point ? 3 : 6;
  return count;
}

int cli_degrees_of_freedom(const cli_findings *found)
{
  return cli_free_motions(found->model->mechanism) - found->num_constraints + found->num_redundant;
}

/* ", times harmonic" where a function of time scales a force. */
static const char *times_word(const pol_force *force)
{
  return force->scale ? ", times " : "";
}

const char *cli_scale_word(const pol_force *force)
{
  return force->scale ? pol_function_type_name(force->scale->type) : "";
}

/* Bushings have more numbers than the others. */
static void describe_bushing(const pol_mechanism *mechanism, const pol_force *force, char *text,
                             size_t size)
{
  const double *k = force->stiffness, *c = force->damping, *kr = force->rotational_stiffness,
               *cr = force->rotational_damping, *f = force->preload, *t = force->preload_torque;
  snprintf(text, size,
           "bushing from %s to %s, stiffness (%.10g, %.10g, %.10g) N/m and (%.10g, %.10g, %.10g) "
           "N m/rad, damping (%.10g, %.10g, %.10g) N s/m and (%.10g, %.10g, %.10g) N m s/rad, "
           "preload (%.10g, %.10g, %.10g) N and (%.10g, %.10g, %.10g) N m",
           cli_marker_owner(mechanism, force->marker[0]),
           cli_marker_owner(mechanism, force->marker[1]), k[0], k[1], k[2], kr[0], kr[1], kr[2],
           c[0], c[1], c[2], cr[0], cr[1], cr[2], f[0], f[1], f[2], t[0], t[1], t[2]);
}

const pol_coordinate_info *cli_spring_coordinate(const pol_mechanism *mechanism,
                                                 const pol_force *force)
{
  return pol_joint_coordinate(pol_mechanism_joint(mechanism, force->joint), force->coordinate);
}

/* A number of a force, or that an expression gives it. */
typedef struct word {
  char text[32];
} word;

static word effort_word(const pol_force *force, int i, double number)
{
  word w = {"(expression)"};
  if (!force->expressions[i]) snprintf(w.text, sizeof w.text, "%.10g", number);
  return w;
}

static void describe_joint_spring(const pol_mechanism *mechanism, const pol_force *force,
                                  char *text, size_t size)
{
  const pol_coordinate_info *coordinate = cli_spring_coordinate(mechanism, force);
  snprintf(text, size,
           coordinate->angular
               ? "%s on the %s of %s, stiffness %.10g N m/rad, damping %.10g N m s/rad, "
                 "relaxed at %.10g rad, actuator %s N m"
               : "%s on the %s of %s, stiffness %.10g N/m, damping %.10g N s/m, relaxed at %.10g "
                 "m, actuator %s N",
           pol_force_type_name(force->type), coordinate->key,
           pol_mechanism_joint(mechanism, force->joint)->name, force->stiffness[0],
           force->damping[0], force->rest, effort_word(force, 0, force->actuator).text);
}

void cli_describe_force(const pol_mechanism *mechanism, const pol_force *force, char *text,
                        size_t size)
{
  const char *type = pol_force_type_name(force->type);
  const double *k = force->stiffness, *c = force->damping, *f = force->vector;
  switch (force->type) {
  case POL_APPLIED_FORCE:
  case POL_APPLIED_TORQUE:
    snprintf(text, size, "%s (%s, %s, %s) %s on %s, %s axes%s%s", type,
             effort_word(force, 0, f[0]).text, effort_word(force, 1, f[1]).text,
             effort_word(force, 2, f[2]).text, force->type == POL_APPLIED_TORQUE ? "N m" : "N",
             pol_mechanism_body(mechanism, force->body)->name, pol_force_frame_name(force->frame),
             times_word(force), cli_scale_word(force));
    break;
  case POL_SUPPORT:
    snprintf(text, size,
             "%s of %s, stiffness (%.10g, %.10g, %.10g) N/m, damping (%.10g, %.10g, %.10g) N s/m",
             type, pol_mechanism_body(mechanism, force->body)->name, k[0], k[1], k[2], c[0], c[1],
             c[2]);
    break;
  case POL_SPRING_DAMPER:
    snprintf(text, size,
             "%s from %s to %s, stiffness %.10g N/m%s, damping %.10g N s/m, free length %.10g m, "
             "actuator %s N%s%s",
             type, cli_marker_owner(mechanism, force->marker[0]),
             cli_marker_owner(mechanism, force->marker[1]), k[0],
             force->law == POL_SQUARED_SPRING ? "^3 (squared-length)" : "", c[0], force->length,
             effort_word(force, 0, force->actuator).text, times_word(force), cli_scale_word(force));
    break;
  case POL_DRAG:
    snprintf(text, size, "%s on %s, coefficient %.10g N s^2/m^2", type,
             pol_mechanism_body(mechanism, force->body)->name, force->coefficient);
    break;
  case POL_BUSHING:
    describe_bushing(mechanism, force, text, size);
    break;
  case POL_CALLBACK_FORCE: /* not in model files */
    snprintf(text, size, "%s", type);
    break;
  case POL_JOINT_SPRING:
    describe_joint_spring(mechanism, force, text, size);
    break;
  }
}

void cli_describe_coordinate(const pol_mechanism *mechanism, const pol_drive *drive, char *text,
                             size_t size)
{
  const char *coordinate = pol_coordinate_name(drive->coordinate);
  if (drive->joint != POL_NO_JOINT) {
    snprintf(text, size, "%s of %s", coordinate,
             pol_mechanism_joint(mechanism, drive->joint)->name);
    return;
  }
  const pol_marker *from = pol_mechanism_marker(mechanism, drive->marker[0]);
  const pol_marker *marker = pol_mechanism_marker(mechanism, drive->marker[1]);
  int used = snprintf(text, size, "%s of marker %s on %s", coordinate, marker->name,
                      cli_marker_owner(mechanism, drive->marker[1]));
  if (from->name[0] != '\0' && used > 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, " from marker %s on %s", from->name,
             cli_marker_owner(mechanism, drive->marker[0]));
}

const char *cli_direction_name(int direction)
{
  return direction > 0 ? "rising" : direction < 0 ? "falling" : "both";
}
