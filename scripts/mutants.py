#!/usr/bin/env python3
"""Mutation score: how many small faults in the sources the tests detect.

    scripts/mutants.py [--count 60] [--seed 1] [--rooms lie,dae] [--quick] [--again]
                       [--sanitize] [--list] [--score]

A mutant is the source with one token or statement changed: + for -, * for /, < for <=, > for <,
&& for ||, another constant, another sign, an index off by one, a condition negated, a statement
deleted, another status returned.  The seed chooses them, a share for each room of src and all
kinds alike.  Each is compiled and tested until the first test fails; it is then killed.

Everything happens in a copy of the sources, build/mutants/tree.  The results are kept in
build/mutants/results.json: an interrupted run goes on where it stopped, and mutants that are
killed already are not tested again.  --again tests the survivors again, with tests that are new.
With --sanitize the address and undefined-behaviour sanitizers look on, as in make debug-test.
--quick runs short tests and those of the room only, and leaves open what they do not kill.

The rank of a mutant is a hash of the seed, the file's name with its room, and the line's text.  A
change elsewhere in the sources, or a room that moves, thus leaves the sample as it is.  Mutants that
have not been tried or that short tests left open count as not killed, in --score and after --limit
too.  Mutants that do not compile are not counted, and
neither are those that scripts/mutants_equivalent.json lists as equivalent, with the reason: they
are keyed by file, text of the line and change.  The next in rank takes their place.

Not mutated: comments, strings, the preprocessor, assertions, declarations, the arguments of
printf-like functions, sizes of buffers and how they grow, < for <= between real numbers, memory
that is released (the sanitizers detect that), and tolerances, which are constants with an exponent
or a name.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "mutants"
TREE, BUILD, RESULTS = HOME / "tree", HOME / "build", HOME / "results.json"
sanitized = False
# What is read: the copy, or, where nothing is tested, the sources themselves.
source = ROOT
EQUIVALENT = ROOT / "scripts" / "mutants_equivalent.json"

# Tests that are not run: they test the packaging, and need targets that are not built here.
LEFT_OUT = re.compile(r"^install/")
# The rooms whose tests are run for the mutants of a room; for others, all.
TESTED_BY = {
    "lie": "lie dae formulation mechanism integrators simulation",
    "linalg": "linalg dae formulation integrators simulation",
    "dae": "dae formulation integrators simulation",
    "mechanism": "mechanism expression formulation integrators simulation model",
    "formulation": "formulation integrators simulation",
    "integrators": "integrators formulation simulation papers",
    "plot": "plot cli papers",
    "viewer": "viewer cli",
    "papers": "papers cli",
    "cli": "cli viewer docs",
}
# The slowest tests, for mutants of these rooms only.
ONLY_FOR = {"viewer/page": ("viewer",), "cli/results": ("cli", "result"),
            "result/hdf5": ("result",)}


def concerns(test, room):
    return (test.room in TESTED_BY.get(room, test.room).split()
            and room in ONLY_FOR.get(test.name, (room,)))


# --- the mutants of a file ------------------------------------------------------------------------

Mutant = collections.namedtuple("Mutant",
                                "room file line operator start end before after text column number")


def mask(text):
    """The text with comments, strings and the preprocessor blanked out; the length is the same."""
    pattern = re.compile(
        r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
        re.S | re.M)

    def blank(match):
        found = match.group(0)
        if found[0] in "\"'":
            return found[0] + "_" * (len(found) - 2) + found[0]
        return re.sub(r"[^\n]", " ", found)

    return pattern.sub(blank, text)


def matching(text, start):
    """The position of the parenthesis or brace that closes the one at start."""
    close = {"(": ")", "{": "}", "[": "]"}[text[start]]
    depth = 0
    for i in range(start, len(text)):
        if text[i] == text[start]:
            depth += 1
        elif text[i] == close:
            depth -= 1
            if depth == 0:
                return i
    return len(text)


def blank_out(text, start, end):
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


# Calls whose arguments are text for people or sizes of memory.
CALLS = re.compile(r"\b(\w*printf|poli_format\w*|paper_report_(?:text|row|table|fail)"
                   r"|paper_check_because|paper_report_not_comparable|assert|static_assert|_Static_assert|sizeof|malloc"
                   r"|calloc|realloc|free|pol_\w+_free|json_decref|json_pack|va_\w+|fflush)\s*\(")
# What else is not mutated: enumerations, named constants, structs, prototypes at the top level.
DATA = re.compile(r"\benum\b[^{;()]*\{|\bstruct\b[^{;()]*\{|\bunion\b[^{;()]*\{")
NAMED = re.compile(r"^\s*static const (?:double|int|long|size_t) \w+ = [^;{]*;", re.M)
GROWTH = re.compile(r"^.*\b(?:capacity|growth|grown?|room for|rows_max|POL_MAX_\w+)\b.*$", re.M)


# From the fourth argument on these take a message.
MESSAGES = re.compile(r"\bpaper_check_true\s*\(")


def fourth_argument(text, opening):
    """The span from the fourth argument of a call to its end."""
    end, commas, i = matching(text, opening), 0, opening + 1
    while i < end and commas < 3:
        if text[i] in "([{":
            i = matching(text, i)
        commas += text[i] == ","
        i += 1
    return i, end


def quiet(text):
    """Blanks out what is not mutated."""
    text = mask(text)
    for match in [*CALLS.finditer(text), *DATA.finditer(text)]:
        opening = match.end() - 1
        if text[opening] != " ":  # not inside another
            text = blank_out(text, opening + 1, matching(text, opening))
    for match in MESSAGES.finditer(text):
        start, end = fourth_argument(text, match.end() - 1)
        text = blank_out(text, start, end)
    for pattern in (NAMED, GROWTH):
        text = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    return text


def bodies(text):
    """The spans of the function bodies: braces in the first column, as clang-format puts them."""
    return [(m.start(), matching(text, m.start())) for m in re.finditer(r"^\{", text, re.M)]


DECLARATION = re.compile(
    r"^\s*(?:static |const |extern |volatile |unsigned |long |struct |enum )*"
    r"(?!return\b|else\b|case\b|goto\b|sizeof\b)[A-Za-z_]\w*(?: const)?[ *]+(?:const )?[A-Za-z_]\w*"
    r"(?:\[[^=]*\])?\s*(?:=|;|,)")
# A comparison of real numbers: that they are equal hardly ever happens.
REAL = re.compile(r"\d\.\d|\de-?\d|\bfabs\(|\bfmax\(|\bfmin\(|tolerance|accuracy|smallest|largest")
FLOAT = re.compile(r"(?<![\w.])\d+\.\d*(?![\w.])")
INTEGER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def changes(text):
    """Yields (operator, start, end, replacement) for the quiet text of a file."""
    inside = [False] * (len(text) + 1)
    for start, end in bodies(text):
        inside[start:end] = [True] * (end - start)

    def each(pattern):
        return (m for m in re.finditer(pattern, text) if inside[m.start()])

    swap = {"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
    for m in each(r"(?<=[\w)\]]) ([-+*/]=?) (?=[\w(&*-])"):
        yield "arithmetic", m.start(1), m.end(1), swap[m.group(1)]
    bound = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "=="}
    for m in each(r" (<=?|>=?|==|!=) "):
        start, end = line_at(text, m.start())
        if m.group(1) in bound and not REAL.search(text[start:end]):
            yield "boundary", m.start(1), m.end(1), bound[m.group(1)]
        yield "comparison", m.start(1), m.end(1), turned[m.group(1)]
    for m in each(r" (&&|\|\|) "):
        yield "logical", m.start(1), m.end(1), "||" if m.group(1) == "&&" else "&&"
    for m in each(r"(?<=[=(,?:] )-(?=[A-Za-z(])|(?<=\()-(?=[A-Za-z(])|(?<=return )-(?=[A-Za-z(])"):
        yield "sign", m.start(), m.end(), ""
    for m in each(r"\bif \("):
        close = matching(text, m.end() - 1)
        if text[m.end():close].strip():
            yield "condition", m.end(), close, None
    for m in each(r"\breturn (POL_[A-Z_]+|status);"):
        other = "POL_BAD_ARGUMENT" if m.group(1) == "POL_OK" else "POL_OK"
        yield "status", m.start(1), m.end(1), other
    yield from constants(text, inside)
    yield from indices(text, inside)
    yield from statements(text, inside)


def line_at(text, position):
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return start, end if end >= 0 else len(text)


def constants(text, inside):
    """Numbers, in tables of the file too; not sizes of arrays, cases, fields of bits."""
    for m in FLOAT.finditer(text):
        value = float(m.group(0))
        yield "constant", m.start(), m.end(), "1.0" if value == 0 else repr(value / 2)
    for m in INTEGER.finditer(text):
        start, end = line_at(text, m.start())
        line = text[start:end]
        before, after = text[:m.start()], text[m.end():m.end() + 1]
        if re.match(r"\s*(case|default)\b", line) or re.search(r"%\s*$", before[-3:]):
            continue
        if int(m.group(0)) >= 32 and int(m.group(0)) % 16 == 0 and after in ",)":
            continue  # the size of a buffer
        if after == "]" and (not inside[m.start()] or DECLARATION.match(line)):
            continue
        if not inside[m.start()] and not re.search(r"[{,] *-?$", line[:m.start() - start]):
            continue
        yield "constant", m.start(), m.end(), str(int(m.group(0)) + 1)


def indices(text, inside):
    for m in re.finditer(r"(?<=[\w)\]])\[([^\[\]]+)\]", text):
        start, end = line_at(text, m.start())
        if not inside[m.start()] or DECLARATION.match(text[start:end].split("=")[0] + ";"):
            continue
        if re.search(r"\b(?:double|int|char|long|size_t|\w+_t|pol_\w+) \**\w+$",
                     text[start:m.start()]):
            continue
        index = m.group(1)
        if index.isdigit():
            yield "index", m.start(1), m.end(1), str(int(index) + 1)
        else:
            yield "index", m.start(1), m.end(1), index + " + 1"


def statements(text, inside):
    """Statements of one line, after the end of another."""
    last = "{"
    offset = 0
    for line in text.split("\n"):
        code = line.strip()
        simple = (code.endswith(";") and inside[offset] and last[-1:] in ";{})"
                  and not re.match(r"(return|break|continue|goto|else|case|default|do|\})\b", code)
                  and not re.match(r"(\w*free|json_decref|va_\w+|\(void\))", code)
                  and not DECLARATION.match(line) and code.count("(") == code.count(")")
                  and re.match(r"[A-Za-z_*(+-]", code) and re.search(r"[=(]|\+\+|--", code))
        if simple:
            start = offset + line.index(code)
            yield "deletion", start, start + len(code), ";"
        if code:
            last = code
        offset += len(line) + 1


def mutants_of(path):
    """All mutants of a file."""
    text = path.read_text()
    name = str(path.relative_to(source))
    found, equal = [], collections.Counter()
    for operator, start, end, replacement in changes(quiet(text)):
        before = text[start:end]
        after = "!(" + before + ")" if replacement is None else replacement
        if operator == "index" and not before.isdigit():
            after = before + " + 1"
        first, last = line_at(text, start)
        line = text[first:last]
        # a line that stands several times in the file: which of the equal mutants
        column = start - first - (len(line) - len(line.lstrip()))
        same = (line.strip(), operator, column, after)
        found.append(Mutant(path.parent.name, name, text.count("\n", 0, start) + 1, operator,
                            start, end, before, after, line.strip(), column, equal[same]))
        equal[same] += 1
    return found


# --- the sample -----------------------------------------------------------------------------------

def rank(*words):
    return hashlib.sha256("|".join(map(str, words)).encode()).hexdigest()


def name_of(file):
    """The file by its room, wherever the room is."""
    return "/".join(pathlib.Path(file).parts[-2:])


def key_of(mutant):
    return "%s|%s|%s|%d|%s%s" % (name_of(mutant.file), mutant.text, mutant.operator, mutant.column,
                                 mutant.after, "|%d" % mutant.number if mutant.number else "")


def ranked(seed):
    """For each room its mutants in their rank: the operators take turns, each in random order."""
    order, rooms = {}, collections.defaultdict(lambda: collections.defaultdict(list))
    for path in sorted(p for top in ("src", "papers") for p in (source / top).rglob("*.[ch]")):
        for mutant in mutants_of(path):
            rooms[mutant.room][mutant.operator].append((rank(seed, key_of(mutant)), mutant))
    for room, by_operator in sorted(rooms.items()):
        queues = [sorted(by_operator[name]) for name in
                  sorted(by_operator, key=lambda name: rank(seed, room, name))]
        order[room] = [queue[i][1] for i in range(max(map(len, queues), default=0))
                       for queue in queues if i < len(queue)]
    return order


def quotas(order, count):
    """How many mutants each room gets: two, and a share by the root of how many it has."""
    weights = {room: len(mutants) ** 0.5 for room, mutants in order.items() if mutants}
    total = sum(weights.values())
    rest = max(0, count - 2 * len(weights))
    share = {room: 2 + int(rest * weight / total) for room, weight in weights.items()}
    largest = sorted(weights, key=lambda room: -(rest * weights[room] / total % 1))
    for room in largest[:max(0, count - sum(share.values()))]:
        share[room] += 1
    return share


def equivalents():
    if not EQUIVALENT.exists():
        return {}
    return {(name_of(e["file"]), e["line"], e["change"]): e["reason"]
            for e in json.loads(EQUIVALENT.read_text())}


def change_of(mutant):
    if mutant.operator == "deletion":
        return "deleted"
    if mutant.operator == "condition":
        return "negated"
    return "%s -> %s" % (mutant.before, mutant.after)


# --- the copy, the build, the tests ---------------------------------------------------------------

def copy_sources():
    """The files that git knows or would add, as they are now; only what differs is written."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                           capture_output=True, check=True).stdout.decode().split("\0")
    names = [name for name in names if name and (ROOT / name).is_file()]
    for name in names:
        original, target = ROOT / name, TREE / name
        if target.is_file() and target.read_bytes() == original.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(original, target)
        os.utime(target)
    kept = set(names)
    for folder in ("src", "papers", "tests", "include"):
        for path in (TREE / folder).rglob("*"):
            if path.is_file() and path.suffix in (".c", ".h") and str(
                    path.relative_to(TREE)) not in kept:
                path.unlink()


def configure():
    log = HOME / "configure.log"
    fast = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
    with open(log, "w") as out:
        done = subprocess.run(
            ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
             "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DPOLHODE_TEST_SHARED=ON",
             "-DPOLHODE_SANITIZE=" + ("ON" if sanitized else "OFF"),
             "-DCMAKE_SHARED_LINKER_FLAGS=" + " ".join(fast),
             "-DCMAKE_EXE_LINKER_FLAGS=" + " ".join(fast)], stdout=out, stderr=out)
    if done.returncode != 0:
        sys.exit("==> the configuration failed, see %s" % log)


def compile_all(targets=()):
    """Whether it compiles; the compiler's words."""
    done = subprocess.run(["ninja", "-C", str(BUILD), *targets], capture_output=True, text=True)
    return done.returncode == 0, done.stdout


class Test:
    def __init__(self, data):
        properties = {p["name"]: p["value"] for p in data.get("properties", [])}
        self.name, self.command = data["name"], data["command"]
        self.room = self.name.split("/")[0]
        self.folder = properties.get("WORKING_DIRECTORY", str(BUILD))
        self.environment = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
        self.seconds, self.processor = 0.0, 0.0

    def limits(self):
        """Processor time, which does not depend on what else runs, and sizes of files."""
        if self.processor > 0:
            most = int(20 + 10 * self.processor)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.command and "python" not in self.command[0] and not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))

    def start(self, log):
        environment = {**os.environ, **self.environment, "MALLOC_PERTURB_": "165"}
        return subprocess.Popen(self.command, cwd=self.folder, env=environment, stdout=log,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                process_group=0, preexec_fn=self.limits)


def end(process):
    """Ends a test and what it has started: the processes of its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


running = set()
interrupted = []


def interrupt(number, frame):
    """Ctrl-C and kill: the tests end, and the mutated source is restored."""
    interrupted.append(number)
    for process in list(running):
        end(process)


def run_tests(tests, jobs, stop=True):
    """Runs tests in their order, several at a time; the first that fails, and its status."""
    lock, queue, failed = threading.Lock(), list(tests), []

    def work(number):
        while True:
            with lock:
                if not queue or (failed and stop) or interrupted:
                    return
                test = queue.pop(0)
                log = open(HOME / ("test-%d.log" % number), "w+")
                begin = time.monotonic()
                process = test.start(log)
                running.add(process)
            # on a busy machine a test may take long: one that is not timed yet gets an hour
            busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
            longest = busy * (60 + 40 * max(test.seconds, 1)) if test.seconds > 0 else 3600
            timer = threading.Timer(longest, end, [process])
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
            log.close()
            with lock:
                running.discard(process)
                if test.processor == 0:
                    test.seconds = time.monotonic() - begin
                    test.processor = usage.ru_utime + usage.ru_stime
                if process.returncode != 0 and not (failed and stop):
                    failed.append((test, process.returncode))
                    if stop:
                        for other in running:
                            end(other)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if interrupted:
        sys.exit("==> interrupted; run again to go on")
    return failed


def known_tests():
    found = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, capture_output=True,
                           check=True).stdout
    tests = [Test(t) for t in json.loads(found)["tests"] if t.get("command")]
    return [t for t in tests if not LEFT_OUT.match(t.name)]


def built_targets(tests):
    """The programs of the tests and what they use."""
    names = {"polhode", "libpolhode.so"}
    for test in tests:
        program = pathlib.Path(test.command[0])
        if BUILD in program.parents:
            names.add(str(program.relative_to(BUILD)))
    return sorted(names)


def baseline(tests, jobs):
    """The times of all tests without a mutant; a test that fails so is left out, with a warning."""
    store = HOME / ("times-sanitized.json" if sanitized else "times.json")
    times = json.loads(store.read_text()) if store.exists() else {}
    for test in tests:
        if test.name in times:
            test.seconds, test.processor = times[test.name]
    missing = [t for t in tests if t.name not in times]
    if missing:
        print("==> timing %d tests without a mutant" % len(missing), flush=True)
    failed = {t.name for t, _ in run_tests(missing, jobs, stop=False)}
    for name in sorted(failed):
        print("==> left out: %s fails without a mutant" % name)
    good = [t for t in tests if t.name not in failed]
    store.write_text(json.dumps({t.name: [t.seconds, max(t.processor, 0.01)] for t in good}))
    return good


def order_of(tests, room, results):
    """What promises most comes first: short tests, those of the room, those that killed before."""
    kills = collections.Counter(r["by"].split(" ")[0] for r in results.values() if r["outcome"] == "killed")
    tests = [t for t in tests if concerns(t, room)]

    def cost(test):
        promise = (1.0 if test.room == room else 0.1) + kills[test.name] / (5 + kills.total())
        return (0.02 + test.processor) / promise

    return sorted(tests, key=cost)


def shared_targets():
    """What a change of the library or the command needs: the tests of failing memory link
    statically, and some tests include a source."""
    including = [path for path in (TREE / "tests").glob("*/test_*.c")
                 if re.search(r'^#include "\w+/\w+\.c"', path.read_text(), re.M)]
    return ["libpolhode_inner.so", "polhode",
            *("tests/%s/%s" % (path.parent.name, path.stem) for path in including)]


def is_static(test):
    return test.name.endswith("_alloc") or test.room == "examples"


# What --quick takes for a short test, in seconds of processor time.
SHORT = 0.3


def try_out(mutant, tests, targets, jobs, results, quick):
    """Applies, builds and tests one mutant: the outcome, and the test that failed with its status;
    the source is restored in any case."""
    path = TREE / mutant.file
    original = path.read_text()
    try:
        path.write_text(original[:mutant.start] + mutant.after + original[mutant.end:])
        # what links the shared library first, unless it is about memory
        alike = order_of(tests, mutant.room, results)
        if quick:
            alike = [t for t in alike if t.processor < SHORT
                     or (t.room == mutant.room and t.processor < 10 * SHORT)]
        stages = [([t for t in alike if not is_static(t)], shared_targets()),
                  ([t for t in alike if is_static(t)], targets)]
        if re.search(r"NULL|NO_MEMORY", mutant.text):
            stages.reverse()
        for remaining, wanted in stages:
            if not compile_all(wanted)[0]:
                return "does not compile", None, 0
            while remaining:
                failed = run_tests(remaining, jobs)
                if not failed:
                    break
                test, status = failed[0]
                # a test that fails by chance, or that others keep from the processor, is not
                # counted: it has to fail twice, unless it has used up its processor time
                if status == -signal.SIGXCPU or run_tests([test], 1):
                    return "killed", test, status
                remaining = [t for t in remaining if t.name != test.name]
        return "open" if quick else "survived", None, 0
    finally:
        path.write_text(original)


TIME_LIMIT = (-signal.SIGXCPU, -signal.SIGKILL)
verified = set()


def judge(mutant, tests, targets, jobs, results, quick):
    """The outcome of one mutant and the name of the test.  A test that kills for the first time
    has to pass without a mutant; if it does not, it is left out."""
    while True:
        outcome, test, status = try_out(mutant, tests, targets, jobs, results, quick)
        if test is None:
            return outcome, ""
        if test.name not in verified:
            compile_all(targets if is_static(test) else shared_targets())
            if run_tests([test], 1):
                print("==> left out: %s fails without a mutant" % test.name, flush=True)
                tests.remove(test)
                continue
            verified.add(test.name)
        return outcome, test.name + (" (time limit)" if status in TIME_LIMIT else "")


# --- the run --------------------------------------------------------------------------------------

def read_results():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def write_results(results):
    RESULTS.with_suffix(".new").write_text(json.dumps(results, indent=1))
    RESULTS.with_suffix(".new").rename(RESULTS)


def say(mutant, outcome, by, seconds):
    print("%-16s %s:%d  %s  %s%s  (%.0f s)" % (
        outcome, mutant.file, mutant.line, change_of(mutant).replace("\n", " "),
        mutant.text if mutant.operator in ("deletion", "condition") else "[%s]" % mutant.text,
        "  by " + by if by else "", seconds), flush=True)


def outcome_of(mutant, results):
    return results.get(key_of(mutant), {}).get("outcome", "not tried")


def report(chosen, results, skipped):
    """The table of the rooms and what is not killed; whether 95 % are, of the whole sample."""
    rooms = collections.defaultdict(collections.Counter)
    for mutant in chosen:
        rooms[mutant.room][outcome_of(mutant, results)] += 1
    total = sum(rooms.values(), collections.Counter())
    print("\n| room | mutants | killed | survived | open | not tried |\n|---|---|---|---|---|---|")
    for room, counts in [*sorted(rooms.items()), ("all", total)]:
        share = " (%.1f %%)" % (100.0 * total["killed"] / len(chosen)) if counts is total else ""
        print("| %s | %d | %d%s | %d | %d | %d |" % (
            room, counts.total(), counts["killed"], share, counts["survived"], counts["open"],
            counts["not tried"]))
    print("\nleft out: %d that do not compile, %d equivalent" % (
        skipped["does not compile"], skipped["equivalent"]))
    for word in ("survived", "open", "not tried"):
        for mutant in chosen:
            if outcome_of(mutant, results) == word:
                print("\n%s: %s:%d (%s)\n  %s\n  %s" % (
                    word, mutant.file, mutant.line, mutant.operator, mutant.text,
                    change_of(mutant)))
    return total["killed"] >= 0.95 * len(chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--rooms", default="", help="only these, with commas between")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--quick", action="store_true", help="short tests only")
    parser.add_argument("--again", action="store_true", help="test survivors again")
    parser.add_argument("--sanitize", action="store_true", help="with the sanitizers")
    parser.add_argument("--list", action="store_true", help="print the sample, test nothing")
    parser.add_argument("--score", action="store_true", help="print what is known, test nothing")
    parser.add_argument("--limit", type=float, default=0, help="stop after so many seconds")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    global source, BUILD, sanitized
    if options.sanitize:
        BUILD, sanitized = HOME / "sanitized", True
    HOME.mkdir(parents=True, exist_ok=True)
    if not options.list and not options.score:
        copy_sources()
        source = TREE
    order = ranked(options.seed)
    share = quotas(order, options.count)
    rooms = options.rooms.split(",") if options.rooms else sorted(order)
    if options.list:
        for room in rooms:
            print("%s: %d of %d" % (room, share[room], len(order[room])))
            for mutant in order[room][:share[room]]:
                say(mutant, mutant.operator, "", 0)
        return 0
    tests, targets = [], []
    if not options.score:
        configure()
        print("==> building", flush=True)
        good, words = compile_all()
        if not good:
            sys.exit(words)
        tests = baseline(known_tests(), options.jobs)
        targets = built_targets(tests)
    results, known, begin = read_results(), equivalents(), time.monotonic()
    to_try = {"not tried"} | ({"survived"} if options.again else set()) | (
        set() if options.quick else {"open"})
    chosen, skipped = [], collections.Counter()
    for room in rooms:
        taken = 0
        for mutant in order[room]:
            if taken == share[room]:
                break
            if (name_of(mutant.file), mutant.text, change_of(mutant)) in known:
                skipped["equivalent"] += 1
                continue
            late = options.limit and time.monotonic() - begin > options.limit
            if outcome_of(mutant, results) in to_try and not options.score and not late:
                start = time.monotonic()
                outcome, by = judge(mutant, tests, targets, options.jobs, results,
                                    options.quick)
                if by and options.sanitize:
                    by += " (sanitizers)"
                results[key_of(mutant)] = {"outcome": outcome, "by": by}
                write_results(results)
                say(mutant, outcome, by, time.monotonic() - start)
            if outcome_of(mutant, results) == "does not compile":
                skipped["does not compile"] += 1
                continue
            chosen.append(mutant)
            taken += 1
    good = report(chosen, results, skipped)
    complete = not any(outcome_of(m, results) in ("not tried", "open") for m in chosen)
    if not complete:
        print("\nnot complete: run again to go on")
    return 0 if good and complete else 1


if __name__ == "__main__":
    sys.exit(main())
