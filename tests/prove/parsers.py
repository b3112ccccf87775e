# SPDX-License-Identifier: MIT
"""Mutants of all fixtures through each fuzz target: nothing crashes, hangs or takes more memory than the file allows."""

import glob
import os

from campaign import Round, Skip, run

MUTANTS = 400


class Parsers:
    NAME = "parsers"
    ABOUT = "hostile bytes in every parser and protocol"

    def __init__(self, place):
        self.place = place

    def prepare(self):
        self.targets = sorted(glob.glob(os.path.join(self.place.build, "tests", "fuzz", "*_fuzz")))
        if not self.targets:
            raise Skip("no fuzz target is built: make prove-programs builds them")

    def round(self, number):
        done = Round()
        target = self.targets[number % len(self.targets)]
        first = number // len(self.targets) * MUTANTS
        with self.place.folder() as folder:
            ended = run([target, "--campaign", str(self.place.seed), str(MUTANTS), str(first)], seconds=1800,
                        environment={"TENON_SOURCE": self.place.source, "TENON_BUILD": self.place.build,
                                     "TENON_COMMAND": self.place.command, "TMPDIR": folder}, folder=self.place.source)
        done.count("mutants", MUTANTS)
        if ended.status != 0:
            mutants = f"mutants {first} to {first + MUTANTS - 1} of this seed"
            done.found.append(f"{os.path.basename(target)}, {mutants}: {ended.complaint()}")
        return done
