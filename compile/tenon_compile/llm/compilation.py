# SPDX-License-Identifier: MIT
"""From a checkpoint to the library and the weights of a folder."""

import json
from dataclasses import dataclass, field

from ..errors import CompileError, first_line
from .folder import Shards

CHUNK = 512  # tokens of a step of a prompt, at most
SEQUENCES = 4  # of a batch


@dataclass
class Context:
    """What the modules of a decoder take their weights from, and how each is loaded."""

    checkpoint: object
    kernels: object
    loaders: list = field(default_factory=list)  # (parameters, function that returns their arrays)

    def loaded(self, parameters, load):
        self.loaders.append((parameters, load))


def metadata(settings, parameters):
    """What _metadata() of the library returns."""
    return {
        "model_type": "llama",
        "quantization": "none",
        "context_window_size": settings.context,
        "sliding_window_size": -1,
        "attention_sink_size": -1,
        "prefill_chunk_size": min(CHUNK, settings.context),
        "tensor_parallel_shards": 1,
        "pipeline_parallel_stages": 1,
        "disaggregation": False,
        "kv_state_kind": "kv_cache",
        "max_batch_size": SEQUENCES,
        "active_vocab_size": settings.vocabulary,
        "model_task": "chat",
        "params": [
            {
                "name": name,
                "shape": [int(extent) for extent in parameter.shape],
                "dtype": parameter.dtype,
                "preprocs": [],
                "pipeline_stages": [0],
            }
            for name, parameter in parameters
        ],
        "kv_cache": {
            "num_hidden_layers": settings.layers,
            "num_attention_heads": settings.heads,
            "num_key_value_heads": settings.key_heads,
            "head_dim": settings.head_size,
        },
        "memory_usage": {},
    }


def with_metadata(module, text):
    """The module with a function _metadata."""
    import tvm
    from tvm import relax

    builder = relax.BlockBuilder(module)
    with builder.function("_metadata", params=[]):
        builder.emit_func_output(tvm.ir.StringImm(text))
    return builder.get()


def executable(module, target):
    """What TVM builds of a module."""
    from tvm import relax

    with target:
        module = relax.get_pipeline("zero")(module)
    if target.kind.name == "llvm":  # its kernels have schedules
        with target:
            return relax.build(module, target=target)
    from tvm.relax.backend.cuda import get_default_pipeline

    from ..devices import recording, rules_of_language_models, schedule_module

    module, _ = schedule_module(module, target, rules_of_language_models())
    # what is behind num_input stays in its place, the cache and the weights: what reads it is recorded
    module["decode"] = module["decode"].with_attr("num_input", 1)
    with target, recording():
        return relax.build(module, target=target, relax_pipeline=get_default_pipeline(target))


def build(checkpoint, target, kernels, progress):
    """The executable; names of parameters, in the order of their loaders; the loaders."""
    from .decoder import Decoder

    context = Context(checkpoint, kernels)
    decoder = Decoder(context)
    checkpoint.check_all_used()
    progress("generating code")
    try:
        module, parameters = decoder.export_tvm(spec=decoder.specification())
        module = with_metadata(module, json.dumps(metadata(checkpoint.settings, parameters)))
        built = executable(module, target)
    except CompileError:
        raise
    except Exception as error:  # TVM raises whatever its C++ does
        raise CompileError(f"TVM does not compile it: {first_line(error)}") from error
    names = {id(parameter): name for name, parameter in parameters}
    return built, [([names[id(parameter)] for parameter in owned], load) for owned, load in context.loaders]


def write_weights(folder, loaders, progress):
    """Write the shards, one matrix after another; how many bytes they have."""
    shards = Shards(folder)
    for index, (names, load) in enumerate(loaders):
        progress(f"packing weights, {index + 1} of {len(loaders)}")
        for name, array in zip(names, load(), strict=True):
            shards.add(name, array)
    return shards.end()
