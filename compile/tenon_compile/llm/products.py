# SPDX-License-Identifier: MIT
"""Products of rows by matrices of weights: kernels for any processor that LLVM knows.

Outputs are taken in blocks of 32, which the threads divide among them; the weights of a block lie together, so that a
step of decoding reads them from the first byte to the last. A prompt has many rows: they are taken in tiles, for which
each weight is loaded once.

@one_row: the kernel is for a single row, as in a step of decoding; else the number of rows is known at run time.
"""

import functools

from tvm.script import tirx as T

from .matrix import GROUP

BLOCK = 32  # outputs of a block
ATTRIBUTES = {"tirx.noalias": True, "tirx.is_scheduled": True}


def each_row(n, one_row):
    """A loop over rows, which the threads divide; one row is not worth a thread."""
    return T.serial(1) if one_row else T.parallel(n)


def filled(value, count, dtype):
    return T.broadcast(T.Cast(dtype, value), count)


def widened(values, count):
    """Numbers of any type as float32."""
    return T.Cast(f"float32x{count}", values)


@functools.cache
def float_product(inputs, outputs, dtype, tile, one_row):
    """Weights [outputs/32, inputs, 32], in float32 or float16. A tile has @tile rows and 16 outputs."""
    blocks, half = outputs // BLOCK, BLOCK // 2

    @T.prim_func(s_tir=True, private=True)
    def product(xp: T.handle, w: T.Buffer((blocks, inputs, BLOCK), dtype), yp: T.handle):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        x = T.match_buffer(xp, (1 if one_row else n, inputs), "float32")
        y = T.match_buffer(yp, (1 if one_row else n, outputs), "float32")
        for block in T.parallel(blocks):
            for h, r in T.grid(2, 0 if one_row else n // tile):
                with T.sblock("tile"):
                    T.reads()
                    T.writes()
                    total = T.sblock_alloc_buffer((tile * half,), "float32", scope="local")
                    total[T.ramp(0, 1, tile * half)] = filled(0, tile * half, "float32")
                    for k in range(inputs):
                        for i in T.unroll(tile):
                            total[T.ramp(i * half, 1, half)] += T.broadcast(x[r * tile + i, k], half) * widened(
                                w[block, k, T.ramp(h * half, 1, half)], half
                            )
                    for i in T.unroll(tile):
                        y[r * tile + i, T.ramp(block * BLOCK + h * half, 1, half)] = total[T.ramp(i * half, 1, half)]
            for r in range(1 if one_row else n % tile):
                with T.sblock("row"):
                    T.reads()
                    T.writes()
                    sums = T.sblock_alloc_buffer((BLOCK,), "float32", scope="local")
                    row = T.sblock_alloc_buffer((1,), "int64", scope="local")
                    row[0] = 0 if one_row else n // tile * tile + r
                    sums[T.ramp(0, 1, BLOCK)] = filled(0, BLOCK, "float32")
                    for k in range(inputs):
                        sums[T.ramp(0, 1, BLOCK)] += T.broadcast(x[row[0], k], BLOCK) * widened(
                            w[block, k, T.ramp(0, 1, BLOCK)], BLOCK
                        )
                    y[row[0], T.ramp(block * BLOCK, 1, BLOCK)] = sums[T.ramp(0, 1, BLOCK)]

    return product


@functools.cache
def product_of_4_bits(inputs, outputs, scale_type, one_row):
    """Codes [outputs/32, groups, 32, 16]: output j of a block in the low half of byte j, 16 + j in the high one."""
    blocks, groups, half = outputs // BLOCK, inputs // GROUP, BLOCK // 2

    @T.prim_func(s_tir=True, private=True)
    def product(
        xp: T.handle,
        w: T.Buffer((blocks, groups, GROUP, half), "uint8"),
        scale: T.Buffer((blocks, groups, BLOCK), scale_type),
        offset: T.Buffer((blocks, groups, BLOCK), scale_type),
        yp: T.handle,
    ):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        x = T.match_buffer(xp, (1 if one_row else n, inputs), "float32")
        y = T.match_buffer(yp, (1 if one_row else n, outputs), "float32")
        for block in T.parallel(blocks):
            for r in range(1 if one_row else n):
                with T.sblock("row"):
                    T.reads()
                    T.writes()
                    total = T.sblock_alloc_buffer((BLOCK,), "float32", scope="local")
                    part = T.sblock_alloc_buffer((BLOCK,), "float32", scope="local")
                    added = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    total[T.ramp(0, 1, BLOCK)] = filled(0, BLOCK, "float32")
                    for g in range(groups):
                        part[T.ramp(0, 1, BLOCK)] = filled(0, BLOCK, "float32")
                        added[0] = T.float32(0)
                        for k in range(GROUP):
                            added[0] += x[r, g * GROUP + k]
                            part[T.ramp(0, 1, half)] += T.broadcast(x[r, g * GROUP + k], half) * widened(
                                w[block, g, k, T.ramp(0, 1, half)] & filled(15, half, "uint8"), half
                            )
                            part[T.ramp(half, 1, half)] += T.broadcast(x[r, g * GROUP + k], half) * widened(
                                w[block, g, k, T.ramp(0, 1, half)] >> filled(4, half, "uint8"), half
                            )
                        total[T.ramp(0, 1, BLOCK)] += part[T.ramp(0, 1, BLOCK)] * widened(
                            scale[block, g, T.ramp(0, 1, BLOCK)], BLOCK
                        ) + T.broadcast(added[0], BLOCK) * widened(offset[block, g, T.ramp(0, 1, BLOCK)], BLOCK)
                    y[r, T.ramp(block * BLOCK, 1, BLOCK)] = total[T.ramp(0, 1, BLOCK)]

    return product


@functools.cache
def product_of_8_bits(inputs, outputs, scale_type, one_row):
    """Codes [outputs/32, groups, 32, 32], signed."""
    blocks, groups = outputs // BLOCK, inputs // GROUP

    @T.prim_func(s_tir=True, private=True)
    def product(
        xp: T.handle,
        w: T.Buffer((blocks, groups, GROUP, BLOCK), "int8"),
        scale: T.Buffer((blocks, groups, BLOCK), scale_type),
        yp: T.handle,
    ):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        x = T.match_buffer(xp, (1 if one_row else n, inputs), "float32")
        y = T.match_buffer(yp, (1 if one_row else n, outputs), "float32")
        for block in T.parallel(blocks):
            for r in range(1 if one_row else n):
                with T.sblock("row"):
                    T.reads()
                    T.writes()
                    total = T.sblock_alloc_buffer((BLOCK,), "float32", scope="local")
                    part = T.sblock_alloc_buffer((BLOCK,), "float32", scope="local")
                    total[T.ramp(0, 1, BLOCK)] = filled(0, BLOCK, "float32")
                    for g in range(groups):
                        part[T.ramp(0, 1, BLOCK)] = filled(0, BLOCK, "float32")
                        for k in range(GROUP):
                            part[T.ramp(0, 1, BLOCK)] += T.broadcast(x[r, g * GROUP + k], BLOCK) * widened(
                                w[block, g, k, T.ramp(0, 1, BLOCK)], BLOCK
                            )
                        total[T.ramp(0, 1, BLOCK)] += part[T.ramp(0, 1, BLOCK)] * widened(
                            scale[block, g, T.ramp(0, 1, BLOCK)], BLOCK
                        )
                    y[r, T.ramp(block * BLOCK, 1, BLOCK)] = total[T.ramp(0, 1, BLOCK)]

    return product


@functools.cache
def rows_of_floats(inputs, outputs, dtype):
    """The rows of a matrix of float_product() that tokens choose."""

    @T.prim_func(s_tir=True, private=True)
    def rows(tp: T.handle, w: T.Buffer((outputs // BLOCK, inputs, BLOCK), dtype), yp: T.handle):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        token = T.match_buffer(tp, (n,), "int32")
        y = T.match_buffer(yp, (n, inputs), "float32")
        for r, k in T.grid(n, inputs):
            with T.sblock("row"):
                T.reads()
                T.writes()
                y[r, k] = T.Cast("float32", w[token[r] // BLOCK, k, token[r] % BLOCK])

    return rows


@functools.cache
def rows_of_codes(inputs, outputs, bits, scale_type, shape, place):
    """
    The rows of a matrix of codes that tokens choose: @shape is that of codes of a block's group, @place(input, output)
    where a code lies there, with the shift for 4 bits as the last number.
    """
    blocks, groups = outputs // BLOCK, inputs // GROUP

    @T.prim_func(s_tir=True, private=True)
    def rows_of_4_bits(
        tp: T.handle,
        w: T.Buffer((blocks, groups, *shape), "uint8"),
        scale: T.Buffer((blocks, groups, BLOCK), scale_type),
        offset: T.Buffer((blocks, groups, BLOCK), scale_type),
        yp: T.handle,
    ):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        token = T.match_buffer(tp, (n,), "int32")
        y = T.match_buffer(yp, (n, inputs), "float32")
        for r, g, k in T.grid(n, groups, GROUP):
            with T.sblock("row"):
                T.reads()
                T.writes()
                y[r, g * GROUP + k] = code_at(w, token[r], g, place(k, token[r] % BLOCK)) * T.Cast(
                    "float32", scale[token[r] // BLOCK, g, token[r] % BLOCK]
                ) + T.Cast("float32", offset[token[r] // BLOCK, g, token[r] % BLOCK])

    @T.prim_func(s_tir=True, private=True)
    def rows_of_8_bits(
        tp: T.handle,
        w: T.Buffer((blocks, groups, *shape), "int8"),
        scale: T.Buffer((blocks, groups, BLOCK), scale_type),
        yp: T.handle,
    ):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        token = T.match_buffer(tp, (n,), "int32")
        y = T.match_buffer(yp, (n, inputs), "float32")
        for r, g, k in T.grid(n, groups, GROUP):
            with T.sblock("row"):
                T.reads()
                T.writes()
                y[r, g * GROUP + k] = code_at(w, token[r], g, place(k, token[r] % BLOCK)) * T.Cast(
                    "float32", scale[token[r] // BLOCK, g, token[r] % BLOCK]
                )

    return rows_of_4_bits if bits == 4 else rows_of_8_bits


def code_at(codes, token, group, place):
    """A code as float32."""
    *at, shift = place
    code = codes[(token // BLOCK, group, *at)]
    if codes.dtype == "uint8":
        code = (code >> T.Cast("uint8", shift)) & T.uint8(15)
    return T.Cast("float32", code)


def place_of_4_bits(k, output):
    return k, output % (BLOCK // 2), output // (BLOCK // 2) * 4


def place_of_8_bits(k, output):
    return k, output, 0
