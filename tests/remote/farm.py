# SPDX-License-Identifier: MIT
"""Checks our tracker, proxy and servers with TVM's own, and prints TAP: farm.py COMMAND DATA FOLDER"""

import ctypes
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import tvm
from tvm import rpc

command, data, folder = sys.argv[1:4]
processes = []
TRACKER_MAGIC = struct.pack("<i", 0x2F271)

# TVM's servers leave workers behind: they become children of this process, which ends them
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                found += [int(pid) for pid in file.read().split()]
        except OSError:
            pass
    return found


def end_workers():
    for pid in children():
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def start(pattern, *words):
    """Start a process, and return the number that the pattern finds in its output."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    processes.append(process)
    for line in process.stdout:
        found = re.search(pattern, line)
        if found:
            # nobody reads the rest: a full pipe would stop the process
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return int(found[1]) if found.groups() else None
    raise AssertionError(f"{words} did not start")


def ours(*words):
    return start(r"listening on 127\.0\.0\.1:(\d+)", command, "rpc", *words, "--listen", "127.0.0.1:0")


def theirs(module, *words):
    first = 20000 + os.getpid() % 20000
    return start(r"bind to \S*?:(\d+)", sys.executable, "-m", f"tvm.exec.{module}", "--host", "127.0.0.1",
                 "--port", str(first), "--port-end", str(first + 500), *words)


def stop_all():
    for process in reversed(processes):
        process.terminate()
    for process in processes:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    processes.clear()
    # the end of one may hand over another
    while children():
        end_workers()


def library():
    """vecadd, compiled by TVM: the library that the recorded session uploads"""
    with open(os.path.join(data, "module_call.c2s.bin"), "rb") as recording:
        recorded = recording.read()
    begin = recorded.index(b"\x7fELF")
    path = os.path.join(folder, "vecadd.so")
    with open(path, "wb") as file:
        file.write(recorded[begin : begin + 25832])
    return path


def measure(remote):
    """Upload, load, time and check vecadd, as a tuner does with a candidate."""
    remote.upload(path)
    module, device = remote.load_module("vecadd.so"), remote.cpu()
    tensors = [tvm.runtime.tensor(np.full(1024, v, "float32"), device) for v in (1, 2, 0)]
    costs = module.time_evaluator("vecadd", device, number=2, repeat=2)(*tensors).results
    assert len(costs) == 2 and min(costs) > 0
    np.testing.assert_array_equal(tensors[2].numpy(), np.full(1024, 3, "float32"))


def status(port):
    return subprocess.run([command, "rpc", "tracker", "status", f"127.0.0.1:{port}"], capture_output=True, text=True,
                          check=True).stdout


def candidates(port, clients, each):
    """Several clients at once ask the tracker for boards, and measure candidates."""
    failures = []

    def client():
        try:
            tracker = rpc.connect_tracker("127.0.0.1", port)
            for _ in range(each):
                measure(tracker.request("board", session_timeout=120))
        except Exception:  # the thread's failure is the test's
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=client) for _ in range(clients)]
    # TVM holds the interpreter's lock while it waits for a tracker: one after the other
    for thread in threads:
        thread.start()
        thread.join()
    assert not failures, failures[0]


def fifty_candidates_by_their_tracker():
    port = theirs("rpc_tracker")
    for _ in range(3):
        ours("serve", "--tracker", f"127.0.0.1:{port}", "--key", "board")
    candidates(port, 2, 25)
    assert "board" in status(port)


def fifty_candidates_by_our_tracker():
    port = ours("tracker")
    for _ in range(3):
        ours("serve", "--tracker", f"127.0.0.1:{port}", "--key", "board")
    candidates(port, 2, 25)
    assert re.search(r"board .* 50$", status(port), re.M), status(port)
    summary = rpc.connect_tracker("127.0.0.1", port).text_summary()
    assert "server:board" in summary


def their_server_at_our_tracker():
    port = ours("tracker", "--check-every", "0.5")
    theirs("rpc_server", "--tracker", f"127.0.0.1:{port}", "--key", "board")
    tracker = rpc.connect_tracker("127.0.0.1", port)
    for _ in range(2):
        # their servers run what their compiler made, which this library is
        measure(tracker.request("board", session_timeout=120))
    assert " out: " not in status(port), status(port)


def connect(port):
    """a connection to a tracker; theirs says its port before it listens"""
    end = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 120)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class TrackerPeer:
    """a connection to a tracker, message by message"""

    def __init__(self, port):
        self.socket = connect(port)
        self.socket.sendall(TRACKER_MAGIC)
        assert self.read(4) == TRACKER_MAGIC

    def read(self, size):
        got = b""
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            assert more, "the tracker closed the connection"
            got += more
        return got

    def ask(self, message):
        text = json.dumps(message).encode()
        self.socket.sendall(struct.pack("<i", len(text)) + text)
        return json.loads(self.read(struct.unpack("<i", self.read(4))[0]))

    def request(self, key):
        """The port and the match key of a board."""
        code, (_, port, match_key) = self.ask([4, key, "", 1])
        assert code == 0
        return port, match_key


def greeting(port, match_key):
    """What a server answers to a client with a match key."""
    word = f"client:{match_key}".encode()
    with socket.create_connection(("127.0.0.1", port), 120) as peer:
        peer.sendall(struct.pack("<ii", 0xFF271, len(word)) + word)
        return struct.unpack("<i", peer.recv(4, socket.MSG_WAITALL))[0]


def servers_of_cpp_are_listed(port):
    """TVM's server in C++ sends its port as a text when it gives its name, and as a number when it is free."""
    peer = TrackerPeer(port)
    assert peer.ask([5, {"key": "server:cpp", "addr": ["127.0.0.1", "9090"]}]) == 0
    assert peer.ask([3, "cpp", [9090, "cpp:123456"], None]) == 0
    assert peer.ask([7]) == ["cpp:123456"]
    query = subprocess.run([sys.executable, "-m", "tvm.exec.query_rpc_tracker", "--host", "127.0.0.1", "--port", str(port)],
                           capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.search(r"9090\s+server:cpp", query), query
    assert TrackerPeer(port).request("cpp") == (9090, "cpp:123456")


def servers_of_cpp_at_their_tracker():
    servers_of_cpp_are_listed(theirs("rpc_tracker"))


def servers_of_cpp_at_our_tracker():
    servers_of_cpp_are_listed(ours("tracker"))


def an_unused_match_key_is_renewed():
    trackers = {"theirs": theirs("rpc_tracker"), "ours": ours("tracker")}
    unused = {}
    for name, port in trackers.items():
        ours("serve", "--tracker", f"127.0.0.1:{port}", "--key", "board", "--sessions", "1")
        unused[name] = TrackerPeer(port).request("board")
    # both wait 8 seconds for the client that does not come
    for name, port in trackers.items():
        server, match_key = TrackerPeer(port).request("board")
        assert match_key != unused[name][1]
        assert greeting(server, unused[name][1]) == 0xFF273, name
        assert greeting(server, match_key) == 0xFF271, name


def their_tracker_is_started_again():
    port = theirs("rpc_tracker")
    ours("serve", "--tracker", f"127.0.0.1:{port}", "--key", "board")
    measure(rpc.connect_tracker("127.0.0.1", port).request("board", session_timeout=120))
    tracker = processes.pop(0)
    for pid in [tracker.pid] + descendants(tracker.pid):
        os.kill(pid, signal.SIGKILL)
    tracker.wait()
    # the kernel keeps the port while connections of the dead process end
    for _ in range(200):
        try:
            start(rf"bind to \S*?:({port})\b", sys.executable, "-m", "tvm.exec.rpc_tracker", "--host", "127.0.0.1",
                  "--port", str(port), "--port-end", str(port + 1))
            break
        except AssertionError:
            processes.pop().wait()
            time.sleep(0.5)
    measure(rpc.connect_tracker("127.0.0.1", port).request("board", session_timeout=120))


def descendants(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            found = [int(child) for child in file.read().split()]
    except OSError:
        found = []
    return sum((descendants(child) for child in found), found)


def megabytes(remote):
    content = os.urandom(3 << 20)
    remote.upload(bytearray(content), "large.bin")
    assert bytes(remote.download("large.bin")) == content


def our_client(port):
    address = f"127.0.0.1:{port}/far"
    subprocess.run([command, "rpc", "ping", address, "--count", "3"], check=True, timeout=120, capture_output=True)
    subprocess.run([command, "rpc", "upload", address, path], check=True, timeout=120, capture_output=True)


def our_proxy_between_theirs():
    port = ours("proxy")
    start("", sys.executable, "-c",
          f"import tvm.rpc, time; s = tvm.rpc.Server('127.0.0.1', {port}, key='far', is_proxy=True); "
          "print('up', flush=True); time.sleep(1e6)")
    for _ in range(2):
        remote = rpc.connect("127.0.0.1", port, key="far")
        measure(remote)
        megabytes(remote)
        del remote
    our_client(port)


def our_server_behind_their_proxy():
    port = theirs("rpc_proxy", "--web-port", "0")
    ours("serve", "--proxy", f"127.0.0.1:{port}", "--key", "far")
    for _ in range(10):
        measure(rpc.connect("127.0.0.1", port, key="far", session_timeout=120))
    megabytes(rpc.connect("127.0.0.1", port, key="far", session_timeout=120))
    our_client(port)


def our_server_behind_their_proxy_and_tracker():
    trackers = theirs("rpc_tracker")
    port = theirs("rpc_proxy", "--web-port", "0", "--tracker", f"127.0.0.1:{trackers}")
    ours("serve", "--proxy", f"127.0.0.1:{port}", "--key", "far")
    tracker = rpc.connect_tracker("127.0.0.1", trackers)
    for _ in range(3):
        measure(tracker.request("far", session_timeout=120))


def boards_behind_our_proxy(trackers):
    """Our proxy and our servers behind it, at a tracker"""
    port = ours("proxy", "--tracker", f"127.0.0.1:{trackers}")
    for _ in range(2):
        ours("serve", "--proxy", f"127.0.0.1:{port}", "--key", "far")
    tracker = rpc.connect_tracker("127.0.0.1", trackers)
    # two at a time
    for _ in range(3):
        first = tracker.request("far", session_timeout=120)
        measure(tracker.request("far", session_timeout=120))
        measure(first)
        del first
    assert "server:proxy[far]" in status(trackers) or "server:proxy[]" in status(trackers), status(trackers)


def our_proxy_at_their_tracker():
    boards_behind_our_proxy(theirs("rpc_tracker"))


def our_proxy_at_our_tracker():
    boards_behind_our_proxy(ours("tracker"))


def their_server_behind_our_proxy_at_our_tracker():
    trackers = ours("tracker")
    port = ours("proxy", "--tracker", f"127.0.0.1:{trackers}")
    start("", sys.executable, "-c",
          f"import tvm.rpc, time; s = tvm.rpc.Server('127.0.0.1', {port}, key='far', is_proxy=True); "
          "print('up', flush=True); time.sleep(1e6)")
    tracker = rpc.connect_tracker("127.0.0.1", trackers)
    for _ in range(2):
        measure(tracker.request("far", session_timeout=120))


path = library()
cases = [fifty_candidates_by_their_tracker, fifty_candidates_by_our_tracker, their_server_at_our_tracker,
         servers_of_cpp_at_their_tracker, servers_of_cpp_at_our_tracker, an_unused_match_key_is_renewed,
         their_tracker_is_started_again,
         our_proxy_between_theirs, our_server_behind_their_proxy, our_server_behind_their_proxy_and_tracker,
         our_proxy_at_their_tracker, our_proxy_at_our_tracker, their_server_behind_our_proxy_at_our_tracker]
failed = 0
for number, case in enumerate(cases, 1):
    try:
        case()
        print(f"ok {number} - {case.__name__}", flush=True)
    except Exception:
        failed += 1
        for line in traceback.format_exc().splitlines():
            print(f"# {line}")
        print(f"not ok {number} - {case.__name__}", flush=True)
    finally:
        stop_all()
print(f"1..{len(cases)}", flush=True)
# TVM's destructors may wait for peers that are gone
os._exit(failed > 0)
