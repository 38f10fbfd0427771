#!/bin/sh
# Installs polhode into a folder of the build tree, then checks what is there and builds a program with each
# component: through pkg-config and through CMake, with the shared and with the static libraries.
#
#   run.sh SOURCE_DIR BUILD_DIR LIBDIR VERSION      with CC, CFLAGS, CMAKE in the environment
set -eu
source=$1
build=$2
libdir=$3
version=$4

place=$build/tests/install
prefix=$place/prefix
lib=$prefix/$libdir
rm -rf "$place"
mkdir -p "$place"
cd "$place"

fail() {
  echo "FAILED: $*"
  exit 1
}

echo "--- install"
"$CMAKE" --install "$build" --prefix "$prefix" >install.log || fail "installation"
for library in polhode polhode_io polhode_draw; do
  for file in "$library.pc" "$library.a" "$library.so"; do
    case $file in *.pc) file=pkgconfig/$file ;; *) file=lib$file ;; esac
    [ -e "$lib/$file" ] || fail "$file is not installed"
  done
done
for file in bin/polhode include/polhode/polhode.h "$libdir/cmake/polhode/polhodeConfig.cmake" \
  share/doc/polhode/LICENSE share/polhode/models/bruels-cardona-2010/heavy_top.json \
  share/polhode/schema share/man/man1/polhode.1 share/man/man1/polhode-run.1 \
  share/bash-completion/completions/polhode share/zsh/site-functions/_polhode; do
  [ -e "$prefix/$file" ] || fail "$file is not installed"
done

echo "--- each header stands alone"
for header in "$prefix"/include/polhode/*.h; do
  "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -x c "$header" ||
    fail "$header"
done
if grep -l poli_ "$prefix"/include/polhode/*; then fail "a private name is in an installed header"; fi

echo "--- the shared libraries show the functions of the headers, all and only those, and private ones apart"
sed -e 's|/\*.*\*/||' "$prefix"/include/polhode/*.h | sed -e '/\/\*/,/\*\//d' |
  grep -oE '\bpol_[a-z0-9_]+\(' | tr -d '(' | sort >declared
nm -D --defined-only "$lib"/libpolhode*.so | awk '$2 ~ /^[TDRB]$/ { print $3 }' | sort >shown
grep -v '@@POLHODE_PRIVATE_' shown | sed 's/@@POLHODE_[0-9.]*$//' | diff declared - ||
  fail "declared (<) and exported (>) functions differ"
if grep '@@POLHODE_PRIVATE_' shown | grep -v '^poli_'; then fail "the private version has other names"; fi

echo "--- the installed command runs an installed model"
"$prefix/bin/polhode" check "$prefix/share/polhode/models/bruels-cardona-2010/heavy_top.json" ||
  fail "polhode check"

echo "--- completion is what the command prints; each command has a manual page that groff accepts"
"$prefix/bin/polhode" completion bash | cmp - "$prefix/share/bash-completion/completions/polhode" ||
  fail "completion of bash"
"$prefix/bin/polhode" completion zsh | cmp - "$prefix/share/zsh/site-functions/_polhode" ||
  fail "completion of zsh"
commands=$("$prefix/bin/polhode" help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\).*/\1/p')
[ -n "$commands" ] || fail "polhode help lists no commands"
for command in $commands; do
  page=$prefix/share/man/man1/polhode-$command.1
  for option in $("$prefix/bin/polhode" help "$command" | grep -oE '^  --[a-z-]+' | sed 's/-/\\-/g'); do
    grep -qF -e "$option" "$page" || fail "manual page of $command lacks $option"
  done
  complaints=$(groff -man -ww -z "$page" 2>&1) && [ -z "$complaints" ] ||
    fail "manual page of $command: $complaints"
done

echo "--- pkg-config"
export PKG_CONFIG_PATH="$lib/pkgconfig"
for component in core io draw; do
  library=polhode_$component
  [ $component != core ] || library=polhode
  consumer=$source/tests/install/consumer_$component.c
  [ "$(pkg-config --modversion $library)" = "$version" ] || fail "version of $library.pc"
  # shellcheck disable=SC2046,SC2086
  "$CC" $CFLAGS "$consumer" -o pc_$component $(pkg-config --cflags --libs $library) -lm
  # With both libraries in one folder the linker takes the shared one unless told the file's name.
  # shellcheck disable=SC2046,SC2086
  "$CC" $CFLAGS "$consumer" -o pc_${component}_static $(pkg-config --cflags $library) \
    $(pkg-config --static --libs $library | sed -E 's/-l(polhode(_[a-z]+)?)\b/-l:lib\1.a/g')
done
# The line of the README.
# shellcheck disable=SC2046,SC2086
"$CC" $CFLAGS "$source/examples/double_pendulum.c" $(pkg-config --cflags --libs polhode) -o double_pendulum

echo "--- CMake"
"$CMAKE" -S "$source/tests/install" -B cmake -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  "-DCOMPONENTS=draw;io;core;core_static;io_static;draw_static" >cmake.log ||
  fail "configuration of the CMake consumers"
"$CMAKE" --build cmake >>cmake.log || fail "build of the CMake consumers"

echo "--- run"
LD_LIBRARY_PATH=$lib ./double_pendulum >double_pendulum.out || fail "double_pendulum"
needs() { readelf -d "$1" | grep -q "NEEDED.*lib$2"; }
for kind in pc_ cmake/; do
  for component in core io draw; do
    program=$kind$component
    needs $program polhode || fail "$program does not use the shared library"
    LD_LIBRARY_PATH=$lib ./$program "$version" || fail "$program"
    if needs ${program}_static polhode; then fail "${program}_static uses the shared library"; fi
    ./${program}_static "$version" || fail "${program}_static"
  done
done
needs cmake/everything polhode_draw || fail "polhode::polhode lacks libpolhode_draw"
LD_LIBRARY_PATH=$lib cmake/everything || fail "cmake/everything"
