# SPDX-License-Identifier: MIT
"""Tests as TVM's are: each ends in the same way on TVM's runtime and on Tenon, or cannot be expressed."""

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Doubled:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        return R.add(x, x)


@T.prim_func
def increment(a: T.Buffer((4,), "int32")):
    T.func_attr({"global_symbol": "increment", "tirx.noalias": True})
    for i in range(4):
        a[i] = a[i] + 1


@T.prim_func
def echo(a: T.Buffer((4,), "int32")):
    T.func_attr({"global_symbol": "echo", "tirx.noalias": True})
    T.evaluate(T.call_packed("testing.echo", a[0]))


@tvm.register_global_func("suite.example.twice")
def twice(value):
    return 2 * value


def test_machine():
    machine = relax.VirtualMachine(tvm.compile(Doubled, "llvm"), tvm.cpu())
    x = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(machine["main"](tvm.runtime.tensor(x)).numpy(), 2 * x)


def test_change_in_place():
    a = tvm.runtime.tensor(np.arange(4, dtype="int32"))
    tvm.compile(increment, "llvm")["increment"](a)
    np.testing.assert_array_equal(a.numpy(), [1, 2, 3, 4])


def test_function_of_the_test_library():
    tvm.compile(echo, "llvm")["echo"](tvm.runtime.tensor(np.zeros(4, "int32")))


def test_refusal():
    with pytest.raises(TypeError):
        tvm.compile(increment, "llvm")["increment"](tvm.runtime.tensor(np.zeros(4, "int32")), 1)


def test_value_without_a_message():
    class Own:
        pass

    tvm.compile(increment, "llvm")["increment"](Own())
