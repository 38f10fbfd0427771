/* The topology of a model as a picture: which bodies, joints, forces and drives there are and what
 * they connect.
 */
#ifndef POLHODE_CLI_TOPOLOGY_H
#define POLHODE_CLI_TOPOLOGY_H

#include <stdio.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

/* Writes the picture as SVG.  The same model gives the same bytes.  POL_NO_MEMORY or POL_IO (then
 * errno says why): the file is unfinished.  The caller closes it. */
pol_status cli_topology_write(FILE *file, const pol_model *model);

#endif
