# SPDX-License-Identifier: MIT
"""Kernels with explicit schedules: threads bound, tiles in shared memory, reductions across threads, temporaries.

They are compiled, not run, by the peer: its wheels have no runtime for OpenCL, and none for CUDA without a GPU. Their
outputs are numpy's.
"""

import numpy as np
import tvm
from tvm import te, topi

from .case import In, Out
from .tvm_host import floats, prim, scheduled
from .tvm_tree import compiled, keep, on_threads

TILE = 16


def bind_spatial(sch, block, threads=64):
    """All loops over the output in one, over blocks of threads."""
    axes = sch.get(block).iter_vars
    spatial = [loop for loop, axis in zip(sch.get_loops(block), axes) if axis.iter_type == 0]
    blocks, inner = sch.split(sch.fuse(*spatial), [None, threads])
    sch.bind(blocks, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")


def vecadd():
    a, b = te.placeholder((256,), "float32", name="A"), te.placeholder((256,), "float32", name="B")
    f = prim("vecadd", [a, b, te.compute((256,), lambda i: a[i] + b[i], name="C")])
    return scheduled(f, lambda sch: on_threads(sch, threads=64))


def tile(sch):
    block = sch.get_sblock("C")
    i, j, k = sch.get_loops(block)
    (bi, ti), (bj, tj), (ko, ki) = (sch.split(loop, [None, TILE]) for loop in (i, j, k))
    sch.reorder(bi, bj, ti, tj, ko, ki)
    for loop, thread in ((bi, "blockIdx.y"), (bj, "blockIdx.x"), (ti, "threadIdx.y"), (tj, "threadIdx.x")):
        sch.bind(loop, thread)
    for operand in (0, 1):
        read = sch.cache_read(block, operand, "shared")
        sch.compute_at(read, ko)
        rows, columns = sch.split(sch.fuse(*sch.get_loops(read)[-2:]), [TILE, TILE])
        sch.bind(rows, "threadIdx.y")
        sch.bind(columns, "threadIdx.x")
    sch.reverse_compute_at(sch.cache_write(block, 0, "local"), tj)
    sch.decompose_reduction(block, ko)


def matmul():
    """48 x 64 times 64 x 32: every element is read once a tile into shared memory."""
    a, b = te.placeholder((48, 64), "float32", name="A"), te.placeholder((64, 32), "float32", name="B")
    k = te.reduce_axis((0, 64), name="k")
    c = te.compute((48, 32), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return scheduled(prim("matmul", [a, b, c]), tile)


def across_threads(sch):
    i, k = sch.get_loops(sch.get_sblock("C"))
    inner = sch.split(k, [None, 64])[1]
    sch.bind(i, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")


def row_sum():
    """A reduction that the threads of a block share."""
    a, k = te.placeholder((24, 256), "float32", name="A"), te.reduce_axis((0, 256), name="k")
    c = te.compute((24,), lambda i: te.sum(a[i, k], axis=k), name="C")
    return scheduled(prim("row_sum", [a, c]), across_threads)


def softmax():
    """Four kernels, with temporaries in memory of the device between them."""
    a = te.placeholder((12, 40), "float32", name="A")

    def steps(sch):
        for block in sch.get_child_blocks(sch.get_sblock("root")):
            bind_spatial(sch, block, 8)

    return scheduled(prim("softmax", [a, topi.nn.softmax(a)]), steps)


def depthwise():
    a = te.placeholder((1, 6, 14, 14), "float32", name="A")
    w = te.placeholder((6, 1, 3, 3), "float32", name="W")
    c = topi.nn.depthwise_conv2d_nchw(a, w, 1, 1, 1, "float32")

    def steps(sch):
        pad, conv = sch.get_child_blocks(sch.get_sblock("root"))
        sch.compute_inline(pad)
        bind_spatial(sch, conv, 32)

    return scheduled(prim("depthwise", [a, w, c]), steps)


def depthwise_of(x, w):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros_like(x)
    for i in range(3):
        for j in range(3):
            out += padded[:, :, i:i + 14, j:j + 14] * w[:, 0, i, j].reshape(1, 6, 1, 1)
    return out


def kernels(device):
    def make(case):
        functions = {"vecadd": vecadd(), "matmul": matmul(), "row_sum": row_sum(), "softmax": softmax(),
                     "depthwise": depthwise()}
        keep(case, compiled(functions, device))
        how = {"cls": "device", "run": False, "extra": {"device": f"{device}:0"}, "rtol": 1e-4, "atol": 1e-5}
        a, b = floats(case, 256), floats(case, 256)
        case.call("lib.so", "vecadd", [In(a), In(b), Out(a + b)], **how)
        a, b = floats(case, 48, 64), floats(case, 64, 32)
        case.call("lib.so", "matmul", [In(a), In(b), Out(a @ b)], **how)
        a = floats(case, 24, 256)
        case.call("lib.so", "row_sum", [In(a), Out(a.sum(axis=1))], **how)
        a = floats(case, 12, 40)
        e = np.exp(a - a.max(axis=1, keepdims=True))
        case.call("lib.so", "softmax", [In(a), Out(e / e.sum(axis=1, keepdims=True))], **how)
        a, w = floats(case, 1, 6, 14, 14), floats(case, 6, 1, 3, 3)
        case.call("lib.so", "depthwise", [In(a), In(w), Out(depthwise_of(a, w))], **how)
        case.call("lib.so", "depthwise", [In(a), In(a), Out(None, (1, 6, 14, 14), "float32")],
                  fails="a filter of another shape", **how)
    return make


CASES = [(f"{d}_kernels", f"kernels with explicit schedules for {d}", kernels(d), True)
         for d in ("opencl", "cuda", "vulkan")]
