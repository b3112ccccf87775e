# SPDX-License-Identifier: MIT
"""Products of rows by matrices of codes, in integers, for processors with AVX2.

A row is rounded to 8 bits by groups of 32, and what the rounding left is rounded to 8 bits again: together they are as
exact as float32 is in practice. 8 bits alone would choose other words than float32 does.

Codes lie as the instructions take them. Each 4 inputs of a group are vectors of 32 bytes, 8 outputs by 4 inputs: 4 of
them for 8 bits, [outputs/32, groups, 8, 4, 32]; for 4 bits two share a vector, [outputs/32, groups, 8, 2, 32].
"""

import functools

from tvm.script import tirx as T

from .matrix import GROUP
from .products import ATTRIBUTES, BLOCK, each_row, filled, widened

STEPS = GROUP // 4  # of 4 inputs
OUTPUTS = 8  # of a vector
FINE = 254  # steps of what rounding left, in one of the first rounding


def instruction(name, dtype, *operands):
    return T.call_llvm_pure_intrin(T.llvm_lookup_intrinsic_id(f"llvm.{name}"), *operands, dtype=dtype)


def products_of_pairs(unsigned, signed):
    """The sums of two neighbours' products, 16 bits each."""
    return instruction("x86.avx2.pmadd.ub.sw", "int16x16", unsigned, signed)


def sums_of_pairs(values):
    return instruction("x86.avx2.pmadd.wd", "int32x8", values, filled(1, 16, "int16"))


def with_sign(values, of):
    return instruction("x86.avx2.psign.b", "int8x32", values, of)


def four_inputs(word):
    """The bytes of 4 inputs, for each of 8 outputs."""
    return T.reinterpret("int8x32", T.broadcast(word, OUTPUTS))


def sum_of(codes):
    return T.Cast("float32", instruction("vector.reduce.add.v32i32", "int32", codes))


@functools.cache
def rounded(inputs, one_row):
    """Rows in two roundings of 8 bits, 4 inputs to a word; of each group the scale, and the sum of what was rounded."""
    groups = inputs // GROUP

    @T.prim_func(s_tir=True, private=True)
    def round_rows(xp: T.handle, qp: T.handle, dp: T.handle, sp: T.handle):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        x = T.match_buffer(xp, (1 if one_row else n, inputs), "float32")
        q = T.match_buffer(qp, (1 if one_row else n, 2, inputs // 4), "int32")
        scale = T.match_buffer(dp, (1 if one_row else n, groups), "float32")
        total = T.match_buffer(sp, (1 if one_row else n, groups), "float32")
        for r in each_row(n, one_row):
            with T.sblock("row"):
                T.reads()
                T.writes()
                v = T.sblock_alloc_buffer((GROUP,), "float32", scope="local")
                most = T.sblock_alloc_buffer((2,), "float32", scope="local")
                codes = T.sblock_alloc_buffer((2 * GROUP,), "int32", scope="local")
                for g in range(groups):
                    v[T.ramp(0, 1, GROUP)] = x[r, T.ramp(g * GROUP, 1, GROUP)]
                    most[0] = instruction("vector.reduce.fmax.v32f32", "float32", T.fabs(v[T.ramp(0, 1, GROUP)]))
                    most[1] = T.if_then_else(most[0] > T.float32(0), T.float32(127) / most[0], T.float32(0))
                    v[T.ramp(0, 1, GROUP)] *= T.broadcast(most[1], GROUP)
                    codes[T.ramp(0, 1, GROUP)] = T.Cast("int32x32", T.nearbyint(v[T.ramp(0, 1, GROUP)]))
                    v[T.ramp(0, 1, GROUP)] -= widened(codes[T.ramp(0, 1, GROUP)], GROUP)
                    codes[T.ramp(GROUP, 1, GROUP)] = T.Cast(
                        "int32x32", T.nearbyint(v[T.ramp(0, 1, GROUP)] * filled(FINE, GROUP, "float32"))
                    )
                    scale[r, g] = most[0] / T.float32(127)
                    total[r, g] = (most[0] / T.float32(127)) * (
                        sum_of(codes[T.ramp(0, 1, GROUP)]) + sum_of(codes[T.ramp(GROUP, 1, GROUP)]) * T.float32(1 / FINE)
                    )
                    for plane in T.unroll(2):
                        q[r, plane, T.ramp(g * STEPS, 1, STEPS)] = T.reinterpret(
                            "int32x8", T.Cast("int8x32", codes[T.ramp(plane * GROUP, 1, GROUP)])
                        )

    return round_rows


@functools.cache
def product_of_4_bits(inputs, outputs, scale_type, tile, one_row):
    """Rounded rows by codes of 4 bits, in tiles of so many rows."""
    blocks, groups = outputs // BLOCK, inputs // GROUP
    tile = 1 if one_row else tile

    @T.prim_func(s_tir=True, private=True)
    def product(
        qp: T.handle,
        dp: T.handle,
        sp: T.handle,
        w: T.Buffer((blocks, groups, STEPS, 2, 32), "uint8"),
        scale: T.Buffer((blocks, groups, BLOCK), scale_type),
        offset: T.Buffer((blocks, groups, BLOCK), scale_type),
        yp: T.handle,
    ):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        q = T.match_buffer(qp, (1 if one_row else n, 2, inputs // 4), "int32")
        d = T.match_buffer(dp, (1 if one_row else n, groups), "float32")
        s = T.match_buffer(sp, (1 if one_row else n, groups), "float32")
        y = T.match_buffer(yp, (1 if one_row else n, outputs), "float32")
        for block in T.parallel(blocks):
            for r in range(1 if one_row else (n + tile - 1) // tile):
                with T.sblock("tile"):
                    T.reads()
                    T.writes()
                    row = T.sblock_alloc_buffer((tile,), "int64", scope="local")
                    total = T.sblock_alloc_buffer((tile * BLOCK,), "float32", scope="local")
                    # of a group: by row, rounding, half of a byte
                    part = T.sblock_alloc_buffer((tile, 2, 2, 16), "int16", scope="local")
                    for i in T.unroll(tile):
                        row[i] = 0 if one_row else T.min(r * tile + i, n - 1)
                    total[T.ramp(0, 1, tile * BLOCK)] = filled(0, tile * BLOCK, "float32")
                    for g in range(groups):
                        for h in T.unroll(2):
                            for i, plane, high in T.grid(tile, 2, 2):
                                part[i, plane, high, T.ramp(0, 1, 16)] = filled(0, 16, "int16")
                            for k in T.unroll(STEPS):
                                for i in T.unroll(tile):
                                    for plane in T.unroll(2):
                                        part[i, plane, 0, T.ramp(0, 1, 16)] += products_of_pairs(
                                            w[block, g, k, h, T.ramp(0, 1, 32)] & filled(15, 32, "uint8"),
                                            four_inputs(q[row[i], plane, g * STEPS + k]),
                                        )
                                        part[i, plane, 1, T.ramp(0, 1, 16)] += products_of_pairs(
                                            w[block, g, k, h, T.ramp(0, 1, 32)] >> filled(4, 32, "uint8"),
                                            four_inputs(q[row[i], plane, g * STEPS + k]),
                                        )
                            for i in T.unroll(tile):
                                for high in T.unroll(2):
                                    total[T.ramp(i * BLOCK + h * 16 + high * OUTPUTS, 1, OUTPUTS)] += (
                                        widened(sums_of_pairs(part[i, 0, high, T.ramp(0, 1, 16)]), OUTPUTS)
                                        + widened(sums_of_pairs(part[i, 1, high, T.ramp(0, 1, 16)]), OUTPUTS)
                                        * filled(1 / FINE, OUTPUTS, "float32")
                                    ) * (
                                        widened(scale[block, g, T.ramp(h * 16 + high * OUTPUTS, 1, OUTPUTS)], OUTPUTS)
                                        * T.broadcast(d[row[i], g], OUTPUTS)
                                    ) + widened(
                                        offset[block, g, T.ramp(h * 16 + high * OUTPUTS, 1, OUTPUTS)], OUTPUTS
                                    ) * T.broadcast(s[row[i], g], OUTPUTS)
                    for i in T.unroll(tile):
                        y[row[i], T.ramp(block * BLOCK, 1, BLOCK)] = total[T.ramp(i * BLOCK, 1, BLOCK)]

    return product


@functools.cache
def product_of_8_bits(inputs, outputs, scale_type, one_row):
    """Rounded rows by codes of 8 bits."""
    blocks, groups = outputs // BLOCK, inputs // GROUP

    @T.prim_func(s_tir=True, private=True)
    def product(
        qp: T.handle,
        dp: T.handle,
        w: T.Buffer((blocks, groups, STEPS, 4, 32), "int8"),
        scale: T.Buffer((blocks, groups, BLOCK), scale_type),
        yp: T.handle,
    ):
        T.func_attr(ATTRIBUTES)
        n = T.int64()
        q = T.match_buffer(qp, (1 if one_row else n, 2, inputs // 4), "int32")
        d = T.match_buffer(dp, (1 if one_row else n, groups), "float32")
        y = T.match_buffer(yp, (1 if one_row else n, outputs), "float32")
        for block in T.parallel(blocks):
            for r in range(1 if one_row else n):
                with T.sblock("row"):
                    T.reads()
                    T.writes()
                    total = T.sblock_alloc_buffer((BLOCK,), "float32", scope="local")
                    part = T.sblock_alloc_buffer((2, 4, OUTPUTS), "int32", scope="local")  # by rounding, vector
                    total[T.ramp(0, 1, BLOCK)] = filled(0, BLOCK, "float32")
                    for g in range(groups):
                        for plane, j in T.grid(2, 4):
                            part[plane, j, T.ramp(0, 1, OUTPUTS)] = filled(0, OUTPUTS, "int32")
                        for k in T.unroll(STEPS):
                            for j in T.unroll(4):
                                for plane in T.unroll(2):
                                    part[plane, j, T.ramp(0, 1, OUTPUTS)] += sums_of_pairs(
                                        products_of_pairs(
                                            with_sign(
                                                w[block, g, k, j, T.ramp(0, 1, 32)], w[block, g, k, j, T.ramp(0, 1, 32)]
                                            ),
                                            with_sign(
                                                four_inputs(q[r, plane, g * STEPS + k]),
                                                w[block, g, k, j, T.ramp(0, 1, 32)],
                                            ),
                                        )
                                    )
                        for j in T.unroll(4):
                            total[T.ramp(j * OUTPUTS, 1, OUTPUTS)] += (
                                widened(part[0, j, T.ramp(0, 1, OUTPUTS)], OUTPUTS)
                                + widened(part[1, j, T.ramp(0, 1, OUTPUTS)], OUTPUTS)
                                * filled(1 / FINE, OUTPUTS, "float32")
                            ) * (
                                widened(scale[block, g, T.ramp(j * OUTPUTS, 1, OUTPUTS)], OUTPUTS)
                                * T.broadcast(d[r, g], OUTPUTS)
                            )
                    y[r, T.ramp(block * BLOCK, 1, BLOCK)] = total[T.ramp(0, 1, BLOCK)]

    return product


def place_of_4_bits(k, output):
    """Where rows_of_codes() finds a code: the indices, and the shift."""
    return k // 4, output // 16, output % OUTPUTS * 4 + k % 4, output % 16 // OUTPUTS * 4


def place_of_8_bits(k, output):
    return k // 4, output // OUTPUTS, output % OUTPUTS * 4 + k % 4, 0
