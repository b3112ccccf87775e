# SPDX-License-Identifier: MIT
"""A relay between a client and a server that writes what each sends: record.py PORT PREFIX [COUNT]

PORT is the server's. The first connection goes to PREFIX.c2s.bin and PREFIX.s2c.bin, the second to PREFIX_2.c2s.bin, and
so on. It ends after COUNT connections, 1 if it is not given. data/README.md says how the recordings were made with it.
"""

import socket
import sys
import threading

port, prefix = int(sys.argv[1]), sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 1


def copy(source, target, path):
    with open(path, "wb") as file:
        while True:
            try:
                data = source.recv(65536)
            except ConnectionError:
                data = b""
            file.write(data)
            if not data:
                break
            try:
                target.sendall(data)
            except ConnectionError:
                # what comes is still recorded
                pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(5)
print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
threads = []
for number in range(1, count + 1):
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", port))
    for one in (client, server):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    name = prefix if number == 1 else f"{prefix}_{number}"
    for words in ((client, server, name + ".c2s.bin"), (server, client, name + ".s2c.bin")):
        threads.append(threading.Thread(target=copy, args=words))
        threads[-1].start()
for thread in threads:
    thread.join()
