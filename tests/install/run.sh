#!/bin/sh
# Installs polhode into a folder of the build tree, then checks what is there and builds a program
# with it: through pkg-config and through CMake, with the shared and with the static library.
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
for file in bin/polhode include/polhode/polhode.h "$libdir/libpolhode.a" "$libdir/libpolhode.so" \
  "$libdir/pkgconfig/polhode.pc" "$libdir/cmake/polhode/polhodeConfig.cmake" \
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

echo "--- the shared library shows the functions of the headers, all and only those"
sed -e 's|/\*.*\*/||' "$prefix"/include/polhode/*.h | sed -e '/\/\*/,/\*\//d' |
  grep -oE '\bpol_[a-z0-9_]+\(' | tr -d '(' | sort -u >declared
nm -D --defined-only "$lib/libpolhode.so" | awk '$2 != "A" { print $3 }' | sort -u >shown
diff declared shown || fail "declared (<) and exported (>) functions differ"

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
[ "$(pkg-config --modversion polhode)" = "$version" ] || fail "version of polhode.pc"
# shellcheck disable=SC2046,SC2086
"$CC" $CFLAGS "$source/tests/install/consumer.c" -o pc_shared $(pkg-config --cflags --libs polhode)
# The line of the README.
# shellcheck disable=SC2046,SC2086
"$CC" $CFLAGS "$source/examples/pendulum.c" $(pkg-config --cflags --libs polhode) -lm -o pendulum
# With both libraries in one folder the linker takes the shared one unless told the file's name.
# shellcheck disable=SC2046,SC2086
"$CC" $CFLAGS "$source/tests/install/consumer.c" -o pc_static $(pkg-config --cflags polhode) \
  $(pkg-config --static --libs polhode | sed 's/-lpolhode\b/-l:libpolhode.a/')

echo "--- CMake"
"$CMAKE" -S "$source/tests/install" -B cmake -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >cmake.log ||
  fail "configuration of the CMake consumer"
"$CMAKE" --build cmake >>cmake.log || fail "build of the CMake consumer"

echo "--- run"
LD_LIBRARY_PATH=$lib ./pendulum || fail "pendulum"
needs() { readelf -d "$1" | grep -q 'NEEDED.*libpolhode'; }
for program in pc_shared cmake/consumer_shared; do
  needs $program || fail "$program does not use the shared library"
  LD_LIBRARY_PATH=$lib ./$program "$version" || fail "$program"
done
for program in pc_static cmake/consumer_static; do
  if needs $program; then fail "$program uses the shared library"; fi
  ./$program "$version" || fail "$program"
done
