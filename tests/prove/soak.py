# SPDX-License-Identifier: MIT
"""Models are loaded, run and unloaded by eight threads in each of four processes: what a process has stays as it is."""

import concurrent.futures

from campaign import Round, run

PROCESSES = 4
SECONDS = 10


class Soak:
    NAME = "soak"
    ABOUT = "loading and unloading for long costs nothing"

    def __init__(self, place):
        self.place = place

    def prepare(self):
        self.program = self.place.program("prove/soak_test")

    def start(self, seed):
        return run([self.program], seconds=60 * SECONDS, folder=self.place.source,
                   environment={"PROVE_SECONDS": str(SECONDS), "PROVE_SEED": str(seed), "TENON_NUM_THREADS": "2"})

    def round(self, number):
        done = Round()
        chance = self.place.random(self.NAME, number)
        seeds = [chance.randint(1, 1 << 31) for _ in range(PROCESSES)]
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            for seed, ended in zip(seeds, pool.map(self.start, seeds)):
                done.count("loads", self.loads(ended))
                if ended.status != 0:
                    done.found.append(f"PROVE_SECONDS={SECONDS} PROVE_SEED={seed} {self.program}: {ended.complaint()}")
        return done

    def loads(self, ended):
        for line in (ended.output + ended.errors).decode(errors="replace").splitlines():
            if line.startswith("# ") and " rounds; " in line:
                return int(line.split()[1])
        return 0
