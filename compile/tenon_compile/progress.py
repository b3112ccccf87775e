# SPDX-License-Identifier: MIT
"""Progress on a terminal: what is being done, and for how long the whole has run."""

import sys
import threading
import time


class Progress:
    """A line on standard error, while it is a terminal."""

    def __init__(self):
        self.shown = sys.stderr.isatty()
        self.begin, self.what = time.monotonic(), ""
        self._ended = threading.Event()

    def __enter__(self):
        if self.shown:
            threading.Thread(target=self._repeat, daemon=True).start()
        return self

    def __exit__(self, *exception):
        self._ended.set()
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def __call__(self, what):
        self.what = what

    def _repeat(self):
        while not self._ended.wait(0.5):
            print(f"\r\033[K{time.monotonic() - self.begin:4.0f} s  {self.what}", end="", file=sys.stderr, flush=True)
