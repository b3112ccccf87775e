# SPDX-License-Identifier: MIT
"""What the package tvm_ffi does on our library; the first argument names a section."""

import gc
import os
import sys
import typing

import numpy as np
import tvm_ffi


def library(path):
    loaded = [line.split()[-1] for line in open("/proc/self/maps") if "libtvm_ffi.so" in line]
    assert loaded and all(os.path.samefile(file, path) for file in loaded), loaded
    assert any("libtenon.so" in line for line in open("/proc/self/maps"))
    names = tvm_ffi.registry.list_global_func_names()
    assert "ffi.Map" in names and "__tvm_set_device" in names, names


def write_names(path):
    """Global functions and types of the library in use, but those for tvm_ffi's own tests, a line each."""
    found = [*tvm_ffi.registry.list_global_func_names(), *tvm_ffi.registry.get_registered_type_keys()]
    with open(path, "w") as file:
        file.writelines(f"{name}\n" for name in sorted(found) if not name.startswith("testing."))


def names(theirs, path):
    write_names(path)
    with open(theirs) as wanted, open(path) as had:
        missing = set(wanted).difference(had)
    assert not missing, missing


def tensors():
    x = np.arange(6, dtype="float32").reshape(2, 3)
    t = tvm_ffi.from_dlpack(x)
    assert t.shape == (2, 3) and str(t.dtype) == "float32" and repr(t) == "float32[2, 3]@cpu:0"
    back = np.from_dlpack(t)
    x[1, 2] = 42
    assert back[1, 2] == 42
    del x, t
    gc.collect()
    assert back[1, 2] == 42
    echo = tvm_ffi.convert(lambda tensor: tensor)
    assert np.from_dlpack(echo(tvm_ffi.from_dlpack(back))).sum() == back.sum()


def calls():
    add = tvm_ffi.convert(lambda a, b: a + b)
    assert add(1, 2) == 3 and add("a long string of ", "two parts") == "a long string of two parts"
    assert add(2**70, 1) == 2**70 + 1 and add(-(2**64), 0) == -(2**64)

    def fails():
        raise ValueError("said in Python")

    try:
        tvm_ffi.convert(fails)()
    except ValueError as error:
        assert "said in Python" in str(error)
    else:
        raise AssertionError("no error")
    tvm_ffi.register_global_func("test.twice", lambda x: 2 * x)
    assert tvm_ffi.get_global_func("test.twice")(21) == 42
    tvm_ffi.remove_global_func("test.twice")
    assert tvm_ffi.get_global_func("test.twice", allow_missing=True) is None


def containers():
    array = tvm_ffi.Array([1, 2.5, "three", [4]])
    assert list(array)[2] == "three" and array[3][0] == 4 and repr(array) == '(1, 2.5, "three", (4,))'
    numbers = tvm_ffi.Map({i: i * i for i in range(1000)})
    assert len(numbers) == 1000 and all(numbers[i] == i * i for i in range(1000))
    assert list(numbers) == list(range(1000))
    words = tvm_ffi.Dict({})
    for i in range(2000):
        words[f"word {i}"] = i
    for i in range(0, 2000, 2):
        del words[f"word {i}"]
    assert len(words) == 1000 and words["word 1999"] == 1999 and "word 2" not in words
    items = tvm_ffi.List([3, 1, 2])
    items[1:1] = [7, 8]
    assert list(items) == [3, 7, 8, 1, 2]
    try:
        numbers[1001]
    except KeyError:
        pass
    else:
        raise AssertionError("no KeyError")


def dataclasses():
    @tvm_ffi.dataclasses.py_class("test.package.Point", eq=True, order=True)
    class Point(tvm_ffi.Object):
        x: int
        y: float = 0.5

    p = Point(3)
    assert p.x == 3 and p.y == 0.5 and repr(p) == "test.package.Point(x=3, y=0.5)"
    assert Point(1) < p and Point(3, 0.5) == p
    try:
        Point()
    except TypeError as error:
        assert "'x'" in str(error)
    else:
        raise AssertionError("no TypeError")


def hooks():
    kept = []

    @tvm_ffi.dataclasses.py_class("test.package.Tagged", structural_eq="tree")
    class Tagged(tvm_ffi.Object):
        inner: typing.Any
        tag: int = 0

        def __ffi_repr__(self, text):
            kept.append(text)
            return "<" + text(self.inner) + ">"

        def __ffi_eq__(self, other, equal):
            return equal(self.inner, other.inner)

        def __ffi_compare__(self, other, order):
            return order(self.inner, other.inner)

        def __ffi_hash__(self, hashed):
            return hashed(self.inner)

        def __s_equal__(self, other, equal):
            return equal(self.inner, other.inner, 0, "inner")

        def __s_hash__(self, before, hashed):
            return hashed(self.inner, before, 0)

    def function(name):
        return tvm_ffi.get_global_func("ffi." + name)

    a, b, c = (Tagged(tvm_ffi.Array([i]), tag) for i, tag in ((1, 1), (1, 2), (2, 1)))
    assert repr(a) == "<(1,)>" and repr(tvm_ffi.Array([a])) == "(<(1,)>,)"
    for name, more in ("RecursiveEq", ()), ("StructuralEqual", (False, False)):
        assert function(name)(a, b, *more) and not function(name)(a, c, *more), name
    assert function("RecursiveLt")(a, c) and not function("RecursiveLt")(a, b)
    for name, more in ("RecursiveHash", ()), ("StructuralHash", (False, False)):
        assert function(name)(a, *more) == function(name)(b, *more) != function(name)(c, *more), name
    assert str(function("GetFirstStructuralMismatch")(a, c, False, False)[0]) == "<root>.inner[0]"
    # the visit that it belonged to is over
    try:
        kept[0](1)
    except RuntimeError:
        pass
    else:
        raise AssertionError("a function outlives its visit")


def mutation():
    root = tvm_ffi.Array([1, tvm_ffi.Map({"a": 2, "b": "text"}), tvm_ffi.List([3, 4.5])])
    mapped = tvm_ffi.structural_map(root, (int, lambda value: value + 1))
    assert repr(mapped) == '(2, {"a": 3, "b": "text"}, [4, 4.5])', repr(mapped)
    assert repr(root) == '(1, {"a": 2, "b": "text"}, [3, 4.5])', repr(root)
    assert tvm_ffi.structural_map(root, (float, lambda value: value)).same_as(root)

    # an array that nothing else holds is changed in place
    owned = tvm_ffi.Array([1, tvm_ffi.Array([2])])
    handle = owned.__chandle__()
    mapped = tvm_ffi.structural_map(owned._move(), (int, lambda value: value * 10))
    assert mapped.__chandle__() == handle and repr(mapped) == "(10, (20,))"

    # what a callback returns before its parts are mutated is mutated
    again = tvm_ffi.structural_map(
        tvm_ffi.Array(["x"]), [(str, lambda _: tvm_ffi.Array([1])), (int, lambda _: 7)], order="pre"
    )
    assert repr(again) == "((7,),)", repr(again)

    # a callback that empties the list which is mutated
    victim = tvm_ffi.List([tvm_ffi.Array([i]) for i in range(100)])

    def empties(value):
        victim.clear()
        return value + 1

    assert len(tvm_ffi.structural_map(victim, (int, empties))) <= 100 and len(victim) == 0

    def fails(value, mutator):
        raise ValueError("said by a callback")

    try:
        tvm_ffi.structural_mutate(tvm_ffi.Array([tvm_ffi.Map({"k": 1})]), (int, fails))
    except ValueError as error:
        assert "said by a callback" in str(error)
    else:
        raise AssertionError("no error")

    deep = tvm_ffi.List([])
    for _ in range(100000):
        deep = tvm_ffi.List([deep])
    try:
        tvm_ffi.structural_map(deep, (int, lambda value: value))
    except ValueError as error:
        assert "depth" in str(error)
    else:
        raise AssertionError("no error")


def module(path):
    opened = tvm_ffi.load_module(path)
    a, b = (np.random.default_rng(i).random(128, dtype="float32") for i in (1, 2))
    names = [name for name in ("main", "vecadd", "add") if opened.implements_function(name)]
    assert names, "no function"
    out = np.zeros(128, dtype="float32")
    opened[names[0]](*(tvm_ffi.from_dlpack(x) for x in (a, b, out)))
    assert np.allclose(out, a + b)


globals()[sys.argv[1]](*sys.argv[2:])
