#!/bin/sh
# Configures, builds and installs the core alone, where pkg-config does not find Jansson, HDF5 and cairo, and
# builds a program with it through pkg-config and CMake.  No step may ask for those libraries, or read their
# headers, and no program or library may need more than KLU, LAPACK, BLAS and the C library.
#
#   core_alone.sh SOURCE_DIR BUILD_DIR LIBDIR VERSION    with CC, CMAKE, LAUNCHER in the environment
set -eu
source=$1
libdir=$3
version=$4

place=$2/tests/core_alone
prefix=$place/prefix
rm -rf "$place/build" "$place/pkgconfig" "$prefix"
mkdir -p "$place/pkgconfig"
cd "$place"

fail() {
  echo "FAILED: $*"
  exit 1
}

echo "--- what pkg-config knows here"
for module in lapacke arpack openblas lapack blas cmocka; do
  folder=$(pkg-config --variable=pcfiledir $module) || continue
  ln -sf "$folder/$module.pc" pkgconfig
done
export PKG_CONFIG_LIBDIR="$place/pkgconfig"
ls pkgconfig
for module in jansson hdf5 hdf5-serial cairo zlib libxml-2.0; do
  if pkg-config --exists $module; then fail "pkg-config still knows $module"; fi
done

echo "--- build"
"$CMAKE" -S "$source" -B build -G Ninja -DPOLHODE_IO=OFF -DPOLHODE_DRAW=OFF -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER_LAUNCHER="$LAUNCHER" >build.log || fail "configuration"
# The libraries, an example and a test of the core stand for all.
"$CMAKE" --build build --target polhode_core polhode_core_static example_pendulum lie_test_so3 >>build.log ||
  fail "build"
ctest --test-dir build -R '^(examples/pendulum|lie/so3)$' --no-tests=error >>build.log || fail "tests"
if "$CMAKE" --build build -- -t deps | grep -E '/(jansson|hdf5|H5|cairo|zlib|libxml)'; then fail "these headers were read"; fi
ctest --test-dir build -N | grep -oE ' [a-z]+/[a-z0-9_]+$' >tests
for room in mechanism integrators simulation; do
  grep -q " $room/" tests || fail "no test of $room is left"
done
if grep -E ' (cli|model|result|plot|viewer|papers|differential)/' tests; then fail "these tests cannot run"; fi

echo "--- install"
"$CMAKE" --install build --prefix "$prefix" >install.log || fail "installation"
if find "$prefix" | grep -E 'polhode_(io|draw)|/(model|result|output|plot|view)\.h|/bin/'; then
  fail "more than the core is installed"
fi
lib=$prefix/$libdir

echo "--- programs"
export PKG_CONFIG_LIBDIR="$place/pkgconfig:$lib/pkgconfig"
consumer=$source/tests/install/consumer_core.c
# shellcheck disable=SC2046
"$CC" "$consumer" -o pc_core $(pkg-config --cflags --libs polhode) -lm
# shellcheck disable=SC2046
"$CC" "$consumer" -o pc_core_static $(pkg-config --cflags polhode) \
  $(pkg-config --static --libs polhode | sed 's/-lpolhode\b/-l:libpolhode.a/')
"$CMAKE" -S "$source/tests/install" -B cmake -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  "-DCOMPONENTS=core;core_static" >cmake.log || fail "configuration of the CMake consumer"
"$CMAKE" --build cmake >>cmake.log || fail "build of the CMake consumer"
if "$CMAKE" -S "$source/tests/install" -B no_io -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  "-DCOMPONENTS=io" >no_io.log 2>&1; then
  fail "find_package finds the component io, which is not installed"
fi
grep -q "built with the components core only" no_io.log || fail "the reason is missing"

echo "--- what they need"
known='linux-vdso|ld-linux|libc|libm|libpthread|libdl|librt|libgcc_s|libgfortran|libquadmath|libgomp'
known="$known|libklu|libbtf|libamd|libcolamd|libsuitesparseconfig|liblapacke|libarpack|liblapack|libtmglib"
known="$known|libopenblas|libblas|libpolhode"
for program in pc_core pc_core_static cmake/core cmake/core_static cmake/everything; do
  LD_LIBRARY_PATH=$lib ./$program "$version" || fail "$program"
  LD_LIBRARY_PATH=$lib ldd ./$program >needed
  if grep -vE "^\s*(\S*/)?($known)[-.0-9a-z_]*\.so" needed; then fail "$program needs more than the core"; fi
done
if readelf -d pc_core_static | grep 'NEEDED.*libpolhode'; then fail "pc_core_static is not static"; fi
LD_LIBRARY_PATH=$lib ldd ./pc_core
ls -l "$lib/libpolhode.a"
