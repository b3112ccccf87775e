# SPDX-License-Identifier: MIT
"""Compare two runs of tests: those that only the first passes must be what the list says.

usage: compare_results.py ORIGINAL OURS LIST

A run is a file of results, or a folder of them.
"""

import pathlib
import sys
import xml.etree.ElementTree


def passed(path):
    """Names of the tests that a run passed."""
    good = set()
    for file in [path] if path.is_file() else path.glob("*.xml"):
        for case in xml.etree.ElementTree.parse(file).iter("testcase"):
            if not any(case.find(tag) is not None for tag in ("failure", "error", "skipped")):
                good.add(f"{case.get('classname')}::{case.get('name')}")
    return good


def main(original, ours, list_path):
    theirs = passed(pathlib.Path(original))
    good = passed(pathlib.Path(ours))
    # a line is the name of a test, or "# reason" for the tests below it
    listed = {line.strip() for line in open(list_path) if line.strip() and not line.startswith("#")}
    missing = theirs - good
    print(f"{len(theirs)} tests pass on the original, {len(theirs & good)} of these on ours; {len(listed)} are listed")
    for name in sorted(missing - listed):
        print("fails, and is not listed:", name)
    for name in sorted(listed - missing):
        print("is listed, and does not fail:", name)
    return missing != listed


sys.exit(main(*sys.argv[1:]))
