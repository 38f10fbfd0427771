# Which symbols a shared library shows: the functions that its public headers declare, and, in a version
# node of their own, the private ones that the libraries above it use (poli_...), which are of no use to others
# and change with every version.
#
# Reading the headers keeps the list in one place and the headers free of export macros.

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
  set(public POLHODE_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  file(CONFIGURE OUTPUT ${map} @ONLY CONTENT "${public} {
  global:
    ${body};
  local:
    *;
};
POLHODE_PRIVATE_${PROJECT_VERSION} {
  global:
    poli_*;
};
")

  # A changed header changes the list.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()
