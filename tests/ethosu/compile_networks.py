#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile networks with Arm's Vela, in one process: each takes about a second to start.

compile_networks.py OUT CONFIGURATION... -- NETWORK.tflite...

Needs ethos-u-vela. Writes OUT/CONFIGURATION/NETWORK_vela.tflite. A CONFIGURATION is a target with what follows it:
"u65-256", "u65-256+sram" (all memory is SRAM), "u65-256+io" (regions of their own for inputs and outputs).
"""
import contextlib
import io
import os
import sys

from ethosu.vela.vela import main as vela

SYSTEMS = {"u55": "Ethos_U55_High_End_Embedded", "u65": "Ethos_U65_High_End", "u85": "Ethos_U85_SYS_DRAM_Mid"}
OPTIONS = {"sram": ["--memory-mode", "Sram_Only"],
           "io": ["--cop-format", "COP2", "--separate-io-regions"],
           "unchained": ["--disable-chaining"]}


def arguments(configuration):
    target, *more = configuration.split("+")
    given = ["--accelerator-config", "ethos-" + target]
    if "sram" in more:
        given += ["--config", "Arm/vela.ini", "--system-config", SYSTEMS[target[:3]]]
    for word in more:
        given += OPTIONS[word]
    return given


def main():
    cut = sys.argv.index("--")
    failed = False
    for configuration in sys.argv[2:cut]:
        folder = os.path.join(sys.argv[1], configuration)
        for network in sys.argv[cut + 1:]:
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    vela(arguments(configuration) + ["--output-dir", folder, network])
            except (Exception, SystemExit) as e:  # pylint: disable=broad-except
                print("%s of %s: %s\n%s" % (configuration, network, e, said.getvalue()[-600:]))
                failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
