# SPDX-License-Identifier: MIT
"""Compare two runs of tests: those that only the first passes must be what the list says.

usage: compare_results.py ORIGINAL.xml OURS.xml LIST
"""

import sys
import xml.etree.ElementTree


def passed(path):
    """Names of the tests that a run passed, and of all that it ran."""
    all_names, good = set(), set()
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        all_names.add(name)
        if not any(case.find(tag) is not None for tag in ("failure", "error", "skipped")):
            good.add(name)
    return good, all_names


def main(original, ours, list_path):
    theirs, _ = passed(original)
    good, _ = passed(ours)
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
