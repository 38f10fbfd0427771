/* Names of channels, of a simulation or of a file. */
#ifndef POLHODE_SIMULATION_RECORD_H
#define POLHODE_SIMULATION_RECORD_H

#include <polhode/simulation.h>

/* POL_BAD_ARGUMENT if two channels have the same name; *twice is that name, else NULL. */
pol_status poli_channels_check_names(const pol_channel *channels, int count, const char **twice);

#endif
