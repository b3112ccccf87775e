#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read a trace by the rules of the trace-event format, as strictly as a reader may.

usage: check.py TRACE [WORD]...   fails unless the trace obeys and has what each WORD says:
       CATEGORY=NAME    an event of this category whose name begins like this
       track=NAME       a track whose name begins like this, with events
       process=NAME     a process whose name begins like this
       counter=NAME     a counter whose process has a name that begins like this, and rises above 0
       device-time      an operation in the device's time
       host-time        an operation in the host's time
       inside=A,B       a span whose name begins with B that lies in one of the same track beginning with A
       there=CATEGORY   an event of this category in a process of another machine
       related          calls of other machines are answered while the client waits for them
"""
import json
import re
import sys
from decimal import Decimal


def fail(text):
    sys.exit(f"{sys.argv[1]}: {text}")


def no_repetition(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        fail(f"a key occurs twice: {pairs}")
    return dict(pairs)


def constant(text):
    fail(f"{text} is no number of JSON")


def check_fields(event):
    wanted = {"M": {"args"}, "X": {"cat", "ts", "dur", "args"}, "C": {"ts", "args"}}
    if event.get("ph") not in wanted:
        fail(f"phase of {event}")
    missing = wanted[event["ph"]] | {"pid", "tid", "name"}
    missing -= set(event)
    if missing:
        fail(f"{event} has no {missing}")
    if not isinstance(event["name"], str) or not event["name"]:
        fail(f"name of {event}")
    for key in ("pid", "tid"):
        if type(event[key]) is not int or not 0 <= event[key] < 2**32:
            fail(f"{key} of {event}")
    for key in ("ts", "dur"):
        if key in event and (type(event[key]) not in (int, Decimal) or not 0 <= event[key] < 10**12):
            fail(f"{key} of {event}")


def check_nesting(track, spans):
    """Spans of a track lie one in the other or apart; a reader drops others."""
    open_spans = []
    for span in sorted(spans, key=lambda s: (s["ts"], -s["dur"])):
        begin, end = span["ts"], span["ts"] + span["dur"]
        while open_spans and open_spans[-1]["ts"] + open_spans[-1]["dur"] <= begin:
            open_spans.pop()
        if open_spans and end > open_spans[-1]["ts"] + open_spans[-1]["dur"]:
            fail(f"track {track}: {span} overlaps with {open_spans[-1]}")
        span["parents"] = [s["name"] for s in open_spans]
        open_spans.append(span)


def check_related(spans, names, processes):
    """Each call that a client waits for lies around the server's own time of it, as far as the clocks are known.

    The server does not record the calls that begin and end its trace.
    """
    calls = [s for s in spans if s["name"] == "call" and names[s["pid"], s["tid"]].startswith("remote ")]
    for pid, name in processes.items():
        found = re.fullmatch(r"(remote [0-9]+: .*) \(clock within ([0-9]+) us\)", name)
        if not found:
            continue
        own = [s for s in calls if names[s["pid"], s["tid"]] == found.group(1)]
        there = [s for s in spans if s["pid"] == pid and s["cat"] == "request" and s["name"] == "CallFunc"]
        within = int(found.group(2))
        answered = [c for c in own if any(c["ts"] - within <= s["ts"] and
                                          s["ts"] + s["dur"] <= c["ts"] + c["dur"] + within for s in there)]
        if len(own) < 5 or len(answered) < len(own) - 2:
            fail(f"{name}: {len(answered)} of {len(own)} calls were answered while they lasted")
        return True
    return False


def main():
    with open(sys.argv[1], encoding="utf-8", errors="strict") as file:
        document = json.load(file, parse_float=Decimal, parse_constant=constant, object_pairs_hook=no_repetition)
    events = document["traceEvents"]
    processes, names, tracks, counters = {}, {}, {}, {}
    for event in events:
        check_fields(event)
        if event["ph"] == "M" and event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["ph"] == "M" and event["name"] == "thread_name":
            if (event["pid"], event["tid"]) in names:
                fail(f"two names: {event}")
            names[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["ph"] == "M":
            fail(f"unknown metadata: {event}")
        elif event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
        else:
            if any(type(v) is not int or v < 0 for v in event["args"].values()):
                fail(f"values of {event}")
            counters.setdefault(event["pid"], []).append(event)
    for track, spans in tracks.items():
        if track not in names or track[0] not in processes:
            fail(f"track {track} has no name")
        check_nesting(names[track], spans)
    for pid, values in counters.items():
        if pid not in processes:
            fail(f"a counter of process {pid}, which has no name")
        if [e["ts"] for e in values] != sorted(e["ts"] for e in values):
            fail(f"values of the counter of {processes[pid]} are out of order")
    spans = [span for list_ in tracks.values() for span in list_]
    operations = [s for s in spans if "submitted" in s["args"]]
    for s in operations:
        if s["ts"] < s["args"]["submitted"]:
            fail(f"ran before it was submitted: {s}")
    for word in sys.argv[2:]:
        key, _, value = word.partition("=")
        if key == "track":
            found = any(names[t].startswith(value) for t in tracks)
        elif key == "process":
            found = any(name.startswith(value) for name in processes.values())
        elif key == "counter":
            found = any(processes[p].startswith(value) and max(max(e["args"].values()) for e in v) > 0
                        for p, v in counters.items())
        elif key in ("device-time", "host-time"):
            found = any(s["args"]["clock"] == key.partition("-")[0] and s["dur"] > 0 for s in operations)
        elif key == "there":
            found = any(s["cat"] == value and processes[s["pid"]].startswith("remote ") for s in spans)
        elif key == "related":
            found = check_related(spans, names, processes)
        elif key == "inside":
            outer, inner = value.split(",")
            found = any(s["name"].startswith(inner) and any(p.startswith(outer) for p in s["parents"]) for s in spans)
        else:
            found = any(s["cat"] == key and s["name"].startswith(value) for s in spans)
        if not found:
            fail(f"has no {word}; categories and names: {sorted({(s['cat'], s['name']) for s in spans})[:60]}, "
                 f"tracks: {sorted(names.values())}, processes: {sorted(processes.values())}")
    print(f"{len(spans)} spans on {len(tracks)} tracks, {sum(map(len, counters.values()))} values of counters")


main()
