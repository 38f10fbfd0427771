/* Joint coordinates with the turns that they have made, and force elements with what they need of
 * them. */
#ifndef POLHODE_FORMULATION_ELEMENTS_H
#define POLHODE_FORMULATION_ELEMENTS_H

#include "formulation/formulation.h"

/* Sets up the coordinates of all joints and the joint-springs, whose angles are numbered in the
 * history of the dae. */
void poli_formulation_place_coordinates(pol_formulation *formulation);
/* A part of pol_dae.update_history: brings the angles of all joint coordinates up to date. */
void poli_formulation_update_joint_history(double t, const double *q, double *history, void *user);
/* Whether the motion depends on the turns that an angle of a joint has made: by a spring, by a
 * coupling, or by an expression of a force or state. */
int poli_formulation_needs_turns(const pol_formulation *formulation, int joint, int index);

/* What a force element exerts on the frames of its two bodies, its derivatives and its energy, as
 * in mechanism/force.h.  Of the point they read t and history; without a history no turn
 * has been made yet. */
pol_status poli_placed_wrenches(const poli_placed_force *force, const pol_point *at,
                                const poli_frame *first, const poli_frame *second,
                                double wrench[2][6]);
pol_status poli_placed_derivatives(const poli_placed_force *force, const pol_point *at,
                                   const poli_frame *first, const poli_frame *second,
                                   poli_force_blocks *blocks);
double poli_placed_potential(const poli_placed_force *force, const pol_point *at,
                             const poli_frame *first, const poli_frame *second);

/* POL_NOT_FINITE if the function of a drive, or a derivative of it that these terms need, or the
 * scale of a force has no finite value at t; then *failed is a number for poli_functions_blame,
 * above that of all forces. */
pol_status poli_functions_check(const pol_formulation *formulation, double t, unsigned want,
                                double *failed);
void poli_functions_blame(const pol_formulation *formulation, int number, char *text, size_t size);

/* The power that its dampers take out and that its constant part puts in; what is left belongs to
 * its springs.  Zero where it has no direction. */
void poli_placed_power(const poli_placed_force *force, const pol_point *at, const poli_frame *first,
                       const poli_frame *second, double *dissipated, double *applied);

#endif
