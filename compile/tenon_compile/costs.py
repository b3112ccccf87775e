# SPDX-License-Identifier: MIT
"""What a product is expected to cost with the schedules of schedules.py, and in oneDNN.

Costs are in multiply-adds of whole vectors. Those of oneDNN were measured of 2.6.3 with vectors of 16 lanes, and of 8
(docs/performance.md). Where the two are close, the schedules are preferred: a module without oneDNN opens faster.
"""

import math
from collections import Counter

from .kernels import choose_tile, filled_tiles_for, turns_of
from .layouts import FEW, moves_nothing

SCALAR = 2  # of a product in TVM's default schedule
MOVED = 4  # an element in a copy that changes the order of its neighbours
COPIED = 0.5  # an element in a copy that does not
CALL = 5000  # of a region
ONE_ROW = 4  # how many times as long a window takes that slides along one row of a picture
POINTWISE = 4 / 3  # how many times as long a product takes that is no window
CLOSE = 0.85
GROUP = 4  # products of 8 bits that a lane adds at once
OF_BYTES = 1.45  # of a group's products in all lanes
FILLED = 1.4  # an element in a copy with a border that also fills groups of channels
BORDERED = 0.3  # an element in a copy that only has a border
SHORT = 3.5  # how many times as long the schedules take for a product of bytes whose channels fill no vector


def positions(node):
    """How many sums each output channel has."""
    return node.elements // node.shape[1 if "conv2d" in node.op else -1]


def depth_of(node):
    return node.inputs[0].shape[-1] if node.op == "matmul" else math.prod(node.inputs[1].shape[1:])


def is_planar(node):
    """Whether a convolution reads its picture with channels first, as an input of the network is held (layouts.py)."""
    picture, source = node.input, node.input
    while source.op in ("unary", "clip", "affine"):
        source = source.input
    return source.op == "input" and picture.shape[1] <= FEW


def scalar(node):
    if node.op == "conv2d_transpose":
        return SCALAR * node.input.elements * math.prod(node.inputs[1].shape[1:])
    return SCALAR * node.elements * depth_of(node)


def tiled(tile, channels, count, depth):
    return count * channels / tile.lanes * depth * turns_of(tile, depth)


def scheduled(node, vectors):
    """With the schedules; TVM's default one where these have no tiles (layouts.py)."""
    if node.op == "conv2d_transpose" or vectors.lanes == 1:
        return scalar(node)
    depth = depth_of(node)
    if node.op == "dense":
        channels = node.shape[1]
        fill = -channels % vectors.lanes if channels > vectors.lanes else 0
        tile = choose_tile(node.shape[0], channels + fill, vectors, depth)
        return tiled(tile, channels + fill, node.shape[0], depth)
    if node.op == "matmul":
        rows, columns = node.shape[-2:]
        if rows == 1 or columns % vectors.lanes:
            return scalar(node)
        return tiled(choose_tile(rows, columns, vectors, depth), columns, positions(node), depth)
    if node.groups != 1:
        return scalar(node)
    _, channels, rows, columns = node.shape
    fill, tiles = filled_tiles_for(columns, channels, vectors, depth, rows)
    by_element = COPIED if is_planar(node) or node.input.shape[1] % vectors.lanes == 0 else MOVED
    copy = node.input.elements * by_element if any(node.padding) else 0
    return copy + tiled(tiles[0], channels + fill, positions(node), depth)


def in_onednn(node, vectors, summed):
    """In oneDNN. @summed: whether it adds another value, which it copies to the output before."""
    if node.op == "conv2d_transpose":
        channels, depth = node.shape[1], node.input.shape[1] * math.prod(node.inputs[1].shape[2:])
        depth /= math.prod(node.strides)
    else:
        channels, depth = node.shape[1 if node.op == "conv2d" else -1], depth_of(node)
    count = positions(node)
    groups = node.groups if node.op == "conv2d" else 1
    turns = count * groups * math.ceil(channels / groups / vectors.lanes) * depth
    window = len(node.shape) == 4 and node.op != "matmul" and math.prod(node.inputs[1].shape[2:]) > 1
    turns *= (ONE_ROW if node.shape[2] == 1 else 1) if window else POINTWISE
    moved = node.elements if summed else 0
    if node.op == "conv2d" and is_planar(node) and not moves_nothing(node.input.shape):
        moved += node.input.elements  # it wants channels last
    if vectors.lanes < 16 and len(node.shape) == 4 and node.op != "matmul":
        # it wants blocks of channels then
        moved += node.input.elements + node.elements
    return CALL + turns + MOVED * moved


def turns_of_bytes(node, vectors):
    """The multiply-adds of a product of 8-bit integers, wherever it is computed."""
    channels, groups = node.shape[1], math.ceil(node.inputs[1].shape[1] / GROUP)
    window = math.prod(node.inputs[1].shape[2:])
    return positions(node) * math.ceil(channels / vectors.lanes) * groups * window * OF_BYTES


def scheduled_bytes(node, vectors):
    """With the schedules: inputs are copied if they have a border, or channels that fill no group."""
    fill = -node.input.shape[1] % GROUP
    padding = node.padding if node.op == "integer_conv2d" else ()
    turns = turns_of_bytes(node, vectors) * (SHORT if node.shape[1] < vectors.lanes else 1)
    if not fill and not any(padding):
        return turns
    rows, columns = node.input.shape[2:] if padding else (1, node.input.shape[0])
    rows, columns = rows + sum(padding[::2]), columns + sum(padding[1::2])
    copied = rows * columns * (node.input.shape[1] + fill)
    return copied * (FILLED if fill else BORDERED) + turns


def bytes_in_onednn(node, vectors, passes):
    """In oneDNN. @passes: whether its result is float32, which passes through memory to what is behind it."""
    return CALL + turns_of_bytes(node, vectors) + (node.elements if passes else 0)


def is_depthwise(node):
    return "conv2d" in node.op and 1 < node.groups == node.shape[1] and node.inputs[1].shape[1] == 1


class Choice:
    """Whether oneDNN computes a product (conv2d, conv2d_transpose, dense, matmul, or one of integers); what was chosen, for
    --explain."""

    def __init__(self, vectors, pairs=(), exact=False):
        self._vectors = vectors
        self._exact = exact  # whether all processors add products of bytes exactly in oneDNN
        self.inexact = 0  # products that stay here because they do not
        self._pairs = pairs  # convolutions that are computed in one kernel with another (pairs.py), if they stay here
        self.made = Counter()  # of each product by its shapes: the costs in oneDNN and with the schedules, and whether it is its

    def __call__(self, node, summed=False):
        # of these the schedules take 0.3 to 0.7 of its time, and one row of sums takes as long as to read its weights
        if node in self._pairs or is_depthwise(node) or positions(node) == 1:
            return False
        integers = node.op.startswith("integer")
        if integers and not self._exact:
            self.inexact += 1
            return False
        there = (bytes_in_onednn if integers else in_onednn)(node, self._vectors, summed)
        here = (scheduled_bytes if integers else scheduled)(node, self._vectors)
        chosen = there < CLOSE * here
        shapes = " by ".join("x".join(map(str, one.shape)) for one in node.inputs[:2])
        self.made[f"{node.op} of {shapes}", round(there), round(here), chosen] += 1
        return chosen
