# SPDX-License-Identifier: MIT
"""Inputs as the command "tenon run" takes them."""

import re

# what tenon's SPEC calls types; NumPy's names are the same
TYPES = r"(u?int\d+|bool|float\d+\w*|bfloat16|complex\d+|handle)(x\d+)?"


def quoted(name):
    """A name as --input takes it: in quotes if "=" is in it or it begins as something else than a name does."""
    plain = "=" not in name and not re.match(r'["@]|str:|\d+x', name) and not re.fullmatch(TYPES, name)
    return name if plain else f'"{name}"'


def type_text(value):
    """The type of an input of model.json, "1x4xfloat32"."""
    return "x".join([*(str(extent) for extent in value["shape"]), value["dtype"]])
