# SPDX-License-Identifier: MIT
"""The rules of the Container Device Interface for a specification: cdi_rules.py FILE prints what it breaks."""

import json
import re
import sys

# the keys of each object: name, whether it is required, and the check of its value
TEXT = lambda v: isinstance(v, str) and v != ""
PATH = lambda v: TEXT(v) and v.startswith("/")
NAME = lambda v: TEXT(v) and re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?", v)
LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
KIND = lambda v: TEXT(v) and re.fullmatch(rf"{LABEL}(\.{LABEL})*/[A-Za-z]([A-Za-z0-9_-]{{0,61}}[A-Za-z0-9])?", v)
# versions that have all that is used: device nodes with permissions, mounts with options
VERSION = lambda v: v in ("0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0")

NODE = {"path": (True, PATH), "permissions": (False, lambda v: TEXT(v) and set(v) <= set("rwm"))}
OPTIONS = lambda v: isinstance(v, list) and all(TEXT(option) for option in v)
MOUNT = {"hostPath": (True, PATH), "containerPath": (True, PATH), "options": (False, OPTIONS)}
broken = []


def check(value, keys, where):
    if not isinstance(value, dict):
        broken.append(f"{where} is no object")
        return
    broken.extend(f"{where}: unknown key {key}" for key in value.keys() - keys.keys())
    for key, (required, right) in keys.items():
        if key not in value:
            if required:
                broken.append(f"{where}: {key} is missing")
        elif not right(value[key]):
            broken.append(f"{where}: {key} is {value[key]!r}")


def items(keys, unique, where):
    def right(value):
        if not isinstance(value, list) or not value:
            return False
        for i, item in enumerate(value):
            check(item, keys, f"{where}[{i}]")
        names = [item.get(unique) for item in value]
        if len(set(names)) < len(names):
            broken.append(f"{where}: {unique} occurs twice")
        return True

    return right


def edits(value):
    check(value, {"deviceNodes": (False, items(NODE, "path", "deviceNodes")),
                  "mounts": (False, items(MOUNT, "containerPath", "mounts"))}, "containerEdits")
    return bool(value)


DEVICE = {"name": (True, NAME), "containerEdits": (True, edits)}
check(json.load(open(sys.argv[1])),
      {"cdiVersion": (True, VERSION), "kind": (True, KIND), "devices": (True, items(DEVICE, "name", "devices"))},
      "specification")
print("\n".join(broken))
sys.exit(bool(broken))
