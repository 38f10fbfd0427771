# What is installed: of each component both libraries, its headers and its pkg-config file; the CMake package;
# with the command also models and their schema, reference data, manual pages and completion scripts.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/polhode)
set(data_dir ${CMAKE_INSTALL_DATADIR}/polhode)

if(POLHODE_DRAW)
  install(TARGETS polhode_cli)
  if(TARGET polhode_mpi)
    install(TARGETS polhode_mpi)
  endif()
  install(DIRECTORY ${fmu_folder} DESTINATION ${CMAKE_INSTALL_LIBDIR}/polhode)
  install(DIRECTORY models schema DESTINATION ${data_dir} FILES_MATCHING PATTERN *.json)
  install(DIRECTORY papers/data DESTINATION ${data_dir}/papers FILES_MATCHING PATTERN *.csv)
  install(DIRECTORY ${shell_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(DIRECTORY ${shell_files}/bash-completion ${shell_files}/zsh
    DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# pkg-config files find their prefix from where they stand, so a moved installation still works.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
# For the static libraries they name the shared libraries below: naming their pkg-config modules instead
# would ask for all that a wholly static program needs, down to the Fortran run-time library.
set(pc_openmp ${POLHODE_OPENMP_LIBRARIES})
list(TRANSFORM pc_openmp REPLACE "^([^/]+)$" "-l\\1")
set(pc_core_private ${POLHODE_ARPACK_LDFLAGS} ${POLHODE_LAPACKE_LDFLAGS} ${POLHODE_LAPACK_LDFLAGS}
  -lklu -lbtf -lamd -lcolamd -lsuitesparseconfig ${pc_openmp} -pthread -lm)
set(pc_io_private ${POLHODE_JANSSON_LDFLAGS} ${POLHODE_HDF5_LDFLAGS} ${POLHODE_ZLIB_LDFLAGS}
  ${POLHODE_LIBXML2_LDFLAGS} -pthread -lm)
set(pc_draw_private ${POLHODE_CAIRO_LDFLAGS} ${POLHODE_JANSSON_LDFLAGS} -lm)
set(pc_core_description "${PROJECT_DESCRIPTION}")
set(pc_io_description "Model files and result files of polhode")
set(pc_draw_description "Plots and the viewer of polhode")

set(pc_requires "")
foreach(component ${POLHODE_COMPONENTS})
  install(FILES ${${component}_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/polhode)

  # Two export files, because only users of the static library need the libraries it is built on.
  foreach(kind "" _static)
    install(TARGETS polhode_${component}${kind} EXPORT polhode_${component}${kind})
    install(EXPORT polhode_${component}${kind} NAMESPACE polhode:: DESTINATION ${package_dir})
  endforeach()

  get_target_property(pc_name polhode_${component} OUTPUT_NAME)
  set(pc_description ${pc_${component}_description})
  list(JOIN pc_${component}_private " " pc_private)
  configure_file(cmake/polhode.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  set(pc_requires "${pc_name} = ${PROJECT_VERSION}")
endforeach()

configure_package_config_file(cmake/polhodeConfig.cmake.in ${PROJECT_BINARY_DIR}/polhodeConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/polhodeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/polhodeConfig.cmake
  ${PROJECT_BINARY_DIR}/polhodeConfigVersion.cmake
  cmake/PolhodeDependencies.cmake
  cmake/FindKLU.cmake
  DESTINATION ${package_dir})
