#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samplers of TVM from PyPI and ours: the same logits, probabilities and random numbers, and the same tokens.

usage: sample.py SAMPLE [--seed N]

SAMPLE is the program that calls ours (sample.c). Prints TAP: a case for each function and kind of row, and each function that the
wheel lacks as skipped. Top-p renormalisation is none: MLC compiles it into models. Not equal in every bit: TVM's e^x is the
math library's, so a random number that lies within 1e-5 of where one token ends may give its neighbour. Of equal logits TVM takes
any, since it sorts without order among them; ours the first.
"""

import argparse
import subprocess

import numpy as np
import tvm

F = np.float32
NAN, INF = F("nan"), F("inf")


def text(value):
    if isinstance(value, np.ndarray):
        shape = ",".join(map(str, value.shape))
        if value.dtype == np.float32:
            return f"f{shape}:" + ",".join(f"{x:08x}" for x in value.view(np.uint32).ravel())
        return f"t{shape}:" + ",".join(map(str, value.ravel()))
    return f"i{value}" if isinstance(value, int) else f"d{float(value).hex()}"


def ours(program, calls):
    """What our functions give: for each call (result, first argument afterwards)."""
    lines = "".join(" ".join([name, *map(text, args)]) + "\n" for name, args in calls)
    run = subprocess.run([program, "-"], input=lines, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, f"{program}: exit status {run.returncode}: {run.stderr}"
    answers = [line.split("\t") for line in run.stdout.splitlines()]
    assert len(answers) == len(calls), f"{len(answers)} answers to {len(calls)} calls"
    results = []
    for (result, data), (_, args) in zip(answers, calls):
        bits = np.array([int(x, 16) for x in data.split(",") if x], np.uint32).view(np.float32)
        kind, _, value = result.partition(" ")
        if kind == "int":
            value = int(value)
        elif kind == "tensor":
            value = [int(x) for x in value.split(",")]
        results.append((kind, value, bits.reshape(args[0].shape)))
    return results


def tvms(name, args):
    function = tvm.get_global_func("vm.builtin." + name)
    tensors = [tvm.runtime.tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        result = function(*tensors)
    except Exception as error:  # whatever its functions raise
        return "error", str(error), args[0]
    first = tensors[0].numpy()
    if result is None:
        return "none", "", first
    if isinstance(result, int):
        return "int", result, first
    return "tensor", result.numpy().ravel().tolist(), first


# ---- rows


def rows(random, probabilities):
    """Kinds of rows: (name, row), many of each."""
    def finish(x):
        x = np.asarray(x, F)
        if not probabilities:
            return x.reshape(1, -1)
        e = np.exp(x - x.max())
        return (e / e.sum()).astype(F).reshape(1, -1)

    for n in (1, 2, 5, 16, 17, 100, 1000, 32000):
        for _ in range(3 if n > 1000 else 30):
            yield f"{n} random", finish(random.normal(0, 3, n))
    for n in (2, 7, 16):
        yield "all equal", finish(np.zeros(n))
        for _ in range(30):
            yield "ties", finish(random.integers(0, 3, n))
    for n in (17, 64, 333):
        for _ in range(30):
            yield "many ties", finish(random.integers(0, 3, n))
    for n in (3, 16, 40):
        yield "one of all", finish(np.where(np.arange(n) == n // 2, 50, -50))
        yield "tiny", finish(random.normal(0, 1e-30, n))


def hostile(random):
    """Rows that no model should give; TVM's sort may leave its memory on NaN, so only ours gets those."""
    for n in (1, 3, 16, 40):
        row = random.normal(0, 3, n).astype(F).reshape(1, -1)
        for value in (NAN, INF, -INF):
            bad = row.copy()
            bad[0, random.integers(0, n)] = value
            yield np.isnan(value), bad
            yield np.isnan(value), np.full_like(row, value)


# ---- comparison


class Report:
    def __init__(self):
        self.number = 0
        self.failed = False

    def case(self, name, faults, note=""):
        self.number += 1
        self.failed |= bool(faults)
        print(f"{'not ' if faults else ''}ok {self.number} - {name}" + (f" # {note}" if note else ""))
        for fault in faults[:5]:
            print("#  " + fault)


def softmax(row, temperature):
    x = row.astype(np.float64).ravel() / temperature
    e = np.exp(x - x.max())
    return e / e.sum()


def near_border(row, order, top_p, u):
    """Whether @u is where one token ends and the next begins, as far as float32 tells."""
    p = np.sort(row)[::-1]
    sums = np.cumsum(p)
    before = sums - p
    border = np.abs(before - top_p).min() < 1e-5
    most = sums[before < top_p][-1] if (before < top_p).any() else sums[0]
    return border or np.abs(sums / most - u).min() < 1e-5


def compare_token(name, args, have, want):
    """None, or what differs."""
    if have[0] != want[0]:
        return f"{have[:2]}, TVM {want[:2]}"
    if have[0] == "error" or have[1] == want[1]:
        return None
    row = args[0].ravel()
    if row[have[1]] == row[want[1]]:
        return None
    p = row.astype(np.float64)
    top_p, u = args[-2:]
    if name == "sample_top_p_from_logits":
        p = softmax(row, args[1])
    if near_border(p, None, top_p, u):
        return None
    return f"token {have[1]} of {row[have[1]]}, TVM {want[1]} of {row[want[1]]}: top_p {top_p}, u {u}"


def compare_row(args, have, want):
    """TVM adds up in float32, and loses up to four digits of long rows; ours are those of double."""
    if have[0] != want[0]:
        return f"{have[:2]}, TVM {want[:2]}"
    for other, name, rtol in ((want[2].ravel(), "TVM", 5e-4), (softmax(*args), "float64", 5e-7)):
        if not np.allclose(have[2].ravel(), other, rtol=rtol, atol=1e-37):
            at = np.nanargmax(np.abs(have[2].ravel() / other - 1))
            return f"element {at} is {have[2].ravel()[at]}, {name} has {other[at]}"
    return None


def play(program, calls, compare):
    faults = []
    for (name, args), have in zip(calls, ours(program, calls)):
        want = tvms(name, [a.copy() if isinstance(a, np.ndarray) else a for a in args])
        fault = compare(name, args, have, want)
        if fault:
            faults.append(fault)
    return faults


def by_kind(random, probabilities, make):
    """Calls for each kind of row."""
    kinds = {}
    for kind, row in rows(random, probabilities):
        kinds.setdefault(kind, []).extend(make(row))
    return kinds


# ---- functions


def top_p_of_logits(random, program, report):
    name = "sample_top_p_from_logits"

    def make(row):
        for t in (0, 1e-7, 0.1, 0.7, 1.0, 4.0):
            for top_p in (0.0, 0.1, 0.9, 1.0):
                yield name, (row, t, top_p, float(random.random()))

    for kind, calls in by_kind(random, False, make).items():
        report.case(f"{name}: {kind}", play(program, calls, compare_token))
    both = [(name, (row, t, 0.9, 0.5)) for nan, row in hostile(random) for t in (0, 1.0) if not nan]
    report.case(f"{name}: infinities", play(program, both, compare_token))
    only = [(name, (row, t, 0.9, 0.5)) for nan, row in hostile(random) for t in (0, 1.0) if nan]
    faults = [f"{have[:2]}" for (_, args), have in zip(only, ours(program, only))
              if have[0] != ("error" if args[1] else "int") or have[0] == "int" and not 0 <= have[1] < args[0].size]
    report.case(f"{name}: NaN is an error, or without temperature any token", faults, "TVM's sort is undefined there")


def top_p_of_probabilities(random, program, report):
    name = "sample_top_p_from_prob"

    def make(row):
        for top_p in (0.05, 0.5, 0.95, 1.0):
            for u in (0.0, float(random.random()), 0.999999):
                yield name, (row, top_p, u)

    for kind, calls in by_kind(random, True, make).items():
        report.case(f"{name}: {kind}", play(program, calls, compare_token))
    calls = [(name, (np.full((1, n), NAN, F), p, 0.5)) for n in (1, 5) for p in (0.5, 1.0)]
    report.case(f"{name}: only NaN is an error",
                [f"{have[:2]}" for have in ours(program, calls) if have[0] != "error"])


def multinomial(random, program, report):
    name = "multinomial_from_uniform"

    def compare(name, args, have, want):
        return None if have[:2] == want[:2] else f"{have[:2]}, TVM {want[:2]}: {args[1].ravel()}"

    calls = []
    for n in (1, 2, 5, 100, 3000):
        for batch in (1, 3, 8):
            p = random.random((batch, n)).astype(F)
            p /= p.sum(axis=1, keepdims=True)
            for u in (random.random(batch), np.zeros(batch), np.full(batch, 0.9999999), np.ones(batch)):
                calls.append((name, (p, u.astype(F).reshape(batch, 1))))
    report.case(f"{name}: batches", play(program, calls, compare))
    calls = [(name, (np.array([row], F), np.array([[u]], F)))
             for row in ([0, 0, 1, 0], [0.25] * 4, [0] * 4, [NAN, 0.5, 0.5], [INF, 0.5], [-INF, 0.5])
             for u in (0.0, 0.25, 0.5, 1.0, NAN)]
    report.case(f"{name}: ties, NaN and infinities", play(program, calls, compare))


def softmax_in_place(random, program, report):
    name = "apply_softmax_with_temperature"

    def make(row):
        # TVM's maximum begins at the smallest positive number: where all is below, it may give NaN
        for t in (0.1, 0.7, 1.0, 4.0):
            yield name, (np.abs(row), t)

    def compare(name, args, have, want):
        return compare_row(args, have, want)

    for kind, calls in by_kind(random, False, make).items():
        report.case(f"{name}: {kind}", play(program, calls, compare))
    rows_below = [np.array([row], F) for row in ([-200, -201, -300], [-1, -2, -3], [-1e30, -2e30])]
    calls = [(name, (row, 1.0)) for row in rows_below]
    faults = [f"{have[2]} of {args[0]}" for (_, args), have in zip(calls, ours(program, calls))
              if not np.allclose(have[2].ravel(), softmax(args[0], 1.0), rtol=5e-7, atol=1e-37)]
    report.case(f"{name}: rows below zero have numpy's", faults, "TVM gives NaN for some")


def penalties(random, program, report):
    def compare(name, args, have, want):
        same = have[2].view(np.uint32) == want[2].view(np.uint32)
        if have[0] == want[0] and (same | (np.isnan(have[2]) & np.isnan(want[2]))).all():
            return None
        return f"{have[:2]} {have[2][~same][:3]}, TVM {want[:2]} {want[2][~same][:3]}"

    repeated, counted = [], []
    for n in (1, 5, 100):
        for special in (None, NAN, INF, -INF, F(-0.0)):
            row = random.normal(0, 3, (1, n)).astype(F)
            if special is not None:
                row[0, 0] = special
            # no id and ids that occur twice are allowed
            ids = random.integers(0, n, 3).astype(np.int32)
            repeated += [("apply_repetition_penalty", (row, ids, p)) for p in (1.0, 1.3, 0.7)]
            often = random.integers(1, 9, 3).astype(np.int32)
            counted += [("apply_presence_and_frequency_penalty", (row, ids, often, a, b))
                        for a in (0.0, 0.6) for b in (0.0, 1.5)]
    report.case("apply_repetition_penalty", play(program, repeated, compare))
    report.case("apply_presence_and_frequency_penalty", play(program, counted, compare))


def nothing(_, program, report):
    """Rows without elements: TVM reads before their begin, so only ours gets them."""
    empty, u = np.zeros((1, 0), F), np.zeros((1, 1), F)
    calls = [("sample_top_p_from_logits", (empty, 1.0, 0.9, 0.5)), ("sample_top_p_from_logits", (empty, 0, 0.9, 0.5)),
             ("sample_top_p_from_prob", (empty, 0.9, 0.5)), ("multinomial_from_uniform", (empty, u))]
    report.case("rows without elements are errors",
                [f"{name}: {have[:2]}" for (name, _), have in zip(calls, ours(program, calls)) if have[0] != "error"])
    calls = [("apply_softmax_with_temperature", (empty, 1.0)),
             ("apply_repetition_penalty", (np.ones((1, 3), F), np.zeros(0, np.int32), 1.5))]
    report.case("nothing to change is no error",
                [f"{name}: {have[:2]}" for (name, _), have in zip(calls, ours(program, calls)) if have[0] != "none"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = Report()
    functions = {
        "sample_top_p_from_logits": top_p_of_logits,
        "sample_top_p_from_prob": top_p_of_probabilities,
        "multinomial_from_uniform": multinomial,
        "apply_softmax_with_temperature": softmax_in_place,
        "apply_repetition_penalty": penalties,
    }
    for name, test in functions.items():
        if tvm.get_global_func("vm.builtin." + name, allow_missing=True) is None:
            report.case(name, [], f"SKIP TVM {tvm.__version__} has no such function")
        else:
            test(np.random.default_rng(options.seed), options.program, report)
    nothing(None, options.program, report)
    print(f"1..{report.number}")
    raise SystemExit(report.failed)


main()
