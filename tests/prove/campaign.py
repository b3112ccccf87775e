# SPDX-License-Identifier: MIT
"""What all campaigns of scripts/prove are made of: a place, rounds, and what they found.

A campaign is a class with a NAME, a sentence ABOUT it, and two functions: prepare() raises Skip where it cannot run, and
round(number) does one round, a few seconds at most, and returns a Round. A round depends on the seed and its number alone, so
that one that found something can be repeated.
"""

import os
import random
import signal
import subprocess
import tempfile


class Skip(Exception):
    """The campaign cannot run here; the text says why."""


class End(Exception):
    """There is no round of this number: all was done."""


class Round:
    """What one round did: how often it checked what, and a text for each thing it found."""

    def __init__(self):
        self.checked = {}
        self.found = []

    def count(self, what, number=1):
        self.checked[what] = self.checked.get(what, 0) + number


class Place:
    """Where campaigns find things: the tree, the build and the command under test; and a folder for their own files."""

    def __init__(self, source, build, scratch, seed, command=None):
        self.source = source
        self.build = build
        self.scratch = scratch
        self.seed = seed
        self.command = command or os.path.join(build, "tenon")
        self.compiler = os.environ.get("CC", "cc").split()

    def data(self, *parts):
        return os.path.join(self.source, "tests", "interop", "data", *parts)

    def program(self, name):
        """A program of the tests."""
        path = os.path.join(self.build, "tests", name)
        if not os.access(path, os.X_OK):
            raise Skip(f"{path} is not built: make prove-programs builds it")
        return path

    def random(self, campaign, number):
        return random.Random(f"{self.seed} {campaign} {number}")

    def folder(self):
        return tempfile.TemporaryDirectory(dir=self.scratch)

    def compile(self, source, output, *flags):
        path = os.path.join(self.scratch, output)
        words = [*self.compiler, "-O2", "-I", os.path.join(self.source, "include"), *flags, "-o", path]
        try:
            done = run([*words, os.path.join(self.source, source)], seconds=120)
        except OSError as reason:
            raise Skip(f"{source} cannot be compiled: {reason}")
        if done.status != 0:
            raise Skip(f"{source} cannot be compiled: {last_line(done.errors)}")
        return path


class Done:
    """How a program ended. status is negative for a signal, as subprocess says it, and None where it had to be stopped."""

    def __init__(self, status, output, errors):
        self.status = status
        self.output = output
        self.errors = errors

    def complaint(self):
        """Why it failed: what cmocka says of the first assertion, or the last line."""
        if self.status is None:
            return "it did not end"
        lines = self.errors.decode(errors="replace").splitlines()
        failed = [line for line in lines if "ERROR" in line and "---" in line]
        said = failed[0] if failed else last_line(self.output + self.errors)
        return said if self.status >= 0 else f"ended by {signal.Signals(-self.status).name}: {said}"


def run(words, seconds=60, environment=None, folder=None, input=b""):
    settings = dict(os.environ, **(environment or {}))
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                               env=settings, start_new_session=True)
    try:
        output, errors = process.communicate(input, timeout=seconds)
        return Done(process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        stop(process)
        return Done(None, b"", b"")


def stop(process):
    """End a program and all that it started."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.communicate()


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing was said"
