#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ask a language model questions, which it answers in one batch: chat.py FOLDER [--max-tokens N] QUESTION..."""

import argparse

import tenon


def main():
    parser = argparse.ArgumentParser(description="answer questions in one batch")
    parser.add_argument("folder", help="that tenon-compile made")
    parser.add_argument("question", nargs="+")
    parser.add_argument("--max-tokens", type=int, default=200)
    asked = parser.parse_args()

    model = tenon.LanguageModel(asked.folder)
    replies = [model.chat(question, max_tokens=asked.max_tokens) for question in asked.question]
    for question, reply in zip(asked.question, replies):
        print(question)
        # the first as it comes; the others grow meanwhile
        for part in reply:
            print(part, end="", flush=True)
        print(f"\n({reply.usage['tokens']} tokens in {reply.usage['seconds']:.1f} s)\n")


main()
