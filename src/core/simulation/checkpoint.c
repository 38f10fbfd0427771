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

/* What the bytes begin with.  The list of what the state belongs to follows, then the data, then,
 * if the end of the span has had an effect on them, the bytes of a state before that. */
typedef struct header {
  char magic[16], version[16];
  uint64_t layout;       /* sizes and byte order of this machine and build */
  uint64_t here;         /* the equations of motion at the saved state: a hash */
  double end;            /* of the time span */
  int64_t end_acts;      /* whether it has had an effect on steps */
  int64_t num_outputs;   /* of a list of output times that have passed, */
  uint64_t output_times; /* and their hash */
  uint64_t identity;     /* numbers of that list (identity.c) */
  uint64_t size, before; /* bytes of the data, and of the state before */
  uint64_t checksum;     /* of all bytes behind the header */
} header;

/* --- hashes ----------------------------------------------------------------------------------- */

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

/* Of the first times of a list, or of all that there are. */
static uint64_t hash_output_times(const pol_simulation *sim, int64_t count)
{
  const int64_t known = count < sim->output.count ? count : sim->output.count;
  return known > 0 ? poli_hash(0, sim->times, (size_t)known * sizeof *sim->times) : 0;
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
  POLI_ARCHIVE(archive, sim->plan_t);
  POLI_ARCHIVE(archive, sim->plan_done);
  POLI_ARCHIVE(archive, sim->done);
  POLI_ARCHIVE(archive, sim->shown);
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
  poli_controllers_archive(sim, archive);
}

/* --- the calls of a user ---------------------------------------------------------------------- */

/* Bytes of the kept state before the end had an effect. */
static size_t size_before(const pol_simulation *sim)
{
  return sim->end_acts ? sim->before_size : 0;
}

pol_status pol_simulation_save(pol_simulation *simulation, void *bytes, size_t *size)
{
  pol_simulation *sim = simulation;
  const size_t room = *size, numbers = poli_identity_size(sim), before = size_before(sim);
  poli_archive archive = {.mode = POLI_ARCHIVE_MEASURE};
  header h;
  if (sim->failed || pol_simulation_unsaved(sim)) return POL_BAD_ARGUMENT;
  archive_simulation(sim, &archive);
  if (archive.status) return archive.status;
  const size_t list = numbers * sizeof(uint64_t), data = archive.used;
  *size = sizeof h + list + data + before;
  if (!bytes) return POL_OK;
  if (room < *size) return POL_BAD_ARGUMENT;

  uint64_t *identity = malloc(list);
  if (!identity) return POL_NO_MEMORY;
  unsigned char *behind = (unsigned char *)bytes + sizeof h;
  poli_identity_fill(sim, identity);
  memcpy(behind, identity, list);
  free(identity);
  archive = (poli_archive){.mode = POLI_ARCHIVE_SAVE, .to = behind + list, .size = data};
  archive_simulation(sim, &archive);
  if (archive.status) return archive.status;
  if (before > 0) memcpy(behind + list + data, sim->before_end, before);

  memset(&h, 0, sizeof h);
  memcpy(h.magic, magic, sizeof magic);
  snprintf(h.version, sizeof h.version, "%s", pol_version());
  h.layout = hash_layout();
  h.end = sim->end;
  h.end_acts = sim->end_acts;
  h.num_outputs = sim->output.count > 0 ? sim->next_output - 1 : 0;
  h.output_times = hash_output_times(sim, h.num_outputs);
  h.identity = numbers;
  h.size = data;
  h.before = before;
  h.checksum = poli_hash(0, behind, *size - sizeof h);
  const pol_status status = hash_equations(sim, &h.here);
  if (!status) memcpy(bytes, &h, sizeof h);
  return status;
}

pol_status pol_simulation_allow_later_end(pol_simulation *simulation)
{
  pol_simulation *sim = simulation;
  size_t size = 0;
  if (sim->before_end) return POL_OK;
  if (sim->summary.counts.steps > 0 || sim->failed) return POL_BAD_ARGUMENT;
  const pol_status status = pol_simulation_save(sim, NULL, &size);
  if (status) return status;
  sim->before_end = malloc(size);
  sim->before_room = size;
  return sim->before_end ? POL_OK : POL_NO_MEMORY;
}

/* Whether the size of the next step, or a row that it leads to, may depend on the end. */
static int next_step_meets_end(const pol_simulation *sim)
{
  const double margin = 1.0 + 1e-9;
  if (!sim->variable) return sim->done + 1 >= sim->num_steps;
  return sim->end - sim->t < 2.0 * margin * poli_integrator_planned_step(sim->integrator);
}

void poli_simulation_keep_before_end(pol_simulation *sim)
{
  if (sim->end_acts || !next_step_meets_end(sim)) return;
  size_t size = 0;
  /* parts that were made when they were needed have made it larger */
  if (sim->before_end && pol_simulation_save(sim, NULL, &size) == POL_OK &&
      size > sim->before_room) {
    void *larger = realloc(sim->before_end, size);
    if (larger) sim->before_end = larger;
    if (larger) sim->before_room = size;
  }
  size = sim->before_room;
  sim->before_size = 0;
  if (sim->before_end && pol_simulation_save(sim, sim->before_end, &size) == POL_OK)
    sim->before_size = size;
  sim->end_acts = 1;
}

/* Takes the header from the bytes: whether they are a complete state of this version. */
static const char *read_header(header *saved, const unsigned char *bytes, size_t size)
{
  memset(saved, 0, sizeof *saved);
  if (bytes && size >= sizeof *saved) memcpy(saved, bytes, sizeof *saved);
  if (memcmp(saved->magic, magic, sizeof magic) != 0) return "this is no saved state of polhode";
  char version[sizeof saved->version] = "";
  snprintf(version, sizeof version, "%s", pol_version());
  if (memcmp(saved->version, version, sizeof version) != 0)
    return "it was saved by another version of polhode";
  if (saved->layout != hash_layout()) return "it was saved by another build of polhode";
  size_t rest = size - sizeof *saved;
  if (saved->identity > rest / sizeof(uint64_t)) return "it is incomplete";
  rest -= saved->identity * sizeof(uint64_t);
  if (saved->size > rest || saved->before != rest - saved->size) return "it is incomplete";
  if (saved->checksum != poli_hash(0, bytes + sizeof *saved, size - sizeof *saved))
    return "it is damaged";
  return NULL;
}

/* Whether the state is one of this simulation; if not, the message says what differs. */
static pol_status check_identity(pol_simulation *sim, const header *saved,
                                 const unsigned char *list, char *message, size_t message_size)
{
  const size_t numbers = poli_identity_size(sim);
  uint64_t *own = malloc((numbers + saved->identity) * sizeof *own);
  if (!own) return POL_NO_MEMORY;
  uint64_t *theirs = own + numbers;
  poli_identity_fill(sim, own);
  memcpy(theirs, list, saved->identity * sizeof *theirs);
  int same =
      poli_identity_compare(sim, theirs, saved->identity, own, numbers, message, message_size);
  free(own);
  if (same && (saved->num_outputs > sim->output.count ||
               saved->output_times != hash_output_times(sim, saved->num_outputs))) {
    snprintf(message, message_size, "simulation.output.times are not the same");
    same = 0;
  }
  return same ? POL_OK : POL_BAD_ARGUMENT;
}

/* Reads the data of a state that belongs to this simulation. */
static pol_status load_data(pol_simulation *sim, const header *saved, const unsigned char *data,
                            char *message, size_t message_size)
{
  poli_archive archive = {.mode = POLI_ARCHIVE_LOAD, .from = data, .size = saved->size};
  const char *reason = NULL;
  uint64_t here = 0;
  archive_simulation(sim, &archive);
  pol_status status = archive.status;
  if (!status && archive.used != archive.size) status = POL_BAD_ARGUMENT;
  if (status == POL_BAD_ARGUMENT) reason = "it does not fit this simulation";
  if (!status) status = hash_equations(sim, &here);
  if (!status && here != saved->here) {
    reason = "the forces or constraints at the saved state are not the same";
    status = POL_BAD_ARGUMENT;
  }
  if (reason) snprintf(message, message_size, "%s", reason);
  /* after a reset, steps of fixed size are those of a run that had this end at once */
  if (!status && !sim->variable && sim->plan_t > 0.0) {
    const long done = sim->done;
    sim->done = sim->plan_done;
    poli_simulation_plan_rest(sim, sim->plan_t);
    sim->done = done;
  }
  return status;
}

/* Why a state cannot be continued to the end of this simulation; 0 if it can. */
static int is_bad_end(const pol_simulation *sim, const header *saved, char *message, size_t size)
{
  if (sim->end < saved->end)
    snprintf(message, size,
             "simulation.end was %.10g s, here it is %.10g s: it must not be earlier", saved->end,
             sim->end);
  else if (sim->end > saved->end && saved->end_acts && saved->before == 0)
    snprintf(message, size,
             "simulation.end was %.10g s, here it is %.10g s: the last steps before the old end "
             "were fitted to it, and no state before them was kept",
             saved->end, sim->end);
  else
    return 0;
  return 1;
}

pol_status pol_simulation_load(pol_simulation *simulation, const void *bytes, size_t size,
                               char *message, size_t message_size)
{
  pol_simulation *sim = simulation;
  header saved;
  char unwanted[1];
  if (message_size == 0) message = unwanted;
  if (message_size == 0) message_size = sizeof unwanted;
  message[0] = '\0';
  const char *reason = read_header(&saved, bytes, size);
  if (!reason && (sim->failed || sim->summary.counts.steps > 0))
    reason = "the simulation has made steps before: load it into a new one";
  if (reason) snprintf(message, message_size, "%s", reason);
  if (reason) return POL_BAD_ARGUMENT;
  const unsigned char *list = (const unsigned char *)bytes + sizeof saved;
  const unsigned char *data = list + saved.identity * sizeof(uint64_t), *before = data + saved.size;
  pol_status status = check_identity(sim, &saved, list, message, message_size);
  if (status) return status;
  if (is_bad_end(sim, &saved, message, message_size)) return POL_BAD_ARGUMENT;
  const int later = sim->end > saved.end;
  if (later && saved.end_acts)
    return pol_simulation_load(sim, before, saved.before, message, message_size);

  status = load_data(sim, &saved, data, message, message_size);
  sim->failed = status; /* it is half loaded then */
  if (status) return status;
  if (later) poli_integrator_keep_span(sim->integrator, saved.end);
  sim->end_acts = !later && saved.end_acts;
  if (sim->end_acts && sim->before_end && saved.before > 0 && saved.before <= sim->before_room) {
    memcpy(sim->before_end, before, saved.before);
    sim->before_size = saved.before;
  }
  /* what was kept within a call of pol_simulation_step is no row yet */
  return sim->shown ? POL_OK : pol_simulation_step(sim);
}
