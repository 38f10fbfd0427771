# The libraries that the components of polhode are built on.
#
# polhode_find_dependencies(COMPONENT NEED) finds those of core, io or draw as targets, and lists them in
# POLHODE_<COMPONENT>_DEPENDENCIES.  NEED is REQUIRED in the build, and QUIET in the installed CMake package,
# for users of the static libraries.  POLHODE_OPENMP_LIBRARIES is set before: the run-time library of OpenMP, or
# nothing.

set(POLHODE_core_DEPENDENCIES PkgConfig::POLHODE_LAPACKE PkgConfig::POLHODE_LAPACK PkgConfig::POLHODE_ARPACK KLU::KLU
  Threads::Threads ${POLHODE_OPENMP_LIBRARIES} m)
set(POLHODE_io_DEPENDENCIES PkgConfig::POLHODE_JANSSON PkgConfig::POLHODE_HDF5 PkgConfig::POLHODE_ZLIB PkgConfig::POLHODE_LIBXML2
  Threads::Threads m)
set(POLHODE_draw_DEPENDENCIES PkgConfig::POLHODE_CAIRO PkgConfig::POLHODE_JANSSON m)

macro(polhode_find_dependencies component need)
  find_package(PkgConfig ${need})
  find_package(Threads ${need})
  if(${component} STREQUAL core)
    find_package(KLU ${need})
    pkg_check_modules(POLHODE_LAPACKE ${need} IMPORTED_TARGET lapacke)
    pkg_check_modules(POLHODE_ARPACK ${need} IMPORTED_TARGET arpack)
    # OpenBLAS where it is, any other LAPACK where it is not.
    pkg_search_module(POLHODE_LAPACK ${need} IMPORTED_TARGET openblas lapack)
  else()
    pkg_check_modules(POLHODE_JANSSON ${need} IMPORTED_TARGET jansson)
  endif()
  if(${component} STREQUAL io)
    # The serial one; 1.10.3 brings direct writing of chunks.
    pkg_search_module(POLHODE_HDF5 ${need} IMPORTED_TARGET hdf5-serial>=1.10.3 hdf5>=1.10.3)
    pkg_check_modules(POLHODE_ZLIB ${need} IMPORTED_TARGET zlib)
    pkg_check_modules(POLHODE_LIBXML2 ${need} IMPORTED_TARGET libxml-2.0)
  endif()
  if(${component} STREQUAL draw)
    pkg_check_modules(POLHODE_CAIRO ${need} IMPORTED_TARGET cairo)
  endif()
endmacro()
