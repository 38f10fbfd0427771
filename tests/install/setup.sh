#!/bin/sh
# Tries scripts/setup.sh with a pretended dpkg-query, apt-get, sudo and id, each told what to do by
# files, so that nothing is installed.
#
#   setup.sh SOURCE_DIR BUILD_DIR
set -eu
setup=$1/scripts/setup.sh
place=$2/tests/setup
rm -rf "$place"
mkdir -p "$place/bin" "$place/installed"

# The pretended programs.  A package is installed if a file of its name is in installed/.
cat >"$place/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
[ -e "$PLACE/installed/$package" ] && printf 'installed '
END
cat >"$place/bin/apt-get" <<'END'
#!/bin/sh
echo "apt-get $* as $(id -u) with $DEBIAN_FRONTEND" >>"$PLACE/calls"
case " $* " in
*" install "*) [ ! -e "$PLACE/apt-fails" ] || { echo "E: no network"; exit 100; }
  for package; do touch "$PLACE/installed/${package##*/}"; done ;;
esac
END
cat >"$place/bin/sudo" <<'END'
#!/bin/sh
[ ! -e "$PLACE/sudo-fails" ] || exit 1
[ "$1" = -n ] && shift
FAKE_USER=0 exec "$@"
END
cat >"$place/bin/id" <<'END'
#!/bin/sh
echo "$FAKE_USER"
END
chmod +x "$place"/bin/*
export PLACE="$place" PATH="$place/bin:$PATH"

fail() {
  echo "FAILED: $*"
  cat "$place/output"
  exit 1
}
# try USER STATUS WHAT: runs the script as that user and expects that exit status.
try() {
  rm -f "$place/calls"
  touch "$place/calls"
  status=0
  FAKE_USER=$1 "$setup" >"$place/output" 2>&1 </dev/null || status=$?
  [ $status = "$2" ] || fail "$3: status $status instead of $2"
}
calls() { grep -c . "$place/calls" || true; }

try 0 0 "root, nothing installed"
grep -q "apt-get .*update as 0 with noninteractive" "$place/calls" || fail "root does not update"
grep -q "apt-get .*install -y .*libcmocka-dev help2man as 0 with noninteractive" "$place/calls" ||
  fail "root does not install"

try 0 0 "root, everything installed"
[ "$(calls)" = 0 ] || fail "apt-get is called though nothing is missing"
[ ! -s "$place/output" ] || fail "it talks though nothing is missing"

rm "$place/installed/libjansson-dev"
try 1000 0 "user with sudo, one package missing"
grep -q "install -y --no-install-recommends libjansson-dev as 0 with noninteractive" \
  "$place/calls" || fail "sudo does not install just the missing package"

rm "$place/installed/libjansson-dev" "$place/installed/cmake"
touch "$place/sudo-fails"
try 1000 1 "user without sudo"
[ "$(calls)" = 0 ] || fail "apt-get is called without the right to"
grep -q "^    apt-get update && apt-get install -y --no-install-recommends cmake libjansson-dev$" \
  "$place/output" || fail "the exact command is not printed"

touch "$place/apt-fails"
try 0 1 "the installation fails"
grep -q "E: no network" "$place/output" || fail "the reason of the failure is not shown"

# A system without dpkg-query: says what is needed, and goes on.
mkdir "$place/elsewhere"
for tool in sh dirname env cat; do ln -s "$(command -v $tool)" "$place/elsewhere/$tool"; done
mkdir -p "$place/tree/scripts"
cp "$setup" "$place/tree/scripts/setup.sh"
PATH="$place/elsewhere" "$place/tree/scripts/setup.sh" >"$place/output" 2>&1 ||
  fail "it stops on a system that is not Debian"
grep -q "SuiteSparse" "$place/output" || fail "the needed libraries are not named"
