# SPDX-License-Identifier: MIT
"""What older releases left: plug-ins with their shorter tables, and the files that they and older TVMs wrote.

These are the same each time, so a round is one suite, and the campaign ends with the last.
"""

import os

from campaign import End, Round, Skip, run

SUITES = ("device/old_plugin_test", "cts/old_plugin_backend", "interop/recorded_test", "interop/models_test",
          "interop/cases_test")


class Releases:
    NAME = "releases"
    ABOUT = "plug-ins and files of older releases"

    def __init__(self, place):
        self.place = place

    def prepare(self):
        self.suites = [name for name in SUITES if os.access(os.path.join(self.place.build, "tests", name), os.X_OK)]
        if not self.suites:
            raise Skip("no suite of older releases is built: make prove-programs builds them")

    def round(self, number):
        if number >= len(self.suites):
            raise End
        done = Round()
        name = self.suites[number]
        with self.place.folder() as folder:
            ended = run([self.place.program(name)], seconds=900, folder=self.place.source,
                        environment={"TENON_SOURCE": self.place.source, "TENON_BUILD": self.place.build, "TMPDIR": folder,
                                     "TENON_COMMAND": self.place.command, "CMOCKA_MESSAGE_OUTPUT": "TAP"})
        passed = sum(line.startswith(b"ok ") and b"# SKIP" not in line for line in ended.output.splitlines())
        done.count("cases", passed)
        if ended.status != 0:
            done.found.append(f"{name}: {ended.complaint()}")
        return done
