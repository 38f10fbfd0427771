/* polhode: simulation of constrained multibody systems.  Includes all public headers of the core.
 * Include model.h, result.h, mat.h and output.h (libpolhode_io) and plot.h and view.h
 * (libpolhode_draw) separately.
 */
#ifndef POLHODE_H
#define POLHODE_H

#include <polhode/analysis.h>
#include <polhode/batch.h>
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
