# The command with the published items it repeats, its manual pages and completion scripts, benchmarks and
# studies: what needs all libraries.

file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c)
file(GLOB paper_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/papers/*.c)
list(REMOVE_ITEM paper_sources ${PROJECT_SOURCE_DIR}/papers/command.c)
list(APPEND cli_sources ${PROJECT_SOURCE_DIR}/papers/command.c)

# The published items: of use to the command and the tests, not to users of the libraries.
add_library(polhode_papers_objects OBJECT ${paper_sources})
target_include_directories(polhode_papers_objects PRIVATE include ${POLHODE_PRIVATE_INCLUDES})
target_link_libraries(polhode_papers_objects PRIVATE polhode_compiler ${POLHODE_DEPENDENCIES})
add_library(polhode_papers STATIC $<TARGET_OBJECTS:polhode_papers_objects>)
target_link_libraries(polhode_papers PUBLIC ${POLHODE_INNER} ${POLHODE_DEPENDENCIES})
set(POLHODE_INNER polhode_papers)

if(POLHODE_TEST_SHARED)
  set_target_properties(polhode_papers_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  add_library(polhode_inner SHARED
    $<TARGET_OBJECTS:polhode_core_objects> $<TARGET_OBJECTS:polhode_io_objects>
    $<TARGET_OBJECTS:polhode_draw_objects> $<TARGET_OBJECTS:polhode_papers_objects>)
  target_include_directories(polhode_inner INTERFACE include)
  target_link_libraries(polhode_inner PRIVATE polhode_compiler ${POLHODE_DEPENDENCIES})
  set(POLHODE_INNER polhode_inner)
  set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
endif()

# polhode serve, where libmicrohttpd is.
if(POLHODE_SERVE)
  pkg_check_modules(POLHODE_MICROHTTPD IMPORTED_TARGET libmicrohttpd>=0.9.71)
endif()
file(GLOB server_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/server*.c)
if(NOT POLHODE_MICROHTTPD_FOUND)
  list(REMOVE_ITEM cli_sources ${server_sources})
  if(POLHODE_SERVE)
    message(STATUS "polhode serve is left out: libmicrohttpd is missing (Debian: libmicrohttpd-dev)")
  endif()
endif()

add_executable(polhode_cli ${cli_sources})
if(POLHODE_MICROHTTPD_FOUND)
  polhode_write_serve_page(${PROJECT_BINARY_DIR}/serve_page.c)
  target_sources(polhode_cli PRIVATE ${PROJECT_BINARY_DIR}/serve_page.c)
  target_compile_definitions(polhode_cli PRIVATE POLHODE_MICROHTTPD)
  target_link_libraries(polhode_cli PRIVATE PkgConfig::POLHODE_MICROHTTPD)
endif()
target_include_directories(polhode_cli PRIVATE ${POLHODE_PRIVATE_INCLUDES})
# Models and reference data: where they are installed, seen from the command, or the source tree.
file(RELATIVE_PATH data_from_command /prefix/${CMAKE_INSTALL_BINDIR}
  /prefix/${CMAKE_INSTALL_DATADIR}/polhode)
set_source_files_properties(papers/command.c PROPERTIES COMPILE_DEFINITIONS
  "POLHODE_DATA_FROM_COMMAND=\"${data_from_command}\";POLHODE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
# The shared object of FMUs, seen from the command where both are installed.
file(RELATIVE_PATH fmu_from_command /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR}/polhode/fmu)
set_source_files_properties(src/cli/fmu.c PROPERTIES COMPILE_DEFINITIONS
  "POLHODE_FMU_FROM_COMMAND=\"${fmu_from_command}\"")
add_dependencies(polhode_cli polhode_fmu)
target_link_libraries(polhode_cli PRIVATE
  polhode_compiler ${POLHODE_INNER} ${POLHODE_DEPENDENCIES})
set_target_properties(polhode_cli PROPERTIES OUTPUT_NAME polhode)

# polhode-mpi, where MPI is: the same command, whose studies run on all ranks.  The runs are computed by
# processes that do not use MPI: only its start, messages and end are needed.
if(POLHODE_MPI)
  pkg_search_module(POLHODE_MPI_LIBRARY IMPORTED_TARGET ompi-c mpich)
  if(POLHODE_MPI_LIBRARY_FOUND)
    add_executable(polhode_mpi ${PROJECT_SOURCE_DIR}/src/mpi/ranks.c)
    get_target_property(command_sources polhode_cli SOURCES)
    target_sources(polhode_mpi PRIVATE ${command_sources})
    target_include_directories(polhode_mpi PRIVATE ${POLHODE_PRIVATE_INCLUDES})
    target_link_libraries(polhode_mpi PRIVATE polhode_compiler ${POLHODE_INNER} ${POLHODE_DEPENDENCIES}
      PkgConfig::POLHODE_MPI_LIBRARY)
    if(POLHODE_MICROHTTPD_FOUND)
      target_compile_definitions(polhode_mpi PRIVATE POLHODE_MICROHTTPD)
      target_link_libraries(polhode_mpi PRIVATE PkgConfig::POLHODE_MICROHTTPD)
    endif()
    set_target_properties(polhode_mpi PROPERTIES OUTPUT_NAME polhode-mpi)
  else()
    message(STATUS "polhode-mpi is left out: MPI is missing (Debian: libopenmpi-dev)")
  endif()
endif()

# Its manual pages and completion scripts, which it prints itself, laid out as they are installed.
set(shell_files ${PROJECT_BINARY_DIR}/share)
add_custom_command(OUTPUT ${shell_files}/written
  COMMAND ${CMAKE_COMMAND} -DPOLHODE=$<TARGET_FILE:polhode_cli> -DFOLDER=${shell_files}
    -P ${PROJECT_SOURCE_DIR}/cmake/PolhodeShellFiles.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${shell_files}/written
  DEPENDS polhode_cli cmake/PolhodeShellFiles.cmake
  COMMENT "Writing manual pages and completion scripts" VERBATIM)
add_custom_target(polhode_shell_files ALL DEPENDS ${shell_files}/written)

# Benchmarks and studies: one program a file, which may see private functions too.
include(PolhodePeers)
foreach(folder bench studies)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    add_executable(${folder}_${name} ${source})
    target_include_directories(${folder}_${name} PRIVATE ${POLHODE_PRIVATE_INCLUDES} tests)
    target_compile_definitions(${folder}_${name} PRIVATE
      POLHODE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${folder}_${name} PRIVATE
      polhode_compiler polhode_draw_static ${POLHODE_DEPENDENCIES})
    file(STRINGS ${source} peers REGEX "peers/peers.h|\"models.h\"")
    if(peers)
      target_link_libraries(${folder}_${name} PRIVATE polhode_bench_peers)
    endif()
    file(STRINGS ${source} random REGEX "differential/random_model.h")
    if(random)
      target_sources(${folder}_${name} PRIVATE tests/differential/random_model.c
        tests/differential/model_copy.c)
    endif()
    set_target_properties(${folder}_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
  endforeach()
endforeach()
