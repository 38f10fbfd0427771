# Tools for those who work on polhode: format, format-check, coverage.

file(GLOB_RECURSE formatted_files CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/*.h
  ${PROJECT_SOURCE_DIR}/src/*.[ch]
  ${PROJECT_SOURCE_DIR}/tests/*.[ch]
  ${PROJECT_SOURCE_DIR}/examples/*.[ch]
  ${PROJECT_SOURCE_DIR}/bench/*.[ch])

add_custom_target(format
  COMMAND clang-format -i ${formatted_files}
  COMMENT "Formatting the sources" VERBATIM)
add_custom_target(format-check
  COMMAND clang-format --dry-run --Werror ${formatted_files}
  COMMENT "Checking the format of the sources" VERBATIM)

if(POLHODE_COVERAGE)
  set(report ${PROJECT_BINARY_DIR}/report)
  add_custom_target(coverage
    # Counts of earlier runs would add up.
    COMMAND find ${PROJECT_BINARY_DIR} -name *.gcda -delete
    COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure --parallel
    COMMAND ${CMAKE_COMMAND} -E make_directory ${report}
    COMMAND gcovr --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/src/
      --html-details ${report}/index.html --txt - --print-summary ${PROJECT_BINARY_DIR}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    COMMENT "Running the tests and counting lines" USES_TERMINAL VERBATIM)
endif()
