# SPDX-License-Identifier: MIT
"""Allocations that fail, several at random, in every verb: a command says so or gives the whole answer, and loses nothing.

tests/nomem fails each single one in turn; the same program fails many here.
"""

import os

from campaign import Round, run

LINES = 20


class Allocations:
    NAME = "allocations"
    ABOUT = "allocations that fail, several at random, in every verb"

    def __init__(self, place):
        self.place = place

    def prepare(self):
        self.program = self.place.program("nomem/command_test")

    def round(self, number):
        done = Round()
        first = number * LINES
        with self.place.folder() as folder:
            ended = run([self.program, "--random", str(self.place.seed), str(first), str(LINES)], seconds=600,
                        folder=self.place.source, environment={"TENON_SOURCE": self.place.source, "TMPDIR": folder,
                                                               "TENON_BUILD": self.place.build, "TENON_COMPAT_LIBRARY":
                                                               os.path.join(self.place.build, "compat", "libtvm_ffi.so")})
        done.count("commands", LINES)
        if ended.status != 0:
            done.found.append(f"{self.program} --random {self.place.seed} {first} {LINES}: {ended.complaint()}")
        return done
