# SPDX-License-Identifier: MIT
"""Models by the names of their inputs and outputs, on the processor and on devices."""

import pickle
import re
import threading

import tenon
from cases import DATA, SOURCE, TVM, Skip, close, need, raises, read_npy
from tenon import _model

GRAPH = DATA / "tvm-0.18/graph_mlp"
RELAX = TVM / "model_mlp"


def _relax():
    need("RELAX_VM")
    need("TVM_FFI_COMPAT")
    return tenon.load(RELAX / "model.so", function="forward")


def _graph():
    need("GRAPH_EXECUTOR")
    need("TVM_LEGACY")
    return tenon.load(GRAPH / "graph.so")


def _opencl():
    need("DEVICE_OPENCL")
    if not any(device["device"] == "opencl:0" for device in tenon.devices()):
        raise Skip("no OpenCL device")


def a_relax_model_runs():
    model, x, want = _relax(), read_npy(RELAX / "r0_x.npy"), read_npy(RELAX / "r0_out0.npy")
    assert isinstance(model, tenon.Model) and model.kind == "relax"
    assert model.inputs["x"].shape == x.shape and model.inputs[0].dtype == x.dtype
    assert close(model(x), want) and close(model(x=x), want) and close(model.main(x), want)
    assert list(model.outputs) == [model.outputs[-1].name] and close(model.outputs[0].value, want)


def a_graph_runs_with_its_parameters():
    model, x, want = _graph(), read_npy(GRAPH / "in_x.npy"), read_npy(GRAPH / "out0.npy")
    assert model.params == ["p0", "p1", "p2"] and list(model.inputs)[0] == "x" and "x" in model.inputs
    assert close(model(x), want) and model.memory["params"] > 0
    assert [op.name for op in model.operators] and len(model.inputs) == 4 and model.inputs.keys()
    assert model.inputs["p0"].is_set and dict(model.inputs.items())["x"].index == 0
    error = raises(LookupError, lambda: model.inputs["nope"])
    assert "x" in str(error) and isinstance(error, tenon.NotFoundError)
    raises(IndexError, lambda: model.inputs[9])
    raises(tenon.ArgumentTypeError, model, x, x)
    raises(tenon.Error, model, tenon.empty((7, 7)))


def library_graph_and_parameters_may_be_separate_files():
    _graph()
    files = {"graph": GRAPH / "graph.json", "params": GRAPH / "model.params"}
    model = tenon.load(GRAPH / "lib.so", **files)
    want = read_npy(GRAPH / "out0.npy")
    assert close(model(read_npy(GRAPH / "in_x.npy")), want)
    bare = tenon.load(GRAPH / "lib.so", graph=GRAPH / "graph.json")
    assert bare.params == [] and raises(tenon.Error, bare, read_npy(GRAPH / "in_x.npy"))
    bare.set_params(GRAPH / "model.params")
    assert close(bare(read_npy(GRAPH / "in_x.npy")), want) and bare.params == ["p0", "p1", "p2"]


def the_result_of_a_run_is_kept_by_later_runs():
    model, x = _graph(), read_npy(GRAPH / "in_x.npy")
    first = model(x)
    before = first.tolist()
    shared = model.outputs[0].value
    model(tenon.tensor([[0.0] * 16]) if x.shape == (1, 16) else tenon.empty(x.shape))
    assert first.tolist() == before and shared.tolist() != before


def inputs_are_set_and_bound():
    model, x = _graph(), read_npy(GRAPH / "in_x.npy").copy()
    model.inputs["x"] = x
    model.run()
    want = model.outputs[0].value.copy()
    changing = tenon.empty(x.shape)
    model.inputs["x"].bind(changing)
    changing.copy_from(x)
    model.run()
    assert close(model.outputs[0].value, want)
    raises(AttributeError, lambda: model.inputs["x"].value)
    raises(AttributeError, model.outputs[0].set, x)


def a_profile_has_the_time_of_each_operator():
    model, x = _graph(), read_npy(GRAPH / "in_x.npy")
    profile = model.profile(x)
    assert [op.name for op in profile] == [op.name for op in model.operators]
    assert all(op.nanoseconds >= 0 and isinstance(op.function, str) for op in profile)


def reset_forgets_inputs():
    model, x = _graph(), read_npy(GRAPH / "in_x.npy")
    want = model(x)
    model.reset()
    assert not model.inputs["x"].is_set and model.params == ["p0", "p1", "p2"] and close(model(x), want)


def an_input_gets_one_value():
    model, x = _relax(), read_npy(RELAX / "r0_x.npy")
    raises(TypeError, model, x, x=x)


def a_model_is_not_pickled():
    assert "tenon.Model" in str(raises(TypeError, pickle.dumps, _relax()))


def a_closed_model_says_so():
    with _graph() as model:
        out = model(read_npy(GRAPH / "in_x.npy"))
    raises(tenon.UsageError, model.run)
    assert len(out.tolist()) == out.shape[0]


def calls_of_several_threads_wait_for_each_other():
    need("TVM_FFI_COMPAT")
    model, x = _relax(), read_npy(RELAX / "r0_x.npy")
    want, results = model(x).tolist(), []
    threads = [threading.Thread(target=lambda: results.extend(model(x).tolist() for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [want] * 80


def a_missing_device_is_an_error():
    error = raises(tenon.DeviceError, tenon.load, RELAX / "model.so", device="opencl:77")
    assert isinstance(error, RuntimeError) and "opencl:77" in str(error)
    raises(tenon.Error, tenon.Device, "opencl:none-such")
    raises(TypeError, tenon.load, RELAX / "model.so", device=5)


def a_device_without_code_in_the_file_is_refused():
    need("DEVICE_NULL")
    error = raises(tenon.DeviceError, tenon.load, TVM / "host_vecadd/lib.so", device="null:0")
    assert "null:0" in str(error) and "lib.so" in str(error)
    assert tenon.load(TVM / "opencl_vecadd/lib.so").device_types == {"opencl"}
    raises(tenon.UsageError, lambda: tenon.load(TVM / "host_vecadd/lib.so", function="vecadd"))


def every_kind_that_the_library_opens_is_a_model():
    rows = [path.read_text() for path in SOURCE.glob("runtime/*/plugin.h")]
    kinds = {kind for row in rows if "EXECUTOR," in row for kind in re.findall(r'each\("(.+?)", \w+_load\)', row)}
    assert kinds == _model._MODEL_KINDS


def devices_are_plain_data():
    need("DEVICE_CPU")
    listed = {device["device"]: device for device in tenon.devices(command=None)}
    assert listed["cpu:0"]["class"] == "cpu" and listed["cpu:0"]["total_memory"] > 0
    assert tenon.Device("cpu:0").properties["device"] == "cpu:0"
    everything = tenon.devices(all=True)
    assert len(everything) >= len(listed) and all("problem" in d or "device" in d for d in everything)
    assert hash(tenon.Device("cpu")) == hash(tenon.Device("cpu:0")) and tenon.Device("cpu") == tenon.Device("cpu:0")


def kernels_run_on_an_opencl_device():
    _opencl()
    folder = TVM / "opencl_vecadd"
    module = tenon.load(folder / "lib.so", device="opencl:0")
    a, b = (read_npy(folder / f"c0_in{i}.npy").to("opencl:0") for i in (0, 1))
    out = tenon.empty(a.shape, a.dtype, "opencl:0")
    module.vecadd(a, b, out)
    assert close(out.to("cpu"), read_npy(folder / "c0_out2.npy")) and str(out.device) == "opencl:0"
    raises(BufferError, memoryview, out)
    raises(BufferError, out.__dlpack__)
    # the recording has the kernel, and each run its tensors
    device, others = tenon.Device("opencl:0"), [tenon.tensor([float(i)] * 64).to("opencl:0") for i in (1, 2, 3, 4)]
    with device.recording() as recording:
        recording.call(module.vecadd, *[recording.slot(i, a.shape) for i in (0, 1, 2)])
        raises(TypeError, recording.call, module.vecadd, a, b, tenon.tensor([1, 2]).to(device))
        raises(tenon.Error, recording.call, module.vecadd, a, b, tenon.empty(64))
    queue = device.queue()
    queue.execute(recording, [others[0], others[1], others[3]])
    queue.execute(recording, [others[3], others[2], out])
    queue.sync()
    assert out.to("cpu").tolist() == [6.0] * 64

    folder = TVM / "model_mlp_opencl"
    model = tenon.load(folder / "model.so", device="opencl:0", function="forward")
    got = model(read_npy(folder / "r0_x.npy"))
    assert str(got.device) == "opencl:0" and close(got.to("cpu"), read_npy(folder / "r0_out0.npy"))
