#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the greedy replies of `tenon chat` with those that generate.py recorded: the check for a device.

usage: replies.py FOLDER [DEVICE]     (TENON_COMMAND names the command; build/tenon without)
"""

import json
import os
import subprocess
import sys


def reply(command, folder, device, case):
    tokens = ",".join(map(str, case["prompt"]))
    done = subprocess.run(
        [command, "chat", folder, "--device", device, "--tokens", tokens, "--temperature", "0", "--max-tokens",
         str(len(case["reply"])), "--ignore-end", "--json"], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return done.stderr.strip()
    return json.loads(done.stdout.splitlines()[0])["tokens"]


def main():
    folder, device = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cpu:0"
    command = os.environ.get("TENON_COMMAND", "build/tenon")
    with open(os.path.join(folder, "expected.json")) as file:
        cases = json.load(file)["cases"]
    failed = 0
    for case in cases:
        got = reply(command, folder, device, case)
        if got != case["reply"]:
            failed += 1
            print(f"prompt of {len(case['prompt'])} tokens: {got}, want {case['reply']}")
    print(f"{len(cases) - failed} of {len(cases)} replies equal")
    sys.exit(failed != 0)


main()
