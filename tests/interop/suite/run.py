# SPDX-License-Identifier: MIT
"""Runs files of TVM's tests on Tenon and says what differs from TVM's own runtime. Called by scripts/interop-suite.

A test counts when it calls compiled code or the runtime at least once. It is *equal* when it ends on Tenon as on TVM's
runtime, *different* when it does not, and *not expressible* when the worker's messages cannot carry what it does; the
reason is printed. A test that fails on both is listed apart: it says nothing about either.
"""

import argparse
import collections
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# a file whose tests never run what they compile is not started
RUNS_CODE = re.compile(
    r"VirtualMachine|tvm\.compile|\.build\(|load_module|vm\.builtin|tvm\.contrib\.(sort|random)|export_library|\.jit\("
)
# processor time of the tests of a file
SECONDS = 900


def find_files(folder, names):
    for name in names or [folder]:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            yield path
        for base, _, files in sorted(os.walk(path)):
            for file in sorted(files):
                if file.startswith("test_") and file.endswith(".py"):
                    with open(os.path.join(base, file), encoding="utf-8") as source:
                        if RUNS_CODE.search(source.read()):
                            yield os.path.join(base, file)


def run_pytest(folder, targets, worker, skip=()):
    """The rows of a run, and the test that ended the process."""
    with tempfile.TemporaryDirectory(prefix="tenon-suite-") as own:
        report, chosen = os.path.join(own, "report"), os.path.join(own, "tests")
        with open(chosen, "w", encoding="utf-8") as file:
            file.writelines(target + "\n" for target in targets)
        environment = dict(os.environ, PYTHONPATH=HERE, TMPDIR=own)
        environment.update(TENON_SUITE_REPORT=report, TENON_SUITE_WORKER=worker)
        command = [sys.executable, "-m", "pytest", "-p", "plugin", "-p", "no:cacheprovider", "-q", "--tb=native"]
        command += ["--disable-warnings", "--continue-on-collection-errors", f"--rootdir={folder}", f"@{chosen}"]
        command += [word for test in skip for word in ("--deselect", test)]
        try:
            subprocess.run(
                command, cwd=folder, env=environment, timeout=10 * SECONDS, capture_output=True, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
            )
        except subprocess.TimeoutExpired:
            pass
        rows, started = [], None
        if os.path.exists(report):
            with open(report, encoding="utf-8") as lines:
                for line in lines:
                    row = json.loads(line)
                    started = row.get("start")
                    if not started:
                        rows.append(row)
        return rows, started


def run_all(folder, targets, worker):
    """All rows; a test that ends the process, or takes too long, is a row too, and the rest is run without it."""
    rows = {}
    while True:
        new, ended_in = run_pytest(folder, targets, worker, list(rows))
        rows.update((row["test"], row) for row in new)
        if not ended_in:
            return rows
        rows[ended_in] = dict(test=ended_in, outcome="ended", why="the process ended, or took too long", calls=1)


def judge(mine, stock):
    if mine["outcome"] == "skipped" or not (mine["calls"] or mine.get("not_expressible")):
        return None, ""
    if mine["outcome"] == "passed":
        return "equal", ""
    if mine.get("not_expressible"):
        return "not expressible", mine["not_expressible"][0]
    if stock is None or stock["outcome"] != "passed":
        return "fails on both", mine["why"]
    return "different", mine["why"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", required=True, help="the program made of worker.c")
    parser.add_argument("--json", help="also write the result of each test to this file")
    parser.add_argument("folder", help="tests/python of a checkout of TVM")
    parser.add_argument("names", nargs="*", help="files or folders in it; without, all")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    files = list(find_files(folder, options.names))
    counts, results, reasons = collections.Counter(), [], collections.Counter()
    for number, file in enumerate(files):
        name = os.path.relpath(file, folder)
        so_far = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        print(f"[{number + 1}/{len(files)}] {name} (so far {so_far or 'nothing'})", file=sys.stderr, flush=True)
        rows = run_all(folder, [name], os.path.abspath(options.worker))
        failed = [test for test, row in rows.items() if row["outcome"] not in ("passed", "skipped")]
        failed = [test for test in failed if not rows[test].get("not_expressible")]
        stock = run_all(folder, failed, "") if failed else {}
        for test, row in rows.items():
            verdict, why = judge(row, stock.get(test))
            if not verdict:
                continue
            counts[verdict] += 1
            results.append(dict(test=test, verdict=verdict, why=why, text=row.get("text", "")))
            if verdict == "different":
                print(f"different        {test}\n                 {why}", flush=True)
            if verdict in ("not expressible", "fails on both"):
                reasons[verdict, re.sub(r"\d+", "N", why.splitlines()[0] if why else "")[:160]] += 1
    for (verdict, why), count in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{verdict:16} {count:4}  {why}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)
    print(", ".join(f"{counts[v]} {v}" for v in ("equal", "different", "not expressible", "fails on both")))
    return 1 if counts["different"] or not counts["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
