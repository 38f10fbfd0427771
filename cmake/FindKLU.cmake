# Finds KLU, the sparse LU factorisation of SuiteSparse, and what it is built on.
#
# Sets KLU_FOUND and the target KLU::KLU.  Needed because SuiteSparse before version 6 comes with
# neither a pkg-config file nor a CMake package.

find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)

set(KLU_PARTS klu btf amd colamd suitesparseconfig)
set(KLU_LIBRARIES "")
set(KLU_PART_VARIABLES "")
foreach(part ${KLU_PARTS})
  string(TOUPPER KLU_${part}_LIBRARY variable)
  find_library(${variable} ${part})
  mark_as_advanced(${variable})
  list(APPEND KLU_PART_VARIABLES ${variable})
  list(APPEND KLU_LIBRARIES ${${variable}})
endforeach()
mark_as_advanced(KLU_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KLU
  REQUIRED_VARS KLU_INCLUDE_DIR ${KLU_PART_VARIABLES}
  REASON_FAILURE_MESSAGE "On Debian: apt-get install libsuitesparse-dev")

if(KLU_FOUND AND NOT TARGET KLU::KLU)
  add_library(KLU::KLU INTERFACE IMPORTED)
  set_target_properties(KLU::KLU PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${KLU_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${KLU_LIBRARIES}")
endif()
