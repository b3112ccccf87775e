# SPDX-License-Identifier: MIT
"""Remote sessions beside TVM's: our client and TVM's, each with our server and with TVM's, and bare sockets, in one run.

usage: VENV/bin/python tests/bench/rpc_figures.py [BUILD]: VENV has TVM (scripts/interop-generate --venv-only 0.27)
"""

import atexit
import gc
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import tvm
from tvm import rpc

build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
here = os.path.dirname(os.path.abspath(__file__))
LARGE, COPIED, DELAY = 256 << 20, 64 << 20, 0.010
processes = []


def start(*words):
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    processes.append(process)
    for line in process.stdout:
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", line)
        if found:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, int(found[1])
    raise RuntimeError(f"{words} did not start")


@atexit.register
def end_all():
    while processes:
        process = processes.pop()
        process.terminate()
        process.wait()


def pump(source, target):
    """Bytes arrive DELAY later, in both directions: 20 ms a round trip."""
    held, ready = [], threading.Condition()

    def deliver():
        while True:
            with ready:
                while not held:
                    ready.wait()
                due, data = held.pop(0)
            time.sleep(max(0, due - time.monotonic()))
            try:
                target.sendall(data) if data else target.shutdown(socket.SHUT_WR)
            except OSError:
                return
            if not data:
                return

    threading.Thread(target=deliver, daemon=True).start()
    data = b"-"
    while data:
        try:
            data = source.recv(1 << 16)
        except OSError:
            data = b""
        with ready:
            held.append((time.monotonic() + DELAY, data))
            ready.notify()


def relay(port):
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", port))
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=pump, args=(client, server), daemon=True).start()
        threading.Thread(target=pump, args=(server, client), daemon=True).start()


def delayed(port):
    # a process of its own: TVM's client holds the interpreter's lock while it waits
    return start(sys.executable, __file__, "--relay", str(port))[1]


def bench(*words):
    out = subprocess.run([f"{build}/tests/bench/rpc_bench", *words], capture_output=True, text=True, check=True,
                         env={**os.environ, "LD_LIBRARY_PATH": build}).stdout
    return {line.split()[0]: float(line.split()[1]) for line in out.splitlines()}


def ours(port, *far):
    return bench(f"127.0.0.1:{port}", f"{build}/tests/remote/exchange_functions.so", *(f"127.0.0.1:{other}" for other in far))


def timed(call, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def theirs(port, function=None, part=1):
    def connect():
        gc.collect()
        return rpc.connect("127.0.0.1", port, key="board")

    remote, found = connect(), {}
    device = remote.cpu()
    found["empty"] = timed(device.sync, 2000) * 1e6
    if function:
        function = remote.get_function(function)
        found["call"] = timed(lambda: function(1), 2000) * 1e6
    content = bytearray(LARGE // part)
    found["upload"] = len(content) / timed(lambda: remote.upload(content, "large"), 1) / 1e9
    remote.remove("large")
    x = np.ones(COPIED // part, "uint8")
    tensor = tvm.runtime.empty(x.shape, "uint8", device)
    found["copy_to"] = len(x) / timed(lambda: tensor.copyfrom(x), 2) / 1e9
    found["copy_from"] = len(x) / timed(tensor.numpy, 2) / 1e9
    del tensor, device, function, remote

    def session():
        connect().cpu().sync()

    each = timed(session, 3)
    found["session_start"], found["sessions_per_second"] = each * 1e6, 1 / each
    return found


def memory_of(process):
    """Proportional memory of a server and its sessions, in KiB."""
    total, todo = 0, [process.pid]
    while todo:
        pid = todo.pop()
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                total += int(re.search(r"^Pss:\s+(\d+)", file.read(), re.M)[1])
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                todo += [int(child) for child in file.read().split()]
        except OSError:
            pass
    return total


def idle(process, port, count):
    before = memory_of(process)
    kept = [rpc.connect("127.0.0.1", port, key="board") for _ in range(count)]
    time.sleep(0.5)
    after = memory_of(process)
    del kept
    gc.collect()
    return (after - before) / count


if sys.argv[1:2] == ["--relay"]:
    relay(int(sys.argv[2]))
command = f"{build}/tenon"
with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
    server, port = start(command, "rpc", "serve", "--listen", "127.0.0.1:0", "--key", "board", "--sessions", "16", "--folder",
                         folder)
    stock, stock_port = start(sys.executable, os.path.join(here, "../remote/stock_server.py"), "board")
    columns = {
        "sockets": bench("floor", folder),
        "ours, ours": ours(port, delayed(port)),
        "TVM, ours": theirs(port, part=4),
        "ours, TVM": ours(stock_port),
        "TVM, TVM": theirs(stock_port, "rpc.test.addone", 16),
    }
    columns["TVM, ours"]["idle"] = columns["ours, ours"]["idle"] = idle(server, port, 8)
    # 20 ms: one call waits for the other in TVM's client
    far = rpc.connect("127.0.0.1", delayed(stock_port), key="board").get_function("rpc.test.addone")
    columns["TVM, TVM"]["delayed_one_by_one"] = 1 / timed(lambda: far(1), 20)
    del far
    end_all()

rows = [("empty", "empty request, µs"), ("call", "call of a function, µs"), ("upload", "upload of 256 MB*, GB/s"),
        ("upload_file", "... written to a file, GB/s"), ("copy_to", "tensor of 64 MB* there, GB/s"),
        ("copy_from", "tensor of 64 MB* back, GB/s"), ("session_start", "session start, µs"),
        ("sessions_per_second", "sessions per second"), ("idle", "memory of an idle session, KiB"),
        ("delayed_one_by_one", "calls/s, 20 ms, one by one"), ("delayed_pipelined", "calls/s, 20 ms, pipelined")]
print(f"{'client, server':32}" + "".join(f"{name:>12}" for name in columns))
for key, title in rows:
    print(f"{title:32}" + "".join(f"{column[key]:12.4g}" if key in column else f"{'-':>12}" for column in columns.values()))
print("* TVM gets a part of it: all would take minutes")
floor, best, tvms = columns["sockets"], columns["ours, ours"], columns["TVM, TVM"]
for name, ratio, goal in [("empty request beside sockets", best["empty"] / floor["empty"], "<= 1.3"),
                          # both wait for the same system calls, so neither can be much below the other
                          ("empty request beside TVM", best["empty"] / tvms["empty"], "<= 1.0"),
                          ("call of a function beside TVM", best["call"] / tvms["call"], "<= 1.0"),
                          # a server must keep the bytes; the second floor does so too
                          ("upload beside sockets", best["upload"] / floor["upload"], ">= 0.9"),
                          ("upload beside sockets and file", best["upload"] / floor["upload_file"], ">= 0.9")]:
    met = ratio <= float(goal[3:]) if goal[0] == "<" else ratio >= float(goal[3:])
    print(f"{name:32}{ratio:12.2f}   goal {goal}: {'met' if met else 'MISSED'}")
sys.stdout.flush()
os._exit(0)
