# Tools for those who work on polhode: format, format-check, and coverage, the report of what has run
# since the counts (*.gcda) were removed; `make coverage` does all of it.

file(GLOB_RECURSE formatted_files CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/*.h
  ${PROJECT_SOURCE_DIR}/src/*.[ch]
  ${PROJECT_SOURCE_DIR}/papers/*.[ch]
  ${PROJECT_SOURCE_DIR}/tests/*.[ch]
  ${PROJECT_SOURCE_DIR}/fuzz/*.[ch]
  ${PROJECT_SOURCE_DIR}/examples/*.[ch]
  ${PROJECT_SOURCE_DIR}/python/*.[ch]
  ${PROJECT_SOURCE_DIR}/bench/*.[ch] ${PROJECT_SOURCE_DIR}/studies/*.[ch])

add_custom_target(format
  COMMAND clang-format -i ${formatted_files}
  COMMENT "Formatting the sources" VERBATIM)
add_custom_target(format-check
  COMMAND clang-format --dry-run --Werror ${formatted_files}
  COMMENT "Checking the format of the sources" VERBATIM)

if(POLHODE_COVERAGE)
  set(report ${PROJECT_BINARY_DIR}/report)
  add_custom_target(coverage
    COMMAND ${CMAKE_COMMAND} -E make_directory ${report}
    COMMAND gcovr --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/src/ --filter ${PROJECT_SOURCE_DIR}/papers/
      --html-details ${report}/index.html --txt - --print-summary
      --json-summary ${report}/summary.json ${PROJECT_BINARY_DIR}
    COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/coverage_rooms.py ${report}/summary.json
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    COMMENT "Reporting which lines have run" USES_TERMINAL VERBATIM)
endif()
