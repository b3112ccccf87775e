# SPDX-License-Identifier: MIT
"""
A program of its own: renders the chat template of a model, which is a program in Jinja that a stranger wrote, with limits
on its time and memory. Standard input has {"template", "bos", "eos", "conversations"}, standard output a text or
{"error"} for each conversation.
"""

import datetime
import json
import resource
import sys

SECONDS = 2
BYTES = 1 << 30
MOST_TEXT = 1 << 20


def refuse(text):
    raise ValueError(text)


def main():
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    given = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.date.today().strftime(form)
    results = []
    for messages in given["conversations"]:
        try:
            text = environment.from_string(given["template"]).render(
                messages=messages, add_generation_prompt=True, bos_token=given["bos"], eos_token=given["eos"], tools=None
            )
            results.append(text if len(text) <= MOST_TEXT else {"error": f"{len(text)} characters"})
        except Exception as error:  # a template may raise whatever Python does
            results.append({"error": f"{type(error).__name__}: {error}"[:200]})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
