/* polhode: simulation of constrained multibody systems.  Includes the headers of the core; model.h,
 * result.h and output.h (libpolhode_io), plot.h and view.h (libpolhode_draw) are included by those
 * who use them.
 */
#ifndef POLHODE_H
#define POLHODE_H

#include <polhode/convergence.h>
#include <polhode/dae.h>
#include <polhode/errors.h>
#include <polhode/formulation.h>
#include <polhode/integrator.h>
#include <polhode/lie.h>
#include <polhode/linalg.h>
#include <polhode/mechanism.h>
#include <polhode/newton.h>
#include <polhode/published.h>
#include <polhode/simulation.h>
#include <polhode/status.h>

#endif
