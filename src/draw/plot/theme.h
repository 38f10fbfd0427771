/* The colours of figures, light and dark. */
#ifndef POLHODE_PLOT_THEME_H
#define POLHODE_PLOT_THEME_H

#include <polhode/plot.h>

/* 0xRRGGBB each. */
typedef struct poli_theme {
  unsigned background, text, frame, grid;
  unsigned palette[POL_PLOT_COLORS];
} poli_theme;

/* The light one, then the dark one. */
extern const poli_theme poli_themes[2];

#endif
