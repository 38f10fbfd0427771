#!/bin/sh
# Configures and builds one preset of CMakePresets.json; says little unless something is wrong.
#
#   scripts/build.sh PRESET [TARGET]
set -eu
cd "$(dirname "$0")/.."
preset=$1
target=${2:-all}

say() { printf '%s\n' "==> $*"; }

# Configure: quick, and the build tree follows every change of the presets.
mkdir -p "build/$preset"
log=build/$preset/configure.log
[ -f "build/$preset/build.ninja" ] || say "configuring (preset $preset)"
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log"
  say "the configuration failed (see above); if this folder was copied or moved: make clean"
  exit 1
fi

# Build: on a terminal one line that counts, elsewhere nothing but warnings and errors.
say "building (preset $preset)"
if [ -t 1 ]; then quiet=; else quiet=--quiet; fi
NINJA_STATUS='    [%f/%t] ' cmake --build "build/$preset" --target "$target" -- $quiet
