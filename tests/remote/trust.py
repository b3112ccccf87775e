# SPDX-License-Identifier: MIT
"""Checks the proof of a secret and TLS with our client and one of Python's standard library, and prints TAP:
trust.py COMMAND FOLDER"""

import hashlib
import hmac
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import time
import traceback

command, folder = sys.argv[1:3]
MAGIC, MISMATCH, CHALLENGE = 0xFF271, 0xFF273, 0xFF274
INIT = struct.pack("<QiQ", 21, 2, 5) + b"0.8.0" + struct.pack("<i", 0)
REPLY = struct.pack("<QiI", 8, 4, 0)
SECRET = b"0123456789abcdef0123456789abcdef"
processes = []


def path(name):
    return os.path.join(folder, name)


def write(name, data, mode=0o600):
    with open(path(name), "wb") as file:
        file.write(data)
    os.chmod(path(name), mode)
    return path(name)


def serve(*words):
    return start("serve", "--key", "k", "--folder", folder, *words)


def start(*words):
    process = subprocess.Popen([command, "rpc", *words, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    processes.append(process)
    for line in process.stderr:
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", line)
        if found:
            return int(found[1])
    raise AssertionError("the server did not start")


def refused(*words):
    result = subprocess.run([command, "rpc", "serve", "--listen", "127.0.0.1:0", *words], capture_output=True, text=True,
                            check=False, timeout=120)
    assert result.returncode == 4, result
    return result.stderr


def stop():
    for process in processes:
        process.terminate()
        assert process.wait(120) == 0
    processes.clear()


def read(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise EOFError(data)
        data += more
    return data


def code(sock):
    return struct.unpack("<i", read(sock, 4))[0]


def connect(port, words):
    sock = socket.create_connection(("127.0.0.1", port), 120)
    key = ("client:k" + words).encode()
    sock.sendall(struct.pack("<ii", MAGIC, len(key)) + key)
    return sock


def mac(secret, role, client, server):
    return hmac.new(secret, role + client + server + b"k", hashlib.sha256).digest()


def prove(port, secret, client=None, replay=None):
    """The handshake; returns the socket after it, and what was exchanged."""
    client = client or os.urandom(32)
    sock = connect(port, " -auth=" + client.hex())
    assert code(sock) == CHALLENGE
    server = read(sock, 32)
    proof = replay or mac(secret, b"tenon rpc client", client, server)
    sock.sendall(proof)
    answer = code(sock)
    if answer != MAGIC:
        return sock, answer, proof
    key = read(sock, code(sock))
    assert key == b"server:k -proof=" + mac(secret, b"tenon rpc server", client, server).hex().encode(), key
    return sock, answer, proof


def use(sock):
    sock.sendall(INIT)
    assert read(sock, len(REPLY)) == REPLY


def the_secret_opens_a_session():
    port = serve("--secret-file", write("secret", SECRET + b"\n"))
    sock, answer, _ = prove(port, SECRET)
    assert answer == MAGIC
    use(sock)


def others_are_refused():
    port = serve("--secret-file", write("secret", SECRET))
    # a client of TVM, and proofs that are none
    assert code(connect(port, "")) == MISMATCH
    assert code(connect(port, " -auth=")) == MISMATCH
    assert code(connect(port, " -auth=" + "g" * 64)) == MISMATCH
    assert prove(port, b"f" * 32)[1] == MISMATCH
    client = os.urandom(32)
    _, answer, proof = prove(port, SECRET, client)
    assert answer == MAGIC
    # what was recorded opens nothing, with the same or another number
    assert prove(port, SECRET, client, proof)[1] == MISMATCH
    assert prove(port, SECRET, None, proof)[1] == MISMATCH
    # one that sends half a proof and leaves
    sock = connect(port, " -auth=" + client.hex())
    read(sock, 36)
    sock.sendall(b"x" * 16)
    sock.close()
    use(prove(port, SECRET)[0])


def secrets_that_are_none_are_refused():
    assert "chmod 600" in refused("--secret-file", write("open", SECRET, 0o644))
    assert "16 to 1024 bytes" in refused("--secret-file", write("short", b"short")).replace(" are possible", " bytes") \
        or "16 to 1024" in refused("--secret-file", write("short", b"short"))
    assert "uploaded code could read" in refused("--secret-file", write("read", SECRET), "--allow-read", folder)


def certificate():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", path("tls.key"), "-out", path("tls.crt"), "-days", "30", "-subj", "/CN=board",
                    "-addext", "subjectAltName=DNS:board,DNS:localhost"], check=True, capture_output=True)
    os.chmod(path("tls.key"), 0o600)
    return "--tls-certificate", path("tls.crt"), "--tls-key", path("tls.key")


def keys_that_are_none_are_refused():
    words = certificate()
    os.chmod(path("tls.key"), 0o640)
    assert "chmod 600" in refused(*words)
    os.chmod(path("tls.key"), 0o600)
    # a pipe without a writer: nothing waits for one
    os.mkfifo(path("pipe"), 0o600)
    assert "this is none" in refused(*words[:3], path("pipe"))
    assert "the certificate is read from a file" in refused(words[0], path("pipe"), *words[2:])
    assert "No such file" in refused(*words[:3], path("none"))
    assert "too many for a key" in refused(*words[:3], write("long", bytes(70000)))
    # in DER
    subprocess.run(["openssl", "pkey", "-in", path("tls.key"), "-outform", "DER", "-out", path("tls.der")], check=True,
                   capture_output=True)
    os.chmod(path("tls.der"), 0o600)
    tls(serve(*words[:3], path("tls.der"))).close()


def tls(port):
    context = ssl.create_default_context(cafile=path("tls.crt"))
    sock = socket.create_connection(("127.0.0.1", port), 120)
    return context.wrap_socket(sock, server_hostname="board")


def greet(sock):
    sock.sendall(struct.pack("<ii", MAGIC, 8) + b"client:k")
    assert code(sock) == MAGIC and read(sock, code(sock)) == b"server:k"
    use(sock)


def tls_carries_a_session():
    port = serve(*certificate())
    sock = tls(port)
    greet(sock)
    # a request of 3 MiB, which is none: an exception comes back
    sock.sendall(struct.pack("<Qi", 3 << 20, 99) + bytes((3 << 20) - 4))
    size = struct.unpack("<Q", read(sock, 8))[0]
    assert struct.unpack("<i", read(sock, size)[:4])[0] == 5


def who_speaks_no_tls_costs_a_connection():
    port = serve(*certificate(), "--sessions", "2")
    silent = [socket.create_connection(("127.0.0.1", port), 120) for _ in range(40)]
    plain = connect(port, "")
    half = socket.create_connection(("127.0.0.1", port), 120)
    half.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
    greet(tls(port))
    try:
        assert not plain.recv(1) or plain.recv(64) is not None
    except ConnectionError:
        pass
    for sock in silent:
        sock.close()
    greet(tls(port))


def children():
    """Processes whose parent is the last server."""
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                count += int(file.read().rpartition(")")[2].split()[1]) == processes[-1].pid
        except OSError:
            pass
    return count


def those_who_say_nothing_start_few_processes():
    port = serve(*certificate())
    silent = [socket.create_connection(("127.0.0.1", port), 120) for _ in range(300)]
    time.sleep(0.5)
    assert children() == 0, children()
    for sock in silent:
        try:
            sock.sendall(b"\x16\x03\x01")
        except ConnectionError:
            pass
    time.sleep(0.5)
    assert children() <= 16, children()
    greet(tls(port))
    for sock in silent:
        sock.close()
    end = time.monotonic() + 60
    while children():
        assert time.monotonic() < end, children()
        time.sleep(0.1)


def client(address, *words, code=0, ca=None):
    """Our client; returns what it printed."""
    result = subprocess.run([command, "rpc", *(words or ("ping",)), address], capture_output=True, text=True, check=False,
                            timeout=120, env={**os.environ, "TENON_RPC_CA": ca or ""})
    assert result.returncode == code, (address, result)
    return result.stdout + result.stderr


def our_client_proves_the_secret():
    secret, other = write("secret", SECRET + b"\n"), write("other", b"f" * 32)
    port = serve("--secret-file", secret)
    address = f"127.0.0.1:{port}/k"
    assert "requests are pipelined" in client(f"{address}?secret={secret}")
    assert "tenon.rpc" in client(f"{address}?secret={secret}", "functions")
    assert "cpu:0" in subprocess.run([command, "devices", "--remote", f"{address}?secret={secret}"], capture_output=True,
                                     text=True, check=True, timeout=120).stdout
    assert "another secret" in client(f"{address}?secret={other}", code=4)
    assert "asks for a secret" in client(address, code=4)
    assert "another key" in client(f"127.0.0.1:{port}/other?secret={secret}", code=4)
    assert "chmod 600" in client(f"{address}?secret={write('open', SECRET, 0o644)}", code=2)
    assert "no option" in client(f"{address}?sekret={secret}", code=2)


def a_server_must_prove_it_too():
    secret = write("secret", SECRET)
    assert "does not prove" in client(f"127.0.0.1:{serve()}/k?secret={secret}", code=4)
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{listener.getsockname()[1]}/k?secret={secret}"
    # it asks for a proof, and accepts any: with no proof of its own, a wrong one, one that is cut, and that of a client
    for suffix, want in (b"", "does not prove"), (b" -proof=" + b"0" * 64, "does not know"), (b" -proof=12", "does not know"), \
            (None, "does not know"):
        process = subprocess.Popen([command, "rpc", "ping", address], stderr=subprocess.PIPE, text=True)
        sock, _ = listener.accept()
        sock.settimeout(120)
        assert code(sock) == MAGIC and b" -auth=" in read(sock, code(sock))
        sock.sendall(struct.pack("<i", CHALLENGE) + b"n" * 32)
        proof = read(sock, 32)
        key = b"server:k" + (b" -proof=" + proof.hex().encode() if suffix is None else suffix)
        sock.sendall(struct.pack("<ii", MAGIC, len(key)) + key)
        assert want in process.communicate(timeout=120)[1] and process.returncode == 4, want
        sock.close()
    listener.close()


def the_proof_goes_through_a_proxy():
    secret = write("secret", SECRET)
    proxy = start("proxy")
    processes.append(subprocess.Popen([command, "rpc", "serve", "--proxy", f"127.0.0.1:{proxy}", "--key", "k", "--folder",
                                       folder, "--secret-file", secret, "--listen", "127.0.0.1:0"],
                                      stderr=subprocess.DEVNULL))
    assert "requests are pipelined" in client(f"127.0.0.1:{proxy}/k?secret={secret}")
    assert "another secret" in client(f"127.0.0.1:{proxy}/k?secret={write('other', b'f' * 32)}", code=4)


def our_client_speaks_tls():
    secret = write("secret", SECRET)
    port = serve(*certificate(), "--secret-file", secret)
    address = f"rpc+tls://localhost:{port}?key=k&secret={secret}"
    assert "requests are pipelined" in client(address, ca=path("tls.crt"))
    # more than a record, in both directions
    write("large", os.urandom(3 << 20))
    result = subprocess.run([command, "rpc", "upload", address, path("large")], capture_output=True, text=True, check=False,
                            timeout=120, env={**os.environ, "TENON_RPC_CA": path("tls.crt")})
    assert result.returncode == 0 and "3 MiB in" in result.stdout, result
    # a certificate of nobody, and one for another host
    assert "its certificate is refused" in client(address, code=2)
    # what is no file with certificates: nothing waits for a writer, or reads without end
    os.mkfifo(path("authority"), 0o600)
    assert "the certificate is read from a file" in client(address, code=2, ca=path("authority"))
    assert "the certificate is read from a file" in client(address, code=2, ca="/dev/zero")
    assert "No such file" in client(address, code=4, ca=path("none"))
    assert "its certificate is refused" in client(f"rpc+tls://127.0.0.1:{port}?key=k", code=2, ca=path("tls.crt"))


def nothing_is_left():
    port = serve(*certificate(), "--secret-file", write("secret", SECRET))
    for _ in range(5):
        tls(port).close()
    end = time.monotonic() + 120
    while children() and time.monotonic() < end:
        time.sleep(0.05)
    assert not children()


cases = [the_secret_opens_a_session, others_are_refused, secrets_that_are_none_are_refused, keys_that_are_none_are_refused, tls_carries_a_session,
         who_speaks_no_tls_costs_a_connection, those_who_say_nothing_start_few_processes, our_client_proves_the_secret, a_server_must_prove_it_too,
         the_proof_goes_through_a_proxy, our_client_speaks_tls, nothing_is_left]
failed = 0
for number, case in enumerate(cases, 1):
    try:
        case()
        stop()
        print(f"ok {number} - {case.__name__}", flush=True)
    except Exception:
        failed += 1
        for line in traceback.format_exc().splitlines():
            print(f"# {line}")
        print(f"not ok {number} - {case.__name__}", flush=True)
        for process in processes:
            process.kill()
            process.wait()
        processes.clear()
print(f"1..{len(cases)}")
sys.exit(failed > 0)
