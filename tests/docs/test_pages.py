#!/usr/bin/env python3
"""The docs are true: examples run and print what the pages say, links lead somewhere, the site's menu
is complete, and every public declaration has a contract.

    test_pages.py POLHODE EXPORTS SOURCE_DIR

EXPORTS is the folder with the lists of the shared libraries' functions that the build makes from the public
headers.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

POLHODE = EXPORTS = SOURCE = None  # set by main

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
# pages with examples, and the least number of commands that they run
EXAMPLES = {"getting-started.md": 9, "tutorial.md": 18, "gallery.md": 14}


def text_of(path):
    return (SOURCE / path).read_text(encoding="utf-8")


def written_pages():
    return sorted((SOURCE / "docs").glob("*.md")) + [
        SOURCE / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def slugs(page):
    """The anchors of a page's headings: as GitHub makes them, and as MkDocs does."""
    github, mkdocs = set(), set()
    for title in re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").strip().lower()
        plain = re.sub(r"[^\w\s-]", "", title)
        for known, slug, mark in ((github, plain.replace(" ", "-"), "-"),
                                  (mkdocs, re.sub(r"[-\s]+", "-", plain), "_")):
            name, number = slug, 0
            while name in known:
                number += 1
                name = f"{slug}{mark}{number}"
            known.add(name)
    return github, mkdocs


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        count = 0
        for page in written_pages():
            for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = page.parent / path if path else page
                count += 1
                self.assertTrue(target.exists(), f"{page.name}: {link}")
                for names in slugs(target) if anchor else ():
                    self.assertIn(anchor, names, f"{page.name}: {link}")
        self.assertGreater(count, 100)

    def test_the_site_can_follow_them(self):
        """The site has docs/ and the pages of the headers, nothing else."""
        for page in (SOURCE / "docs").glob("*.md"):
            for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
                if link.startswith("../"):
                    self.assertRegex(link, r"^\.\./include/polhode(/\w+\.h)?$", page.name)

    def test_lists_are_lists_for_both(self):
        """MkDocs wants an empty line before a list, and four blanks before an item's paragraphs."""
        item = re.compile(r"([-*]|\d+\.) ")
        for page in (SOURCE / "docs").glob("*.md"):
            lines, inside = FENCE.sub("", page.read_text(encoding="utf-8")).splitlines(), False
            for above, line in zip([""] + lines, lines):
                starts = item.match(line) is not None
                self.assertFalse(starts and above.strip() and not inside, f"{page.name}: {line}")
                inside = starts or inside and (not line or line.startswith(" "))
                self.assertFalse(inside and not above and re.match(r" {1,3}\S", line),
                                 f"{page.name}: {line}")

    def test_every_picture_is_shown(self):
        shown = " ".join(page.read_text(encoding="utf-8") for page in written_pages())
        for picture in (SOURCE / "docs/images").iterdir():
            self.assertIn(f"images/{picture.name})", shown)

    def test_the_menu_is_complete(self):
        menu = sorted(re.findall(r": (\S+\.md)$", text_of("mkdocs.yml"), re.M))
        pages = [page.name for page in (SOURCE / "docs").glob("*.md")]
        self.assertEqual(menu, sorted(pages))


class Examples(unittest.TestCase):
    def test_examples(self):
        for page, least in EXAMPLES.items():
            with self.subTest(page), tempfile.TemporaryDirectory() as folder:
                count = run_page(SOURCE / "docs" / page, POLHODE, folder, SOURCE / "models")
                self.assertGreaterEqual(count, least)
                self.check_pictures(page, pathlib.Path(folder))

    def check_pictures(self, page, folder):
        """`make gallery` finds all that the page shows among what its commands wrote."""
        for picture in re.findall(r"\]\(images/([\w.-]+)\)", text_of(f"docs/{page}")):
            source = re.sub(r"_page\.png$", ".html", picture)
            self.assertTrue((folder / source).exists(), f"{page}: no command writes {source}")

    def test_the_program_in_the_readme_is_the_example(self):
        programs = re.findall(r"^```c\n(.*?)^```$", text_of("README.md"), re.M | re.S)
        self.assertEqual(programs, [text_of("examples/double_pendulum.c")])

    def test_wrong_examples_are_noticed(self):
        wrong = {
            "```sh\npolhode check nothing.json\n```\n": "status 2, not 0",
            "```sh\npolhode methods   # status 2\n```\n": "status 0, not 2",
            "```sh\npolhode --version\n```\n\n```text\npolhode minus one\n```\n": "not printed",
            "Save this:\n\n```json\n{}\n```\n": "without a name",
        }
        for text, message in wrong.items():
            with tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / "page.md"
                page.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(ExampleError, message):
                    run_page(page, POLHODE, folder, SOURCE / "models")


class Reference(unittest.TestCase):
    """The reference of the C interface, which Doxygen makes of the public headers."""

    def run_doxygen(self, headers, folder):
        """What it complains about, and the names of the functions that it has found."""
        settings = text_of("docs/Doxyfile") + f"INPUT = {headers}\nGENERATE_TAGFILE = {folder}/tags\n"
        done = subprocess.run(["doxygen", "-"], cwd=SOURCE, input=settings, text=True,
                              env={**os.environ, "PAGES": folder}, capture_output=True, check=True)
        complaints = [line for line in done.stderr.splitlines()
                      if not re.search(r"\((variable|enumvalue)\) of", line)]
        tags = (pathlib.Path(folder) / "tags").read_text(encoding="utf-8")
        return complaints, re.findall(r'kind="function">.*?<name>(\w+)</name>', tags, re.S)

    def test_every_function_has_a_contract(self):
        with tempfile.TemporaryDirectory() as folder:
            complaints, functions = self.run_doxygen(SOURCE / "include/polhode", folder)
        self.assertEqual(complaints, [])
        exported = [name for exports in EXPORTS.glob("*.map")
                    for name in re.findall(r"\bpol_\w+", exports.read_text(encoding="utf-8"))]
        self.assertGreater(len(exported), 100)
        self.assertLessEqual(set(exported), set(functions))

    def test_missing_comments_are_noticed(self):
        head, tail = "/* A toy. */\n#ifndef TOY_H\n#define TOY_H\n\n", "\n#endif\n"
        for body, count in (("int pol_a(void);\n", 1),
                            ("/* a */\nint pol_a(void);\nint pol_b(int b,\n  int c);\n", 0),
                            ("/* a */\nint pol_a(void);\n\nint pol_b(void);\n", 1),
                            ("typedef struct pol_c {\n  int d; /* d */\n} pol_c;\n", 1)):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "toy.h").write_text(head + body + tail, encoding="utf-8")
                complaints, _ = self.run_doxygen(f"{folder}/toy.h", folder)
            self.assertEqual(len(complaints), count, (body, complaints))


if __name__ == "__main__":
    POLHODE = pathlib.Path(sys.argv[1]).resolve()
    EXPORTS = pathlib.Path(sys.argv[2])
    SOURCE = pathlib.Path(sys.argv[3]).resolve()
    sys.path.insert(0, str(SOURCE / "scripts"))
    from page_examples import ExampleError, run_page
    unittest.main(argv=sys.argv[:1], verbosity=2)
