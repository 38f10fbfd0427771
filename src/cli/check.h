/* Inside of polhode check: what it found out, and how that is told. */
#ifndef POLHODE_CLI_CHECK_H
#define POLHODE_CLI_CHECK_H

#include <jansson.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

typedef struct cli_findings {
  const char *source;
  const pol_model *model;
  pol_estimate estimate; /* of its memory; 0 if it is not known */
  int num_constraints;
  int num_redundant;                /* of them, if started */
  int started;                      /* consistent initial values exist */
  const pol_simulation *simulation; /* if started */
  pol_moves moves;                  /* if started */
  pol_diagnostics failure;          /* if not */
} cli_findings;

/* --- check_table.c ---------------------------------------------------------------------------- */

/* All on stdout. */
void cli_findings_print(const cli_findings *found);

/* --- check_json.c ----------------------------------------------------------------------------- */

/* A new reference; NULL when memory is out. */
json_t *cli_findings_json(const cli_findings *found);

/* --- check_words.c ---------------------------------------------------------------------------- */

/* The name of the body that a marker is on. */
const char *cli_marker_owner(const pol_mechanism *mechanism, int marker);
/* What a joint locks: "translations x y z, 2 rotations", "the distance". */
void cli_describe_locks(const pol_joint *joint, char *text, size_t size);
/* What of a body's initial values must stay: "position x y, rotation x y z"; "" for nothing. */
void cli_describe_keep(unsigned keep, char *text, size_t size);
/* "support of rotor, stiffness (1, 2, 3) N/m, damping (0, 0, 0) N s/m" */
void cli_describe_force(const pol_mechanism *mechanism, const pol_force *force, char *text,
                        size_t size);
/* What a drive moves: "rotation of hinge", "x of marker tip on arm", "x of marker tip on arm from
 * marker eye on base". */
void cli_describe_coordinate(const pol_mechanism *mechanism, const pol_drive *drive, char *text,
                             size_t size);
/* The type of the function of time that scales a force, "" if none does. */
const char *cli_scale_word(const pol_force *force);
/* The coordinate of a joint-spring. */
const pol_coordinate_info *cli_spring_coordinate(const pol_mechanism *mechanism,
                                                 const pol_force *force);
/* "rising" */
const char *cli_direction_name(int direction);

/* Of the bodies without constraints: 6 a rigid body, 3 a point mass. */
int cli_free_motions(const pol_mechanism *mechanism);
int cli_degrees_of_freedom(const cli_findings *found);
/* Whether given velocities stayed as they are, apart from round-off at usual sizes. */
int cli_is_kept(double change);

#endif
