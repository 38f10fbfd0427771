#!/usr/bin/env python3
"""The schema and the tables of keys in docs/model-format.md are those of the program, and the schema agrees
with the reader: it accepts every model that is shipped, and refuses what is wrong in tests/data/bad-models
except what a schema cannot say.

    test_reference.py POLHODE SOURCE_DIR
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

POLHODE = SOURCE = None  # set by main

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}

# What a schema cannot say: rules about names of other objects, about numbers, about expressions.
BEYOND = re.compile(
    r"must be unique|must be a name from the list|must not be driven twice|must have length 1|a rotation: orth|"
    r"positive definite|no principal moment|must equal|perpendicular|column \d+|is a point mass|of the point mass|"
    r"a point mass does|on a point mass|on two different bodies|does not move|on the same body as|"
    r"must be above|must not be above|as many numbers as|too large or too small|coordinates? of|a displacement|"
    r"to couple|predefined name of|must have distinct end points|or markers at different points|"
    r"same coordinate twice|a component of a body|requires geom1|must be 1/2 in|has no error estimate|"
    r"\| \"[^\"]*\" \| must be .*number|must not be above its|must not depend on itself|"
    r"friction by the reaction|universal joint turn|violated at the start|must be below|this joint has several|"
    r"radius of the journal|no such coordinate|must not both be 0|where there are expressions|cannot be counted|numbers overflow")


def is_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return is_type(value, "number") and value == int(value)
    return isinstance(value, TYPES[name])


def equal(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


class Schema:
    """The part of JSON Schema, draft 7, that the schema uses."""

    def __init__(self, root):
        self.root = root

    def accepts(self, value, schema=None):
        schema = self.root if schema is None else schema
        if isinstance(schema, bool):
            return schema
        if "$ref" in schema:
            return self.accepts(value, self.root["definitions"][schema["$ref"].rsplit("/", 1)[1]])
        return all(getattr(self, "check_" + key.strip("$"))(value, rule, schema) for key, rule in schema.items())

    def check_schema(self, *_):
        return True

    check_title = check_description = check_default = check_definitions = check_schema
    check_then = check_else = check_schema

    def check_type(self, value, rule, _):
        return any(is_type(value, name) for name in ([rule] if isinstance(rule, str) else rule))

    def check_enum(self, value, rule, _):
        return any(equal(value, choice) for choice in rule)

    def check_const(self, value, rule, _):
        return equal(value, rule)

    def check_minimum(self, value, rule, _):
        return not is_type(value, "number") or value >= rule

    def check_maximum(self, value, rule, _):
        return not is_type(value, "number") or value <= rule

    def check_exclusiveMinimum(self, value, rule, _):
        return not is_type(value, "number") or value > rule

    def check_exclusiveMaximum(self, value, rule, _):
        return not is_type(value, "number") or value < rule

    def check_pattern(self, value, rule, _):
        return not isinstance(value, str) or re.search(rule, value) is not None

    def check_minLength(self, value, rule, _):
        return not isinstance(value, str) or len(value) >= rule

    def check_maxLength(self, value, rule, _):
        return not isinstance(value, str) or len(value) <= rule

    def check_items(self, value, rule, _):
        return not isinstance(value, list) or all(self.accepts(item, rule) for item in value)

    def check_minItems(self, value, rule, _):
        return not isinstance(value, list) or len(value) >= rule

    def check_maxItems(self, value, rule, _):
        return not isinstance(value, list) or len(value) <= rule

    def check_uniqueItems(self, value, rule, _):
        return not isinstance(value, list) or len({json.dumps(item) for item in value}) == len(value)

    def check_properties(self, value, rule, _):
        return not isinstance(value, dict) or all(
            self.accepts(value[key], part) for key, part in rule.items() if key in value)

    def check_additionalProperties(self, value, rule, schema):
        return not isinstance(value, dict) or all(
            self.accepts(item, rule) for key, item in value.items() if key not in schema.get("properties", {}))

    def check_minProperties(self, value, rule, _):
        return not isinstance(value, dict) or len(value) >= rule

    def check_required(self, value, rule, _):
        return not isinstance(value, dict) or all(key in value for key in rule)

    def check_dependencies(self, value, rule, _):
        return not isinstance(value, dict) or all(
            self.accepts(value, {"required": part} if isinstance(part, list) else part)
            for key, part in rule.items() if key in value)

    def check_allOf(self, value, rule, _):
        return all(self.accepts(value, part) for part in rule)

    def check_anyOf(self, value, rule, _):
        return any(self.accepts(value, part) for part in rule)

    def check_oneOf(self, value, rule, _):
        return sum(self.accepts(value, part) for part in rule) == 1

    def check_not(self, value, rule, _):
        return not self.accepts(value, rule)

    def check_if(self, value, rule, schema):
        return self.accepts(value, schema.get("then" if self.accepts(value, rule) else "else", True))


def parts(model):
    """A bad model cut into models with one object each: (path, model)."""
    for key, value in model.items():
        lists = isinstance(value, list) and key != "gravity"
        for i, item in enumerate(value if lists else [value]):
            whole = {"bodies": [{"name": "b", "mass": 1, "inertia": [1, 1, 1]}], "simulation": {"step": 1, "end": 1}}
            whole[key] = [item] if lists else value
            yield (f"{key}[{i}]" if lists else key), whole


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = subprocess.run([POLHODE, "schema"], check=True, capture_output=True, encoding="utf-8").stdout
        cls.schema = Schema(json.loads(text))

    def test_files_are_up_to_date(self):
        run = subprocess.run([sys.executable, SOURCE / "scripts/reference.py", POLHODE, "--check"],
                             capture_output=True, encoding="utf-8")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_good_models_are_accepted(self):
        models = {str(path): path.read_text(encoding="utf-8") for path in sorted((SOURCE / "models").rglob("*.json"))}
        page = (SOURCE / "docs/model-format.md").read_text(encoding="utf-8")
        for number, text in enumerate(re.findall(r"^```json\n(.*?)^```", page, re.S | re.M)):
            models[f"example {number} of the page"] = text
        self.assertGreater(len(models), 50)
        for name, text in models.items():
            model = json.loads(text)
            if "/parts/" in name:  # files to include need no simulation
                model.setdefault("simulation", {"step": 1, "end": 1})
            self.assertTrue(self.schema.accepts(model), name)

    def test_structural_errors_are_refused(self):
        count = 0
        accepted = []
        for path in sorted((SOURCE / "tests/data/bad-models").glob("*.json")):
            errors = path.with_suffix(".expected").read_text(encoding="utf-8").splitlines()
            try:
                model = json.loads(path.read_text(encoding="utf-8"))
            except (ValueError, RecursionError):
                continue  # an error of syntax
            if not isinstance(model, dict):
                self.assertFalse(self.schema.accepts(model), path.name)
                continue
            for place, part in parts(model):
                wrong = [error for error in errors if re.match(re.escape(place) + r"[ .\[]", error)]
                structural = [error for error in wrong if not BEYOND.search(error)]
                count += len(structural) > 0
                if structural and self.schema.accepts(part):
                    accepted.append(f"{path.name}: {structural[0]}")
        self.assertEqual(accepted, [])
        self.assertGreater(count, 100)


if __name__ == "__main__":
    POLHODE, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
