/* Principal axes of an inertia. */
#ifndef POLHODE_MECHANISM_INERTIA_H
#define POLHODE_MECHANISM_INERTIA_H

/* J = R diag(moments) R^T of a symmetric J (9 numbers, row by row); R is a rotation, whose columns
 * are the principal axes.  The moments are in no particular order. */
void poli_principal_axes(const double J[9], double moments[3], double R[9]);

/* The half axes along the principal axes of the solid ellipsoid of equal density that has this mass
 * and these principal moments: moments[0] = mass (b^2 + c^2) / 5 and so on.  0 where a moment is as
 * great as the sum of the others. */
void poli_inertia_ellipsoid(double mass, const double moments[3], double half_axes[3]);

#endif
