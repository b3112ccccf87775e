# SPDX-License-Identifier: MIT
"""Kernels between the products: normalisation, rotary embedding, gates."""

import functools
import math

from tvm.script import tirx as T

from .products import ATTRIBUTES, each_row, filled

LANES = 16
LN2 = math.log(2)


def exp2(x, lanes):
    """2 to the power of vectors of float32, to 2e-7; powers below -126 are taken for -126."""
    x = T.max(T.min(x, filled(126, lanes, "float32")), filled(-126, lanes, "float32"))
    whole = T.nearbyint(x)
    rest = x - whole
    power = filled(LN2**7 / math.factorial(7), lanes, "float32")
    for n in range(6, -1, -1):
        power = power * rest + filled(LN2**n / math.factorial(n), lanes, "float32")
    exponent = (T.Cast(f"int32x{lanes}", whole) + filled(127, lanes, "int32")) << filled(23, lanes, "int32")
    return power * T.reinterpret(f"float32x{lanes}", exponent)


@T.macro
def sum_lanes(values):
    """Leave the sum of 16 numbers in the first."""
    values[T.ramp(0, 1, 8)] += values[T.ramp(8, 1, 8)]
    values[T.ramp(0, 1, 4)] += values[T.ramp(4, 1, 4)]
    values[T.ramp(0, 1, 2)] += values[T.ramp(2, 1, 2)]
    values[0] += values[1]


@functools.cache
def normalisation(width, epsilon, one_row):
    """Rows by the root of their mean square, and by weights."""

    @T.prim_func(s_tir=True, private=True)
    def normalise(xp: T.handle, w: T.Buffer((width,), "float32"), yp: T.handle):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        x = T.match_buffer(xp, (n, width), "float32")
        y = T.match_buffer(yp, (n, width), "float32")
        for r in each_row(n, one_row):
            with T.sblock("row"):
                T.reads()
                T.writes()
                squares = T.sblock_alloc_buffer((LANES,), "float32", scope="local")
                scale = T.sblock_alloc_buffer((1,), "float32", scope="local")
                squares[T.ramp(0, 1, LANES)] = filled(0, LANES, "float32")
                for k in range(width // LANES):
                    squares[T.ramp(0, 1, LANES)] += x[r, T.ramp(k * LANES, 1, LANES)] * x[r, T.ramp(k * LANES, 1, LANES)]
                sum_lanes(squares)
                scale[0] = T.float32(1) / T.sqrt(squares[0] / T.float32(width) + T.float32(epsilon))
                for k in range(width // LANES):
                    y[r, T.ramp(k * LANES, 1, LANES)] = (
                        x[r, T.ramp(k * LANES, 1, LANES)] * T.broadcast(scale[0], LANES) * w[T.ramp(k * LANES, 1, LANES)]
                    )

    return normalise


@functools.cache
def gate(width, one_row):
    """SiLU of the first half of each row by the second half."""

    @T.prim_func(s_tir=True, private=True)
    def gated(xp: T.handle, yp: T.handle):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        x = T.match_buffer(xp, (n, 2 * width), "float32")
        y = T.match_buffer(yp, (n, width), "float32")
        for r in each_row(n, one_row):
            with T.sblock("row"):
                T.reads()
                T.writes()
                for k in range(width // LANES):
                    y[r, T.ramp(k * LANES, 1, LANES)] = (
                        x[r, T.ramp(k * LANES, 1, LANES)]
                        / (
                            filled(1, LANES, "float32")
                            + exp2(x[r, T.ramp(k * LANES, 1, LANES)] * filled(-1 / LN2, LANES, "float32"), LANES)
                        )
                        * x[r, T.ramp(width + k * LANES, 1, LANES)]
                    )

    return gated


@functools.cache
def rotation(queries, keys, size, rotary):
    """
    Divide rows of heads into queries, keys and values, and rotate the first two by the positions of the rows: number j
    of a head with number rotary/2 + j, by the j-th frequency.
    """
    half = rotary // 2

    @T.prim_func(s_tir=True)
    def rotate(
        xp: T.handle, pp: T.handle, qp: T.handle, kp: T.handle, vp: T.handle, frequency: T.Buffer((half,), "float32")
    ):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        first = T.int64()
        x = T.match_buffer(xp, (n, queries + 2 * keys, size), "float32")
        position = T.match_buffer(pp, (n,), "int32", elem_offset=first)
        q = T.match_buffer(qp, (n, queries, size), "float32")
        k = T.match_buffer(kp, (n, keys, size), "float32")
        v = T.match_buffer(vp, (n, keys, size), "float32")
        for r in range(n):
            with T.sblock("row"):
                T.reads()
                T.writes()
                cos = T.sblock_alloc_buffer((half,), "float32", scope="local")
                sin = T.sblock_alloc_buffer((half,), "float32", scope="local")
                for j in range(half):
                    cos[j] = T.cos(T.Cast("float32", position[r]) * frequency[j])
                    sin[j] = T.sin(T.Cast("float32", position[r]) * frequency[j])
                for h in range(queries):
                    for j in range(half):
                        q[r, h, j] = x[r, h, j] * cos[j] - x[r, h, half + j] * sin[j]
                        q[r, h, half + j] = x[r, h, half + j] * cos[j] + x[r, h, j] * sin[j]
                    for j in range(size - rotary):
                        q[r, h, rotary + j] = x[r, h, rotary + j]
                for h in range(keys):
                    for j in range(half):
                        k[r, h, j] = x[r, queries + h, j] * cos[j] - x[r, queries + h, half + j] * sin[j]
                        k[r, h, half + j] = x[r, queries + h, half + j] * cos[j] + x[r, queries + h, j] * sin[j]
                    for j in range(size - rotary):
                        k[r, h, rotary + j] = x[r, queries + h, rotary + j]
                for h, j in T.grid(keys, size):
                    v[r, h, j] = x[r, queries + keys + h, j]

    return rotate
