# SPDX-License-Identifier: MIT
"""Global functions that Relax programs call, by themselves: on TVM's runtime and on Tenon they do the same."""

import numpy as np
import pytest
import tvm

PREFIX = "vm.builtin."


def call(name, *args):
    return tvm.get_global_func(PREFIX + name)(*args)


def keep(name, values):
    call("tensor_cache.update", name, tvm.runtime.tensor(np.array(values, "float32")), True)


def params(module):
    return [tensor.numpy().tolist() for tensor in module["get_params"]()]


@pytest.fixture(autouse=True)
def two_weights():
    keep("w_0", [1, 2])
    keep("w_1", [3])
    yield
    call("tensor_cache.clear")


@pytest.mark.parametrize("count", [2, -1])
def test_param_module_from_cache(count):
    assert params(call("param_module_from_cache", "w", count)) == [[1, 2], [3]]


def test_param_module_from_cache_without_weights():
    assert params(call("param_module_from_cache", "v", -1)) == []
    with pytest.raises(tvm.error.InternalError, match="w_2"):
        call("param_module_from_cache", "w", 3)


def test_param_module_from_cache_by_name():
    assert params(call("param_module_from_cache_by_name", ["w_1", "w_0"])) == [[3], [1, 2]]
    with pytest.raises(ValueError, match="absent"):
        call("param_module_from_cache_by_name", ["w_0", "absent"])


def test_param_module_keeps_what_is_removed():
    module = call("param_module_from_cache", "w", 2)
    call("tensor_cache.clear")
    assert params(module) == [[1, 2], [3]]


def test_param_module_has_one_function():
    module = call("param_module_from_cache", "w", 2)
    with pytest.raises(AttributeError):
        module["get_weights"]


def test_memory_manager_clear():
    assert call("memory_manager.clear") is None
    with pytest.raises(TypeError):
        call("memory_manager.clear", 1)


def test_debug_print():
    """What it prints is compared by unit/relax_builtin_print_test."""
    assert call("debug_print", "model.py:12", tvm.runtime.tensor(np.array([4, 5, 6], "int32"))) is None
