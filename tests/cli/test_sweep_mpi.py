#!/usr/bin/env python3
"""polhode-mpi sweep: on several ranks the file is that of one process, also after a kill.

    test_sweep_mpi.py POLHODE POLHODE-MPI MPIRUN SOURCES
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

polhode, polhode_mpi, mpirun, sources = sys.argv[1:]
STUDY = {
    "model": str(pathlib.Path(sources) / "models/bruels-cardona-2010/heavy_top.json"),
    "set": {"simulation.step": 5e-4},
    "vary": {"bodies.top.mass": {"from": 5, "to": 25, "count": 200}},
    "responses": [{"name": "low", "signal": "top.position.z", "reduce": "min"}],
    "signals": ["top.position"],
    "every": 20,
}
# all ranks on this machine, also if the tests run as root or it has fewer cores
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1")


def ranks(count, out, *more, study="study.json"):
    return [mpirun, "-n", str(count), polhode_mpi, "sweep", study, "--out", out, *more]


def expect(condition, message):
    if not condition:
        sys.exit("failed: " + message)


def run(command, status):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    expect((done.returncode == 0) == (status == 0),
           f"{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


for path in pathlib.Path(".").glob("*.h5*"):
    path.unlink()
pathlib.Path("study.json").write_text(json.dumps(STUDY))
run([polhode, "sweep", "study.json", "--out", "one.h5", "--jobs", "1", "-q"], 0)
one = pathlib.Path("one.h5").read_bytes()

for count in 2, 3:
    report = json.loads(run(ranks(count, f"ranks{count}.h5", "--json"), 0).stdout)
    expect(report["finished"] == 200 and report["processes"] == count, f"report {report}")
    expect(pathlib.Path(f"ranks{count}.h5").read_bytes() == one, f"file of {count} ranks differs")

# killed twice; what the journal has is not computed again
for moment in 0.6, 0.7:
    process = subprocess.Popen(ranks(2, "killed.h5", "-q"), start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
# ranks end when mpirun is gone; until then one holds the journal
deadline = time.monotonic() + 60
while True:
    done = subprocess.run(ranks(2, "killed.h5", "-q"), capture_output=True, text=True, timeout=120)
    if "another process is running this study" not in done.stderr or time.monotonic() > deadline:
        break
    time.sleep(0.2)
expect(done.returncode == 0, f"continued: {done.stderr}")
expect(pathlib.Path("killed.h5").read_bytes() == one, "file of a killed study differs")

# an error is reported once, and all ranks end
bad = dict(STUDY, vary={"bodies.top.weight": {"values": [1]}})
pathlib.Path("bad.json").write_text(json.dumps(bad))
done = run(ranks(2, "bad.h5", study="bad.json"), 2)
expect(done.stderr.count("bodies.top.weight") == 1, f"errors {done.stderr}")
run(ranks(2, "none/x.h5"), 2)
print("ok")
