# Fuzz targets: each fuzz/fuzz_<target>.c is a function that takes any bytes.
#
# With POLHODE_FUZZ (preset fuzz, `make fuzz`) it is linked with libFuzzer, which invents the bytes.
# Without, it is linked with fuzz/replay.c and becomes the test "fuzz/<target>": the seeds in
# fuzz/seeds/<target>, and in tests/fuzz/<target> inputs that once found a defect.

# The command as a library; fuzz/sandbox.c takes the place of its signals.
set(fuzz_cli_sources ${cli_sources})
list(FILTER fuzz_cli_sources EXCLUDE REGEX "/(signals|server[a-z_]*)\\.c$")
add_library(polhode_fuzz_cli STATIC EXCLUDE_FROM_ALL
  ${fuzz_cli_sources} ${PROJECT_SOURCE_DIR}/fuzz/sandbox.c)
target_compile_definitions(polhode_fuzz_cli PRIVATE main=cli_main)
target_include_directories(polhode_fuzz_cli PRIVATE ${POLHODE_PRIVATE_INCLUDES} fuzz)
target_compile_options(polhode_fuzz_cli PRIVATE -include ${PROJECT_SOURCE_DIR}/fuzz/cli_main.h)
target_link_libraries(polhode_fuzz_cli PRIVATE polhode_compiler
  PUBLIC polhode_papers ${POLHODE_DEPENDENCIES})

add_custom_target(fuzzers)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
foreach(source ${fuzz_sources})
  cmake_path(GET source STEM target)
  string(REGEX REPLACE "^fuzz_" "" topic ${target})
  add_executable(${target} ${source})
  target_include_directories(${target} PRIVATE ${POLHODE_PRIVATE_INCLUDES} fuzz)
  target_link_libraries(${target} PRIVATE polhode_compiler polhode_fuzz_cli)
  add_dependencies(fuzzers ${target})
  if(POLHODE_FUZZ)
    # What libFuzzer needs to invent valid inputs of this target, if there is something.
    if(EXISTS ${PROJECT_SOURCE_DIR}/fuzz/mutate_${topic}.c)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/mutate_${topic}.c)
    endif()
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/replay.c)
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fuzz)
    set(found_inputs ${PROJECT_SOURCE_DIR}/tests/fuzz/${topic})
    if(NOT IS_DIRECTORY ${found_inputs})
      set(found_inputs "") # nothing has been found yet
    endif()
    add_test(NAME fuzz/${topic} COMMAND ${target}
      ${PROJECT_SOURCE_DIR}/fuzz/seeds/${topic} ${found_inputs})
    set_tests_properties(fuzz/${topic} PROPERTIES ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
  endif()
endforeach()
