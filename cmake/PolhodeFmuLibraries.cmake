# Copies the shared libraries that OBJECT needs to FOLDER, without those of the C library and instruments.

file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${OBJECT}
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|gcc_s|asan|ubsan|tsan)\\.so" "^ld-linux")
if(missing)
  message(FATAL_ERROR "libraries of FMUs are missing: ${missing}")
endif()
foreach(library ${found})
  cmake_path(GET library FILENAME name)
  cmake_path(GET library PARENT_PATH folder)
  if(NOT folder STREQUAL FOLDER)
    file(REAL_PATH ${library} file)
    file(COPY_FILE ${file} ${FOLDER}/${name} ONLY_IF_DIFFERENT)
  endif()
endforeach()
