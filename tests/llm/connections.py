# SPDX-License-Identifier: MIT
"""What tenon-serve does with connections. usage: connections.py PORT

The server has --connections 16, its other options are the default ones. Prints TAP.
"""

import socket
import sys

port = int(sys.argv[1])
BODY = b'{"prompt":"a","max_tokens":2}'
JSON = b"Content-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
HOST = b"Host: localhost\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
number = failures = 0


def case(f):
    global number, failures
    number += 1
    try:
        f()
        print("ok", number, "-", f.__name__.replace("_", " "), flush=True)
    except Exception as e:  # pylint: disable=broad-except
        failures += 1
        print("not ok", number, "-", f.__name__.replace("_", " "))
        print("#", type(e).__name__, str(e)[:1000].replace("\n", "\n# "), flush=True)


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=240)


def post(headers, body=BODY):
    return b"POST /v1/completions HTTP/1.1\r\n" + headers + b"Connection: close\r\n\r\n" + body


def answer(data, end=False):
    with connect() as s:
        s.sendall(data)
        if end:
            s.shutdown(socket.SHUT_WR)
        out = b""
        while block := s.recv(65536):
            out += block
    return out


def status(data, **more):
    return int(answer(data, **more).split(b" ")[1])


def a_request_is_answered():
    assert status(post(HOST + JSON + LENGTH)) == 200
    chunks = b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n"
    assert status(post(HOST + JSON + CHUNKED, chunks)) == 200


def a_client_that_only_sends_no_more_gets_its_answer():
    for more in (b"", b',"stream":true,"stream_options":{"include_usage":true}'):
        body = b'{"prompt":"a","max_tokens":100%s}' % more
        out = answer(post(HOST + JSON + b"Content-Length: %d\r\n" % len(body), body), end=True)
        assert out.startswith(b"HTTP/1.1 200") and b'"completion_tokens":100' in out, out


def headers_that_contradict_each_other_are_refused():
    for headers in (LENGTH + LENGTH, LENGTH + b"Content-Length: 5\r\n", LENGTH + CHUNKED, CHUNKED + CHUNKED,
                    b"Transfer-Encoding: gzip, chunked\r\n", LENGTH + b"Host: localhost\r\n", LENGTH + b"Host : other\r\n",
                    LENGTH + b"Transfer-Encoding:\r\n chunked\r\n", b"Content-Length:\r\n 1\r\n" + CHUNKED,
                    LENGTH + b"X: 1\r\n\ta:b\r\n",
                    LENGTH + b"Content-Type: text/plain\r\n", LENGTH + b"Authorization: a\r\nAuthorization: b\r\n"):
        have = status(post(HOST + JSON + headers))
        assert have == 400, (headers, have)
    for host, want in ((b"", 400), (b"Host: localhost:1@other\r\n", 403), (b"Host:\r\n", 403), (b"Host: localhost\r\n other\r\n", 400)):
        have = status(post(host + JSON + LENGTH))
        assert have == want, (host, have)


def a_path_with_control_characters_is_refused():
    for path, want in ((b"/v1/models", 200), (b"/v1/models?x=%00", 200), (b"/v1/models\0x", 400), (b"/v1/models\0", 400),
                       (b"/v1/models%00", 400), (b"/v1/models%00/../x", 400), (b"/v1/models%0d%0aX:y", 400),
                       (b"/v1/models/%01", 400), (b"/v1/models?a\0b", 400), (b"/v1/models/a%20b", 404)):
        have = status(b"GET " + path + b" HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n")
        assert have == want, (path, have)


def a_body_that_is_announced_as_too_large_is_refused_at_once():
    assert status(post(HOST + JSON + b"Content-Length: 9223372036854775808\r\n", b"")) == 413


def slow_clients_do_not_keep_others_out():
    slow = []
    for i in range(40):
        s = connect()
        # headers that do not end, and bodies
        s.sendall(b"GET /v1/models HTTP/1.1\r\nX: " if i % 2 else post(HOST + JSON + LENGTH, b"{"))
        slow.append(s)
    assert status(post(HOST + JSON + LENGTH)) == 200
    closed = 0
    for s in slow:
        s.settimeout(0.01)
        try:
            closed += not s.recv(1)
        except TimeoutError:
            pass
        except ConnectionError:
            closed += 1
        s.close()
    # one address has no more than half of the connections while it sends
    assert closed >= 30, closed


for test in (a_request_is_answered, a_client_that_only_sends_no_more_gets_its_answer, headers_that_contradict_each_other_are_refused,
             a_path_with_control_characters_is_refused,
             a_body_that_is_announced_as_too_large_is_refused_at_once, slow_clients_do_not_keep_others_out):
    case(test)
sys.exit(failures != 0)
