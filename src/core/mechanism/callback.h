/* Callback forces: what a program's functions say (pol_callback in polhode/mechanism.h), in the
 * form of the force kernel (force.h).  Where there are no derivatives they are formed by central
 * differences, f' = (f(+h) - f(-h)) / 2h with h = eps^(1/3) of a unit, whose truncation and
 * round-off are alike. */
#ifndef POLHODE_MECHANISM_CALLBACK_H
#define POLHODE_MECHANISM_CALLBACK_H

#include "mechanism/joint.h"

/* Wrenches and derivatives arrive set to zero; the status is the callback's. */
pol_status poli_callback_wrenches(const pol_force *force, double t,
                                  const poli_frame *const frames[2], double wrench[2][6]);
pol_status poli_callback_derivatives(const pol_force *force, double t,
                                     const poli_frame *const frames[2], double (*by_position)[12],
                                     double (*by_velocity)[12]);
double poli_callback_potential(const pol_force *force, const poli_frame *const frames[2]);

#endif
