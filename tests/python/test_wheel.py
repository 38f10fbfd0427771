#!/usr/bin/env python3
"""The wheel: its list of files, and that what is unpacked can be imported and runs.

    test_wheel.py SOURCE_DIR BUILT
"""
import base64
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

source, built = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(source / "python"))
import backend  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    name = backend.pack(built, folder)
    assert name.startswith("polhode-") and name.endswith(".whl"), name
    with zipfile.ZipFile(pathlib.Path(folder) / name) as wheel:
        wheel.extractall(pathlib.Path(folder) / "site")
        record, = [one for one in wheel.namelist() if one.endswith("/RECORD")]
        lines = [line.split(",") for line in wheel.read(record).decode().splitlines()]
        assert {line[0] for line in lines} == set(wheel.namelist())
        for path, digest, size in lines[:-1]:
            data = wheel.read(path)
            assert len(data) == int(size), path
            assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), path
    code = ("import sys, polhode; s = polhode.Simulation(sys.argv[1], end=0.1); s.run();"
            "print(polhode.__file__, s.t)")
    done = subprocess.run([sys.executable, "-c", code, str(source / "models/bruels-cardona-2010/heavy_top.json")], check=True,
                          env={"PYTHONPATH": str(pathlib.Path(folder) / "site")}, stdout=subprocess.PIPE, text=True)
    assert str(folder) in done.stdout and done.stdout.split()[-1] == "0.1", done.stdout
print("1 passed, 0 failed")
