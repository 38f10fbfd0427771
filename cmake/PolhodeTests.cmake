# Tests: each tests/<room>/test_<topic>.c is one program and one CTest test, "<room>/<topic>".
#
# They link the static libraries and see src/, so that private functions can be tested, and tests/ for
# what tests share.  Where not all libraries are built, those are left out whose room is not, or that
# include what is not (PolhodeNeeds.cmake).  In files named *_alloc.c the linker hands malloc, calloc and realloc of the
# library to __wrap_malloc, ... of the test, which can count them or make them fail; free too, if the
# file uses tests/failing_alloc.h.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

if(POLHODE_DRAW)
  # What compares methods and formulations on random mechanisms: for a test, and for the program
  # fuzz_models, which runs as many as one likes.
  add_library(polhode_differential STATIC tests/differential/random_model.c
    tests/differential/model_copy.c tests/differential/compare.c)
  target_include_directories(polhode_differential PUBLIC ${POLHODE_PRIVATE_INCLUDES}
    ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(polhode_differential PRIVATE _POSIX_C_SOURCE=200809L)
  target_link_libraries(polhode_differential PUBLIC polhode_draw_static ${POLHODE_DEPENDENCIES}
    PRIVATE polhode_compiler)
  add_executable(fuzz_models tests/differential/fuzz_models.c)
  target_link_libraries(fuzz_models PRIVATE polhode_compiler polhode_differential)
  set_target_properties(fuzz_models PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/differential)
endif()

# cairo's fontconfig keeps what it found first, HDF5 what it read of a damaged file; leaks of our own count.
set(leaks "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/leaks.supp:print_suppressions=0")

file(GLOB test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/test_*.c)
foreach(source ${test_sources})
  cmake_path(GET source STEM name)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder STEM room)
  string(REGEX REPLACE "^test_" "" topic ${name})
  if(NOT POLHODE_DRAW)
    file(GLOB component_folder ${PROJECT_SOURCE_DIR}/src/*/${room})
    string(REGEX REPLACE "^.*/(.*)/.*$" "\\1" tested "${component_folder}")
    polhode_needs(needed ${source})
    if(NOT tested IN_LIST POLHODE_COMPONENTS OR NOT needed IN_LIST POLHODE_COMPONENTS)
      continue()
    endif()
  endif()

  set(target ${room}_${name})
  add_executable(${target} ${source})
  target_include_directories(${target} PRIVATE
    ${POLHODE_PRIVATE_INCLUDES} ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE
    POLHODE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    $<$<BOOL:${POLHODE_DRAW}>:POLHODE_BINARY="$<TARGET_FILE:polhode_cli>">)
  set(library ${POLHODE_INNER})
  if(POLHODE_TEST_SHARED AND name MATCHES "_alloc$")
    set(library polhode_papers)
  endif()
  target_link_libraries(${target} PRIVATE
    polhode_compiler ${library} ${POLHODE_DEPENDENCIES} PkgConfig::CMOCKA)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${room})
  if(room STREQUAL "differential")
    target_link_libraries(${target} PRIVATE polhode_differential)
  endif()
  if(name MATCHES "_alloc$")
    target_link_options(${target} PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)
    file(STRINGS ${source} shared_wrapper REGEX "failing_alloc\\.h")
    if(shared_wrapper)
      target_link_options(${target} PRIVATE -Wl,--wrap=free)
    endif()
  endif()

  # Tests may write files where they run: each room has its own folder.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${room})
  add_test(NAME ${room}/${topic} COMMAND ${target}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${room})
  # tests run side by side; threads of the BLAS would wait for each other
  set(environment "OPENBLAS_NUM_THREADS=1;${leaks}")
  if("${room}/${topic}" STREQUAL "cli/checkpoint") # whole stacks, see leaks.supp
    list(APPEND environment "ASAN_OPTIONS=fast_unwind_on_malloc=0")
  endif()
  set_tests_properties(${room}/${topic} PROPERTIES ENVIRONMENT "${environment}")
endforeach()

# The version that the library tells is the project's.
target_compile_definitions(base_test_status PRIVATE POLHODE_VERSION="${PROJECT_VERSION}")

# The script that installs missing packages, with a pretended package manager.
add_test(NAME install/setup COMMAND ${PROJECT_SOURCE_DIR}/tests/install/setup.sh
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

find_program(POLHODE_TEST_PYTHON python3 REQUIRED DOC "Runs the tests of the sources, the viewer's page and of the docs")
mark_as_advanced(POLHODE_TEST_PYTHON)

# What each room of src may include and call.
add_test(NAME base/rooms COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/rooms.py)

if(NOT POLHODE_DRAW)
  return()
endif()

# --- tests of the command and of the whole -----------------------------------------------------------

# Installs into a folder of the build tree and builds programs against what is there.
list(JOIN POLHODE_INSTRUMENTS " " instruments)
add_test(NAME install/consumer
  COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run.sh
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_INSTALL_LIBDIR} ${PROJECT_VERSION})
set_tests_properties(install/consumer PROPERTIES
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};CMAKE=${CMAKE_COMMAND};CFLAGS=${instruments};${leaks}")

# Configures, builds and installs the core alone, where pkg-config does not find Jansson, HDF5 and cairo.
add_test(NAME install/core_alone
  COMMAND ${PROJECT_SOURCE_DIR}/tests/install/core_alone.sh
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_INSTALL_LIBDIR} ${PROJECT_VERSION})
set_tests_properties(install/core_alone PROPERTIES ENVIRONMENT
  "CC=${CMAKE_C_COMPILER};CMAKE=${CMAKE_COMMAND};LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}")

# The viewer's page in a headless Chromium.  A browser that is missing is a failure, not a skip.
foreach(name page features showing)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/viewer/${name})
  add_test(NAME viewer/${name}
    COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/viewer/test_${name}.py
      $<TARGET_FILE:polhode_cli> ${PROJECT_SOURCE_DIR}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/viewer/${name})
  set_tests_properties(viewer/${name} PROPERTIES TIMEOUT 1500
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1")
endforeach()
# The Python package, by a Python that has NumPy: the extension serves all of them.
if(TARGET polhode_python)
  foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(NOT missing)
      add_test(NAME python/package
        COMMAND ${candidate} ${PROJECT_SOURCE_DIR}/tests/python/test_package.py ${PROJECT_SOURCE_DIR})
      add_test(NAME python/notebook
        COMMAND ${candidate} ${PROJECT_SOURCE_DIR}/tests/python/test_notebook.py ${PROJECT_SOURCE_DIR})
      add_test(NAME python/wheel
        COMMAND ${candidate} ${PROJECT_SOURCE_DIR}/tests/python/test_wheel.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/python)
      set_tests_properties(python/package python/notebook PROPERTIES ENVIRONMENT
        "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1;POLHODE_TEST_FMU=${PROJECT_BINARY_DIR}/tests/fmi/fmu/controller.so")
      break()
    endif()
  endforeach()
endif()
add_test(NAME viewer/palette
  COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/viewer/test_palette.py ${PROJECT_SOURCE_DIR})

# polhode serve, by its requests and in the browser.
if(POLHODE_MICROHTTPD_FOUND)
  foreach(room cli viewer)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${room}/serve)
    add_test(NAME ${room}/serve
      COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/${room}/test_serve.py
        $<TARGET_FILE:polhode_cli> ${PROJECT_SOURCE_DIR}
      WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${room}/serve)
    set_tests_properties(${room}/serve PROPERTIES TIMEOUT 900
      ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1;${leaks}")
  endforeach()
endif()

# Studies with MPI, if there is a program that starts ranks.
find_program(POLHODE_MPIRUN mpirun DOC "Starts the ranks of polhode-mpi in a test")
mark_as_advanced(POLHODE_MPIRUN)
if(TARGET polhode_mpi AND POLHODE_MPIRUN)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/cli/sweep_mpi)
  add_test(NAME cli/sweep_mpi
    COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/cli/test_sweep_mpi.py
      $<TARGET_FILE:polhode_cli> $<TARGET_FILE:polhode_mpi> ${POLHODE_MPIRUN} ${PROJECT_SOURCE_DIR}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/cli/sweep_mpi)
  # the libraries of MPI keep what they have allocated
  set_tests_properties(cli/sweep_mpi PROPERTIES TIMEOUT 600
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1;ASAN_OPTIONS=detect_leaks=0")
endif()

# Shared objects that tests pack into FMUs: a controller, and one without its most important function.
foreach(variant controller broken)
  add_library(test_fmu_${variant} MODULE tests/fmi/fmu/controller.c)
  target_include_directories(test_fmu_${variant} PRIVATE ${POLHODE_PRIVATE_INCLUDES})
  target_link_libraries(test_fmu_${variant} PRIVATE polhode_compiler m)
  set_target_properties(test_fmu_${variant} PROPERTIES PREFIX "" OUTPUT_NAME ${variant}
    C_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fmi/fmu)
endforeach()
target_compile_definitions(test_fmu_broken PRIVATE WITHOUT_STEP)
foreach(program import import_alloc)
  if(TARGET fmi_test_${program})
    target_compile_definitions(fmi_test_${program} PRIVATE
      POLHODE_TEST_FMU="$<TARGET_FILE:test_fmu_controller>")
    add_dependencies(fmi_test_${program} test_fmu_controller)
  endif()
endforeach()

# FMUs as controllers, by the command, which programs with instruments can load too.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fmi/controllers)
add_test(NAME fmi/controllers
  COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/fmi/test_controllers.py
    $<TARGET_FILE:polhode_cli> ${PROJECT_SOURCE_DIR} $<TARGET_FILE:test_fmu_controller>
    $<TARGET_FILE:test_fmu_broken>
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fmi/controllers)
set_tests_properties(fmi/controllers PROPERTIES
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1;${leaks}")

# FMUs, by an importer of the test; instruments cannot be loaded by Python.
if(NOT POLHODE_INSTRUMENTS)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fmi)
  add_test(NAME fmi/importer
    COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/fmi/test_importer.py
      $<TARGET_FILE:polhode_cli> ${PROJECT_SOURCE_DIR}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fmi)
  set_tests_properties(fmi/importer PROPERTIES ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1")
endif()

# The bits of functions for several processors (base/wide.h): the library's choice, and these functions
# compiled for one processor each, which take the place of those in the library.
set(wide_variants bits)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT POLHODE_INSTRUMENTS)
  list(APPEND wide_variants narrow avx2 avx512f)
endif()
file(GLOB_RECURSE wide_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/core/*.c)
set(wide_programs)
foreach(variant ${wide_variants})
  add_executable(wide_${variant} tests/base/wide_bits.c)
  target_link_libraries(wide_${variant} PRIVATE polhode_compiler polhode_core_static ${POLHODE_DEPENDENCIES})
  set_target_properties(wide_${variant} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/base)
  list(APPEND wide_programs $<TARGET_FILE:wide_${variant}>)
  if(variant STREQUAL "bits")
    continue()
  endif()
  foreach(source ${wide_sources})
    file(STRINGS ${source} found REGEX "include \"base/wide.h\"")
    if(found)
      target_sources(wide_${variant} PRIVATE ${source})
    endif()
  endforeach()
  target_include_directories(wide_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/src/core)
  target_compile_definitions(wide_${variant} PRIVATE POLHODE_NARROW)
  if(NOT variant STREQUAL "narrow")
    target_compile_options(wide_${variant} PRIVATE -m${variant})
    target_compile_definitions(wide_${variant} PRIVATE WIDE_BITS_NEEDS="${variant}")
  endif()
endforeach()
add_test(NAME base/wide
  COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/base/test_wide.py ${wide_programs})
set_tests_properties(base/wide PROPERTIES SKIP_RETURN_CODE 77
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1")

# Instructions per step against a record: of optimised builds only.
add_executable(bench_hot_loops tests/bench/hot_loops.c)
target_include_directories(bench_hot_loops PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/bench)
target_compile_definitions(bench_hot_loops PRIVATE POLHODE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(bench_hot_loops PRIVATE polhode_compiler polhode_io_static ${POLHODE_DEPENDENCIES})
set_target_properties(bench_hot_loops PROPERTIES
  OUTPUT_NAME hot_loops RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bench)
set(counted $<TARGET_FILE:bench_hot_loops> ${CMAKE_C_COMPILER})
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR POLHODE_INSTRUMENTS OR CMAKE_C_FLAGS)
  set(counted --skip "not a plain optimised build")
endif()
add_test(NAME bench/instructions
  COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/bench/test_instructions.py ${counted})
set_tests_properties(bench/instructions PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")

# The docs: examples, links, the menu of the site, and the reference that is made from the headers.
add_test(NAME docs/pages
  COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/docs/test_pages.py
    $<TARGET_FILE:polhode_cli> ${PROJECT_BINARY_DIR}/exports ${PROJECT_SOURCE_DIR})
set_tests_properties(docs/pages PROPERTIES TIMEOUT 900
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1")

# The schema and the tables of keys of the model file, and whether the schema agrees with the reader.
add_test(NAME docs/reference
  COMMAND ${POLHODE_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/docs/test_reference.py
    $<TARGET_FILE:polhode_cli> ${PROJECT_SOURCE_DIR})
set_tests_properties(docs/reference PROPERTIES
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OPENBLAS_NUM_THREADS=1")

include(PolhodeFuzz)
