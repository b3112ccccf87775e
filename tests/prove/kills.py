# SPDX-License-Identifier: MIT
"""kill -9 at random system calls of verbs that write: the old file or the new one is there, whole, and nothing beside it.

What a killed run left under a temporary name is deleted by the next one.
"""

import os
import shutil

import lines
from calls import content, environment, fill, make_parts
from campaign import Round, Skip, last_line, run

KINDS = "open,map,read,write,file"
# EXIT STATUS of tenon(1): an option of the build is missing
NOT_BUILT = 4


class Kills:
    NAME = "kills"
    ABOUT = "kill -9 at random points of verbs that write"

    def __init__(self, place):
        self.place = place
        self.known = {}

    def prepare(self):
        self.disturb = self.place.compile("tests/prove/disturb.c", "disturb")
        probe = run([self.disturb, "open", "true"])
        if probe.status:
            raise Skip("system calls cannot be watched here: " + last_line(probe.errors))
        make_parts(self.place)
        self.lines = lines.writing(self.place)

    def start(self, words, settings, folder):
        return run([self.disturb, *settings, KINDS, self.place.command, *self.fill(words, folder)],
                   environment=environment(folder))

    def start_undisturbed(self, words, folder):
        done = run([self.place.command, *self.fill(words, folder)], environment=environment(folder))
        return None if done.status == 0 else last_line(done.errors)

    def fill(self, words, folder):
        return fill(words, os.path.join(folder, "out"))

    def undisturbed(self, index):
        """How many calls the line makes, the name of what it writes, and its content if that is always the same."""
        if index not in self.known:
            counter = os.path.join(self.place.scratch, f"count-{index}")
            found = []
            for _ in range(2):
                with self.place.folder() as folder:
                    done = self.start(self.lines[index].words, ["--count", counter], folder)
                    names = [name for name in os.listdir(folder) if name != "cache"]
                    if done.status == NOT_BUILT:
                        raise Skip(f"tenon {' '.join(self.lines[index].words)}: {last_line(done.errors)}")
                    if done.status != 0 or len(names) != 1:
                        raise RuntimeError(f"without a kill: tenon {' '.join(self.lines[index].words)}: exit status "
                                           f"{done.status}, wrote {names}: {last_line(done.errors)}")
                    found.append(content(os.path.join(folder, names[0]), folder.encode()))
            with open(counter) as file:
                self.known[index] = int(file.read()), names[0], found[0] if found[0] == found[1] else None
        return self.known[index]

    def round(self, number):
        done = Round()
        chance = self.place.random(self.NAME, number)
        line = self.lines[number % len(self.lines)]
        count, name, new = self.undisturbed(number % len(self.lines))
        at = chance.randint(1, count)
        with self.place.folder() as folder:
            path = os.path.join(folder, name)
            wrong = self.start_undisturbed(line.before, folder) if line.before else None
            if not wrong:
                old = None if os.path.isdir(path) else content(path, folder.encode())
                self.start(line.words, ["--kill", "--at", str(at)], folder)
                wrong = self.judge(line, folder, path, (old, new))
        done.count("kills")
        if wrong:
            done.found.append(f"killed at call {at} of {KINDS}: tenon {' '.join(line.words)}: {wrong}")
        return done

    def judge(self, line, folder, path, whole):
        if not line.before:
            # half a folder is not taken for a whole one
            shutil.rmtree(path, ignore_errors=True)
        elif not os.path.isdir(path):
            now = content(path, folder.encode())
            if now is None:
                return "the old file is gone, and there is no new one"
            if whole[1] is not None and now not in whole:
                return f"{os.path.basename(path)} is neither the old file nor the new one: {len(now)} bytes"
        wrong = self.start_undisturbed(line.reads, folder) if line.reads else None
        if wrong:
            return f"the file is damaged: {wrong}"
        wrong = self.start_undisturbed(line.words, folder)
        if wrong:
            return f"the next run fails: {wrong}"
        left = [name for name in os.listdir(folder) if name not in (os.path.basename(path), "cache")]
        return f"the next run leaves {', '.join(left)}" if left else None
