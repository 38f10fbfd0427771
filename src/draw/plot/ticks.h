/* Ranges of axes and their ticks. */
#ifndef POLHODE_PLOT_TICKS_H
#define POLHODE_PLOT_TICKS_H

#include <polhode/plot.h>

/* Larger values count as infinite, so that no range overflows. */
#define POLI_PLOT_LARGEST 1e300

typedef struct poli_range {
  double lo, hi; /* lo > hi: empty */
} poli_range;

poli_range poli_range_empty(void);
void poli_range_include(poli_range *range, double value);
/* Makes a range that can be drawn, with a margin at both ends (in decades on a logarithmic axis):
 * an empty one becomes 0 to 1, or 1 to 10; one without extent, but for round-off, is widened. */
void poli_range_finish(poli_range *range, int log, double margin);

enum {
  POLI_MAX_TICKS = 48,
  POLI_MAX_MINOR_TICKS = 400,
  POLI_TICK_LABEL = 64,
  POLI_TICK_OFFSET = 160
};

typedef struct poli_ticks {
  int count;
  double at[POLI_MAX_TICKS];
  char label[POLI_MAX_TICKS][POLI_TICK_LABEL];
  int num_minor; /* without labels, on logarithmic axes */
  double minor[POLI_MAX_MINOR_TICKS];
  /* A label means itself, times and plus this: "(times)10^-3 + 5435.6"; "" if it means itself. */
  char offset[POLI_TICK_OFFSET];
} poli_ticks;

/* Ticks for an axis of this length in pixels: steps of 1, 2 or 5 times a power of ten, or decades;
 * neighbours at least `distance` apart, and, if the axis is horizontal, labels of this font size
 * (0: vertical) clear of each other. */
void poli_ticks_make(poli_ticks *ticks, poli_range range, int log, double length, double distance,
                     double font_size);

/* A number with so many decimals, the true minus, and a point whatever the locale. */
void poli_ticks_number(char *text, size_t size, double value, int decimals);
/* "10^-3", with the true minus. */
void poli_ticks_power(char *text, size_t size, int exponent);

#endif
