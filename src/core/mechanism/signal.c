/* The names of signals; see signal.h.  One walk over the mechanism makes them all, in the order of
 * the recorded channels; a search for one name passes by the objects that it does not belong to. */
#include <stdio.h>
#include <string.h>

#include "mechanism/signal.h"

static const char *const axes[] = {"x", "y", "z"};

typedef struct walk {
  poli_signal_visit *visit;
  void *user;
  const char *wanted; /* the only name of interest, or NULL */
  int answer;         /* of the visitor; other than 0: the end */
} walk;

int poli_signal_is_reaction(const poli_signal *signal)
{
  return signal->kind >= POLI_SIGNAL_FORCE && signal->kind <= POLI_SIGNAL_MULTIPLIER;
}

/* Whether the names of an object, which start with this one and a dot, are of interest. */
static int is_wanted(const walk *w, const char *owner)
{
  size_t length = strlen(owner);
  return !w->answer &&
         (!w->wanted || (strncmp(w->wanted, owner, length) == 0 && w->wanted[length] == '.'));
}

/* Visits OWNER.QUANTITY.PART; the last two may be NULL. */
static void visit(walk *w, const char *owner, const char *quantity, const char *part,
                  poli_signal signal)
{
  char name[512];
  if (w->answer) return;
  /* names are only put together for those that may be meant: there can be thousands */
  if (w->wanted && !quantity && strcmp(w->wanted, owner) != 0) return;
  snprintf(name, sizeof name, "%s%s%s%s%s", owner, quantity ? "." : "", quantity ? quantity : "",
           part ? "." : "", part ? part : "");
  w->answer = w->visit(name, &signal, w->user);
}

/* The three components of a vector. */
static void visit_vector(walk *w, const char *owner, const char *quantity, poli_signal_kind kind,
                         int object)
{
  for (int i = 0; i < 3; i++) visit(w, owner, quantity, axes[i], (poli_signal){kind, object, i});
}

/* Coordinates, reactions and multipliers of a joint. */
static void visit_joint(walk *w, const pol_joint *joint, int index)
{
  static const char *const reactions[] = {"force", "torque", "force_local", "torque_local"};
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  if (!is_wanted(w, joint->name)) return;
  const int num_rows = pol_joint_rows(joint, rows);
  for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
    const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
    visit(w, joint->name, info->name, NULL, (poli_signal){POLI_SIGNAL_COORDINATE, index, i});
    visit(w, joint->name, info->rate_name, NULL, (poli_signal){POLI_SIGNAL_RATE, index, i});
  }
  if (num_rows > 0 && rows[num_rows - 1].kind == POL_ROW_SLIP) return;
  for (int k = 0; k < 4; k++)
    visit_vector(w, joint->name, reactions[k], (poli_signal_kind)(POLI_SIGNAL_FORCE + k), index);
  for (int i = 0; i < num_rows; i++) {
    char row[16];
    snprintf(row, sizeof row, "%d", i + 1);
    visit(w, joint->name, "multiplier", row, (poli_signal){POLI_SIGNAL_MULTIPLIER, index, i});
  }
}

/* Amplitudes and rates of the modes of a flexible body. */
static void visit_modes(walk *w, const pol_body *body, int index)
{
  for (int i = 0; i < 2 * body->flexible->num_modes; i++) {
    const int rate = i >= body->flexible->num_modes,
              mode = i - (rate ? body->flexible->num_modes : 0);
    char number[16];
    snprintf(number, sizeof number, "%d", mode + 1);
    visit(w, body->name, rate ? "mode_rate" : "mode", number,
          (poli_signal){rate ? POLI_SIGNAL_MODE_RATE : POLI_SIGNAL_MODE, index, mode});
  }
}

static int visit_all(const pol_mechanism *mechanism, walk *w)
{
  visit(w, "t", NULL, NULL, (poli_signal){POLI_SIGNAL_TIME, 0, 0});
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    const pol_body *body = pol_mechanism_body(mechanism, i);
    if (!is_wanted(w, body->name)) continue;
    visit_vector(w, body->name, "position", POLI_SIGNAL_POSITION, i);
    visit_vector(w, body->name, "velocity", POLI_SIGNAL_VELOCITY, i);
    if (body->point) continue;
    visit_vector(w, body->name, "angular_velocity", POLI_SIGNAL_ANGULAR_VELOCITY, i);
    visit_vector(w, body->name, "angular_velocity_global", POLI_SIGNAL_ANGULAR_VELOCITY_GLOBAL, i);
    if (body->flexible && body->interface == 0) visit_modes(w, body, i);
  }
  const int markers =
      w->wanted && strncmp(w->wanted, "marker.", 7) != 0 ? 0 : pol_mechanism_num_markers(mechanism);
  for (int i = 0; i < markers; i++) {
    const char *name = pol_mechanism_marker(mechanism, i)->name;
    char owner[384];
    snprintf(owner, sizeof owner, "marker.%s", name);
    if (!name[0] || !is_wanted(w, owner)) continue;
    visit_vector(w, owner, "position", POLI_SIGNAL_MARKER_POSITION, i);
    visit_vector(w, owner, "velocity", POLI_SIGNAL_MARKER_VELOCITY, i);
  }
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++)
    visit_joint(w, pol_mechanism_joint(mechanism, i), i);
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    if (is_wanted(w, drive->name))
      visit(w, drive->name, pol_coordinate_turns(drive->coordinate) ? "torque" : "force", NULL,
            (poli_signal){POLI_SIGNAL_DRIVE, i, 0});
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++)
    visit(w, pol_mechanism_state(mechanism, i)->name, NULL, NULL,
          (poli_signal){POLI_SIGNAL_STATE, i, 0});
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++)
    visit(w, pol_mechanism_variable(mechanism, i)->name, NULL, NULL,
          (poli_signal){POLI_SIGNAL_VARIABLE, i, 0});
  return w->answer;
}

int poli_signal_each(const pol_mechanism *mechanism, poli_signal_visit *visit_one, void *user)
{
  walk w = {.visit = visit_one, .user = user};
  return visit_all(mechanism, &w);
}

/* What a search looks for and where it goes. */
typedef struct search {
  const char *name;
  poli_signal *found;
} search;

static int compare(const char *name, const poli_signal *signal, void *user)
{
  const search *s = user;
  if (strcmp(name, s->name) != 0) return 0;
  *s->found = *signal;
  return 1;
}

int poli_signal_find(const pol_mechanism *mechanism, const char *name, poli_signal *signal)
{
  search s = {name, signal};
  walk w = {.visit = compare, .user = &s, .wanted = name};
  return visit_all(mechanism, &w);
}
