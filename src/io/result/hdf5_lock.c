/* One lock for all calls of polhode into the HDF5 library. */
#include <pthread.h>

#include "io/result/hdf5.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void poli_h5_lock(void)
{
  pthread_mutex_lock(&mutex);
}

void poli_h5_unlock(void)
{
  pthread_mutex_unlock(&mutex);
}
