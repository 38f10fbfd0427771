/* The state of a simulation as bytes, so that another process can go on from there: a header, then
 * what the simulation and its integrator change from step to step (base/archive.h).
 *
 * Everything that a step depends on is listed, kept matrices and their factors included, so that
 * the continued run has the bits of the uninterrupted one.  The bytes are those of the memory: they
 * can be read by the same version of polhode on the same kind of machine only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integrators/family.h"
#include "simulation/parts.h"

static const char magic[] = "polhode state\n";

/* What the bytes begin with.  Hashes tell other models and settings apart. */
typedef struct header {
  char magic[16], version[16];
  uint64_t layout;         /* sizes and byte order of this machine and build */
  uint64_t model;          /* the mechanism, in its formulation, with its initial values */
  uint64_t options, span;  /* the method; steps, end, output times and events */
  uint64_t here;           /* the equations of motion at the saved state */
  uint64_t size, checksum; /* bytes behind the header, and their hash */
} header;

/* --- hashes ----------------------------------------------------------------------------------- */

static void archive_text(poli_archive *archive, const char *text)
{
  if (text) poli_archive_bytes(archive, (void *)text, strlen(text) + 1);
}

uint64_t poli_simulation_hash_solution(pol_simulation *sim)
{
  return poli_hash(0, sim->q, sim->solution_size * sizeof *sim->q);
}

static uint64_t hash_layout(void)
{
  double sizes[] = {sizeof(long),           sizeof(void *),
                    sizeof(pol_summary),    sizeof(poli_watched_event),
                    sizeof(pol_integrator), sizeof(pol_simulation)};
  return poli_hash(0, sizes, sizeof sizes);
}

static uint64_t hash_model(pol_simulation *sim)
{
  const pol_mechanism *mechanism = sim->mechanism;
  poli_archive hash = {.mode = POLI_ARCHIVE_HASH};
  int counts[] = {sim->dae->group.nq,
                  sim->dae->group.nv,
                  sim->dae->num_holonomic,
                  sim->dae->num_nonholonomic,
                  pol_mechanism_num_bodies(mechanism),
                  pol_mechanism_num_joints(mechanism),
                  pol_mechanism_num_forces(mechanism),
                  pol_mechanism_num_drives(mechanism),
                  pol_mechanism_num_couplings(mechanism),
                  pol_mechanism_num_variables(mechanism)};
  POLI_ARCHIVE(&hash, counts);
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    pol_body body = *pol_mechanism_body(mechanism, i);
    archive_text(&hash, body.name);
    POLI_ARCHIVE(&hash, body.mass);
    POLI_ARCHIVE(&hash, body.inertia);
  }
  for (int i = 0; i < pol_mechanism_num_markers(mechanism); i++) {
    pol_marker marker = *pol_mechanism_marker(mechanism, i);
    POLI_ARCHIVE(&hash, marker.body);
    POLI_ARCHIVE(&hash, marker.position);
    POLI_ARCHIVE(&hash, marker.rotation);
  }
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    for (int k = 0; joint->axes && k < pol_joint_num_coordinates(joint); k++) {
      pol_joint_axis axis = joint->axes[k]; /* numbers only */
      POLI_ARCHIVE(&hash, axis);
    }
  }
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++)
    archive_text(&hash, pol_mechanism_variable(mechanism, i)->expression);
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++)
    archive_text(&hash, pol_mechanism_state(mechanism, i)->rate);
  POLI_ARCHIVE(&hash, sim->first_values);
  return hash.hash;
}

/* All but the number of threads, which makes no difference. */
static uint64_t hash_options(const pol_simulation *sim)
{
  poli_archive hash = {.mode = POLI_ARCHIVE_HASH};
  pol_options o = sim->options;
  pol_formulation_kind kind = sim->formulation->kind;
  archive_text(&hash, o.method);
  POLI_ARCHIVE(&hash, kind);
  int choices[] = {o.index,
                   o.order,
                   o.start,
                   o.redundant,
                   o.guess,
                   o.solver,
                   o.control.controller,
                   o.newton.kind,
                   o.newton.max_iterations,
                   o.newton.line_search,
                   o.newton.fixed_iterations,
                   o.newton.matrix_interval,
                   o.newton.stop,
                   o.published.newton,
                   o.published.exact_iterations,
                   o.published.sigma_update,
                   o.published.estimate};
  double numbers[] = {o.alpha_m,
                      o.alpha_f,
                      o.beta,
                      o.gamma,
                      o.sigma,
                      o.theta,
                      o.vartheta,
                      o.newton.tolerance,
                      o.newton.refresh,
                      o.control.rtol,
                      o.control.atol_translation,
                      o.control.atol_rotation,
                      o.control.first_step,
                      o.control.min_step,
                      o.control.max_step};
  POLI_ARCHIVE(&hash, choices);
  POLI_ARCHIVE(&hash, numbers);
  return hash.hash;
}

static uint64_t hash_span(const pol_simulation *sim)
{
  poli_archive hash = {.mode = POLI_ARCHIVE_HASH};
  double numbers[] = {sim->step, sim->end, sim->output.step};
  int counts[] = {sim->variable, sim->equilibrium, sim->output.count, sim->num_events};
  POLI_ARCHIVE(&hash, numbers);
  POLI_ARCHIVE(&hash, counts);
  poli_archive_bytes(&hash, sim->times, (size_t)sim->output.count * sizeof *sim->times);
  for (int i = 0; i < sim->num_events; i++) {
    pol_simulation_event event = sim->events[i].event;
    POLI_ARCHIVE(&hash, event.direction);
    POLI_ARCHIVE(&hash, event.action);
    archive_text(&hash, event.name);
  }
  return hash.hash;
}

/* Inertia, forces and reactions, and the constraints, at the state of the integrator. */
static pol_status hash_equations(const pol_simulation *sim, uint64_t *hash)
{
  const pol_dae *dae = sim->dae;
  const size_t nv = (size_t)dae->group.nv, m = (size_t)pol_dae_num_constraints(dae);
  double *numbers = calloc(nv + m + dae->scratch_size + 1, sizeof *numbers);
  if (!numbers) return POL_NO_MEMORY;
  const pol_point at = pol_state_point(pol_integrator_state(sim->integrator));
  const pol_terms out = {.balance = numbers, .position = numbers + nv};
  const pol_status status = poli_dae_evaluate(
      dae, &at, POL_INERTIA | POL_FORCE | POL_REACTION | POL_POSITION, &out, numbers + nv + m);
  *hash = poli_hash(0, numbers, (nv + m) * sizeof *numbers);
  free(numbers);
  return status;
}

/* --- what is saved ---------------------------------------------------------------------------- */

/* The names and units of the invariants are those of the simulation. */
static void archive_summary(pol_summary *summary, poli_archive *archive)
{
  pol_summary copy = *summary;
  for (int i = 0; i < POL_MAX_INVARIANTS; i++)
    copy.invariants[i].name = copy.invariants[i].unit = NULL;
  POLI_ARCHIVE(archive, copy);
  if (archive->mode != POLI_ARCHIVE_LOAD || archive->status) return;
  for (int i = 0; i < POL_MAX_INVARIANTS; i++) {
    copy.invariants[i].name = summary->invariants[i].name;
    copy.invariants[i].unit = summary->invariants[i].unit;
  }
  *summary = copy;
}

static void archive_events(pol_simulation *sim, poli_archive *archive)
{
  POLI_ARCHIVE(archive, sim->event);
  POLI_ARCHIVE(archive, sim->stopped);
  POLI_ARCHIVE(archive, sim->in_step);
  POLI_ARCHIVE(archive, sim->seen);
  POLI_ARCHIVE(archive, sim->crowd_start);
  POLI_ARCHIVE(archive, sim->crowd);
  for (int i = 0; i < sim->num_events; i++) {
    poli_watched_event copy = sim->events[i];
    memset(&copy.event, 0, sizeof copy.event);
    POLI_ARCHIVE(archive, copy);
    copy.event = sim->events[i].event;
    sim->events[i] = copy;
  }
}

static void archive_simulation(pol_simulation *sim, poli_archive *archive)
{
  POLI_ARCHIVE(archive, sim->last_step);
  POLI_ARCHIVE(archive, sim->num_steps);
  POLI_ARCHIVE(archive, sim->done);
  POLI_ARCHIVE(archive, sim->next_output);
  archive_events(sim, archive);
  poli_archive_bytes(archive, sim->memory, sim->memory_size);
  poli_state_archive(&sim->state, sim->memory, sim->memory_size, archive);
  poli_state_archive(&sim->good_state, sim->memory, sim->memory_size, archive);
  archive_summary(&sim->summary, archive);
  archive_summary(&sim->good_summary, archive);
  POLI_ARCHIVE(archive, sim->t_before);
  POLI_ARCHIVE(archive, sim->t);
  POLI_ARCHIVE(archive, sim->power_before);
  POLI_ARCHIVE(archive, sim->power_middle);
  POLI_ARCHIVE(archive, sim->power);
  POLI_ARCHIVE(archive, sim->work_before);
  POLI_ARCHIVE(archive, sim->work);
  POLI_ARCHIVE(archive, sim->lambda_t_before);
  POLI_ARCHIVE(archive, sim->lambda_t);
  POLI_ARCHIVE(archive, sim->doubted);
  POLI_ARCHIVE(archive, sim->last_invariants);
  POLI_ARCHIVE(archive, sim->fresh);
  POLI_ARCHIVE(archive, sim->extremes);
  POLI_ARCHIVE(archive, sim->warned);
  POLI_ARCHIVE(archive, sim->diagnostics);
  poli_watch_archive(sim->watch, archive);
  poli_integrator_archive(sim->integrator, archive);
}

/* --- the calls of a user ---------------------------------------------------------------------- */

/* The header of this simulation, but for the size and the checksum. */
static pol_status set_header(pol_simulation *sim, header *h)
{
  *h = (header){.layout = hash_layout(),
                .model = hash_model(sim),
                .options = hash_options(sim),
                .span = hash_span(sim)};
  memcpy(h->magic, magic, sizeof magic);
  snprintf(h->version, sizeof h->version, "%s", pol_version());
  return hash_equations(sim, &h->here);
}

pol_status pol_simulation_save(pol_simulation *simulation, void *bytes, size_t *size)
{
  pol_simulation *sim = simulation;
  const size_t room = *size;
  poli_archive archive = {.mode = POLI_ARCHIVE_MEASURE};
  header h;
  if (sim->failed) return POL_BAD_ARGUMENT;
  archive_simulation(sim, &archive);
  *size = sizeof h + archive.used;
  if (!bytes) return POL_OK;
  if (room < *size) return POL_BAD_ARGUMENT;
  pol_status status = set_header(sim, &h);
  if (status) return status;
  archive = (poli_archive){
      .mode = POLI_ARCHIVE_SAVE, .to = (unsigned char *)bytes + sizeof h, .size = archive.used};
  archive_simulation(sim, &archive);
  h.size = archive.used;
  h.checksum = poli_hash(0, archive.to, archive.used);
  memcpy(bytes, &h, sizeof h);
  return archive.status;
}

/* Why a state does not belong to this simulation; NULL if it does. */
static const char *find_difference(const header *saved, const header *own, const void *bytes,
                                   size_t size)
{
  if (size < sizeof *saved || memcmp(saved->magic, magic, sizeof magic) != 0)
    return "this is no saved state of polhode";
  if (memcmp(saved->version, own->version, sizeof own->version) != 0)
    return "it was saved by another version of polhode";
  if (saved->layout != own->layout) return "it was saved by another build of polhode";
  if (saved->size != size - sizeof *saved) return "it is incomplete";
  if (saved->checksum != poli_hash(0, (const unsigned char *)bytes + sizeof *saved, saved->size))
    return "it is damaged";
  if (saved->model != own->model) return "it belongs to another model";
  if (saved->options != own->options)
    return "the method, the formulation or their parameters are not the same";
  if (saved->span != own->span) return "step size, end, output times or events are not the same";
  return NULL;
}

pol_status pol_simulation_load(pol_simulation *simulation, const void *bytes, size_t size,
                               char *message, size_t message_size)
{
  pol_simulation *sim = simulation;
  header own, saved;
  pol_status status = set_header(sim, &own);
  if (status) return status;
  memset(&saved, 0, sizeof saved);
  if (bytes && size >= sizeof saved) memcpy(&saved, bytes, sizeof saved);
  const char *reason = find_difference(&saved, &own, bytes, bytes ? size : 0);
  if (!reason && (sim->failed || sim->summary.counts.steps > 0))
    reason = "the simulation has made steps before: load it into a new one";
  if (!reason) {
    poli_archive archive = {.mode = POLI_ARCHIVE_LOAD,
                            .from = (const unsigned char *)bytes + sizeof saved,
                            .size = saved.size};
    archive_simulation(sim, &archive);
    status = archive.status;
    if (!status && archive.used != archive.size) status = POL_BAD_ARGUMENT;
    if (status == POL_BAD_ARGUMENT) reason = "it does not fit this simulation";
    uint64_t here = 0;
    if (!status) status = hash_equations(sim, &here);
    if (!status && here != saved.here)
      reason = "the forces or constraints at the saved state are not the same";
    if (reason && !status) status = POL_BAD_ARGUMENT;
    sim->failed = status; /* it is half loaded then */
  }
  if (message_size > 0) snprintf(message, message_size, "%s", reason ? reason : "");
  return reason ? POL_BAD_ARGUMENT : status;
}
