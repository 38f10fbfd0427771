# The page of the viewer: viewer/page.html with its style sheet, its programs and three.js put in, as
# two arrays of bytes in a C source; the data of a result goes between them.
#
# three.js comes from the system (Debian: libjs-three), not from this repository.  Run as a script
# (cmake -P) this file makes the C source, so that a changed part makes a new one when building.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(polhode_find_three variable name folder)
    find_file(${variable} ${name}
      PATHS ${CMAKE_SYSTEM_PREFIX_PATH} PATH_SUFFIXES share/javascript/three/${folder})
    mark_as_advanced(${variable})
    if(NOT ${variable})
      message(FATAL_ERROR "three.js is missing: ${name} is not in share/javascript/three/${folder}. "
        "On Debian: apt-get install libjs-three (scripts/setup.sh does). "
        "Elsewhere: -D${variable}=PATH with the file of three.js r111.")
    endif()
  endfunction()

  function(polhode_write_page output)
    polhode_find_three(POLHODE_THREE three.min.js "")
    polhode_find_three(POLHODE_THREE_ORBIT OrbitControls.js examples/js/controls)
    file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/*)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${PROJECT_SOURCE_DIR}/viewer
        -DTHREE=${POLHODE_THREE} -DORBIT=${POLHODE_THREE_ORBIT}
        -P ${PROJECT_SOURCE_DIR}/cmake/PolhodeViewer.cmake
      DEPENDS ${parts} ${POLHODE_THREE} ${POLHODE_THREE_ORBIT}
        ${PROJECT_SOURCE_DIR}/cmake/PolhodeViewer.cmake
      COMMENT "Writing the viewer's page" VERBATIM)
  endfunction()
  return()
endif()

# Everything is done on hexadecimal digits, so that no character has a meaning to CMake.
file(READ ${FOLDER}/page.html page HEX)

# Replaces @NAME@ in the page by these files, one after the other.
function(put name)
  string(HEX "@${name}@" mark)
  set(text "")
  foreach(path ${ARGN})
    file(READ ${path} part HEX)
    string(APPEND text ${part} 0a)
  endforeach()
  string(FIND ${page} ${mark} at)
  if(at EQUAL -1)
    message(FATAL_ERROR "viewer/page.html has no @${name}@")
  endif()
  string(REPLACE ${mark} ${text} page ${page})
  set(page ${page} PARENT_SCOPE)
endfunction()

# The programs in the order in which they need each other.
set(programs data compare palette geometry copies light bodies gears joints springs forces trails floor polhode tempo
  camera labels stage plot export video player controls address api main)
put(STYLE ${FOLDER}/viewer.css)
put(THREE ${THREE} ${ORBIT})
list(TRANSFORM programs REPLACE "(.+)" "${FOLDER}/\\1.js")
put(VIEWER ${programs})

string(HEX "@DATA@" mark)
string(FIND ${page} ${mark} at)
string(LENGTH ${mark} length)
math(EXPR after "${at} + ${length}")
string(SUBSTRING ${page} 0 ${at} head)
string(SUBSTRING ${page} ${after} -1 tail)

set(source "/* Made by cmake/PolhodeViewer.cmake. */\n#include \"draw/viewer/page.h\"\n")
foreach(part head tail)
  string(LENGTH ${${part}} digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" bytes ${${part}})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND source
    "const unsigned char poli_page_${part}[] = {\n${bytes}\n};\n"
    "const size_t poli_page_${part}_size = ${size};\n")
endforeach()
file(WRITE ${OUTPUT} "${source}")
