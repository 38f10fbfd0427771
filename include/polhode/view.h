/* Writing a result as a page that shows it move: one HTML file that needs nothing else, no network
 * and no other file.  docs/viewer.md says what the page shows. */
#ifndef POLHODE_VIEW_H
#define POLHODE_VIEW_H

#include <stddef.h>

#include <polhode/model.h>
#include <polhode/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a page. */
typedef struct pol_view_options {
  int max_frames;     /* of the animation, at least 2; 0: up to 2000, fewer for very many bodies */
  const char *folder; /* in which mesh files of the model are looked for; NULL: where we are */
} pol_view_options;

/* What went into a page. */
typedef struct pol_view_summary {
  int frames;   /* of the rows of the result */
  int channels; /* quantities that its plot can show, beside positions and quaternions */
  int left_out; /* channels that found no room */
  int bodies;
  long bytes; /* size of the page */
} pol_view_summary;

/* Writes the page to `path`, which it replaces.  The result must be one of this model: it has the
 * position of every body, and the rotation of every rigid one.  On failure message (may be NULL)
 * says why: POL_BAD_ARGUMENT where the result lacks a channel, has no rows or cannot be read, or a
 * mesh file is missing or wrong, and a page that was there before stays; POL_IO where the page
 * cannot be written; POL_NO_MEMORY.  options may be NULL, which means all zero.  summary
 * may be NULL. */
pol_status pol_view_write(const char *path, const pol_model *model, pol_result *result,
                          const pol_view_options *options, pol_view_summary *summary, char *message,
                          size_t size);

#ifdef __cplusplus
}
#endif
#endif
