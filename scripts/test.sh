#!/bin/sh
# Runs all tests of a preset that is built.
#
#   scripts/test.sh PRESET
set -eu
cd "$(dirname "$0")/.."
printf '%s\n' "==> testing (preset $1)"
exec ctest --preset "$1" --parallel "$(getconf _NPROCESSORS_ONLN)"
