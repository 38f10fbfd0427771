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

# Build: on a terminal one line that counts; elsewhere a line for each tenth of the work, and what
# the compiler says.
say "building (preset $preset)"
if [ -t 1 ]; then
  NINJA_STATUS='    [%f/%t] ' cmake --build "build/$preset" --target "$target"
else
  { NINJA_STATUS='[%f/%t] ' cmake --build "build/$preset" --target "$target" 2>&1 || echo "[failed]"; } |
    awk '
      /^\[[0-9]+\/[0-9]+\] / {
        split(substr($1, 2), part, /[\/\]]/)
        tenth = int(10 * part[1] / part[2])
        if (tenth > last && part[2] >= 20) { print "    " $1; fflush() }
        last = tenth
        next
      }
      /^ninja: no work to do/ { next }
      $0 == "[failed]" { failed = 1; next }
      { print; fflush() }
      END { exit failed }'
fi
