# How everything is compiled: the language, the warnings, the optimisation and the instruments.
# Targets take it by linking the interface library polhode_compiler.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

add_library(polhode_compiler INTERFACE)
target_compile_options(polhode_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion
  "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>"
  $<$<BOOL:${POLHODE_WERROR}>:-Werror>)

# Release is -O3 with two liberties that change no result, only what the compiler may do around it:
#   -fno-math-errno      sqrt() and friends need not set errno, so sqrt becomes one instruction;
#   -fno-trapping-math   nobody traps floating-point exceptions, so branches may become selections.
# Not -ffast-math, which reorders sums and assumes away NaN; and no contraction of a*b + c into one
# rounding, so that all processors and compilers give the same numbers.
target_compile_options(polhode_compiler INTERFACE
  -ffp-contract=off
  $<$<CONFIG:Release>:-fno-math-errno>
  $<$<CONFIG:Release>:-fno-trapping-math>)

# Calls inside the library need not be replaceable from outside: lets position-independent code
# inline its own functions.
target_compile_options(polhode_compiler INTERFACE -fno-semantic-interposition)

# Instruments.  The list is kept in a variable because whoever links the static library needs it too.
set(POLHODE_INSTRUMENTS "")
if(POLHODE_SANITIZE)
  list(APPEND POLHODE_INSTRUMENTS -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
endif()
if(POLHODE_FUZZ)
  list(APPEND POLHODE_INSTRUMENTS -fsanitize=fuzzer-no-link
    -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/fuzz/uninstrumented.txt)
endif()
if(POLHODE_COVERAGE)
  # threads count too: without atomic counters some become negative, which gcovr refuses
  list(APPEND POLHODE_INSTRUMENTS --coverage -fprofile-update=atomic)
endif()
target_compile_options(polhode_compiler INTERFACE ${POLHODE_INSTRUMENTS})
target_link_options(polhode_compiler INTERFACE ${POLHODE_INSTRUMENTS})
