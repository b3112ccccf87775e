# SPDX-License-Identifier: MIT
"""Faults of devices, firmware and peers: each ends in bounded time with its name, and what runs afterwards is right.

Boards freeze, reboot and write garbage (tests/hil/campaign_cases.c); sessions, servers and trackers are killed in each state of
an exchange (tests/remote/killed_test.c, killed_farm_test.c); clients are killed at random system calls, and the server answers the next one.
"""

import os
import subprocess
import time

import calls
from campaign import Round, Skip, run, stop

# that many faults has a round of the simulator, and that many kills one of the peers
BOARD_FAULTS = 60
CLIENTS = 20
KINDS = "open,map,read,write,wait"


class Faults:
    NAME = "faults"
    ABOUT = "faults of devices, firmware and remote peers"

    def __init__(self, place):
        self.place = place

    def prepare(self):
        self.kinds = []
        for name, kind in (("hil/sim_board", self.board), ("remote/killed_test", self.peers)):
            if os.access(os.path.join(self.place.build, "tests", name), os.X_OK):
                self.kinds.append(kind)
        try:
            self.disturb = self.place.compile("tests/prove/disturb.c", "disturb")
            if run([self.disturb, "open", "true"]).status == 0:
                self.kinds.append(self.clients)
        except Skip:
            pass
        if not self.kinds:
            raise Skip("neither the simulator's suite nor that of peers is built: make prove-programs builds them")

    def round(self, number):
        return self.kinds[number % len(self.kinds)](self.place.random(self.NAME, number))

    def board(self, chance):
        done = Round()
        seed = chance.randint(1, 1 << 31)
        self.suite(done, "hil/sim_board", {"SEED": str(seed), "TENON_CASE": "faults_at_random*"})
        done.count("faults of a board", BOARD_FAULTS)
        return done

    def peers(self, chance):
        done = Round()
        for name in "remote/killed_test", "remote/killed_farm_test":
            self.suite(done, name, {"TENON_SEED": str(chance.randint(1, 1 << 31))})
        done.count("suites of killed peers", 2)
        return done

    def suite(self, done, name, settings):
        with self.place.folder() as folder:
            ended = run([self.place.program(name)], seconds=900, folder=self.place.source,
                        environment={**settings, "TENON_SOURCE": self.place.source, "TENON_BUILD": self.place.build,
                                     "TENON_COMMAND": self.place.command, "TMPDIR": folder})
        if ended.status != 0:
            wanted = " ".join(f"{name}={value}" for name, value in settings.items())
            done.found.append(f"{wanted} {name}: {ended.complaint()}")

    def clients(self, chance):
        """Clients of one server are killed or fail at random calls; after each one the server serves."""
        done = Round()
        add = self.place.data("tvm-0.18", "host_vecadd")
        with self.place.folder() as folder:
            address = f"unix:{folder}/server"
            server = subprocess.Popen([self.place.command, "rpc", "serve", "--listen", address], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, start_new_session=True,
                                      env=dict(os.environ, **calls.environment(folder)))
            try:
                if not self.answers(address, folder):
                    done.found.append("the server did not start")
                    return done
                words = [self.place.command, "run", f"{add}/lib.so", "--remote", address, "--function", "vecadd", "--input",
                         f"@{add}/c0_in0.npy", "--input", f"@{add}/c0_in1.npy", "--output", "1024xfloat32",
                         "--expect", f"@{add}/c0_out2.npy"]
                counter = os.path.join(folder, "count")
                run([self.disturb, "--count", counter, KINDS, *words], environment=calls.environment(folder))
                with open(counter) as file:
                    count = int(file.read())
                for _ in range(CLIENTS):
                    self.client(done, chance, words, (address, folder, count))
            finally:
                stop(server)
        return done

    def client(self, done, chance, words, where):
        address, folder, count = where
        how = chance.choice([["--kill"], ["--errno", "5"], ["--errno", "4"]])
        settings = ["--at", str(chance.randint(1, count)), *how, KINDS]
        ended = run([self.disturb, *settings, *words], environment=calls.environment(folder))
        done.count("disturbed clients")
        if ended.status is None:
            done.found.append(f"disturb {' '.join(settings)}: the client did not end")
        if not self.answers(address, folder):
            done.found.append(f"disturb {' '.join(settings)}: the server answers no more")

    def answers(self, address, folder):
        for _ in range(40):
            ended = run([self.place.command, "rpc", "ping", address, "--count", "1", "--timeout", "20"],
                        environment=calls.environment(folder))
            if ended.status == 0:
                return True
            time.sleep(0.1)
        return False
