/* polhode: simulation of constrained multibody systems.  This header brings all.
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
#include <polhode/model.h>
#include <polhode/newton.h>
#include <polhode/plot.h>
#include <polhode/result.h>
#include <polhode/simulation.h>
#include <polhode/status.h>
#include <polhode/view.h>

#endif
