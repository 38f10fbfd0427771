/* FMUs read no mesh files: the model in an FMU contains the integrals over its meshes.  This takes
 * the place of the reader of Collada files (io/file/collada.c), so that FMUs do not need libxml2.
 */
#include <stdio.h>

#include "io/file/collada.h"

pol_status poli_collada_read(poli_mesh *mesh, const char *text, size_t length, char *message,
                             size_t size)
{
  (void)mesh;
  (void)text;
  (void)length;
  snprintf(message, size, "FMUs do not read Collada files");
  return POL_BAD_ARGUMENT;
}
