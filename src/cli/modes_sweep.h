/* polhode modes --sweep: modes over the values of a parameter. */
#ifndef POLHODE_CLI_MODES_SWEEP_H
#define POLHODE_CLI_MODES_SWEEP_H

#include "cli/cli.h"

/* Computes the modes at all values of args->sweep and reports them as curves.  Gives the exit
 * status. */
int cli_modes_sweep(const cli_args *args);

#endif
