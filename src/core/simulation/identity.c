/* What a saved state belongs to: a list of 64-bit numbers, so that a state of another model, method
 * or time span is refused with the name of what differs.
 *
 * The list has the number of elements of each kind, a hash of each element, of gravity and of the
 * initial values, and the settings of the method as they are.  The names are not stored: where two
 * lists differ, they are those of the simulation that the state is loaded into.  C functions cannot
 * be compared; checkpoint.c compares what they give.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integrators/family.h"
#include "simulation/parts.h"

/* --- hashes of elements ----------------------------------------------------------------------- */

static void add_text(poli_archive *hash, const char *text)
{
  if (text) poli_archive_bytes(hash, (void *)text, strlen(text) + 1);
}

static void add_marker(poli_archive *hash, const pol_mechanism *mechanism, int index)
{
  if (index < 0) return;
  pol_marker marker = *pol_mechanism_marker(mechanism, index);
  POLI_ARCHIVE(hash, marker.body);
  POLI_ARCHIVE(hash, marker.position);
  POLI_ARCHIVE(hash, marker.rotation);
}

static void add_function(poli_archive *hash, const pol_function *function)
{
  if (!function) return;
  pol_function f = *function;
  const size_t size = (size_t)f.count * sizeof *f.values;
  double numbers[] = {f.offset, f.amplitude, f.frequency, f.phase,     f.from,
                      f.to,     f.t0,        f.t1,        f.slopes[0], f.slopes[1]};
  POLI_ARCHIVE(hash, f.type);
  POLI_ARCHIVE(hash, numbers);
  if (f.values) poli_archive_bytes(hash, (void *)f.values, size);
  if (f.times) poli_archive_bytes(hash, (void *)f.times, size);
  add_text(hash, f.expression);
}

static void add_numbers(poli_archive *hash, const double *numbers, int count)
{
  poli_archive_bytes(hash, (void *)numbers, (size_t)count * sizeof *numbers);
}

/* The data of a flexible body but for its initial values. */
static void add_flexible(poli_archive *hash, const pol_flexible_body *body)
{
  const int n = body->num_modes;
  add_numbers(hash, body->first, 3 * (n + 1));
  add_numbers(hash, body->second, 9 * (n + 1) * (n + 1));
  add_numbers(hash, body->stiffness, n * n);
  add_numbers(hash, body->damping, n * n);
  add_numbers(hash, body->inertia, n * n);
  for (int k = 0; k < body->num_interfaces; k++) {
    add_numbers(hash, body->interfaces[k].position, 3);
    add_numbers(hash, body->interfaces[k].translation, 3 * n);
    add_numbers(hash, body->interfaces[k].rotation, 3 * n);
  }
}

static void add_body(poli_archive *hash, const pol_mechanism *mechanism, int i)
{
  pol_body body = *pol_mechanism_body(mechanism, i);
  POLI_ARCHIVE(hash, body.mass);
  POLI_ARCHIVE(hash, body.inertia);
  POLI_ARCHIVE(hash, body.point);
  POLI_ARCHIVE(hash, body.interface);
  if (body.flexible && body.interface == 0) add_flexible(hash, body.flexible);
}

static void add_joint(poli_archive *hash, const pol_mechanism *mechanism, int i)
{
  pol_joint joint = *pol_mechanism_joint(mechanism, i);
  POLI_ARCHIVE(hash, joint.type);
  POLI_ARCHIVE(hash, joint.length);
  POLI_ARCHIVE(hash, joint.radius);
  POLI_ARCHIVE(hash, joint.locked);
  POLI_ARCHIVE(hash, joint.global_axes);
  for (int k = 0; k < 2; k++) add_marker(hash, mechanism, joint.marker[k]);
  for (int k = 0; joint.axes && k < pol_joint_num_coordinates(&joint); k++) {
    pol_joint_axis axis = joint.axes[k]; /* numbers only */
    POLI_ARCHIVE(hash, axis);
  }
}

static void add_force(poli_archive *hash, const pol_mechanism *mechanism, int i)
{
  pol_force force = *pol_mechanism_force(mechanism, i);
  const int between =
      force.type == POL_SPRING_DAMPER || force.type == POL_BUSHING || force.type == POL_BEAM;
  for (int k = 0; between && k < 2; k++) add_marker(hash, mechanism, force.marker[k]);
  add_function(hash, force.scale);
  for (int k = 0; k < 3; k++) add_text(hash, force.expressions[k]);
  int places[] = {(int)force.type,  force.body,     force.joint,     force.coordinate,
                  (int)force.frame, (int)force.law, force.bodies[0], force.bodies[1]};
  POLI_ARCHIVE(hash, places);
  POLI_ARCHIVE(hash, force.vector);
  POLI_ARCHIVE(hash, force.point);
  POLI_ARCHIVE(hash, force.anchor);
  POLI_ARCHIVE(hash, force.stiffness);
  POLI_ARCHIVE(hash, force.damping);
  POLI_ARCHIVE(hash, force.rotational_stiffness);
  POLI_ARCHIVE(hash, force.rotational_damping);
  POLI_ARCHIVE(hash, force.preload);
  POLI_ARCHIVE(hash, force.preload_torque);
  double numbers[] = {force.length, force.actuator, force.rest, force.coefficient};
  POLI_ARCHIVE(hash, numbers);
  if (force.type != POL_BEAM) return;
  pol_section section = *force.section; /* numbers only */
  POLI_ARCHIVE(hash, section);
  POLI_ARCHIVE(hash, force.strain);
}

static void add_drive(poli_archive *hash, const pol_mechanism *mechanism, int i)
{
  pol_drive drive = *pol_mechanism_drive(mechanism, i);
  POLI_ARCHIVE(hash, drive.joint);
  POLI_ARCHIVE(hash, drive.coordinate);
  for (int k = 0; drive.joint == POL_NO_JOINT && k < 2; k++)
    add_marker(hash, mechanism, drive.marker[k]);
  add_function(hash, &drive.function);
}

static void add_coupling(poli_archive *hash, const pol_mechanism *mechanism, int i)
{
  pol_coupling coupling = *pol_mechanism_coupling(mechanism, i);
  POLI_ARCHIVE(hash, coupling.joint);
  POLI_ARCHIVE(hash, coupling.coordinate);
  POLI_ARCHIVE(hash, coupling.factor);
  POLI_ARCHIVE(hash, coupling.reference);
}

static void add_variable(poli_archive *hash, const pol_mechanism *mechanism, int i)
{
  pol_variable variable = *pol_mechanism_variable(mechanism, i);
  add_text(hash, variable.expression);
  POLI_ARCHIVE(hash, variable.input);
}

static void add_state(poli_archive *hash, const pol_mechanism *mechanism, int i)
{
  pol_state_variable state = *pol_mechanism_state(mechanism, i);
  add_text(hash, state.rate);
  POLI_ARCHIVE(hash, state.initial);
}

/* --- the elements of a mechanism -------------------------------------------------------------- */

#define NAME_OF(kind)                                                                              \
  static const char *name_of_##kind(const pol_mechanism *mechanism, int i)                         \
  {                                                                                                \
    return pol_mechanism_##kind(mechanism, i)->name;                                               \
  }
NAME_OF(body)
NAME_OF(joint)
NAME_OF(force)
NAME_OF(drive)
NAME_OF(coupling)
NAME_OF(variable)
NAME_OF(state)
NAME_OF(marker)

/* What a change of an element is reported as: joints before the markers that belong to them. */
static const struct {
  const char *one, *many;
  int (*count)(const pol_mechanism *);
  const char *(*name)(const pol_mechanism *, int);
  void (*add)(poli_archive *, const pol_mechanism *, int);
} kinds[] = {
    {"body", "bodies", pol_mechanism_num_bodies, name_of_body, add_body},
    {"joint", "joints", pol_mechanism_num_joints, name_of_joint, add_joint},
    {"force", "forces", pol_mechanism_num_forces, name_of_force, add_force},
    {"drive", "drives", pol_mechanism_num_drives, name_of_drive, add_drive},
    {"coupling", "couplings", pol_mechanism_num_couplings, name_of_coupling, add_coupling},
    {"variable", "variables", pol_mechanism_num_variables, name_of_variable, add_variable},
    {"state", "states", pol_mechanism_num_states, name_of_state, add_state},
    {"marker", "markers", pol_mechanism_num_markers, name_of_marker, add_marker},
};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

/* --- settings --------------------------------------------------------------------------------- */

/* A setting: its key in model files, and its value. */
typedef struct setting {
  const char *key;
  double value;
  int is_choice; /* of words, which a number does not name */
} setting;

enum { MAX_SETTINGS = 40 };

static uint64_t bits_of(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* All but the number of threads, which makes no difference; and the end, which checkpoint.c
 * compares. */
static int list_settings(const pol_simulation *sim, setting *list)
{
  const pol_options *o = &sim->options;
  const pol_newton_options *newton = &o->newton;
  const pol_control *control = &o->control;
  const pol_published *published = &o->published;
  const setting all[] = {
      {"index", o->index, 1},
      {"order", o->order, 0},
      {"steps", sim->variable, 1},
      {"step", sim->variable ? 0.0 : sim->step, 0},
      {"rtol", control->rtol, 0},
      {"atol", control->atol_translation, 0},
      {"atol_rotation", control->atol_rotation, 0},
      {"control.first_step", control->first_step, 0},
      {"control.min_step", control->min_step, 0},
      {"control.max_step", control->max_step, 0},
      {"control.span", control->span, 0},
      {"control.controller", control->controller, 1},
      {"alpha_m", o->alpha_m, 0},
      {"alpha_f", o->alpha_f, 0},
      {"beta", o->beta, 0},
      {"gamma", o->gamma, 0},
      {"sigma", o->sigma, 0},
      {"theta", o->theta, 0},
      {"vartheta", o->vartheta, 0},
      {"start", o->start, 1},
      {"redundant", o->redundant, 1},
      {"guess", o->guess, 1},
      {"solver", o->solver, 1},
      {"initial", sim->equilibrium, 1},
      {"newton.kind", newton->kind, 1},
      {"newton.tolerance", newton->tolerance, 0},
      {"newton.max_iterations", newton->max_iterations, 0},
      {"newton.refresh", newton->refresh, 0},
      {"newton.line_search", newton->line_search, 0},
      {"newton.fixed_iterations", newton->fixed_iterations, 0},
      {"newton.matrix_interval", newton->matrix_interval, 0},
      {"newton.stop", newton->stop, 1},
      {"published.newton", published->newton, 1},
      {"published.exact_iterations", published->exact_iterations, 0},
      {"published.sigma_update", published->sigma_update, 1},
      {"published.estimate", published->estimate, 1},
      {"output.step", sim->output.step, 0},
  };
  memcpy(list, all, sizeof all);
  return (int)(sizeof all / sizeof all[0]);
}

/* --- the list --------------------------------------------------------------------------------- */

/* method, formulation, elements of each kind, events, controllers; then the settings; then the
 * elements and gravity; then the events and controllers; then the initial values. */
enum { METHOD, FORMULATION, COUNTS, EVENTS = COUNTS + NUM_KINDS, CONTROLLERS, SETTINGS };

size_t poli_identity_size(const pol_simulation *sim)
{
  setting list[MAX_SETTINGS];
  size_t size = SETTINGS + (size_t)list_settings(sim, list) + 2 + (size_t)sim->num_events +
                (size_t)sim->num_controllers;
  for (int k = 0; k < NUM_KINDS; k++) size += (size_t)kinds[k].count(sim->mechanism);
  return size;
}

void poli_identity_fill(const pol_simulation *sim, uint64_t *identity)
{
  const pol_mechanism *mechanism = sim->mechanism;
  setting list[MAX_SETTINGS];
  const int num_settings = list_settings(sim, list);
  identity[METHOD] = poli_hash(0, sim->options.method, strlen(sim->options.method));
  identity[FORMULATION] = (uint64_t)sim->formulation->kind;
  identity[EVENTS] = (uint64_t)sim->num_events;
  identity[CONTROLLERS] = (uint64_t)sim->num_controllers;
  uint64_t *to = identity + SETTINGS;
  for (int i = 0; i < num_settings; i++) *to++ = bits_of(list[i].value);
  for (int k = 0; k < NUM_KINDS; k++) {
    const int count = kinds[k].count(mechanism);
    identity[COUNTS + k] = (uint64_t)count;
    for (int i = 0; i < count; i++) {
      poli_archive hash = {.mode = POLI_ARCHIVE_HASH};
      add_text(&hash, kinds[k].name(mechanism, i));
      kinds[k].add(&hash, mechanism, i);
      *to++ = hash.hash;
    }
  }
  double gravity[3];
  pol_mechanism_gravity(mechanism, gravity);
  *to++ = poli_hash(0, gravity, sizeof gravity);
  for (int i = 0; i < sim->num_events; i++) {
    poli_archive hash = {.mode = POLI_ARCHIVE_HASH};
    pol_simulation_event event = sim->events[i].event;
    POLI_ARCHIVE(&hash, event.direction);
    POLI_ARCHIVE(&hash, event.action);
    add_text(&hash, event.name);
    *to++ = hash.hash;
  }
  for (int i = 0; i < sim->num_controllers; i++) {
    poli_archive hash = {.mode = POLI_ARCHIVE_HASH};
    pol_sampled_controller c = sim->controllers[i].controller;
    add_text(&hash, c.name);
    POLI_ARCHIVE(&hash, c.period);
    POLI_ARCHIVE(&hash, c.identity);
    poli_archive_bytes(&hash, (void *)c.inputs, (size_t)c.num_inputs * sizeof *c.inputs);
    poli_archive_bytes(&hash, (void *)c.outputs, (size_t)c.num_outputs * sizeof *c.outputs);
    *to++ = hash.hash;
  }
  *to++ = sim->first_values;
}

/* Names an element: "body 'top'", or "joint 3" without a name. */
static void print_element(char *message, size_t size, const char *kind, const char *name, int i)
{
  if (name && name[0] != '\0')
    snprintf(message, size, "%s '%.60s' is not the same", kind, name);
  else
    snprintf(message, size, "%s %d is not the same", kind, i);
}

/* A count or setting at the front of the lists that differs; 0 if none does. */
static int find_setting(const pol_simulation *sim, const uint64_t *saved, const uint64_t *own,
                        char *message, size_t size)
{
  setting list[MAX_SETTINGS];
  const int num_settings = list_settings(sim, list);
  if (saved[METHOD] != own[METHOD]) {
    const char *other = "another one";
    for (int i = 0; i < pol_method_count(); i++) {
      const char *name = pol_method_at(i)->name;
      if (poli_hash(0, name, strlen(name)) == saved[METHOD]) other = name;
    }
    snprintf(message, size, "its method is %s, here it is %s", other, sim->options.method);
    return 1;
  }
  if (saved[FORMULATION] != own[FORMULATION]) {
    const uint64_t kind = saved[FORMULATION];
    const int known = kind < (uint64_t)pol_formulation_count();
    snprintf(message, size, "its formulation is %s, here it is %s",
             known ? pol_formulation_name((pol_formulation_kind)kind) : "unknown",
             pol_formulation_name(sim->formulation->kind));
    return 1;
  }
  for (int k = 0; k <= NUM_KINDS + 1; k++) {
    if (saved[COUNTS + k] == own[COUNTS + k]) continue;
    snprintf(message, size, "it belongs to another model: number of %s %llu, here %llu",
             k < NUM_KINDS    ? kinds[k].many
             : k == NUM_KINDS ? "events"
                              : "controllers",
             (unsigned long long)saved[COUNTS + k], (unsigned long long)own[COUNTS + k]);
    return 1;
  }
  for (int i = 0; i < num_settings; i++) {
    double other;
    memcpy(&other, &saved[SETTINGS + i], sizeof other);
    if (bits_of(list[i].value) == bits_of(other)) continue;
    if (list[i].is_choice)
      snprintf(message, size, "simulation.%s is not the same", list[i].key);
    else
      snprintf(message, size, "simulation.%s was %.10g, here it is %.10g", list[i].key, other,
               list[i].value);
    return 1;
  }
  return 0;
}

int poli_identity_compare(const pol_simulation *sim, const uint64_t *saved, size_t saved_size,
                          const uint64_t *own, size_t own_size, char *message, size_t size)
{
  setting list[MAX_SETTINGS];
  const size_t num_settings = (size_t)list_settings(sim, list);
  if (saved_size < SETTINGS + num_settings) {
    snprintf(message, size, "it belongs to another model");
    return 0;
  }
  if (find_setting(sim, saved, own, message, size)) return 0;
  /* the counts are the same now, so that the lists should be as long */
  if (saved_size != own_size) {
    snprintf(message, size, "it is damaged");
    return 0;
  }
  size_t at = SETTINGS + num_settings;
  for (int k = 0; k < NUM_KINDS; k++)
    for (int i = 0; i < kinds[k].count(sim->mechanism); i++, at++) {
      if (saved[at] == own[at]) continue;
      const size_t start = strlen("it belongs to another model: ");
      snprintf(message, size, "it belongs to another model: ");
      if (size > start)
        print_element(message + start, size - start, kinds[k].one, kinds[k].name(sim->mechanism, i),
                      i);
      return 0;
    }
  if (saved[at] != own[at]) {
    snprintf(message, size, "it belongs to another model: gravity is not the same");
    return 0;
  }
  at++;
  for (int i = 0; i < sim->num_events; i++, at++) {
    if (saved[at] == own[at]) continue;
    print_element(message, size, "event", sim->events[i].event.name, i);
    return 0;
  }
  for (int i = 0; i < sim->num_controllers; i++, at++) {
    if (saved[at] == own[at]) continue;
    print_element(message, size, "controller", sim->controllers[i].name, i);
    return 0;
  }
  if (saved[at] == own[at]) return 1;
  snprintf(message, size, "it belongs to another model: the initial values are not the same");
  return 0;
}
