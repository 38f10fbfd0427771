# polhode_bench_peers: loads the drivers of programs that benchmarks compare with.  The drivers (bench/peers) are
# modules; without the option POLHODE_BENCH_PEERS, and for programs that are not installed, there are none.

set(peer_folder ${PROJECT_BINARY_DIR}/bench_peers)
add_library(polhode_bench_peers STATIC bench/peers/peers.c)
target_compile_definitions(polhode_bench_peers PRIVATE POLHODE_PEER_FOLDER="${peer_folder}")
target_link_libraries(polhode_bench_peers PRIVATE polhode_compiler ${CMAKE_DL_LIBS})

# polhode_add_peer(SOURCE HEADER LIBRARY...): adds the driver if header and libraries are found.
function(polhode_add_peer source header)
  cmake_path(GET source STEM name)
  set(libraries "")
  find_path(POLHODE_${name}_INCLUDE ${header} PATH_SUFFIXES simbody)
  foreach(library ${ARGN})
    find_library(POLHODE_${library}_LIBRARY ${library})
    list(APPEND libraries ${POLHODE_${library}_LIBRARY})
  endforeach()
  if(NOT POLHODE_${name}_INCLUDE OR libraries MATCHES "NOTFOUND")
    message(STATUS "Benchmarks: ${name} was not found and is left out")
    return()
  endif()
  add_library(peer_${name} MODULE bench/peers/${source})
  target_include_directories(peer_${name} SYSTEM PRIVATE ${POLHODE_${name}_INCLUDE})
  target_link_libraries(peer_${name} PRIVATE polhode_compiler ${libraries} m)
  set_target_properties(peer_${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${peer_folder})
  add_dependencies(polhode_bench_peers peer_${name})
endfunction()

if(POLHODE_BENCH_PEERS)
  polhode_add_peer(sundials.c ida/ida.h
    sundials_ida sundials_arkode sundials_nvecserial sundials_sunmatrixdense sundials_sunlinsoldense)
  polhode_add_peer(mujoco.c mujoco/mujoco.h mujoco)
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(CMAKE_CXX_STANDARD 17)
    # the headers of Simbody and the library, which Debian compiles so, must agree in this
    set_source_files_properties(bench/peers/simbody.cpp PROPERTIES COMPILE_OPTIONS -UNDEBUG)
    polhode_add_peer(simbody.cpp Simbody.h SimTKsimbody SimTKmath SimTKcommon)
  endif()
endif()
