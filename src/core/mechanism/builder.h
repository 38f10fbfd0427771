/* What other rooms need of a mechanism while it is built, beside its public functions. */
#ifndef POLHODE_MECHANISM_BUILDER_H
#define POLHODE_MECHANISM_BUILDER_H

#include <polhode/mechanism.h>

/* From now on errors go to this list, with paths that are relative to the element ("mass"), and an
 * element with errors is added as well, so that others can be checked against it.  Such a mechanism
 * can only be freed. */
void poli_mechanism_collect(pol_mechanism *mechanism, pol_errors *errors);

/* POL_OK; POL_BAD_ARGUMENT if it has errors; POL_NO_MEMORY if an element is missing because of it.
 */
pol_status poli_mechanism_status(const pol_mechanism *mechanism);

/* Reports a broken rule of a force that is not added: POL_BAD_ARGUMENT, POL_NO_MEMORY. */
pol_status poli_mechanism_refuse_force(pol_mechanism *mechanism, const char *name,
                                       const char *field, const char *rule);

/* The nodes of a beam, the markers of its ends, and its elements; first is the index of its first
 * node.  Together they are pol_mechanism_add_beam. */
/* The centre of mass of node k from the node, in the axes of its body. */
void poli_beam_center(const pol_beam *beam, int k, double center[3]);
pol_status poli_beam_add_nodes(pol_mechanism *mechanism, const pol_beam *beam);
pol_status poli_beam_add_ends(pol_mechanism *mechanism, const pol_beam *beam, int first);
pol_status poli_beam_add_elements(pol_mechanism *mechanism, const pol_beam *beam, int first);

/* v / |v| without overflow; 0 if v is zero. */
int poli_normalize(double v[3]);
/* The smallest rotation that turns the z axis into a unit vector, a unit quaternion. */
void poli_turn_z_to(const double axis[3], double q[4]);

#endif
