# SPDX-License-Identifier: MIT
"""A server that plays one recorded session: recorded_server.py PREFIX

It reads the recorded bytes of the client, byte for byte, and sends the recorded replies to each packet. It ends with
status 1 when the client sends others.
"""

import socket
import sys

with open(sys.argv[1] + ".c2s.bin", "rb") as file:
    requests = file.read()
with open(sys.argv[1] + ".s2c.bin", "rb") as file:
    replies = file.read()


def packets(stream):
    """The handshake, and each packet."""
    at = 8 + int.from_bytes(stream[4:8], "little")
    yield stream[:at]
    while at < len(stream):
        end = at + 8 + int.from_bytes(stream[at : at + 8], "little")
        yield stream[at:end]
        at = end


def receive(connection, size):
    got = b""
    while len(got) < size:
        more = connection.recv(size - len(got))
        if not more:
            break
        got += more
    return got


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(1)
listener.settimeout(120)
print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
connection, _ = listener.accept()
connection.settimeout(120)
answers = packets(replies)
for number, want in enumerate(packets(requests)):
    got = receive(connection, len(want))
    if got != want:
        different = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        sys.exit(f"packet {number}, byte {different} of {len(want)}: the client sent {got[different:different + 16].hex()}, "
                 f"recorded is {want[different:different + 16].hex()}")
    # the last packet says good-bye
    connection.sendall(next(answers, b""))
if receive(connection, 1):
    sys.exit("the client sent more than was recorded")
