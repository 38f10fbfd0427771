/* A zero between two values of different sign; see events.c. */
#ifndef POLHODE_INTEGRATORS_ROOT_H
#define POLHODE_INTEGRATORS_ROOT_H

/* The zero of f in [a, b], where f(a) = fa and f(b) = fb have different signs, to round-off; of the
 * two numbers around it the one where f has the sign of fb, or is 0. */
double poli_find_root(double (*f)(double x, void *user), void *user, double a, double fa, double b,
                      double fb);

/* 1 if a function that was first and is last has changed its sign, 0 included, in a direction: > 0
 * rising, < 0 falling, 0 both.  What starts at 0, or is not a number, has no sign to change. */
int poli_changes_sign(double first, double last, int direction);

#endif
