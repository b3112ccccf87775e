# SPDX-License-Identifier: MIT
"""A plug-in of pytest: runs tests with TVM's runtime, or with Tenon in its place, and writes a line of JSON for each.

TENON_SUITE_WORKER is the worker, or empty for TVM's own runtime; TENON_SUITE_REPORT is the file that is appended to.
"""

import json
import os

worker = None
if not os.environ.get("TENON_SUITE_WORKER"):
    import tvm.testing  # noqa: F401  (some tests rely on another file to import it)
else:
    import substitute

    import tvm.testing  # noqa: F401  (after substitute, which notes the functions that it registers)

    worker = substitute.install(os.environ["TENON_SUITE_WORKER"])

_report = open(os.environ["TENON_SUITE_REPORT"], "a", buffering=1)
_now = {}


def write(**row):
    _report.write(json.dumps(row) + "\n")


def pytest_runtest_logstart(nodeid):
    _now.clear()
    _now.update(test=nodeid, outcome="passed", why="", calls=worker.calls if worker else 0)
    if worker:
        substitute.notes()
    write(start=nodeid)


def pytest_runtest_logreport(report):
    if report.outcome == "passed" or _now["outcome"] == "failed":
        return
    _now["outcome"] = report.outcome
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        _now["why"] = report.longrepr[2]
    else:
        lines = str(getattr(report.longrepr, "reprcrash", None) or report.longrepr).splitlines()
        _now["why"] = lines[0] if lines else ""
    _now["text"] = str(report.longrepr)[-4000:]


def pytest_runtest_logfinish(nodeid):
    row = dict(_now, calls=worker.calls - _now["calls"] if worker else 0)
    if worker:
        row["not_expressible"] = substitute.notes()
    write(**row)


def pytest_sessionfinish():
    if worker:
        worker.stop()
