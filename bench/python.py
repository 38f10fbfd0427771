#!/usr/bin/env python3
"""The Python package on the heavy top: steps per second with and without a force by a Python function, what a call
costs, what a controller costs, runs in two threads, and the memory over many steps.

    PYTHONPATH=build/release/python python3 bench/python.py [--steps N] [--rounds N]
"""
import argparse
import pathlib
import statistics
import threading
import time

import polhode

TOP = pathlib.Path(__file__).resolve().parent.parent / "models/bruels-cardona-2010/heavy_top.json"
ZERO = (0.0, 0.0, 0.0)
STEP = 1e-4


class Counter:
    """A force that is zero, so that the motion is the same; counts its calls."""
    calls = 0

    def __call__(self, t, motion):
        self.calls += 1
        return ZERO


def simulation(method, end, force=None):
    model = polhode.load(TOP)
    if force is not None:
        model.add_force("python", force, body="top")
    return polhode.Simulation(model, method=method, step=STEP, end=end)


def seconds(method, steps, force=None):
    """Processor time of so many steps, after a hundred others."""
    s = simulation(method, (steps + 200) * STEP, force)
    s.step(100)
    start = time.process_time()
    s.step(steps)
    return time.process_time() - start


def own_cost(calls=1000000):
    """Processor time of one call of the function by Python itself."""
    force = Counter()
    start = time.process_time()
    for _ in range(calls):
        force(0.0, None)
    return (time.process_time() - start) / calls


def resident():
    """Resident memory of this process, kB."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise OSError("no VmRSS in /proc/self/status")


def report_speed(steps, rounds):
    print("| method | without, steps/s | with, steps/s | calls per step | per call, us |")
    print("|---|---|---|---|---|")
    for method in ("rattle", "geom1"):
        plain, forced, force = [], [], Counter()
        for _ in range(rounds):  # in turns, so that a noisy moment hits both
            plain.append(seconds(method, steps))
            force.calls = 0
            forced.append(seconds(method, steps, force))
        without, given = statistics.median(plain), statistics.median(forced)
        print(f"| `{method}` | {steps / without:.0f} | {steps / given:.0f} | {force.calls / (steps + 100):.1f} | "
              f"{1e6 * (given - without) / (force.calls * steps / (steps + 100)):.2f} |")
    print(f"\nthe function alone, called by Python: {1e6 * own_cost():.2f} us")


def report_controller(steps, rounds):
    """Both runs go on by single output steps and keep a row of each: the difference is the controller."""
    def nothing(_):
        pass

    costs, loops = [], []
    for _ in range(rounds):
        start = time.process_time()
        simulation("rattle", steps * STEP).run()
        whole = time.process_time() - start
        start = time.process_time()
        simulation("rattle", steps * STEP).run(controller=nothing)
        costs.append((time.process_time() - start - whole) / steps)
        start = time.process_time()
        for _ in range(steps):
            nothing(None)
        loops.append((time.process_time() - start) / steps)
    print(f"a controller, run(controller=...): {1e6 * (statistics.median(costs) - statistics.median(loops)):.2f} us per "
          "call and step, besides its own body")


def scheduled():
    """Seconds that this thread has been on a core, and ready but waiting for one (Linux)."""
    path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
    return [1e-9 * int(number) for number in pathlib.Path(path).read_text().split()[:2]]


def report_threads(steps, rounds):
    """Runs side by side in threads.  What is neither on a core nor waiting for one is blocked: by locks."""
    def work(run, start, times):
        start.wait()
        clock, before = time.perf_counter(), scheduled()
        run()
        wall, after = time.perf_counter() - clock, scheduled()
        core, queue = (b - a for a, b in zip(before, after))
        times.append((wall, core, queue, wall - core - queue))

    print("\n| runs in threads | wall time, s | on a core, s | waiting for a core, s | blocked, s |")
    print("|---|---|---|---|---|")
    for count in (1, 2):
        times = []
        for _ in range(rounds):
            start = threading.Barrier(count)
            threads = [threading.Thread(target=work, args=(simulation("rattle", steps * STEP).run, start, times))
                       for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        print(f"| {count} | " + " | ".join(f"{statistics.median(column):.4f}" for column in zip(*times)) + " |")


def report_memory(steps):
    s = simulation("rattle", (steps + 2000) * STEP, Counter())
    s.step(1000)
    before = resident()
    for _ in range(steps // 1000):
        s.step(1000)
        s.values()
    print(f"resident memory with a Python force: {before} kB, {resident()} kB after {steps} more steps")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=1000000, help="of the measurement of memory; a tenth of the others")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    report_speed(max(1, arguments.steps // 10), arguments.rounds)
    report_controller(max(1, arguments.steps // 10), arguments.rounds)
    report_threads(max(1, arguments.steps // 5), arguments.rounds)
    report_memory(arguments.steps)


if __name__ == "__main__":
    main()
