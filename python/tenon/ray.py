# SPDX-License-Identifier: MIT
"""Models on a cluster of Ray, which schedules, restarts and retries: pip install "ray[data,serve]" numpy.

    import tenon.ray

    actors = tenon.ray.Actors("network.so", devices=["cpu:0", "cuda:0"])
    for scores in actors.map(images):
        ...

Each actor keeps a model open. What a killed one had not answered is run again by another start of it, so models that
keep state between runs do not belong here. The file of a model must be readable on every machine of the cluster.
"""

import asyncio
import json

import numpy
import ray
from ray.util import ActorPool

import tenon


def _outputs(result):
    """The outputs of a call as other processes take them: arrays."""
    outputs = result if isinstance(result, tuple) else (result,)
    return tuple(value.numpy() if isinstance(value, tenon.Tensor) else value for value in outputs)


class _Opened:
    """What an actor keeps: a model, or a function of a module."""

    def __init__(self, path, device, options):
        self.module = tenon.load(path, device=device, **options)

    def run(self, item):
        """Run it on a dict of inputs by name, a tuple of inputs in order, or one input."""
        if isinstance(item, dict):
            result = self.module(**item)
        else:
            result = self.module(*item) if isinstance(item, tuple) else self.module(item)
        outputs = _outputs(result)
        return outputs if isinstance(result, tuple) else outputs[0]


def _ray_options(device, options):
    """A graphics processor of CUDA is a resource that Ray counts; its actor sees that one alone, as cuda:0."""
    counted = {"num_gpus": 1} if str(device).startswith("cuda") else {"num_cpus": 1}
    return {**counted, **(options or {})}


class Actors:
    """A model that is open in an actor for each of several devices.

    devices: names, "cuda:0" for each graphics processor of CUDA. ahead: inputs that an actor has at a time; more wait
    for results to be taken. ray_options: further options of the actors, such as {"resources": {"board": 1}}.
    Further options are those of tenon.load().
    """

    def __init__(self, path, devices=("cpu:0",), *, ahead=2, ray_options=None, **options):
        opened = ray.remote(_Opened)
        # Ray starts a killed actor anew, and gives it what it had not answered
        self.actors = [
            opened.options(max_restarts=-1, max_task_retries=-1, **_ray_options(device, ray_options)).remote(
                str(path), device, options
            )
            for device in devices
        ]
        self._ahead = ahead

    def map(self, items):
        """Run the model on each of the items; gives the results in their order, each once, as it gets them.

        An item is a dict of inputs by name, a tuple of inputs in order, or one input; a result is an array, or a tuple
        of several. Items are read no further ahead than the actors have room.
        """
        pool = ActorPool(self.actors * self._ahead)
        for item in items:
            while not pool.has_free():
                yield pool.get_next()
            pool.submit(lambda actor, given: actor.run.remote(given), item)
        while pool.has_next():
            yield pool.get_next()

    def close(self):
        """End the actors."""
        for actor in self.actors:
            ray.kill(actor)
        self.actors = []

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.close()


class Batches:
    """For Dataset.map_batches() of Ray Data: adds columns with the outputs of a model.

        two = ray.data.ActorPoolStrategy(size=2)
        dataset.map_batches(tenon.ray.Batches, fn_constructor_args=["network.so"], compute=two, batch_size=64)

    columns: the column that each input is read from, by name; without it the one of the input's own name. Rows are run
    as many at a time as the first dimension of the model's inputs has; of a batch that is no multiple, the last row is
    repeated.
    """

    def __init__(self, path, device=None, columns=None, **options):
        self._model = tenon.load(path, device=device, **options)
        ports = [port for port in self._model.inputs.values() if port.name not in self._model.params]
        self._columns = {port.name: (columns or {}).get(port.name, port.name) for port in ports}
        extents = {port.shape[0] if port.shape else 1 for port in ports}
        if len(extents) != 1:
            raise tenon.ArgumentValueError(f"the first dimensions of the inputs differ: {sorted(map(str, extents))}")
        self._rows = extents.pop()

    def __call__(self, batch):
        inputs = {name: numpy.asarray(batch[column]) for name, column in self._columns.items()}
        count = len(next(iter(inputs.values())))
        parts = [self._run(inputs, start, count) for start in range(0, count, self._rows or count)]
        for name, values in zip(self._model.outputs, zip(*parts)):
            batch[name] = numpy.concatenate(values)
        return batch

    def _run(self, inputs, start, count):
        rows = self._rows or count
        taken = numpy.minimum(numpy.arange(start, start + rows), count - 1)
        outputs = _outputs(self._model(**{name: rows_of[taken] for name, rows_of in inputs.items()}))
        return [output[: count - start] for output in outputs]


class Model:
    """For Ray Serve: a model by HTTP. A request has its inputs as JSON, the reply its outputs.

        serve.run(serve.deployment(tenon.ray.Model).bind("network.so"))
        requests.post("http://localhost:8000", json={"x": [[1, 2], [3, 4]]}).json()
    """

    def __init__(self, path, device=None, **options):
        self._model = tenon.load(path, device=device, **options)

    async def __call__(self, request):
        given = await request.json()
        return await asyncio.to_thread(self._answer, given)

    def _answer(self, given):
        known = self._model.inputs
        inputs = {name: tenon.tensor(value, known[name].dtype) for name, value in given.items()}
        return {name: output.tolist() for name, output in zip(self._model.outputs, _outputs(self._model(**inputs)))}


class Chat:
    """For Ray Serve: a language model by HTTP, with requests and replies of OpenAI's chat completions.

        serve.run(serve.deployment(tenon.ray.Chat).bind("smollm2"))

    Requests that come while others are answered join their batch.
    """

    def __init__(self, path, device=None, **options):
        self._model = tenon.LanguageModel(path, device, **options)

    async def __call__(self, request):
        from starlette.responses import StreamingResponse

        asked = await request.json()
        wanted = {
            name: asked[name] for name in ("max_tokens", "temperature", "top_p", "seed", "stop") if name in asked
        }
        reply = self._model.chat(asked["messages"], **wanted)
        if asked.get("stream"):
            return StreamingResponse(self._events(reply), media_type="text/event-stream")
        text = await asyncio.to_thread(lambda: reply.text)
        message = {"role": "assistant", "content": text}
        return self._completion(reply, message=message, finish_reason=reply.end)

    def _completion(self, reply, **choice):
        completion = {"model": self._model.info["name"], "choices": [{"index": 0, **choice}]}
        return {**completion, "usage": reply.usage} if reply.end else completion

    def _events(self, reply):
        for part in reply:
            yield f"data: {json.dumps(self._completion(reply, delta={'content': part}))}\n\n"
        yield f"data: {json.dumps(self._completion(reply, delta={}, finish_reason=reply.end))}\n\ndata: [DONE]\n\n"
