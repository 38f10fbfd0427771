# What is installed: the command, both libraries, headers, the pkg-config file, the CMake package, the
# models and their schema, reference data, manual pages and completion scripts, the licence.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/polhode)
set(data_dir ${CMAKE_INSTALL_DATADIR}/polhode)

install(TARGETS polhode_cli)
install(DIRECTORY include/polhode DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(DIRECTORY models schema DESTINATION ${data_dir} FILES_MATCHING PATTERN *.json)
install(DIRECTORY papers/data DESTINATION ${data_dir}/papers FILES_MATCHING PATTERN *.csv)
install(DIRECTORY ${shell_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${shell_files}/bash-completion ${shell_files}/zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Two export files, because only users of the static library need the libraries it is built on.
install(TARGETS polhode_shared EXPORT polhodeTargets)
install(TARGETS polhode_static EXPORT polhodeStaticTargets)
install(EXPORT polhodeTargets NAMESPACE polhode:: DESTINATION ${package_dir})
install(EXPORT polhodeStaticTargets NAMESPACE polhode:: DESTINATION ${package_dir})

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

# The pkg-config file finds its prefix from where it stands, so a moved installation still works.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
# For the static library it names the shared libraries below it: naming their pkg-config modules
# instead would ask for all that a wholly static program needs, down to the Fortran run-time library.
list(JOIN POLHODE_CAIRO_LDFLAGS " " pc_cairo)
list(JOIN POLHODE_JANSSON_LDFLAGS " " pc_jansson)
list(JOIN POLHODE_HDF5_LDFLAGS " " pc_hdf5)
list(JOIN POLHODE_ZLIB_LDFLAGS " " pc_zlib)
list(JOIN POLHODE_LAPACKE_LDFLAGS " " pc_lapacke)
list(JOIN POLHODE_LAPACK_LDFLAGS " " pc_lapack)
configure_file(cmake/polhode.pc.in ${PROJECT_BINARY_DIR}/polhode.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/polhode.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
