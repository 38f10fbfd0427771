/* The topology of a model as a graph: bodies, and the joints, forces and drives between them. */
#ifndef POLHODE_CLI_TOPOLOGY_H
#define POLHODE_CLI_TOPOLOGY_H

#include <stdio.h>

#include <polhode/model.h>

/* Writes the graph in DOT, the language of graphviz.  The same model gives the same bytes. */
void cli_topology_write(FILE *file, const pol_model *model);

typedef enum cli_drawing {
  CLI_DRAWN,
  CLI_DRAW_NO_PROGRAM, /* graphviz is not installed */
  CLI_DRAW_FAILED      /* errno has the reason */
} cli_drawing;

/* Writes the graph as a picture in SVG, which the program dot of graphviz lays out.  Whether all of
 * it could be written is known when the file is closed. */
cli_drawing cli_topology_draw(FILE *file, const pol_model *model);

#endif
