# The page of the viewer: viewer/page.html with its style sheet, its programs and three.js put in, as
# two arrays of bytes in a C source; the data of a result goes between them.  And the page of polhode serve,
# which holds that of the viewer: viewer/serve.
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
    file(GLOB parts LIST_DIRECTORIES false CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/*)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${PROJECT_SOURCE_DIR}/viewer
        -DTHREE=${POLHODE_THREE} -DORBIT=${POLHODE_THREE_ORBIT}
        -P ${PROJECT_SOURCE_DIR}/cmake/PolhodeViewer.cmake
      DEPENDS ${parts} ${POLHODE_THREE} ${POLHODE_THREE_ORBIT}
        ${PROJECT_SOURCE_DIR}/cmake/PolhodeViewer.cmake
      COMMENT "Writing the viewer's page" VERBATIM)
  endfunction()

  function(polhode_write_serve_page output)
    file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/serve/*)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${PROJECT_SOURCE_DIR}/viewer -DSERVE=ON
        -P ${PROJECT_SOURCE_DIR}/cmake/PolhodeViewer.cmake
      DEPENDS ${parts} ${PROJECT_SOURCE_DIR}/viewer/viewer.css
        ${PROJECT_SOURCE_DIR}/cmake/PolhodeViewer.cmake
      COMMENT "Writing the page of polhode serve" VERBATIM)
  endfunction()
  return()
endif()

# Everything is done on hexadecimal digits, so that no character has a meaning to CMake.
if(SERVE)
  file(READ ${FOLDER}/serve/page.html page HEX)
else()
  file(READ ${FOLDER}/page.html page HEX)
endif()

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
    message(FATAL_ERROR "the page has no @${name}@")
  endif()
  string(REPLACE ${mark} ${text} page ${page})
  set(page ${page} PARENT_SCOPE)
endfunction()

# Adds an array of bytes, given as hexadecimal digits, and its size to the C source.
function(put_bytes name hex)
  string(LENGTH ${hex} digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" bytes ${hex})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND source "const unsigned char ${name}[] = {\n${bytes}\n};\nconst size_t ${name}_size = ${size};\n")
  set(source "${source}" PARENT_SCOPE)
endfunction()

set(source "/* Made by cmake/PolhodeViewer.cmake. */\n")
if(SERVE)
  put(STYLE ${FOLDER}/viewer.css ${FOLDER}/serve/serve.css)
  put(SERVE ${FOLDER}/serve/parameters.js ${FOLDER}/serve/source.js ${FOLDER}/serve/views.js ${FOLDER}/serve/main.js)
  string(APPEND source "#include \"cli/server.h\"\n")
  put_bytes(cli_serve_page ${page})
  file(WRITE ${OUTPUT} "${source}")
  return()
endif()

# The programs in the order in which they need each other.
set(programs data compare palette geometry copies light bodies beams flexible gears joints springs forces trails floor polhode tempo
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

string(APPEND source "#include \"draw/viewer/page.h\"\n")
put_bytes(poli_page_head ${head})
put_bytes(poli_page_tail ${tail})
file(WRITE ${OUTPUT} "${source}")
