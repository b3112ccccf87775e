# SPDX-License-Identifier: MIT
#
# toml_compare.py FILE: documents that our reader accepted, and what it read, compared with Python's tomllib. FILE has pairs of
# hexadecimal lines: the document; then table, key, kind and values, with tabs between them, one entry a line.

import sys
import tomllib


def split(name):
    return name.split(".") if name else []


def entries(dump):
    for line in dump.splitlines():
        table, key, kind, *values = line.split("\t")
        values = [bytes.fromhex(v).decode() for v in values]
        table, key = bytes.fromhex(table).decode(), bytes.fromhex(key).decode()
        if kind == "table":
            yield split(table), None, None
        elif kind == "integer":
            yield split(table), key, int(values[0])
        elif kind == "string":
            yield split(table), key, values[0]
        else:
            yield split(table), key, values


def build(dump):
    root = {}
    for table, key, value in entries(dump):
        at = root
        for part in table:
            at = at.setdefault(part, {})
        if key is not None:
            at[key] = value
    return root


lines = open(sys.argv[1]).read().splitlines()
assert lines and len(lines) % 2 == 0, len(lines)
for document, dump in zip(lines[::2], lines[1::2]):
    text = bytes.fromhex(document)
    try:
        # the module reads text, in which it replaces CRLF by LF as files are read
        theirs = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        sys.exit(f"accepted, and tomllib says {why}: {text!r}")
    ours = build(bytes.fromhex(dump).decode())
    if ours != theirs:
        sys.exit(f"{text!r}: ours {ours}, theirs {theirs}")
print(len(lines) // 2, "documents are read alike")
