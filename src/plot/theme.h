/* The colours of figures, light and dark. */
#ifndef POLHODE_PLOT_THEME_H
#define POLHODE_PLOT_THEME_H

#include <polhode/plot.h>

/* 0xRRGGBB each. */
typedef struct pol_theme {
  unsigned background, text, frame, grid;
  unsigned palette[POL_PLOT_COLORS];
} pol_theme;

/* The light one, then the dark one. */
extern const pol_theme pol_themes[2];

#endif
