/* Random mechanisms for differential tests: from a seed, valid by construction.
 *
 * Bodies are hung on each other by joints of all types, in random positions that the joints allow;
 * further joints, whose markers are placed where the bodies are, close loops.  Drives and couplings
 * start at the values that their coordinates have.  So every mechanism is consistent at t = 0.
 * Lengths are about 0.5 m, masses 1 kg, velocities 1 m/s, frequencies below 30 rad/s: the error of
 * steps of a few milliseconds follows its leading term.
 */
#ifndef POLHODE_TESTS_RANDOM_MODEL_H
#define POLHODE_TESTS_RANDOM_MODEL_H

#include <stdint.h>
#include <stdio.h>

#include <polhode/polhode.h>

enum { MAX_EVENTS = 3, MAX_TEXTS = 16, TEXT_SIZE = 256 };

typedef struct random_model {
  uint64_t seed;
  pol_mechanism *mechanism;
  double end; /* s */
  int num_events;
  pol_event_rule events[MAX_EVENTS];
  pol_change changes[MAX_EVENTS];

  int turnable; /* 1: no global axis plays a role, so that a turned mechanism moves as this one */
  int in_files; /* 1: a model file can say it: there are no callbacks */
  int raw_velocities; /* 1: initial velocities as given, which the assembler has to change */
  char words[160];    /* what it has, for people */

  char texts[MAX_TEXTS][TEXT_SIZE]; /* what the expressions of events point to */
  int num_texts;
} random_model;

/* Returns POL_OK or what the library said to a mechanism that should be valid, with its words in
 * message; then there is no model. */
pol_status random_model_create(random_model *model, uint64_t seed, char *message, size_t size);
void random_model_free(random_model *model);

/* The settings that a run of it starts from: default ones with its end and its events, without
 * those if a formulation does not take them. */
pol_settings random_model_settings(const random_model *model);

/* How a copy of a mechanism differs from it. */
typedef struct random_change {
  const double *turn;            /* unit quaternion by which all of it is turned; NULL: it is not */
  int reversed;                  /* 1: bodies, joints and forces in the opposite order */
  const double (*velocities)[6]; /* velocity and angular velocity of each body; NULL: as they are */
  const double (*moves)[6];      /* displacement and rotation vector of each body; NULL: none */
} random_change;

pol_status random_model_copy(const random_model *model, const random_change *change,
                             pol_mechanism **copy);

/* The model as a file: JSON, numbers with 17 digits. */
void random_model_write(const random_model *model, const pol_settings *settings, FILE *file);

#endif
