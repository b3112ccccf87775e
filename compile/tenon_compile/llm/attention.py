# SPDX-License-Identifier: MIT
"""Attention of processors: kernels with the signatures that a paged cache of TVM's runtime calls.

Keys are taken 16 at a time, as many as a page has: one maximum and one change of scale for all of them. Scores are powers
of 2. A row without keys gives zeros, and FEWEST as the logarithm of its sum. Rotation is done before; the arguments for
rotation in the kernel, which sliding windows need, are not used.
"""

import math

from tvm.script import tirx as T

from .cache import PAGE
from .products import filled
from .small_kernels import exp2, sum_lanes

LANES = 16
FEWEST = -5e4
LOG2_E = math.log2(math.e)


def of_pages(pages, part, base, head, j, lanes):
    return pages[base, part, head, j, lanes]


def of_rows(rows, part, base, head, j, lanes):
    return rows[base + j, head, lanes]


def keys_macro(size, load):
    """A macro that attends to the next 16 keys, or fewer; @load(buffer, 0 or 1, base, head, j, lanes) reads them."""

    @T.macro
    def attend(query, keys, values, base, head, count, out, score, product, state):
        """@state: the largest score, and the sum; @query has been scaled."""
        score[T.ramp(0, 1, PAGE)] = filled(FEWEST, PAGE, "float32")
        state[2] = state[0]
        for j in range(count):
            product[T.ramp(0, 1, LANES)] = filled(0, LANES, "float32")
            for k in T.unroll(size // LANES):
                product[T.ramp(0, 1, LANES)] += query[T.ramp(k * LANES, 1, LANES)] * load(
                    keys, 0, base, head, j, T.ramp(k * LANES, 1, LANES)
                )
            sum_lanes(product)
            score[j] = product[0]
            state[2] = T.max(state[2], product[0])
        score[T.ramp(0, 1, PAGE)] = exp2(score[T.ramp(0, 1, PAGE)] - T.broadcast(state[2], PAGE), PAGE)
        product[T.ramp(0, 1, PAGE)] = score[T.ramp(0, 1, PAGE)]
        sum_lanes(product)
        state[3] = T.exp2(state[0] - state[2])
        state[0] = state[2]
        state[1] = state[1] * state[3] + product[0]
        out[T.ramp(0, 1, size)] *= T.broadcast(state[3], size)
        for j in range(count):
            out[T.ramp(0, 1, size)] += T.broadcast(score[j], size) * load(
                values, 1, base, head, j, T.ramp(0, 1, size)
            )

    return attend


def row_macros(size):
    """Macros that begin and end a row of a head."""

    @T.macro
    def begin(q, row, head, scale, query, out, state):
        query[T.ramp(0, 1, size)] = q[row, head, T.ramp(0, 1, size)] * T.broadcast(scale * T.float32(LOG2_E), size)
        out[T.ramp(0, 1, size)] = filled(0, size, "float32")
        state[0] = T.float32(FEWEST)
        state[1] = T.float32(1)

    @T.macro
    def end(out, state, y, lse, row, head):
        y[row, head, T.ramp(0, 1, size)] = out[T.ramp(0, 1, size)] / T.broadcast(state[1], size)
        lse[row, head] = state[0] + T.log2(state[1])

    return begin, end


def decode(queries, keys, size):
    """One row for each sequence of a batch, whose keys are in pages."""
    begin, end = row_macros(size)
    attend = keys_macro(size, of_pages)
    group = queries // keys

    @T.prim_func(s_tir=True)
    def attention_decode(
        q_handle: T.handle, pages_handle: T.handle, indptr_handle: T.handle, indices_handle: T.handle,
        length_handle: T.handle, key_position_handle: T.handle, query_position_handle: T.handle, y_handle: T.handle,
        lse_handle: T.handle, rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, scale: T.float32,
    ):  # fmt: skip
        T.func_attr({"tirx.is_scheduled": True, "global_symbol": "attention_decode"})
        batch = T.int32()
        page_count = T.int32()
        index_count = T.int32()
        q = T.match_buffer(q_handle, (batch, queries, size), "float32")
        pages = T.match_buffer(pages_handle, (page_count, 2, keys, PAGE, size), "float32")
        indptr = T.match_buffer(indptr_handle, (batch + 1,), "int32", elem_offset=T.int32())
        indices = T.match_buffer(indices_handle, (index_count,), "int32", elem_offset=T.int32())
        last = T.match_buffer(length_handle, (batch,), "int32", elem_offset=T.int32())
        T.match_buffer(key_position_handle, (batch,), "int32", elem_offset=T.int32())
        T.match_buffer(query_position_handle, (batch,), "int32", elem_offset=T.int32())
        y = T.match_buffer(y_handle, (batch, queries, size), "float32")
        lse = T.match_buffer(lse_handle, (batch, queries), "float32")
        for i in T.parallel(batch * queries):
            with T.sblock("head"):
                T.reads()
                T.writes()
                query = T.sblock_alloc_buffer((size,), "float32", scope="local")
                out = T.sblock_alloc_buffer((size,), "float32", scope="local")
                score = T.sblock_alloc_buffer((PAGE,), "float32", scope="local")
                product = T.sblock_alloc_buffer((LANES,), "float32", scope="local")
                state = T.sblock_alloc_buffer((4,), "float32", scope="local")
                at = T.sblock_alloc_buffer((2,), "int32", scope="local")  # keys in the page, its number
                begin(q, i // queries, i % queries, scale, query, out, state)
                for p in range(indptr[i // queries + 1] - indptr[i // queries]):
                    at[0] = T.if_then_else(
                        p == indptr[i // queries + 1] - indptr[i // queries] - 1, last[i // queries], PAGE
                    )
                    at[1] = indices[indptr[i // queries] + p]
                    attend(query, pages, pages, at[1], i % queries // group, at[0], out, score, product, state)
                end(out, state, y, lse, i // queries, i % queries)

    return attention_decode


def prefill_pages(queries, keys, size):
    """Several rows for each sequence of a batch, whose keys are in pages."""
    begin, end = row_macros(size)
    attend = keys_macro(size, of_pages)
    group = queries // keys

    @T.prim_func(s_tir=True)
    def attention_pages(
        q_handle: T.handle, row_handle: T.handle, pages_handle: T.handle, indptr_handle: T.handle,
        indices_handle: T.handle, length_handle: T.handle, key_position_handle: T.handle,
        query_position_handle: T.handle, y_handle: T.handle, lse_handle: T.handle, causal: T.int32,
        rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, scale: T.float32,
    ):  # fmt: skip
        T.func_attr({"tirx.is_scheduled": True, "global_symbol": "attention_pages"})
        batch = T.int32()
        count = T.int32()
        page_count = T.int32()
        index_count = T.int32()
        q = T.match_buffer(q_handle, (count, queries, size), "float32")
        rows = T.match_buffer(row_handle, (batch + 1,), "int32", elem_offset=T.int32())
        pages = T.match_buffer(pages_handle, (page_count, 2, keys, PAGE, size), "float32")
        indptr = T.match_buffer(indptr_handle, (batch + 1,), "int32", elem_offset=T.int32())
        indices = T.match_buffer(indices_handle, (index_count,), "int32", elem_offset=T.int32())
        last = T.match_buffer(length_handle, (batch,), "int32", elem_offset=T.int32())
        T.match_buffer(key_position_handle, (batch,), "int32", elem_offset=T.int32())
        T.match_buffer(query_position_handle, (count,), "int32", elem_offset=T.int32())
        y = T.match_buffer(y_handle, (count, queries, size), "float32")
        lse = T.match_buffer(lse_handle, (count, queries), "float32")
        for b in range(batch):
            for i in T.parallel((rows[b + 1] - rows[b]) * queries):
                with T.sblock("head"):
                    T.reads()
                    T.writes()
                    query = T.sblock_alloc_buffer((size,), "float32", scope="local")
                    out = T.sblock_alloc_buffer((size,), "float32", scope="local")
                    score = T.sblock_alloc_buffer((PAGE,), "float32", scope="local")
                    product = T.sblock_alloc_buffer((LANES,), "float32", scope="local")
                    state = T.sblock_alloc_buffer((4,), "float32", scope="local")
                    at = T.sblock_alloc_buffer((2,), "int32", scope="local")  # keys of the sequence, a page's number
                    begin(q, rows[b] + i // queries, i % queries, scale, query, out, state)
                    at[0] = T.if_then_else(
                        indptr[b + 1] > indptr[b], (indptr[b + 1] - indptr[b] - 1) * PAGE + last[b], 0
                    )
                    if causal > 0:
                        at[0] = at[0] - (rows[b + 1] - rows[b]) + i // queries + 1
                    for p in range((at[0] + PAGE - 1) // PAGE):
                        at[1] = indices[indptr[b] + p]
                        attend(
                            query, pages, pages, at[1], i % queries // group, T.min(at[0] - p * PAGE, PAGE),
                            out, score, product, state,
                        )  # fmt: skip
                    end(out, state, y, lse, rows[b] + i // queries, i % queries)

    return attention_pages


def prefill_rows(queries, keys, size):
    """Several rows for each sequence of a batch, whose keys are rows of the same step."""
    begin, end = row_macros(size)
    attend = keys_macro(size, of_rows)
    group = queries // keys

    @T.prim_func(s_tir=True)
    def attention_rows(
        q_handle: T.handle, row_handle: T.handle, k_handle: T.handle, v_handle: T.handle, key_row_handle: T.handle,
        query_position_handle: T.handle, key_position_handle: T.handle, y_handle: T.handle, lse_handle: T.handle,
        causal: T.int32, rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, scale: T.float32,
    ):  # fmt: skip
        T.func_attr({"tirx.is_scheduled": True, "global_symbol": "attention_rows"})
        batch = T.int32()
        count = T.int32()
        key_count = T.int32()
        q = T.match_buffer(q_handle, (count, queries, size), "float32")
        rows = T.match_buffer(row_handle, (batch + 1,), "int32", elem_offset=T.int32())
        k = T.match_buffer(k_handle, (key_count, keys, size), "float32")
        v = T.match_buffer(v_handle, (key_count, keys, size), "float32")
        key_rows = T.match_buffer(key_row_handle, (batch + 1,), "int32", elem_offset=T.int32())
        T.match_buffer(query_position_handle, (count,), "int32", elem_offset=T.int32())
        T.match_buffer(key_position_handle, (batch,), "int32", elem_offset=T.int32())
        y = T.match_buffer(y_handle, (count, queries, size), "float32")
        lse = T.match_buffer(lse_handle, (count, queries), "float32")
        for b in range(batch):
            for i in T.parallel((rows[b + 1] - rows[b]) * queries):
                with T.sblock("head"):
                    T.reads()
                    T.writes()
                    query = T.sblock_alloc_buffer((size,), "float32", scope="local")
                    out = T.sblock_alloc_buffer((size,), "float32", scope="local")
                    score = T.sblock_alloc_buffer((PAGE,), "float32", scope="local")
                    product = T.sblock_alloc_buffer((LANES,), "float32", scope="local")
                    state = T.sblock_alloc_buffer((4,), "float32", scope="local")
                    visible = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    begin(q, rows[b] + i // queries, i % queries, scale, query, out, state)
                    visible[0] = key_rows[b + 1] - key_rows[b]
                    if causal > 0:
                        visible[0] = visible[0] - (rows[b + 1] - rows[b]) + i // queries + 1
                    for p in range((visible[0] + PAGE - 1) // PAGE):
                        attend(
                            query, k, v, key_rows[b] + p * PAGE, i % queries // group,
                            T.min(visible[0] - p * PAGE, PAGE), out, score, product, state,
                        )  # fmt: skip
                    end(out, state, y, lse, rows[b] + i // queries, i % queries)

    return attention_rows
