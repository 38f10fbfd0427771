/* Animation of a result as a single HTML page, which needs no network and no other file, or as a
 * binary glTF file.  docs/viewer.md describes both. */
#ifndef POLHODE_VIEW_H
#define POLHODE_VIEW_H

#include <stddef.h>

#include <polhode/model.h>
#include <polhode/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of the page. */
typedef struct pol_view_options {
  int max_frames;      /* maximum number, at least 2; 0: up to 2000, fewer for very many bodies */
  const char *folder;  /* directory of the mesh files of the model; NULL: current directory */
  const char *title;   /* of a model without a name, such as that of its file; may be NULL */
  pol_result *compare; /* another run of the model, shown as pale bodies; NULL: none */
  const char *compare_title; /* its name on the page; may be NULL */
} pol_view_options;

/* Contents of a page. */
typedef struct pol_view_summary {
  int frames;   /* rows of the result in the animation */
  int channels; /* quantities that can be plotted, besides positions and quaternions */
  int left_out; /* channels omitted by the size limit */
  int bodies;
  long bytes; /* size of the page */
} pol_view_summary;

/* Writes the page to `path`, or, if the path ends in ".glb", bodies and motion as binary glTF 2.0
 * (channels are counted, not written); an existing file is replaced.  The result must belong to
 * this model: it needs the position of every body and the rotation of every rigid body.  On
 * failure, message (may be NULL) gives the reason.  POL_BAD_ARGUMENT: the result lacks a channel,
 * has no rows or cannot be read, the same of the compared one, or a mesh file is missing or
 * invalid; an existing page is kept. POL_IO: the page cannot be written.  POL_NO_MEMORY. options
 * may be NULL (all zero); summary may be NULL. */
pol_status pol_view_write(const char *path, const pol_model *model, pol_result *result,
                          const pol_view_options *options, pol_view_summary *summary, char *message,
                          size_t size);

#ifdef __cplusplus
}
#endif
#endif
