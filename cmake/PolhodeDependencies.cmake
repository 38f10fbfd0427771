# The libraries that polhode is built on, as targets in POLHODE_DEPENDENCIES.
#
# Read by the build with POLHODE_NEED = REQUIRED, and by the installed CMake package, for users of the
# static library, with POLHODE_NEED = QUIET.

find_package(PkgConfig ${POLHODE_NEED})
if(PkgConfig_FOUND)
  pkg_check_modules(POLHODE_JANSSON ${POLHODE_NEED} IMPORTED_TARGET jansson)
  pkg_check_modules(POLHODE_CAIRO ${POLHODE_NEED} IMPORTED_TARGET cairo)
  # The serial one; 1.10.3 brings direct writing of chunks.
  pkg_search_module(POLHODE_HDF5 ${POLHODE_NEED} IMPORTED_TARGET hdf5-serial>=1.10.3 hdf5>=1.10.3)
  pkg_check_modules(POLHODE_ZLIB ${POLHODE_NEED} IMPORTED_TARGET zlib)
  pkg_check_modules(POLHODE_LAPACKE ${POLHODE_NEED} IMPORTED_TARGET lapacke)
  # OpenBLAS where it is, any other LAPACK where it is not.
  pkg_search_module(POLHODE_LAPACK ${POLHODE_NEED} IMPORTED_TARGET openblas lapack)
endif()
find_package(Threads ${POLHODE_NEED})
find_package(KLU ${POLHODE_NEED})

set(POLHODE_DEPENDENCIES
  PkgConfig::POLHODE_CAIRO PkgConfig::POLHODE_JANSSON PkgConfig::POLHODE_HDF5 PkgConfig::POLHODE_ZLIB
  PkgConfig::POLHODE_LAPACKE PkgConfig::POLHODE_LAPACK KLU::KLU
  Threads::Threads m)
