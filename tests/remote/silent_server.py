# SPDX-License-Identifier: MIT
"""A server that passes on the first bytes of another one's, and is silent then: silent_server.py PORT BYTES"""

import socket
import sys
import threading

port, most = int(sys.argv[1]), int(sys.argv[2])
kept = []


def ask(client, server):
    while True:
        try:
            data = client.recv(65536)
            if not data:
                return
            server.sendall(data)
        except OSError:
            return


def serve(client):
    server = socket.create_connection(("127.0.0.1", port))
    kept.append((client, server))
    threading.Thread(target=ask, args=(client, server), daemon=True).start()
    left = most
    while left:
        data = server.recv(left)
        if not data:
            return
        client.sendall(data)
        left -= len(data)


with socket.create_server(("127.0.0.1", 0)) as listener:
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
