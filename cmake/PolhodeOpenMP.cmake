# OpenMP for src/core/base/parallel.c, the only source that uses it.  POLHODE_OPENMP_LIBRARIES is its run-time
# library, or nothing.
set(POLHODE_OPENMP_LIBRARIES "")
if(POLHODE_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS C)
  if("gomp" IN_LIST OpenMP_C_LIB_NAMES)
    set(POLHODE_OPENMP_LIBRARIES gomp)
  else()
    set(POLHODE_OPENMP_LIBRARIES ${OpenMP_C_LIBRARIES})
  endif()
endif()
