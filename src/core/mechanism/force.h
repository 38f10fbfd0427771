/* The force kernel: what a force element exerts on the frames of two bodies, and the derivatives.
 *
 * An applied force f at the point p of a body and an applied torque t give the wrench (torque in
 * body axes about the centre of mass, force in global axes)
 *
 *     f in global axes: (p x R^T f, f)        t in global axes: (R^T t, 0)
 *     f in body axes:   (p x f, R f)          t in body axes:   (t, 0)
 *
 * times a function of time, if there is one.  A bushing (bushing.h) acts between two markers, a
 * callback force is the program's.
 *
 * All others act between a point p1 of a first and a point p2 of a second body, one of which may be
 * the ground.  With
 *
 *     d = x2 + R2 p2 - x1 - R1 p1,    F = F(d, d')  on the second, -F on the first,
 *
 * a law says F:
 *
 *     support        F = -diag(k) d - diag(c) d'               from a fixed point of the ground
 *     spring-damper  F = -(S(l) + c l' - a) n,                 l = |d|, n = d / l, l' = n . d'
 *         linear          S = k (l - l0),             energy k (l - l0)^2 / 2
 *         squared-length  S = 2 k l (l^2 - l0^2),     energy k (l^2 - l0^2)^2 / 2 (Kinon, Betsch,
 *                                                     Schneider 2023, section 6.3)
 *     drag           F = -c |d'| d'              d' the velocity of the centre of mass
 *
 * A spring on a joint coordinate has a kernel of its own (coordinate.h); here are only its
 * bodies.
 */
#ifndef POLHODE_MECHANISM_FORCE_H
#define POLHODE_MECHANISM_FORCE_H

#include "mechanism/beam.h"
#include "mechanism/bushing.h"

/* A force ready for evaluation.  What acts on one body has the ground as its first. */
typedef struct poli_force_kernel {
  const pol_force *force; /* of the mechanism */
  int body[2];            /* POL_GROUND or an index */
  double point[2][3];     /* p1, p2 in body axes; global for the ground */
  union {
    poli_bushing_kernel bushing;
    poli_beam_kernel beam;
  };
} poli_force_kernel;

/* Derivatives of both wrenches, (torque1, force1, torque2, force2), by (dphi1, dx1, dphi2, dx2)
 * with dR = R dphi~, and by the velocities (w1, u1, w2, u2). */
typedef struct poli_force_blocks {
  double by_position[12][12];
  double by_velocity[12][12];
} poli_force_blocks;

void poli_force_kernel_setup(poli_force_kernel *kernel, const pol_mechanism *mechanism, int force);

/* Whether it acts on a coordinate of a joint (coordinate.h). */
int poli_force_is_on_joint(pol_force_type type);

/* Whether it needs the rotations of its bodies as such: bushings, callbacks, and beams
 * but those with the strains `directors`. */
int poli_force_sees_frames(const pol_force *force);

/* What multiplies an applied force or torque, or an actuator, at time t. */
double poli_force_scale(const pol_force *force, double t);

/* F on the second point, dF/dd and dF/dd'. */
typedef struct poli_law {
  double F[3];
  double F_d[9], F_rate[9];
} poli_law;

/* The law of a force that has one, at time t, the separation d and its rate.  POL_RETRY where a
 * spring-damper has no direction. */
pol_status poli_force_law(const pol_force *force, double t, const double d[3], const double rate[3],
                          poli_law *law);

/* The wrenches on both bodies at time t.  POL_RETRY, with zeros, where a spring-damper has no
 * direction and where a bushing is turned too far; or the status that a callback returns. */
pol_status poli_force_wrenches(const poli_force_kernel *kernel, double t, const poli_frame *first,
                               const poli_frame *second, double wrench[2][6]);

/* Their derivatives; the status as above. */
pol_status poli_force_derivatives(const poli_force_kernel *kernel, double t,
                                  const poli_frame *first, const poli_frame *second,
                                  poli_force_blocks *blocks);

/* Why a force of this type cannot be evaluated, to follow its name: "its points coincide". */
const char *poli_force_failure(const pol_force *force);

/* Whether the force depends on velocities, expressions in it apart. */
int poli_force_reads_velocities(const pol_force *force);

/* The energy stored in springs, or what a callback says; 0 for all other forces. */
double poli_force_potential(const poli_force_kernel *kernel, const poli_frame *first,
                            const poli_frame *second);

#endif
