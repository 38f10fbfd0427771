/* Recorded quantities: the list of channels and their values at the present state.
 *
 * The tables below are the one place where channels are named; the channel list and the rows are
 * both made by walking them in order.
 */
#include <stdlib.h>
#include <string.h>

#include <polhode/simulation.h>

/* --- names ------------------------------------------------------------------------------------ */

static const char *const axes[] = {"x", "y", "z"};
static const char *const quaternion_parts[] = {"w", "x", "y", "z"};
/* One for each row of a joint. */
static const char *const ordinals[POL_MAX_JOINT_ROWS] = {"1", "2", "3", "4", "5", "6"};

/* A quantity of a body: its components and where they stand in a pol_body_state. */
typedef struct body_quantity {
  const char *name;
  const char *unit;
  const char *const *components;
  size_t count;
  size_t offset;
  int of_points; /* point masses have it too */
} body_quantity;

static const body_quantity body_quantities[] = {
    {"position", "m", axes, 3, offsetof(pol_body_state, position), 1},
    {"quaternion", "1", quaternion_parts, 4, offsetof(pol_body_state, quaternion), 0},
    {"velocity", "m/s", axes, 3, offsetof(pol_body_state, velocity), 1},
    {"angular_velocity", "rad/s", axes, 3, offsetof(pol_body_state, angular_velocity), 0},
    {"angular_velocity_global", "rad/s", axes, 3, offsetof(pol_body_state, angular_velocity_global),
     0},
};
enum { NUM_BODY_QUANTITIES = sizeof body_quantities / sizeof body_quantities[0] };

/* Quantities of the whole, after those of bodies, joints, forces and drives; write_totals() gives
 * their values. */
static const pol_channel totals[] = {
    {"energy.kinetic", "J"},        {"energy.potential", "J"},      {"energy.total", "J"},
    {"residual.position", "mixed"}, {"residual.velocity", "mixed"},
};
enum { NUM_TOTALS = sizeof totals / sizeof totals[0] };

/* --- the list of channels --------------------------------------------------------------------- */

struct pol_record {
  const pol_simulation *simulation;
  int count;
  pol_channel *channels;
  char *names; /* all names of the channels of bodies, joints, forces, drives; each terminated */
};

/* Adds OWNER.QUANTITY.COMPONENT, or OWNER.QUANTITY if that is NULL, to the record; only counts as
 * long as nothing is allocated. *used is the number of characters of names so far. */
static void add_channel(pol_record *record, size_t *used, const char *owner, const char *quantity,
                        const char *component, const char *unit)
{
  const char *parts[3] = {owner, quantity, component};
  char *name = record->names != NULL ? record->names + *used : NULL;
  if (name != NULL) record->channels[record->count] = (pol_channel){name, unit};
  int count = component != NULL ? 3 : 2;
  for (int i = 0; i < count; i++) {
    size_t length = strlen(parts[i]);
    if (name != NULL) {
      memcpy(name, parts[i], length);
      name[length] = i < count - 1 ? '.' : '\0';
      name += length + 1;
    }
    *used += length + 1;
  }
  record->count++;
}

static void add_total(pol_record *record, pol_channel channel)
{
  if (record->channels != NULL) record->channels[record->count] = channel;
  record->count++;
}

static void add_body(pol_record *record, size_t *used, const pol_body *body)
{
  for (int k = 0; k < NUM_BODY_QUANTITIES; k++) {
    const body_quantity *quantity = &body_quantities[k];
    if (body->point && !quantity->of_points) continue;
    for (size_t i = 0; i < quantity->count; i++)
      add_channel(record, used, body->name, quantity->name, quantity->components[i],
                  quantity->unit);
  }
}

/* The unit of a multiplier times its row is that of energy. */
static const char *multiplier_unit(pol_row_kind kind)
{
  switch (kind) {
  case POL_ROW_TRANSLATION:
    return "N";
  case POL_ROW_ROTATION:
    return "N m";
  case POL_ROW_DISTANCE:
    break;
  }
  return "N/m";
}

static void add_joint(pol_record *record, size_t *used, const pol_formulation *formulation,
                      int index)
{
  const pol_joint *joint = pol_mechanism_joint(pol_formulation_mechanism(formulation), index);
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int num_rows;
  pol_joint_rows(joint->type, rows);
  pol_formulation_joint_rows(formulation, index, &num_rows);
  for (int i = 0; i < 3; i++) add_channel(record, used, joint->name, "force", axes[i], "N");
  for (int i = 0; i < 3; i++) add_channel(record, used, joint->name, "torque", axes[i], "N m");
  for (int i = 0; i < num_rows; i++)
    add_channel(record, used, joint->name, "multiplier", ordinals[i],
                multiplier_unit(rows[i].kind));
}

/* Whether a force changes by itself and so is worth a record: constant ones are in the model. */
static int varies(const pol_force *force)
{
  return force->scale || (force->type != POL_APPLIED_FORCE && force->type != POL_APPLIED_TORQUE);
}

/* Whether it has a force, and a torque at the point where it acts. */
static int has_force(const pol_force *force)
{
  return varies(force) && force->type != POL_APPLIED_TORQUE;
}

static int has_torque(const pol_force *force)
{
  return varies(force) && (force->type == POL_APPLIED_TORQUE || force->type == POL_BUSHING ||
                           force->type == POL_CALLBACK_FORCE);
}

static void add_force(pol_record *record, size_t *used, const pol_force *force)
{
  for (int i = 0; i < 3 && has_force(force); i++)
    add_channel(record, used, force->name, "force", axes[i], "N");
  for (int i = 0; i < 3 && has_torque(force); i++)
    add_channel(record, used, force->name, "torque", axes[i], "N m");
}

/* DRIVE.force or DRIVE.torque: the name has no component. */
static void add_drive(pol_record *record, size_t *used, const pol_drive *drive)
{
  int turns = pol_coordinate_turns(drive->coordinate);
  add_channel(record, used, drive->name, turns ? "torque" : "force", NULL, turns ? "N m" : "N");
}

/* Walks all quantities; returns the number of characters of their names. */
static size_t add_all(pol_record *record)
{
  const pol_formulation *formulation = pol_simulation_formulation(record->simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  size_t used = 0;
  record->count = 0;
  add_total(record, (pol_channel){"t", "s"});
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    add_body(record, &used, pol_mechanism_body(mechanism, i));
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++)
    add_joint(record, &used, formulation, i);
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++)
    add_force(record, &used, pol_mechanism_force(mechanism, i));
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++)
    add_drive(record, &used, pol_mechanism_drive(mechanism, i));
  for (int i = 0; i < NUM_TOTALS; i++) add_total(record, totals[i]);
  return used;
}

pol_status pol_record_create(pol_record **record, const pol_simulation *simulation)
{
  *record = NULL;
  pol_record *r = calloc(1, sizeof *r);
  if (r == NULL) return POL_NO_MEMORY;
  r->simulation = simulation;

  /* Count, allocate, fill. */
  size_t size = add_all(r);
  r->names = malloc(size + 1);
  r->channels = malloc((size_t)r->count * sizeof *r->channels);
  if (r->names == NULL || r->channels == NULL) {
    pol_record_free(&r);
    return POL_NO_MEMORY;
  }
  add_all(r);
  *record = r;
  return POL_OK;
}

void pol_record_free(pol_record **record)
{
  if (record == NULL || *record == NULL) return;
  free((*record)->names);
  free((*record)->channels);
  free(*record);
  *record = NULL;
}

int pol_record_count(const pol_record *record)
{
  return record->count;
}

const pol_channel *pol_record_channel(const pol_record *record, int index)
{
  return &record->channels[index];
}

/* --- values ----------------------------------------------------------------------------------- */

/* Each writes its numbers in the order of the channels and returns where the next ones go. */

static double *write_body(const pol_formulation *formulation, const pol_state *state, int body,
                          double *row)
{
  const int point = pol_mechanism_body(pol_formulation_mechanism(formulation), body)->point;
  pol_body_state values;
  pol_formulation_body_state(formulation, state->q, state->v, body, &values);
  for (int k = 0; k < NUM_BODY_QUANTITIES; k++) {
    if (point && !body_quantities[k].of_points) continue;
    const char *source = (const char *)&values + body_quantities[k].offset;
    memcpy(row, source, body_quantities[k].count * sizeof *row);
    row += body_quantities[k].count;
  }
  return row;
}

static double *write_joint(const pol_formulation *formulation, const pol_state *state, int joint,
                           double *row)
{
  int num_rows;
  int first = pol_formulation_joint_rows(formulation, joint, &num_rows);
  pol_point at = pol_state_point(state);
  pol_formulation_reaction(formulation, &at, joint, row, row + 3);
  memcpy(row + 6, state->lambda + first, (size_t)num_rows * sizeof *row);
  return row + 6 + num_rows;
}

static double *write_force(const pol_formulation *formulation, const pol_state *state, int force,
                           double *row)
{
  const pol_force *f = pol_mechanism_force(pol_formulation_mechanism(formulation), force);
  pol_point at = pol_state_point(state);
  double vector[3], torque[3];
  pol_formulation_force(formulation, &at, force, vector, torque);
  for (int i = 0; i < 3 && has_force(f); i++) *row++ = vector[i];
  for (int i = 0; i < 3 && has_torque(f); i++) *row++ = torque[i];
  return row;
}

static void write_totals(const pol_summary *summary, double row[NUM_TOTALS])
{
  row[0] = summary->energy.kinetic;
  row[1] = summary->energy.potential;
  row[2] = summary->energy.kinetic + summary->energy.potential;
  row[3] = summary->position_residual;
  row[4] = summary->velocity_residual;
}

void pol_record_row(const pol_record *record, double *row)
{
  const pol_formulation *formulation = pol_simulation_formulation(record->simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_state *state = pol_simulation_state(record->simulation);
  *row++ = state->t;
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    row = write_body(formulation, state, i, row);
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++)
    row = write_joint(formulation, state, i, row);
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++)
    row = write_force(formulation, state, i, row);
  pol_point at = pol_state_point(state);
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++)
    *row++ = pol_formulation_drive_effort(formulation, &at, i);
  write_totals(pol_simulation_summary(record->simulation), row);
}
