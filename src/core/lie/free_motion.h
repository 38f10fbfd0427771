/* The exact motion of a rigid body on which no torque acts. */
#ifndef POLHODE_LIE_FREE_MOTION_H
#define POLHODE_LIE_FREE_MOTION_H

/* What the motion needs to know of the principal moments of inertia, in their order of size. */
typedef struct poli_free_body {
  int axis;                /* symmetric body: its axis of symmetry; else -1 */
  int is_sphere;           /* all three are equal */
  double inverse;          /* symmetric body: 1/Jt, Jt the moment across the axis, */
  double excess;           /* and 1/Ja - 1/Jt, Ja the moment about it */
  double inverse_smallest; /* 1 / the smallest moment */
  double moment[3];
  int order[3];  /* asymmetric body: moment[order[0]] < moment[order[1]] < moment[order[2]] */
  double parity; /* -1 if the order is an odd permutation */
  double A, B;   /* 1/J1 - 1/J2 and 1/J2 - 1/J3 of the sorted moments */
} poli_free_body;

/* The moments are positive.  Moments that differ by 1e-14 or less of their size count as equal. */
void poli_free_body_set(poli_free_body *body, const double moment[3]);

/* The rotation at time h, which may be negative, from that at time 0, both unit quaternions from
 * the principal axes to inertial axes; L is the angular momentum about the centre of mass in
 * inertial axes, which stays constant.  Accurate to round-off for every h.  q1 may be q0.  An
 * asymmetric body that turns by more than 1e5 rad, or 1e3 rad with D, gives NaN.
 *
 * If D is not NULL: D = d(phi)/dL, where a change of L turns the final rotation R1 into
 * exp(phi~) R1.  Exact for a symmetric body, else to 2e-4 of its size at |h w| = 0.1 and 6e-3 at
 * 0.5 and above: enough for a Newton iteration. */
void poli_free_motion(const poli_free_body *body, const double q0[4], const double L[3], double h,
                      double q1[4], double *D);

#endif
