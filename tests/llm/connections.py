# SPDX-License-Identifier: MIT
"""What tenon-serve does with connections. usage: connections.py PORT OTHER_PORT

The server has --connections 16, its other options are the default ones. The other one is for any host, and has the key "secret" and
--body-size 1. Prints TAP.
"""

import socket
import sys

port, other_port = map(int, sys.argv[1:])
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


def connect(to=port):
    return socket.create_connection(("127.0.0.1", to), timeout=240)


def post(headers, body=BODY):
    return b"POST /v1/completions HTTP/1.1\r\n" + headers + b"Connection: close\r\n\r\n" + body


def answer(data, end=False, to=port):
    with connect(to) as s:
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


def ask(method, path, headers=JSON, body=BODY, host=HOST, **more):
    length = b"Content-Length: %d\r\n" % len(body) if body is not None else b""
    return status(b"%s %s HTTP/1.1\r\n" % (method, path) + host + headers + length + b"Connection: close\r\n\r\n" + (body or b""), **more)


def what_is_not_offered_is_refused():
    for method, path, want in ((b"GET", b"/v1/models", 200), (b"HEAD", b"/v1/models", 200), (b"GET", b"/v1/models/bytes", 200),
                               (b"GET", b"/v1/models/other", 404), (b"GET", b"/v1/models/", 404), (b"GET", b"/v1/modelsx", 404), (b"GET", b"/", 404),
                               (b"POST", b"/v1/models", 405), (b"DELETE", b"/v1/models/bytes", 405), (b"GET", b"/v1/completions", 405),
                               (b"PUT", b"/v1/chat/completions", 405)):
        have = ask(method, path, body=None if method in (b"GET", b"HEAD") else BODY)
        assert have == want, (method, path, have)
    for value, want in ((b"", 415), (b"Content-Type: text/plain\r\n", 415), (b"Content-Type: application/jsonp\r\n", 415),
                        (b"Content-Type: application/json;charset=utf-8\r\n", 200), (b"Content-Type: application/json ;a\r\n", 200)):
        have = ask(b"POST", b"/v1/completions", headers=value)
        assert have == want, (value, have)
    for value, want in ((b"127.0.0.1", 200), (b"LOCALHOST:8080", 200), (b"[::1]:", 200), (b"[::1]", 200), (b"localhost.x", 403), (b"other", 403)):
        have = ask(b"GET", b"/v1/models", host=b"Host: " + value + b"\r\n", body=None)
        assert have == want, (value, have)


def a_request_that_asks_for_what_is_not_there_is_refused():
    for path, body, want in ((b"/v1/completions", b"", 400), (b"/v1/completions", b"{", 400), (b"/v1/completions", b'{"prompt":""}', 400),
                             (b"/v1/completions", b'{"prompt":[70000]}', 400), (b"/v1/completions", b'{"prompt":"%s"}' % (b"a" * 5000), 400),
                             (b"/v1/completions", b'{"prompt":"a","max_tokens":1,"model":"other"}', 404),
                             (b"/v1/completions", b'{"prompt":"a","max_tokens":1,"model":"bytes"}', 200),
                             (b"/v1/chat/completions", b'{"messages":[{"role":"robot","content":"a"}]}', 400),
                             (b"/v1/chat/completions", b'{"messages":[{"role":"robot","content":"a"}],"stream":true}', 400),
                             (b"/v1/chat/completions", b'{"messages":[{"role":"user","content":"a"}],"max_tokens":1}', 200)):
        have = ask(b"POST", path, body=body)
        assert have == want, (path, body, have)


def a_key_is_asked_for():
    for value, want in ((b"", 401), (b"Authorization: Basic secret\r\n", 401), (b"Authorization: Bearer secre\r\n", 401),
                        (b"Authorization: Bearer Secret\r\n", 401), (b"Authorization: bearer secret\r\n", 200)):
        # any host: who can reach it knows its address
        have = ask(b"GET", b"/v1/models", headers=value, body=None, host=b"Host: board\r\n", to=other_port)
        assert have == want, (value, have)


def a_body_that_grows_too_large_is_refused():
    headers = JSON + b"Authorization: Bearer secret\r\n"
    assert ask(b"POST", b"/v1/completions", headers=headers, body=BODY, to=other_port) == 200
    assert ask(b"POST", b"/v1/completions", headers=headers, body=BODY + b" " * 1024, to=other_port) == 413
    # nothing announces these
    chunk = b"200\r\n" + b" " * 512 + b"\r\n"
    assert status(post(HOST + headers + CHUNKED, 2 * chunk + b"0\r\n\r\n"), to=other_port) == 400
    assert status(post(HOST + headers + CHUNKED, 3 * chunk + b"0\r\n\r\n"), to=other_port) == 413
    assert status(post(HOST + headers + CHUNKED, 5 * chunk + b"0\r\n\r\n"), to=other_port) == 413


def a_client_that_leaves_does_not_disturb_others():
    body = b'{"prompt":"a","max_tokens":200,"stream":true}'
    for i in range(8):
        s = connect()
        s.sendall(post(HOST + JSON + b"Content-Length: %d\r\n" % len(body), body))
        if i % 2:
            s.recv(1)
        # a reset, not an end
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
    assert status(post(HOST + JSON + LENGTH)) == 200


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
             a_body_that_is_announced_as_too_large_is_refused_at_once, what_is_not_offered_is_refused,
             a_request_that_asks_for_what_is_not_there_is_refused, a_key_is_asked_for, a_body_that_grows_too_large_is_refused,
             a_client_that_leaves_does_not_disturb_others, slow_clients_do_not_keep_others_out):
    case(test)
sys.exit(failures != 0)
