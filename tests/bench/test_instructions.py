#!/usr/bin/env python3
"""Guards the speed of the steps by the number of instructions they execute, which does not depend on the
load of the machine as times do.

    test_instructions.py HOT_LOOPS COMPILER            compares with instructions.json
    test_instructions.py HOT_LOOPS COMPILER --renew    writes instructions.json (make instructions)

Valgrind's callgrind counts the instructions within the function hot_loop of tests/bench/hot_loops.c.  A loop
that executes more than 5 % more than recorded is a failure; where one has become faster by more than that,
the record should be renewed.  Counts are those of one compiler: with another the test is skipped (status 77).

So that counts are the same on other processors, the C library and OpenBLAS use only the functions that
every x86-64 processor can execute; valgrind itself knows no AVX-512.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parent / "instructions.json"
RENEW = "make instructions"
SLACK = 0.05
# functions that glibc chooses by processor: memory and strings, sin, exp, ...
FEATURES = ("AVX_Fast_Unaligned_Load AVX AVX2 AVX512F AVX512VL AVX512BW FMA FMA4 BMI1 BMI2 LZCNT MOVBE ERMS FSRM RTM "
            "SSE4_1 SSE4_2 SSSE3 XSAVEC").split()
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{f}" for f in FEATURES),
               "OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"}


def count(program, name, variables):
    """Instructions within hot_loop."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=hot_loop",
             f"--callgrind-out-file={folder}/out", program, name],
            capture_output=True, encoding="utf-8", env={**os.environ, **variables}, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{name}: valgrind failed\n{done.stderr}")
    return int(found[1])


def compiler(path):
    """Name and version, without what distributions add."""
    text = subprocess.run([path, "--version"], capture_output=True, encoding="utf-8", check=True).stdout
    found = re.search(r"(\d+)\.\d+\.\d+", text)
    return f"{'clang' if 'clang' in text else 'gcc'} {found[1]}, {os.uname().machine}"


def measure(program, variables=None):
    """Instructions per body and step of each loop."""
    listed = subprocess.run([program], capture_output=True, encoding="utf-8", check=True).stdout
    counts = {}
    for line in listed.splitlines():
        name, steps, bodies = line.split("\t")
        counts[name] = round(count(program, name, variables or ENVIRONMENT) / int(steps) / int(bodies))
    return counts


def compare(counts, record):
    """Prints a table; returns the number of loops that have become slower, or are not recorded."""
    slower = faster = 0
    for name, now in counts.items():
        before = record.get(name)
        change = now / before - 1.0 if before else float("inf")
        slower += change > SLACK
        faster += change < -SLACK
        verdict = "SLOWER" if change > SLACK else "faster" if change < -SLACK else ""
        print(f"{name:36} {now:8} {before or '-':>8} {100 * change:+7.1f} %  {verdict}")
    if slower:
        print(f"\n{slower} loops execute more instructions per body and step than recorded in {RECORD.name}."
              f"\nIf there is a good reason, renew the record: {RENEW}")
    elif faster:
        print(f"\n{faster} loops have become faster; renew the record: {RENEW}")
    return slower


def main():
    if sys.argv[1] == "--skip":
        print(f"skipped: {sys.argv[2]}")
        sys.exit(77)
    program, path = sys.argv[1:3]
    if "--renew" in sys.argv:
        record = {"compiler": compiler(path), "instructions per body and step": measure(program)}
        RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        print(RECORD.read_text(encoding="utf-8"), end="")
        return
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if compiler(path) != record["compiler"]:
        print(f"skipped: the record is that of {record['compiler']}, this is {compiler(path)}")
        sys.exit(77)
    sys.exit(1 if compare(measure(program), record["instructions per body and step"]) else 0)


if __name__ == "__main__":
    main()
