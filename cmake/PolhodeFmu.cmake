# The shared object of all FMUs that polhode writes, with the libraries beside it that an FMU takes along: in
# the folder fmu of the build tree.
#
# It contains the core and the reader of models, and exports the functions of FMI alone.  The libraries of the
# core are linked as archives where these can go into a shared object, as those of Debian can; what stays
# shared, without the C library, is copied, and found there ($ORIGIN).

set(fmu_folder ${PROJECT_BINARY_DIR}/fmu)
file(GLOB fmu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/fmu/*.c)

# The archives, if all are there and can be linked.
set(fmu_archives "")
foreach(part klu btf amd colamd suitesparseconfig lapacke arpack openblas)
  find_library(POLHODE_FMU_${part} lib${part}.a)
  mark_as_advanced(POLHODE_FMU_${part})
  list(APPEND fmu_archives ${POLHODE_FMU_${part}})
endforeach()
if(NOT "${fmu_archives}" MATCHES "NOTFOUND" AND NOT DEFINED POLHODE_FMU_STATIC)
  file(WRITE ${PROJECT_BINARY_DIR}/fmu_link.c
    "void klu_analyze(void); void LAPACKE_dgetrf(void); void dsaupd_(void); void dgemm_(void);\n"
    "void take(void);\nvoid take(void) { klu_analyze(); LAPACKE_dgetrf(); dsaupd_(); dgemm_(); }\n")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -shared -fPIC -Wl,--no-undefined,--exclude-libs,ALL ${PROJECT_BINARY_DIR}/fmu_link.c
      -o ${PROJECT_BINARY_DIR}/fmu_link.so ${fmu_archives} -lgfortran -lpthread -lm
    RESULT_VARIABLE fmu_link_failed OUTPUT_QUIET ERROR_QUIET)
  file(REMOVE ${PROJECT_BINARY_DIR}/fmu_link.c ${PROJECT_BINARY_DIR}/fmu_link.so)
  if(fmu_link_failed)
    set(POLHODE_FMU_STATIC OFF CACHE INTERNAL "")
  else()
    set(POLHODE_FMU_STATIC ON CACHE INTERNAL "")
  endif()
endif()
if(POLHODE_FMU_STATIC)
  set(fmu_libraries ${fmu_archives} gfortran)
else()
  set(fmu_libraries ${POLHODE_core_DEPENDENCIES})
endif()

add_library(polhode_fmu MODULE ${fmu_sources})
target_include_directories(polhode_fmu PRIVATE include ${POLHODE_PRIVATE_INCLUDES})
# The archives of polhode by their files: as targets they would bring along the shared libraries.
target_link_libraries(polhode_fmu PRIVATE polhode_compiler $<TARGET_FILE:polhode_io_static> $<TARGET_FILE:polhode_core_static>
  ${fmu_libraries} PkgConfig::POLHODE_JANSSON Threads::Threads ${POLHODE_OPENMP_LIBRARIES} m)
add_dependencies(polhode_fmu polhode_io_static polhode_core_static)
file(WRITE ${PROJECT_BINARY_DIR}/exports/polhode_fmu.map "{ global: fmi2*; fmi3*; local: *; };\n")
target_link_options(polhode_fmu PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/exports/polhode_fmu.map
  -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,--disable-new-dtags $<$<CONFIG:Release>:-s> $<$<CONFIG:Release>:-Wl,--no-undefined>)
set_target_properties(polhode_fmu PROPERTIES PREFIX "" C_VISIBILITY_PRESET default
  BUILD_RPATH $ORIGIN INSTALL_RPATH $ORIGIN LIBRARY_OUTPUT_DIRECTORY ${fmu_folder})
add_custom_command(TARGET polhode_fmu POST_BUILD
  COMMAND ${CMAKE_COMMAND} -DOBJECT=$<TARGET_FILE:polhode_fmu> -DFOLDER=${fmu_folder}
    -P ${PROJECT_SOURCE_DIR}/cmake/PolhodeFmuLibraries.cmake
  COMMENT "Copying the libraries of FMUs" VERBATIM)
