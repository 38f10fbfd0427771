#!/bin/sh
# Makes sure that what polhode is built with and on is installed.
#
#   scripts/setup.sh [PACKAGE ...]     the packages below, and these
#
# On Debian and its relatives: looks what is missing (no network for that) and installs it, as root or
# through sudo; where neither works, prints the command and stops with status 1.  Elsewhere: names the
# libraries and leaves the rest to the configuration, which stops at the first that is not there.
set -eu
cd "$(dirname "$0")/.."

packages="build-essential cmake ninja-build pkg-config libsuitesparse-dev libopenblas-dev
  liblapacke-dev libarpack2-dev libjansson-dev libcairo2-dev libhdf5-dev libxml2-dev zlib1g-dev libmicrohttpd-dev
  libjs-three libcmocka-dev help2man $*"

say() { printf '%s\n' "==> $*"; }

# The packages that are not installed, separated by blanks.
missing() {
  for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null) || status=
    case " $status" in
    *" installed "*) ;;
    *) printf '%s ' "$package" ;;
    esac
  done
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  if [ ! -d build ]; then
    say "this is not a Debian system; polhode needs a C11 compiler, CMake 3.25, Ninja, pkg-config,"
    say "and the libraries KLU (SuiteSparse), OpenBLAS or LAPACK, LAPACKE, ARPACK, Jansson, cairo, HDF5, libxml2, zlib,"
    say "cmocka, help2man, libmicrohttpd (for polhode serve), and three.js r111 (share/javascript/three)${*:+, and $*}"
  fi
  exit 0
fi

needed=$(missing)
[ -n "$needed" ] || exit 0

# Who may install?
if [ "$(id -u)" = 0 ]; then
  as_root="env"
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root="sudo -n env"
elif command -v sudo >/dev/null && [ -t 0 ] && [ -t 2 ]; then
  say "sudo may ask for your password to install packages"
  as_root="sudo env"
else
  as_root=
fi

command="apt-get update && apt-get install -y --no-install-recommends ${needed% }"
if [ -z "$as_root" ]; then
  say "these Debian packages are missing; run as root, then try again:"
  printf '\n    %s\n\n' "$command"
  exit 1
fi

say "installing Debian packages, which may take some minutes: ${needed% }"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  $as_root DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1
}
# An update may fail for a source that has nothing to do with polhode; the installation decides.
apt update || true
# shellcheck disable=SC2086
if ! apt install -y --no-install-recommends $needed || [ -n "$(missing)" ]; then
  cat "$log"
  say "the installation failed (see above); try as root:"
  printf '\n    %s\n\n' "$command"
  exit 1
fi
