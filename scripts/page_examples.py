"""The examples of a page in docs/, run as a reader would.

A page has model files and commands in fenced blocks:

    ```json    a model, named by the last `NAME.json` of the paragraph above the block
    ```sh      commands; those of polhode are run, others (make, export) are left to the reader.
               A comment `# status 2` says what a command gives, 0 without it
    ```text    lines that the commands of the block before must have printed, in this order;
               a line with three dots stands for any

run_page() writes and runs them in their order.  `make gallery` makes the pictures of the pages with
it, and tests/docs checks that the pages are true.
"""
import pathlib
import re
import shlex
import subprocess

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
STATUS = re.compile(r"#\s*status (\d+)\s*$")


class ExampleError(Exception):
    """A block is not what it should be, or a command did something else than the page says."""


def blocks(text):
    """(kind, content, paragraph above) of each fenced block."""
    for match in BLOCK.finditer(text):
        above = text[:match.start()].rstrip().rsplit("\n\n", 1)[-1]
        yield match.group(1), match.group(2), above


def model_name(above):
    names = re.findall(r"`([\w.-]+\.json)`", above)
    if not names:
        raise ExampleError(f"a model without a name, below: {above}")
    return names[-1]


def commands(content):
    """(words, status) of each polhode command of a block."""
    for line in content.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "polhode":
            status = STATUS.search(line)
            yield words, int(status.group(1)) if status else 0


def run_command(polhode, words, status, folder):
    done = subprocess.run([polhode, *words[1:]], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != status:
        raise ExampleError(f"{shlex.join(words)}: status {done.returncode}, not {status}\n{done.stdout}")
    return done.stdout


def compare(expected, printed):
    """Every line must have been printed, in this order."""
    lines = iter(line.rstrip() for line in printed.splitlines())
    for line in expected.splitlines():
        if line.strip() not in ("", "...") and line.rstrip() not in lines:
            raise ExampleError(f"this was not printed, or not here: {line}\nbut this:\n{printed}")


def run_page(page, polhode, folder, models):
    """Runs the examples of a page in a folder, which gets a link to the models; how many commands."""
    folder = pathlib.Path(folder)
    link = folder / "models"
    if not link.exists():
        link.symlink_to(pathlib.Path(models).resolve())
    printed, count = "", 0
    for kind, content, above in blocks(pathlib.Path(page).read_text(encoding="utf-8")):
        if kind == "json":
            (folder / model_name(above)).write_text(content, encoding="utf-8")
        elif kind == "sh":
            printed = ""
            for words, status in commands(content):
                printed += run_command(polhode, words, status, folder)
                count += 1
        elif kind == "text":
            compare(content, printed)
    return count
