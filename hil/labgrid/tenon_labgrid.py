# SPDX-License-Identifier: MIT
"""A labgrid driver that runs Tenon's suites on a board, and its RPC server.

TenonDriver needs a target with a CommandProtocol: a ShellDriver on a console, or an SSHDriver. An environment file loads this
module by "imports"; see qemu.yaml beside it.
"""

import base64
import re
import shlex
import time

import attr
from labgrid.driver import Driver
from labgrid.driver.exception import ExecutionError
from labgrid.factory import target_factory
from labgrid.protocol import CommandProtocol
from labgrid.step import step

RESULT = re.compile(r"^(not )?ok (\d+)\s*-?\s*([^#]*?)\s*(?:#\s*(\w+)\s*(.*))?$")

LISTENING = re.compile(r"listening on (\S+)")


@attr.s(frozen=True)
class SuiteResult:
    """What a suite printed: its exit status, its output as lines, and its cases as (name, "pass", "fail" or "skip")."""

    status = attr.ib()
    lines = attr.ib()
    cases = attr.ib()

    @property
    def passed(self):
        return self.status == 0 and bool(self.cases) and all(verdict != "fail" for _, verdict in self.cases)


def read_tap(lines):
    """The cases of TAP or KTAP. A plan that is not kept is a failed case of its own."""
    cases, planned = [], None
    for line in lines:
        plan = re.match(r"^1\.\.(\d+)", line)
        if plan:
            planned = (planned or 0) + int(plan.group(1))
        match = RESULT.match(line.rstrip())
        if match:
            failed, number, name, directive, _ = match.groups()
            skipped = directive is not None and directive.upper() in ("SKIP", "TODO", "XFAIL")
            cases.append((name or f"case {number}", "skip" if skipped else "fail" if failed else "pass"))
    if planned != len(cases):
        cases.append((f"plan: {planned} cases, {len(cases)} results", "fail"))
    return cases


@target_factory.reg_driver
@attr.s(eq=False)
class TenonDriver(Driver):
    """Run suites, and "tenon rpc serve", on a board.

    Args:
        directory (str): folder on the board for suites, replaced when the driver is activated
        tenon (str): the command on the board, for serve()
    """

    bindings = {"command": CommandProtocol}
    directory = attr.ib(default="/tmp/tenon-hil", validator=attr.validators.instance_of(str))
    tenon = attr.ib(default="tenon", validator=attr.validators.instance_of(str))

    def on_activate(self):
        self._server = None
        where = shlex.quote(self.directory)
        self.command.run_check(f"rm -rf {where} && mkdir -p {where}")

    def on_deactivate(self):
        self.stop_server()

    @Driver.check_active
    @step(args=["path", "name"])
    def put(self, path, name):
        """Copy a file to the folder on the board: in base64, which every console transports, with a checksum."""
        to = shlex.quote(f"{self.directory}/{name}")
        with open(path, "rb") as file:
            text = base64.b64encode(file.read()).decode()
        self.command.run_check(f": > {to}.base64")
        for at in range(0, len(text), 600):
            self.command.run_check(f"printf %s {text[at:at + 600]} >> {to}.base64")
        self.command.run_check(f"base64 -d {to}.base64 > {to} && rm {to}.base64 && chmod +x {to}")

    @Driver.check_active
    @step(args=["name"], result=True)
    def run_suite(self, name, arguments=(), seed=0, timeout=120):
        """Run a program that put() copied. The board stops it at the timeout; a board that is silent raises labgrid's error."""
        words = " ".join(shlex.quote(word) for word in (f"./{name}", *arguments))
        lines, _, status = self.command.run(
            f"cd {shlex.quote(self.directory)} && TENON_SEED={seed} timeout -s KILL {timeout} {words} < /dev/null 2>&1",
            timeout=timeout + 30,
        )
        return SuiteResult(status, lines, read_tap(lines))

    @Driver.check_active
    @step(args=["listen"], result=True)
    def start_server(self, listen="127.0.0.1:0", key=None, timeout=30):
        """Start "tenon rpc serve" on the board; returns the address that it listens on. labgrid's SSHDriver forwards the port."""
        if self._server:
            raise ExecutionError("the server was started already")
        words = [self.tenon, "rpc", "serve", "--listen", listen] + (["--key", key] if key else [])
        log = shlex.quote(f"{self.directory}/rpc.log")
        lines = self.command.run_check(
            f"{' '.join(shlex.quote(w) for w in words)} < /dev/null > {log} 2>&1 & echo server $!"
        )
        self._server = int(next(line.split()[1] for line in lines if line.startswith("server ")))
        deadline = time.monotonic() + timeout
        while True:
            running = self._is_running()
            said, _, _ = self.command.run(f"cat {log}")
            address = next((match.group(1) for match in map(LISTENING.search, said) if match), None)
            if address:
                return address
            if not running or time.monotonic() > deadline:
                self.stop_server()
                raise ExecutionError("tenon rpc serve does not listen", stdout=said)
            time.sleep(0.2)

    @Driver.check_active
    @step()
    def stop_server(self, timeout=30):
        """Stop the server of start_server(), and wait until it has ended."""
        if not self._server:
            return
        self.command.run(f"kill {self._server}")
        deadline = time.monotonic() + timeout
        while self._is_running():
            if time.monotonic() > deadline:
                self.command.run(f"kill -9 {self._server}")
                break
            time.sleep(0.2)
        self._server = None

    def _is_running(self):
        return self.command.run(f"kill -0 {self._server}")[2] == 0
