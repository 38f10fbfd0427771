/* A program outside of polhode's tree that draws a figure. */
#include <polhode/plot.h>

int main(void)
{
  const double t[2] = {0.0, 1.0}, y[2] = {1.0, 2.0};
  const pol_series line = {.x = t, .y = y, .count = 2};
  pol_panel panel = pol_panel_default();
  pol_figure figure = pol_figure_default();
  panel.series = &line, panel.num_series = 1;
  figure.panels = &panel, figure.num_panels = 1;
  return pol_figure_write(&figure, "line.png") == POL_OK ? 0 : 1;
}
