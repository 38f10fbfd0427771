/* Where an output leads to, and that nobody else writes it. */
#ifndef POLHODE_IO_TARGET_H
#define POLHODE_IO_TARGET_H

/* The file that a path leads to, behind all symbolic links, in new memory; it need not exist. NULL:
 * there is no memory, or the links have no end; errno says which. */
char *pol_output_target(const char *path);

/* Whether two paths lead to one and the same file: by another name, a link, or a hard link. */
int pol_output_is_same(const char *a, const char *b);

/* Locks an open file against all others who call this, until the descriptor is closed or the
 * process ends; a system without such locks grants them all.  0: another one has it, errno is
 * ETXTBSY. */
int pol_output_lock(int descriptor);

#endif
