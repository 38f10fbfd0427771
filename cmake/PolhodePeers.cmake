# polhode_bench_peers: loads the drivers of programs that benchmarks compare with.  The drivers (bench/peers) are
# modules; without the option POLHODE_BENCH_PEERS, and for programs that are not installed, there are none.

set(peer_folder ${PROJECT_BINARY_DIR}/bench_peers)
add_library(polhode_bench_peers STATIC bench/peers/peers.c)
target_compile_definitions(polhode_bench_peers PRIVATE POLHODE_PEER_FOLDER="${peer_folder}")
target_link_libraries(polhode_bench_peers PRIVATE polhode_compiler ${CMAKE_DL_LIBS})

# polhode_add_peer(NAME SOURCES HEADER LIBRARY...): adds the driver if header and libraries are found.
function(polhode_add_peer name sources header)
  set(libraries "")
  find_path(POLHODE_${name}_INCLUDE ${header} PATH_SUFFIXES simbody bullet)
  foreach(library ${ARGN})
    find_library(POLHODE_${library}_LIBRARY ${library})
    list(APPEND libraries ${POLHODE_${library}_LIBRARY})
  endforeach()
  if(NOT POLHODE_${name}_INCLUDE OR libraries MATCHES "NOTFOUND")
    message(STATUS "Benchmarks: ${name} was not found and is left out")
    return()
  endif()
  list(TRANSFORM sources PREPEND bench/peers/)
  add_library(peer_${name} MODULE ${sources})
  target_include_directories(peer_${name} SYSTEM PRIVATE ${POLHODE_${name}_INCLUDE})
  target_link_libraries(peer_${name} PRIVATE polhode_compiler ${libraries} m)
  set_target_properties(peer_${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${peer_folder})
  add_dependencies(polhode_bench_peers peer_${name})
endfunction()

if(POLHODE_BENCH_PEERS)
  polhode_add_peer(sundials "sundials.c;sundials_crank.c" ida/ida.h
    sundials_ida sundials_arkode sundials_nvecserial sundials_sunmatrixdense sundials_sunlinsoldense)
  polhode_add_peer(mujoco mujoco.c mujoco/mujoco.h mujoco)
  if(TARGET peer_mujoco AND TARGET polhode_draw_static)
    # robots that both read, for docs/robots.md
    add_executable(peer_robots bench/peers/robots.c)
    target_include_directories(peer_robots SYSTEM PRIVATE ${POLHODE_mujoco_INCLUDE})
    target_link_libraries(peer_robots PRIVATE polhode_compiler polhode_draw_static
      ${POLHODE_DEPENDENCIES} ${POLHODE_mujoco_LIBRARY} m)
    set_target_properties(peer_robots PROPERTIES OUTPUT_NAME robots
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  endif()
  polhode_add_peer(ode ode.c ode/ode.h ode)
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(CMAKE_CXX_STANDARD 17)
    polhode_add_peer(simbody simbody.cpp Simbody.h SimTKsimbody SimTKmath SimTKcommon)
    polhode_add_peer(bullet bullet.cpp btBulletDynamicsCommon.h
      BulletDynamics-float64 BulletCollision-float64 LinearMath-float64)
    polhode_add_peer(bullet_float bullet.cpp btBulletDynamicsCommon.h
      BulletDynamics BulletCollision LinearMath)
    polhode_add_peer(dart dart.cpp dart/dart.hpp dart)
    if(TARGET peer_simbody)
      # the headers of Simbody and the library, which Debian compiles so, must agree in this
      target_compile_options(peer_simbody PRIVATE -UNDEBUG)
    endif()
    if(TARGET peer_bullet)
      target_compile_definitions(peer_bullet PRIVATE BT_USE_DOUBLE_PRECISION)
    endif()
    if(TARGET peer_dart)
      find_path(POLHODE_eigen_INCLUDE Eigen/Core PATH_SUFFIXES eigen3)
      target_include_directories(peer_dart SYSTEM PRIVATE ${POLHODE_eigen_INCLUDE})
    endif()
  endif()
endif()
