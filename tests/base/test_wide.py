#!/usr/bin/env python3
"""Whether functions that are compiled for several processors (src/core/base/wide.h) give the same bits in all
variants that this processor has.

    test_wide.py PROGRAM...    each is wide_bits.c with another variant; the first is that of the library

A program that ends with status 77 needs another processor."""
import os
import subprocess
import sys


def main():
    results = {}
    for program in sys.argv[1:]:
        run = subprocess.run([program], capture_output=True, text=True)
        if run.returncode == 77:
            print(f"{os.path.basename(program)}: not for this processor")
            continue
        if run.returncode != 0:
            sys.exit(f"{program} failed with status {run.returncode}\n{run.stdout}{run.stderr}")
        results[program] = run.stdout.splitlines()
    if len(results) < 2:
        print("there is only one variant")
        sys.exit(77)
    reference = results[sys.argv[1]]
    wrong = 0
    for program, lines in results.items():
        different = [pair for pair in zip(reference, lines) if pair[0] != pair[1]]
        wrong += bool(different) or len(lines) != len(reference)
        print(f"{os.path.basename(program)}: {len(lines)} runs, {len(different)} different")
        for first, other in different:
            print(f"  {first}\n  {other}")
    sys.exit(1 if wrong else 0)


main()
