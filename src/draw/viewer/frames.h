/* The frames of an animation: some rows of a result, its numbers in 16 bits each.
 *
 * A number x of a range [low, high] is stored as round(65534 (x - low) / (high - low)); 65535
 * stands for what is no number, or one beyond 1e15 m (positions) or 1e300 (others).  Each
 * coordinate of each body, and each channel, has a range of its own, so that the error is below
 * 1e-5 of what it moves.  A component of a quaternion is round(32767 q) + 32768.
 */
#ifndef POLHODE_VIEWER_FRAMES_H
#define POLHODE_VIEWER_FRAMES_H

#include <polhode/model.h>
#include <polhode/result.h>

typedef struct poli_range16 {
  double low, high;
} poli_range16;

typedef struct poli_frames {
  int count;
  int num_bodies;
  double *times;            /* [count] */
  unsigned char *positions; /* [count][num_bodies][3] of 2 bytes */
  poli_range16 *ranges;     /* of the positions, [num_bodies][3] */
  unsigned char *rotations; /* [count][num_bodies][4] of 2 bytes: w, x, y, z */

  int num_channels;
  int *channels;                /* which of the result's, [num_channels] */
  poli_range16 *channel_ranges; /* [num_channels] */
  unsigned char *values;        /* [num_channels][count] of 2 bytes */
  int left_out;                 /* channels omitted by the size limit */

  long *rows;     /* of the result, [count] */
  size_t width;   /* channels in hand */
  double *series; /* their values, [count][width]; at first all times */
} poli_frames;

/* Reads what a page shows.  max_frames 0: as many as make a page of sensible size.  In every case,
 * free with poli_frames_free; message as in pol_view_write(). */
pol_status poli_frames_read(poli_frames *frames, const pol_model *model, pol_result *result,
                            int max_frames, char *message, size_t size);
void poli_frames_free(poli_frames *frames);

#endif
