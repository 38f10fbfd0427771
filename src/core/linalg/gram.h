/* Rank decisions on many vectors a_i of length one that have few coordinates each, such as the
 * constraints of a mechanism in the metric of M^-1.
 *
 * Vectors are neighbours where they have a coordinate in common; components without a common one
 * are independent of each other.  Each vector is compared with those before it in an order of
 * little fill (AMD), which is found once.  Distances come from a factorisation of the Gram matrix
 * S_ij = a_i . a_j, which is fast and has half the digits, choices from a sparse QR decomposition.
 * Both cost as much as a sparse factorisation: linear in their number for trees and chains. */
#ifndef POLHODE_LINALG_GRAM_H
#define POLHODE_LINALG_GRAM_H

#include <stddef.h>

#include <polhode/status.h>

typedef struct poli_gram poli_gram;

/* n vectors; the neighbours of i are neighbour[start[i]] .. neighbour[start[i + 1] - 1], without i,
 * each pair in both directions.  Those with early[i] != 0, whose neighbours are all neighbours of
 * each other, come before the others.  All workspace is allocated, but for that of
 * poli_gram_choose. */
pol_status poli_gram_create(poli_gram **gram, int n, const int *start, const int *neighbour,
                            const unsigned char *early);
void poli_gram_free(poli_gram **gram);

int poli_gram_num_components(const poli_gram *gram);
/* The vectors of a component, in the order of elimination. */
const int *poli_gram_members(const poli_gram *gram, int component, int *count);

/* The entries of S to be set before a measurement, of pairs i, j; those of a component are entries
 * `first` up to `end` - 1. */
int poli_gram_num_entries(const poli_gram *gram);
void poli_gram_entry(const poli_gram *gram, int entry, int *i, int *j);
void poli_gram_entries_of(const poli_gram *gram, int component, int *first, int *end);
double *poli_gram_values(poli_gram *gram);
/* The diagonal: 1 for each vector at first, to be set to 0 for vectors of zeros. */
double *poli_gram_diagonal(poli_gram *gram);

/* Numbers of L and multiplications of a factorisation with all vectors. */
size_t poli_gram_size(const poli_gram *gram);
double poli_gram_operations(const poli_gram *gram);

/* Factors a component without the vectors with dropped[i] != 0 (n flags).  Returns the smallest
 * distance of a vector from all others, and which that is; 1 and -1 if there is none; 0 if it is
 * below about 1e-7. */
double poli_gram_measure(poli_gram *gram, int component, const unsigned char *dropped, int *which);

/* After a measurement: the distance of a vector that was not dropped from all others of its
 * component. */
double poli_gram_distance(const poli_gram *gram, int vector);

/* Before a choice: all vectors of a component, one coordinate after the other.  A coordinate is
 * given by its numbers in `count` vectors, which are neighbours of each other. */
void poli_gram_begin(poli_gram *gram, int component);
void poli_gram_add(poli_gram *gram, int count, const int *vector, const double *value);

/* Sets dropped[i] for the vectors of a component: 1 for those that depend on the others, less than
 * 1e-10 away.  With count >= 0 for that many, the least independent ones.  Vectors that are at most
 * `enough` away from those before them are compared with each other at the end; this allocates.
 * POL_CANCELLED: base/monitor.h. */
pol_status poli_gram_choose(poli_gram *gram, int component, int count, double enough,
                            unsigned char *dropped);
/* The same for all that are at most a distance away from the others. */
pol_status poli_gram_choose_near(poli_gram *gram, int component, double distance,
                                 unsigned char *dropped);

#endif
