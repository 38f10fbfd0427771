/* Recorded quantities: the list of channels and their values at the present state.
 *
 * The tables below are the one place where channels are named; the channel list and the rows are
 * both made by walking them in order.
 */
#include "simulation/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "base/arena.h"
#include "formulation/output.h"
#include "simulation/parts.h"

/* --- names ------------------------------------------------------------------------------------ */

static const char *const axes[] = {"x", "y", "z"};
static const char *const quaternion_parts[] = {"w", "x", "y", "z"};
/* Of a joint, in global axes and in those of its first marker. */
static const char *const reactions[] = {"force", "torque", "force_local", "torque_local"};
/* Of a beam element, in the axes of its section. */
static const struct {
  const char *name, *unit;
} section_quantities[] = {
    {"strain", "1"}, {"curvature", "1/m"}, {"force_local", "N"}, {"torque_local", "N m"}};
/* One for each row of a joint. */
static const char *const ordinals[POL_MAX_JOINT_ROWS] = {"1", "2", "3", "4", "5", "6"};

/* A quantity of a body or marker: its components and where they stand in its state. */
typedef struct quantity {
  const char *name;
  const char *unit;
  const char *const *components;
  size_t count;
  size_t offset;
  int of_points; /* point masses have it too */
} quantity;

static const quantity body_quantities[] = {
    {"position", "m", axes, 3, offsetof(pol_body_state, position), 1},
    {"quaternion", "1", quaternion_parts, 4, offsetof(pol_body_state, quaternion), 0},
    {"velocity", "m/s", axes, 3, offsetof(pol_body_state, velocity), 1},
    {"angular_velocity", "rad/s", axes, 3, offsetof(pol_body_state, angular_velocity), 0},
    {"angular_velocity_global", "rad/s", axes, 3, offsetof(pol_body_state, angular_velocity_global),
     0},
};
enum { NUM_BODY_QUANTITIES = sizeof body_quantities / sizeof body_quantities[0] };

static const quantity marker_quantities[] = {
    {"position", "m", axes, 3, offsetof(pol_marker_state, position), 0},
    {"quaternion", "1", quaternion_parts, 4, offsetof(pol_marker_state, quaternion), 0},
    {"velocity", "m/s", axes, 3, offsetof(pol_marker_state, velocity), 0},
};
enum { NUM_MARKER_QUANTITIES = sizeof marker_quantities / sizeof marker_quantities[0] };

static const pol_channel time_channel = {"t", "s", "", "", "t"};
/* The same of equilibria, whose rows follow a load factor or the length of a path. */
static const pol_channel load_channel = {"t", "1", "", "", "t"};
/* When the reactions of a row belong to another time than the rest of it. */
static const pol_channel reactions_time = {"t_reactions", "s", "", "", "t_reactions"};

/* Quantities of the whole, after those of bodies, joints, forces and drives; pol_record_row() gives
 * their values. */
static const pol_channel totals[] = {
    {"energy.kinetic", "J", "energy", "", "kinetic"},
    {"energy.potential", "J", "energy", "", "potential"},
    {"energy.total", "J", "energy", "", "total"},
    {"energy.dissipated", "J", "energy", "", "dissipated"},
    {"energy.applied", "J", "energy", "", "applied"},
    {"energy.drives", "J", "energy", "", "drives"},
    {"energy.balance", "J", "energy", "", "balance"},
    {"momentum.linear.x", "kg m/s", "momentum", "", "linear.x"},
    {"momentum.linear.y", "kg m/s", "momentum", "", "linear.y"},
    {"momentum.linear.z", "kg m/s", "momentum", "", "linear.z"},
    {"momentum.angular.x", "kg m^2/s", "momentum", "", "angular.x"},
    {"momentum.angular.y", "kg m^2/s", "momentum", "", "angular.y"},
    {"momentum.angular.z", "kg m^2/s", "momentum", "", "angular.z"},
    {"residual.position", "mixed", "residual", "", "position"},
    {"residual.velocity", "mixed", "residual", "", "velocity"},
    {"residual.acceleration", "mixed", "residual", "", "acceleration"},
};
enum { NUM_TOTALS = sizeof totals / sizeof totals[0] };

/* --- the list of channels --------------------------------------------------------------------- */

struct pol_record {
  const pol_simulation *simulation;
  int count;
  void *memory; /* holds the arrays below */
  pol_channel *channels;
  char *names; /* all names of the channels of bodies, joints, forces, drives; each terminated */
  poli_frame *frames; /* workspace: one a body */
};

/* Adds a channel, named by the parts up to NULL with dots between, to the record; only counts as
 * long as nothing is allocated.  *used is the number of characters of names so far.  parts[first]
 * is where the quantity begins. */
static void add_named(pol_record *record, size_t *used, const char *const parts[], int first,
                      pol_channel channel)
{
  char *name = record->names != NULL ? record->names + *used : NULL;
  channel.name = name;
  for (int i = 0; parts[i] != NULL; i++) {
    size_t length = strlen(parts[i]);
    if (name != NULL) {
      if (i == first) channel.quantity = name;
      memcpy(name, parts[i], length);
      name[length] = parts[i + 1] != NULL ? '.' : '\0';
      name += length + 1;
    }
    *used += length + 1;
  }
  if (name != NULL) record->channels[record->count] = channel;
  record->count++;
}

/* OWNER.QUANTITY.COMPONENT, or OWNER.QUANTITY if that is NULL. */
static void add_channel(pol_record *record, size_t *used, const char *group, const char *owner,
                        const char *name, const char *component, const char *unit)
{
  add_named(record, used, (const char *const[]){owner, name, component, NULL}, 1,
            (pol_channel){.unit = unit, .group = group, .owner = owner});
}

/* OWNER.force or OWNER.torque, with a component or without. */
static void add_effort(pol_record *record, size_t *used, const char *group, const char *owner,
                       const char *component, int torque)
{
  add_channel(record, used, group, owner, torque ? "torque" : "force", component,
              torque ? "N m" : "N");
}

/* A state or variable: its name is the quantity; only the user knows its unit. */
static void add_user(pol_record *record, size_t *used, const char *group, const char *name,
                     const char *unit)
{
  add_named(record, used, (const char *const[]){name, NULL}, 0,
            (pol_channel){.unit = unit ? unit : "user", .group = group, .owner = ""});
}

static void add_total(pol_record *record, const pol_channel *channel)
{
  if (record->channels != NULL) record->channels[record->count] = *channel;
  record->count++;
}

/* Markers that only serve a joint have no name. */
static int is_named(const pol_marker *marker)
{
  return marker->name[0] != '\0';
}

static void add_joint(pol_record *record, size_t *used, const pol_formulation *formulation,
                      int index)
{
  /* the unit of a multiplier times that of its row is that of energy; times a slip, of power */
  static const char *const multiplier_units[] = {
      [POL_ROW_TRANSLATION] = "N", [POL_ROW_HEIGHT] = "N",  [POL_ROW_SLIP] = "N",
      [POL_ROW_ROTATION] = "N m",  [POL_ROW_TWIST] = "N m", [POL_ROW_DISTANCE] = "N/m"};
  const pol_joint *joint = pol_mechanism_joint(pol_formulation_mechanism(formulation), index);
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int held, num_rows = pol_joint_rows(joint, rows);
  pol_formulation_joint_rows(formulation, index, &held);
  if (held == 0) num_rows = 0; /* a joint that the coordinates satisfy has no multipliers */
  for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
    const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
    add_channel(record, used, "joints", joint->name, info->name, NULL, info->angular ? "rad" : "m");
    add_channel(record, used, "joints", joint->name, info->rate_name, NULL,
                info->angular ? "rad/s" : "m/s");
  }
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 3; i++)
      add_channel(record, used, "joints", joint->name, reactions[k], axes[i], k % 2 ? "N m" : "N");
  for (int i = 0; i < num_rows; i++)
    add_channel(record, used, "joints", joint->name, "multiplier", ordinals[i],
                multiplier_units[rows[i].kind]);
}

/* Whether a force changes by itself and so is worth a record: constant ones are in the model,
 * unless a load factor changes them. */
static int varies(const pol_record *record, const pol_force *force)
{
  return record->simulation->held || force->scale || force->expressions[0] ||
         force->expressions[1] || force->expressions[2] ||
         (force->type != POL_APPLIED_FORCE && force->type != POL_APPLIED_TORQUE);
}

/* Whether it has a force, and a torque at the point where it acts. */
static int has_force(const pol_record *record, const pol_force *force)
{
  return varies(record, force) && force->type != POL_APPLIED_TORQUE;
}

static int has_torque(const pol_record *record, const pol_force *force)
{
  return varies(record, force) &&
         (force->type == POL_APPLIED_TORQUE || force->type == POL_BUSHING ||
          force->type == POL_BEAM || force->type == POL_CALLBACK_FORCE);
}

/* Modes of a flexible body, recorded with its reference frame. */
static int num_modes(const pol_body *body)
{
  return body->flexible && body->interface == 0 ? body->flexible->num_modes : 0;
}

/* GROUP.NAME of each invariant. */
static void add_invariants(pol_record *record, size_t *used, const char *group)
{
  const pol_summary *summary = pol_simulation_summary(record->simulation);
  for (int i = 0; i < summary->num_invariants; i++)
    add_named(record, used, (const char *const[]){group, summary->invariants[i].name, NULL}, 1,
              (pol_channel){.unit = summary->invariants[i].unit, .group = group, .owner = ""});
}

/* Walks all quantities; returns the number of characters of their names. */
static size_t add_all(pol_record *record)
{
  const pol_formulation *formulation = pol_simulation_formulation(record->simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  size_t used = 0;
  record->count = 0;
  add_total(record, record->simulation->held ? &load_channel : &time_channel);
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    for (const quantity *q = body_quantities; q < body_quantities + NUM_BODY_QUANTITIES; q++)
      for (size_t i = 0; i < q->count && (q->of_points || !body->point); i++)
        add_channel(record, &used, "bodies", body->name, q->name, q->components[i], q->unit);
    for (int k = 0; k < 2 * num_modes(body); k++) {
      const int rate = k >= num_modes(body);
      char number[16];
      snprintf(number, sizeof number, "%d", k - (rate ? num_modes(body) : 0) + 1);
      add_channel(record, &used, "bodies", body->name, rate ? "mode_rate" : "mode", number,
                  rate ? "1/s" : "1");
    }
  }
  for (int k = 0; k < pol_mechanism_num_markers(mechanism); k++) {
    const pol_marker *marker = pol_mechanism_marker(mechanism, k);
    for (const quantity *q = marker_quantities; q < marker_quantities + NUM_MARKER_QUANTITIES; q++)
      for (size_t i = 0; i < q->count && is_named(marker); i++)
        add_named(record, &used,
                  (const char *const[]){"marker", marker->name, q->name, q->components[i], NULL}, 2,
                  (pol_channel){.unit = q->unit, .group = "markers", .owner = marker->name});
  }
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++)
    add_joint(record, &used, formulation, i);
  for (int k = 0; k < pol_mechanism_num_forces(mechanism); k++) {
    const pol_force *force = pol_mechanism_force(mechanism, k);
    if (poli_force_is_on_joint(force->type)) {
      const pol_joint *joint = pol_mechanism_joint(mechanism, force->joint);
      add_effort(record, &used, "forces", force->name, NULL,
                 pol_joint_coordinate(joint, force->coordinate)->angular);
      continue;
    }
    for (int i = 0; i < 3 && has_force(record, force); i++)
      add_effort(record, &used, "forces", force->name, axes[i], 0);
    for (int i = 0; i < 3 && has_torque(record, force); i++)
      add_effort(record, &used, "forces", force->name, axes[i], 1);
    for (int i = 0; i < 12 && force->type == POL_BEAM; i++)
      add_channel(record, &used, "forces", force->name, section_quantities[i / 3].name, axes[i % 3],
                  section_quantities[i / 3].unit);
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    add_effort(record, &used, "drives", drive->name, NULL, pol_coordinate_turns(drive->coordinate));
  }
  /* on the first and the second joint of a coupling */
  for (int i = 0; i < 2 * pol_mechanism_num_couplings(mechanism); i++) {
    const pol_coupling *coupling = pol_mechanism_coupling(mechanism, i / 2);
    add_effort(record, &used, "couplings", coupling->name, ordinals[i % 2],
               pol_coordinate_turns(coupling->coordinate[i % 2]));
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++)
    add_user(record, &used, "states", pol_mechanism_state(mechanism, i)->name,
             pol_mechanism_state(mechanism, i)->unit);
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++)
    add_user(record, &used, "variables", pol_mechanism_variable(mechanism, i)->name,
             pol_mechanism_variable(mechanism, i)->unit);
  for (int i = 0; i < NUM_TOTALS; i++) add_total(record, &totals[i]);
  add_invariants(record, &used, "invariant");
  add_invariants(record, &used, "increment");
  if (pol_simulation_reactions_lag(record->simulation)) add_total(record, &reactions_time);
  return used;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

pol_status poli_channels_check_names(const pol_channel *channels, int count, const char **twice)
{
  const size_t n = (size_t)count;
  *twice = NULL;
  const char **names = malloc((n + 1) * sizeof *names);
  if (names == NULL) return POL_NO_MEMORY;
  for (size_t i = 0; i < n; i++) names[i] = channels[i].name;
  qsort(names, n, sizeof *names, compare_names);
  for (size_t i = 1; i < n && *twice == NULL; i++)
    if (strcmp(names[i - 1], names[i]) == 0) *twice = names[i];
  free(names);
  return *twice == NULL ? POL_OK : POL_BAD_ARGUMENT;
}

pol_status pol_record_create(pol_record **record, const pol_simulation *simulation)
{
  *record = NULL;
  pol_record *r = calloc(1, sizeof *r);
  if (r == NULL) return POL_NO_MEMORY;
  r->simulation = simulation;

  /* Count, allocate, fill. */
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  size_t size = add_all(r);
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, r->frames, formulation->num_bodies);
    POLI_TAKE(&arena, r->channels, r->count);
    POLI_TAKE(&arena, r->names, size);
  } while (poli_arena_again(&arena));
  r->memory = arena.memory;
  if (r->memory == NULL) {
    pol_record_free(&r);
    return POL_NO_MEMORY;
  }
  add_all(r);
  const char *twice;
  const pol_status status = poli_channels_check_names(r->channels, r->count, &twice);
  if (status == POL_OK)
    *record = r;
  else
    pol_record_free(&r);
  return status;
}

void pol_record_free(pol_record **record)
{
  if (record == NULL || *record == NULL) return;
  free((*record)->memory);
  free(*record);
  *record = NULL;
}

int pol_record_count(const pol_record *record)
{
  return record->count;
}

const pol_simulation *pol_record_simulation(const pol_record *record)
{
  return record->simulation;
}

const pol_channel *pol_record_channel(const pol_record *record, int index)
{
  return &record->channels[index];
}

/* --- values ----------------------------------------------------------------------------------- */

/* Writes its numbers in the order of the channels and returns where the next ones go. */
static double *write_quantities(const quantity *quantities, int count, const void *state, int point,
                                double *row)
{
  for (int k = 0; k < count; k++) {
    if (point && !quantities[k].of_points) continue;
    memcpy(row, (const char *)state + quantities[k].offset, quantities[k].count * sizeof *row);
    row += quantities[k].count;
  }
  return row;
}

void pol_record_row(const pol_record *record, double *row)
{
  const pol_formulation *formulation = pol_simulation_formulation(record->simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_summary *summary = pol_simulation_summary(record->simulation);
  const pol_point at = pol_state_point(pol_simulation_state(record->simulation));
  const poli_instant now = poli_instant_at(formulation, &at, record->frames);
  *row++ = at.t;
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    pol_body_state values;
    poli_instant_body(&now, i, &values);
    row = write_quantities(body_quantities, NUM_BODY_QUANTITIES, &values,
                           pol_mechanism_body(mechanism, i)->point, row);
    const int modes = num_modes(pol_mechanism_body(mechanism, i));
    if (modes > 0) pol_formulation_modes(formulation, at.q, at.v, i, row, row + modes);
    row += 2 * modes;
  }
  for (int i = 0; i < pol_mechanism_num_markers(mechanism); i++) {
    pol_marker_state values;
    if (!is_named(pol_mechanism_marker(mechanism, i))) continue;
    poli_instant_marker(&now, i, &values);
    row = write_quantities(marker_quantities, NUM_MARKER_QUANTITIES, &values, 0, row);
  }
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const int coordinates = pol_joint_num_coordinates(pol_mechanism_joint(mechanism, k));
    for (int i = 0; i < coordinates; i++, row += 2)
      poli_instant_coordinate(&now, k, i, row, row + 1);
    poli_instant_reaction(&now, k, row, row + 3);
    poli_instant_reaction_local(&now, k, row, row + 3, row + 6, row + 9);
    row += 12;
    double own[POL_MAX_JOINT_ROWS];
    const int num_rows = pol_formulation_multipliers(formulation, at.lambda, k, own);
    for (int i = 0; i < num_rows; i++) *row++ = own[i];
  }
  for (int k = 0; k < pol_mechanism_num_forces(mechanism); k++) {
    const pol_force *force = pol_mechanism_force(mechanism, k);
    double vector[3], torque[3];
    if (!varies(record, force)) continue;
    if (poli_force_is_on_joint(force->type)) {
      *row++ = poli_instant_joint_spring(&now, k);
      continue;
    }
    poli_instant_force(&now, k, vector, torque);
    for (int i = 0; i < 3 && has_force(record, force); i++) *row++ = vector[i];
    for (int i = 0; i < 3 && has_torque(record, force); i++) *row++ = torque[i];
    if (force->type == POL_BEAM) {
      poli_instant_beam(&now, k, row, row + 3, row + 6, row + 9);
      row += 12;
    }
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++)
    *row++ = pol_formulation_drive_effort(formulation, &at, i);
  for (int i = 0; i < pol_mechanism_num_couplings(mechanism); i++, row += 2)
    pol_formulation_coupling_effort(formulation, &at, i, row);
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++)
    *row++ = pol_formulation_state_variable(formulation, &at, i);
  poli_instant_variables(&now, row);
  row += pol_mechanism_num_variables(mechanism);

  /* the totals */
  pol_momentum momentum;
  poli_instant_momentum(&now, &momentum);
  const pol_energy *energy = &summary->energy;
  *row++ = energy->kinetic;
  *row++ = energy->potential;
  *row++ = energy->kinetic + energy->potential;
  *row++ = summary->work.dissipated;
  *row++ = summary->work.applied;
  *row++ = summary->work.drives;
  *row++ = summary->energy_balance;
  for (int i = 0; i < 3; i++) *row++ = momentum.linear[i];
  for (int i = 0; i < 3; i++) *row++ = momentum.angular[i];
  *row++ = summary->position_residual;
  *row++ = summary->velocity_residual;
  *row++ = summary->acceleration_residual;
  for (int i = 0; i < summary->num_invariants; i++) *row++ = summary->invariants[i].value;
  for (int i = 0; i < summary->num_invariants; i++) *row++ = summary->invariants[i].increment;
  if (pol_simulation_reactions_lag(record->simulation))
    *row = pol_simulation_state(record->simulation)->lambda_t;
}
