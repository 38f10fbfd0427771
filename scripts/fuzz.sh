#!/bin/sh
# Runs the fuzz targets of the preset fuzz, which must be built, two at a time, and prints a table.
#
#   scripts/fuzz.sh SECONDS [TARGET ...]     all targets of fuzz/, for so long each
#
# What libFuzzer learns is kept in build/fuzz/corpus/TARGET; inputs that crash a target, leak memory,
# take more than 10 s of the processor or 2 GB, or hang are kept in build/fuzz/findings.  Ends with
# 1 if there are any of this run.  A finding that is fixed becomes a test: copy it to
# tests/fuzz/TARGET.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/fuzz
most_findings=20

# One target, again after each finding, until the time is over.
run_target() {
  seconds=$1 target=$2
  start=$(date +%s) round=0 found=0 left=$seconds
  corpus=$build/corpus/$target
  log=$build/logs/$target
  case $target in
  expression) most=1024 ;; arguments) most=512 ;; mesh) most=3000 ;; *) most=4000 ;;
  esac
  memory=/dev/shm # files there cost no disk
  [ -w "$memory" ] || memory=$build
  tmp=$(mktemp -d "$memory/polhode-fuzz.XXXXXX")
  mkdir -p "$corpus" "$build/findings"
  rm -rf "$log"
  mkdir -p "$log"
  while [ "$left" -gt 0 ] && [ "$found" -lt "$most_findings" ]; do
    round=$((round + 1))
    TMPDIR=$tmp OPENBLAS_NUM_THREADS=1 nice -n 19 "$build/fuzz_$target" \
      -max_total_time="$left" -max_len="$most" -len_control=0 -dict="fuzz/$target.dict" \
      -timeout=1200 -rss_limit_mb=2048 -close_fd_mask=3 -print_final_stats=1 \
      -report_slow_units=1000000 \
      -artifact_prefix="$build/findings/$target-" \
      "$corpus" "fuzz/seeds/$target" $([ -d "tests/fuzz/$target" ] && echo "tests/fuzz/$target") \
      >"$log/$round" 2>&1 || found=$((found + 1))
    left=$((seconds - $(date +%s) + start))
  done
  rm -rf "$tmp"
  echo "$(($(date +%s) - start)) $found" >"$log/total"
}

# The line of the table.
report_target() {
  log=$build/logs/$1
  read -r seconds found <"$log/total"
  runs=$(awk '/^stat::number_of_executed_units:/ { sum += $2 } END { print sum + 0 }' "$log"/[0-9]*)
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log"/[0-9]* | sort -n | tail -1)
  printf '%-12s %12d %10d %8d %10d %9d\n' "$1" "$runs" "$((runs / (seconds > 0 ? seconds : 1)))" \
    "${edges:-0}" "$seconds" "$found"
}

if [ "$1" = --target ]; then
  run_target "$3" "$2"
  exit 0
fi

seconds=$1
shift
if [ $# -eq 0 ]; then
  for source in fuzz/fuzz_*.c; do
    target=${source#fuzz/fuzz_}
    set -- "$@" "${target%.c}"
  done
fi
echo "==> fuzzing for $seconds s each, two at a time: $*"
mark=$build/started
touch "$mark"
for target; do echo "$target"; done | xargs -P 2 -I TARGET scripts/fuzz.sh --target TARGET "$seconds"
printf '%-12s %12s %10s %8s %10s %9s\n' target executions 'per second' edges seconds findings
for target; do report_target "$target"; done
status=0
for input in $(find "$build/findings" -type f -newer "$mark" | sort); do
  [ $status = 1 ] || echo "==> findings, and how to repeat them"
  status=1
  target=${input##*/}
  echo "build/fuzz/fuzz_${target%%-*} build/fuzz/findings/${input##*/}"
done
exit $status
