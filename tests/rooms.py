#!/usr/bin/env python3
"""Checks that each room includes and calls only what the table in docs/architecture.md allows.

    tests/rooms.py           prints what breaks the table; exit status 1 if anything does
    tests/rooms.py --list    prints every file with the first line of its opening comment
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

CORE = ["base", "lie", "linalg", "expression", "dae", "mechanism", "formulation", "integrators",
        "fem", "analysis", "simulation"]
IO = ["io/file", "io/fmi", "io/model", "io/result", "io/robot", "io/sweep"]
DRAW = ["draw/plot", "draw/viewer"]

# folder: (public headers, rooms it may use besides itself and base, headers of other libraries)
ROOMS = {
    "base": ("status errors", [], "pthread.h sched.h stdatomic.h"),
    "lie": ("lie", [], ""),
    "linalg": ("linalg", [], "amd.h arpack.h lapacke.h klu.h pthread.h"),
    "expression": ("", [], ""),
    "dae": ("dae newton published", ["lie", "linalg"], ""),
    "mechanism": ("mechanism", ["lie", "expression"], ""),
    "formulation": ("formulation", ["lie", "linalg", "expression", "dae", "mechanism"], ""),
    "integrators": ("integrator", ["lie", "linalg", "dae"], "stdatomic.h"),
    "fem": ("reduction", ["lie", "linalg", "mechanism"], ""),
    "analysis": ("analysis", ["lie", "linalg", "expression", "dae", "mechanism", "formulation",
                              "integrators"], ""),
    "simulation": ("simulation batch convergence polhode", CORE, "pthread.h"),
    "io/file": ("output", [], "fcntl.h libxml/parser.h libxml/tree.h strings.h unistd.h sys/stat.h"),
    "io/fmi": ("fmu", CORE + IO,
               "jansson.h zlib.h dirent.h dlfcn.h fcntl.h ftw.h libxml/parser.h libxml/tree.h pthread.h unistd.h "
               "sys/stat.h"),
    "fmu": ("", CORE + IO, ""),
    "io/model": ("mesh_files model", CORE + IO, "jansson.h strings.h"),
    "io/robot": ("robot", ["lie", "mechanism", "io/file"],
                 "jansson.h libxml/parser.h libxml/tree.h strings.h unistd.h"),
    "io/result": ("mat result", CORE + IO, "jansson.h hdf5.h zlib.h pthread.h fcntl.h unistd.h sys/stat.h"),
    "io/sweep": ("sweep", CORE + IO, "jansson.h hdf5.h fcntl.h unistd.h sys/stat.h sys/uio.h"),
    "draw/plot": ("plot", ["io/file"], "cairo.h cairo-pdf.h"),
    "draw/viewer": ("view", CORE + IO, "jansson.h"),
    "cli": ("", CORE + IO + DRAW,
            "jansson.h microhttpd.h arpa/inet.h dirent.h fcntl.h ftw.h netinet/in.h poll.h spawn.h strings.h unistd.h "
            "sys/ioctl.h sys/prctl.h sys/select.h sys/socket.h sys/stat.h sys/types.h sys/wait.h"),
    "mpi": ("", ["cli"], "mpi.h"),
    "papers": ("", CORE + IO + DRAW + ["cli"],
               "jansson.h dirent.h unistd.h sys/ioctl.h sys/stat.h sys/wait.h"),
}

# Rooms that see public headers only, besides their own: private ones that they may include nevertheless.
PUBLIC_ONLY = {"cli": {"papers/reproduce.h"}}

C_HEADERS = set("""assert complex ctype errno fenv float inttypes limits locale math setjmp signal
    stdarg stdbool stddef stdint stdio stdlib string tgmath time""".split())
ALLOCATES = r"\b(malloc|calloc|realloc)\s*\("
PRINTS = r"\b(printf|vprintf|puts|putchar|perror|exit|_Exit|quick_exit|abort)\s*\(|\b(stdout|stderr)\b"
NEVER = {"lie": ALLOCATES + "|" + PRINTS, "cli": r"(?!)", "papers/command.c": r"(?!)"}
NOT_CODE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.S)


def folder_of(room):
    return ROOT / (room if room == "papers" else "src/core/" + room if room in CORE else "src/" + room)


def owner_of_header(name):
    return next((room for room, (public, _, _) in ROOMS.items() if name in public.split()), None)


def may_include(room, bracket, header):
    _, uses, outside = ROOMS[room]
    allowed = {room, "base", *uses}
    if header.startswith("polhode/"):
        return owner_of_header(header[8:-2]) in allowed
    if bracket == "<":
        return header[:-2] in C_HEADERS or header in outside.split()
    if room in PUBLIC_ONLY:
        return header.startswith(room + "/") or header in PUBLIC_ONLY[room]
    return "/" not in header or header.rsplit("/", 1)[0] in allowed


def faults(room, name, text):
    """What a file of this room does that it may not."""
    for bracket, header in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)', text, re.M):
        if not may_include(room, bracket, header):
            yield f"includes {header}"
    code = NOT_CODE.sub(" ", text)
    for match in re.finditer(NEVER.get(name, NEVER.get(room, PRINTS)), code):
        yield f"uses {match[0].strip('( ')}"


def sources():
    for room in ROOMS:
        for path in sorted(folder_of(room).glob("*.[ch]")):
            yield room, path
    for path in sorted((ROOT / "include/polhode").glob("*.h")):
        yield owner_of_header(path.stem), path


def check_tree():
    wrong = []
    for room, path in sources():
        name = str(path.relative_to(ROOT))
        if room is None:
            wrong.append(f"{name}: belongs to no room")
        else:
            wrong += [f"{name}: {fault}" for fault in faults(room, name, path.read_text())]
    known = {path for _, path in sources()}
    for folder in ("src", "papers"):
        wrong += [f"{path.relative_to(ROOT)}: is in no room"
                  for path in (ROOT / folder).rglob("*.[ch]") if path not in known]
    return wrong


def check_itself():
    """The check must find what is forbidden and pass what is not."""
    bad = [("lie", "#include <polhode/linalg.h>\n"), ("linalg", '#include "dae/newton.h"\n'),
           ("integrators", "#include <polhode/mechanism.h>\n"), ("mechanism", "#include <jansson.h>\n"),
           ("io/model", '#include "cli/cli.h"\n'), ("simulation", '#include "io/file/file.h"\n'),
           ("cli", '#include "base/errors.h"\n'), ("cli", '#include "papers/report.h"\n'),
           ("cli", '#include "io/result/result.h"\n'), ("dae", "#include <polhode/polhode.h>\n"),
           ("io/model", "exit(1);"), ("dae", "fputs(text, stderr);"), ("lie", "x = malloc(8);")]
    good = [("lie", "#include <math.h>\n#include <polhode/status.h>\n"),
            ("cli", '#include "cli/cli.h"\n#include <polhode/plot.h>\n'),
            ("dae", '#include "lie/small.h"\n'), ("io/model", '/* exit( */ f("exit(1)");'),
            ("dae", "x = malloc(8);"), ("cli", "exit(1);"), ("io/file", "my_exit(1);")]
    return ([f"not found in {room}: {text}" for room, text in bad if not list(faults(room, "", text))] +
            [f"found in {room}: {text}" for room, text in good if list(faults(room, "", text))])


def list_files():
    for room, path in sources():
        first = re.match(r"/\* ?(.*?)(?:\*/|$)", path.read_text(), re.M)
        print(f"{path.relative_to(ROOT)}: {first[1].strip() if first else ''}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        list_files()
    else:
        wrong = check_itself() + check_tree()
        print("\n".join(wrong) or "all rooms keep their borders")
        sys.exit(1 if wrong else 0)
