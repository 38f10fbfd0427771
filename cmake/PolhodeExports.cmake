# Which symbols the shared library shows: the functions that the public headers declare.
#
# Functions shared between rooms also start with pol_, so a name alone does not tell; the headers do.
# Reading them keeps the list in one place and the headers free of export macros.

function(polhode_write_exports map)
  set(names "")
  foreach(header ${ARGN})
    file(READ ${header} text)
    string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
    string(REGEX MATCHALL "pol_[a-z0-9_]+\\(" calls "${text}")
    list(APPEND names ${calls})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  list(TRANSFORM names REPLACE "\\(" "")
  list(JOIN names ";\n    " body)
  file(CONFIGURE OUTPUT ${map} CONTENT "{\n  global:\n    ${body};\n  local:\n    *;\n};\n" @ONLY)

  # A changed header changes the list.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()
