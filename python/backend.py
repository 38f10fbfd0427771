"""Builds wheels of the Python package for pip (PEP 517), with the standard library and CMake alone.

    pip install .                              builds and installs
    python3 python/backend.py FOLDER           writes the wheel to a folder (make wheel)
    python3 python/backend.py FOLDER BUILT     packs BUILT/polhode, which CMake has made already
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent


def version():
    return re.search(r"VERSION (\d+\.\d+\.\d+)", (TOP / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def build():
    """Configures and builds the package; gives the folder that has it."""
    folder = TOP / "build" / "wheel"
    subprocess.run(["cmake", "-S", TOP, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
                    f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "polhode_python"], check=True)
    return folder / "python"


def pack(built, wheel_directory):
    """Writes the wheel; gives its name."""
    info = f"polhode-{version()}.dist-info"
    tag = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    files = {f"polhode/{path.name}": path.read_bytes() for path in sorted((built / "polhode").iterdir())
             if path.suffix in (".py", ".so", ".typed")}
    if "polhode/_core.abi3.so" not in files:
        raise RuntimeError(f"{built}/polhode has no extension module; are the headers of Python there (python3-dev)?")
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: polhode\nVersion: {version()}\n"
                                 "Summary: Simulation of constrained rigid and flexible multibody systems\n"
                                 "License: BSD-3-Clause\nRequires-Python: >=3.11\nRequires-Dist: numpy\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: polhode\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (TOP / "LICENSE").read_bytes()
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
             for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join(lines + [f"{info}/RECORD,,", ""]).encode()
    name = f"polhode-{version()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip."""
    return pack(build(), wheel_directory)


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    print(pathlib.Path(sys.argv[1]) / pack(pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else build(), sys.argv[1]))
