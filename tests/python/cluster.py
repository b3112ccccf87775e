# SPDX-License-Identifier: MIT
"""tenon.ray on a cluster of several processes here: a killed actor, back-pressure, Ray Data, Ray Serve."""

import functools
import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request

import numpy
import ray
from ray import serve

import tenon
import tenon.ray
from cases import SOURCE, TVM

MLP = str(TVM / "model_mlp/model.so")
ITEMS = 64
MINUTES = 10  # for what takes seconds on an idle machine

# a cluster that a busy machine of two processors starts: each process of Ray takes seconds of one
ray.init(num_cpus=2, include_dashboard=False, object_store_memory=128 << 20)


@functools.cache
def _two_actors():
    """Two processes that the first cases share."""
    return tenon.ray.Actors(MLP, ["cpu:0", "cpu:0"], function="forward")


def _inputs(count):
    numbers = numpy.random.default_rng(1)
    port = tenon.load(MLP, function="forward").inputs[0]
    return [numbers.standard_normal(port.shape, dtype=numpy.float32) for _ in range(count)]


def _expected(inputs):
    model = tenon.load(MLP, function="forward")
    return [model(x).numpy() for x in inputs]


def _processes(actors):
    return ray.get([actor.__ray_call__.remote(lambda opened: os.getpid()) for actor in actors.actors])


def results_come_in_order():
    inputs = _inputs(ITEMS)
    got = list(_two_actors().map(inputs))
    assert len(got) == ITEMS
    for a, b in zip(got, _expected(inputs)):
        numpy.testing.assert_array_equal(a, b)


def inputs_have_names():
    x = _inputs(1)[0]
    name = next(iter(tenon.load(MLP, function="forward").inputs))
    for item in x, (x,), {name: x}:
        numpy.testing.assert_array_equal(next(_two_actors().map([item])), _expected([x])[0])


def items_are_read_as_far_as_there_is_room():
    read = []

    def items():
        for x in _inputs(ITEMS):
            read.append(x)
            yield x

    results = _two_actors().map(items())
    next(results)
    assert len(read) <= 5, len(read)
    results.close()


def a_model_that_fails_raises_its_error():
    try:
        list(_two_actors().map([numpy.zeros((1, 2, 3), "float32")]))
    except tenon.Error as error:
        assert "shape" in str(error), error
    else:
        raise AssertionError("no error was raised")


def a_killed_actor_loses_nothing_and_repeats_nothing():
    inputs = _inputs(ITEMS)
    killed = []
    with _two_actors() as actors:
        processes = _processes(actors)
        got = []
        for result in actors.map(inputs):
            got.append(result)
            if len(got) == ITEMS // 4:
                os.kill(processes[0], signal.SIGKILL)
                killed.append(processes[0])
        again = _processes(actors)
    assert killed and again[0] != processes[0] and again[1] == processes[1]
    assert len(got) == ITEMS
    for a, b in zip(got, _expected(inputs)):
        numpy.testing.assert_array_equal(a, b)


def a_dataset_gets_columns_of_outputs():
    inputs = numpy.concatenate(_inputs(7))[:20]
    model = tenon.load(MLP, function="forward")
    name = next(iter(model.inputs))
    dataset = ray.data.from_numpy([inputs[:12], inputs[12:]]).map_batches(
        tenon.ray.Batches,
        fn_constructor_args=[MLP],
        fn_constructor_kwargs={"function": "forward", "columns": {name: "data"}},
        compute=ray.data.ActorPoolStrategy(size=2),
        batch_size=8,
    )
    rows = dataset.take_all()
    assert sorted(row["data"].tolist() for row in rows) == sorted(inputs.tolist())
    output = next(iter(model.outputs))
    want = _expected([row["data"][None].repeat(3, 0) for row in rows])
    for row, one in zip(rows, want):
        numpy.testing.assert_allclose(row[output], one[0], rtol=1e-5)


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _begin(start, *arguments, **named):
    """Ray waits a minute for processes of Serve, and goes on starting them after that."""
    try:
        start(*arguments, **named)
    except TimeoutError:
        pass


def _post(url, body):
    """The reply, as soon as what the URL names is there."""
    request = urllib.request.Request(url, json.dumps(body).encode())
    end = time.monotonic() + 60 * MINUTES
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60 * MINUTES) as reply:
                return reply.read().decode()
        except (urllib.error.URLError, ConnectionError) as error:
            # it refuses, or takes a connection and closes it, until it has begun
            starting = getattr(error, "code", None) in (404, 503) or isinstance(getattr(error, "reason", error), ConnectionError)
            if not starting or time.monotonic() > end:
                raise
        time.sleep(1)


def models_answer_by_http():
    x = _inputs(1)[0]
    name = next(iter(tenon.load(MLP, function="forward").inputs))
    port = _free_port()
    _begin(serve.start, http_options={"port": port})
    model = serve.deployment(tenon.ray.Model).bind(MLP, function="forward")
    _begin(serve.run, model, name="model", route_prefix="/model")
    answer = json.loads(_post(f"http://127.0.0.1:{port}/model", {name: x.tolist()}))
    numpy.testing.assert_allclose(list(answer.values())[0], _expected([x])[0], rtol=1e-5)
    folder = str(SOURCE / "tests/llm/data/bytes")
    chat = serve.deployment(tenon.ray.Chat).bind(folder)
    _begin(serve.run, chat, name="chat", route_prefix="/chat")
    asked = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 6, "temperature": 0}
    whole = json.loads(_post(f"http://127.0.0.1:{port}/chat", asked))
    text = whole["choices"][0]["message"]["content"]
    assert whole["choices"][0]["finish_reason"] in ("stop", "length") and whole["usage"]["tokens"] <= 6
    events = [line[6:] for line in _post(f"http://127.0.0.1:{port}/chat", {**asked, "stream": True}).splitlines() if line]
    assert events.pop() == "[DONE]"
    parts = [json.loads(event)["choices"][0]["delta"].get("content", "") for event in events]
    assert "".join(parts) == text
    serve.shutdown()
