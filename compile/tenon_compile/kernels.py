# SPDX-License-Identifier: MIT
"""Kernels whose loops the schedules know: convolutions and products with constant weights, channels last.

The weights of a convolution are packed as the loops read them: (O / T, KH, KW, I, T) for tiles of T output channels,
one behind the other. A product is a convolution of one row, whose columns are the rows of the product.
"""

from dataclasses import dataclass

import numpy
from tvm import te, tirx, topi

from .dot_products import Dot

ENOUGH = 8  # sums that hide the latency of a multiply-add
NEAR = 4096  # weights of 32 bits that stay in the nearest cache beside other things
FEWER = 1.3  # how many times as many vectors channels take at least, if others fill theirs
WIDEST = 16  # lanes of any vectors
MARK = "tenon.tile"  # of a block that schedules.py tiles


@dataclass(frozen=True)
class Vectors:
    """Vector registers of a processor: how many 32-bit lanes one has, and how many sums are kept in them."""

    lanes: int = 4
    sums: int = 12
    conditions: bool = True  # whether TVM makes vectors of a choice between two values
    threads: bool = False  # a device whose threads take elements as its schedules say: there are no tiles here
    blocks: bool = True  # whether there is memory for blocks of two convolutions in one kernel (pairs.py)
    dots: tuple[Dot, ...] = ()  # how integers are multiplied, the best way first

    @property
    def floats(self):
        """What tiles of floats are chosen by."""
        return self.lanes, self.sums


@dataclass(frozen=True)
class Tile:
    """Columns, vectors of output channels, and lanes of a vector, whose sums are in registers at one time.

    The columns are of so many rows.
    """

    columns: int
    vectors: int
    lanes: int
    rows: int = 1

    @property
    def channels(self):
        return self.vectors * self.lanes


def whole(channels):
    """One tile of all channels: weights lie in the order of the loops."""
    return Tile(1, channels, 1)


def lanes_for(channels, vectors):
    lanes = vectors.lanes
    while channels % lanes:
        lanes //= 2
    return lanes


def channels_to_fill(channels, vectors):
    """Channels of zeros that a convolution computes besides, if its own take more vectors, or leave most lanes empty.

    The first counts if all channels are in one tile: what fills it is not written then.
    """
    lanes, fill = lanes_for(channels, vectors), -channels % vectors.lanes
    fewer = FEWER * (channels + fill) / vectors.lanes <= channels / lanes and fits_tile(channels + fill, vectors)
    return fill if fewer or (channels > vectors.lanes and lanes * 4 <= vectors.lanes) else 0


def fits_tile(channels, vectors):
    """Whether all channels are in a tile that has some columns besides."""
    return channels <= vectors.lanes * vectors.sums // 4 and not vectors.threads


def divisors(number, most):
    return [one for one in range(1, most + 1) if number % one == 0]


def turns_of(tile, depth):
    """How long a multiply-add of a vector takes, of which two begin at a time, or two loads.

    Weights of a tile that fill the nearest cache are loaded at half the speed.
    """
    high, wide = tile.columns * tile.rows, tile.vectors
    far = 2 if depth * tile.channels > NEAR else 1
    return max(high * wide, ENOUGH, high + far * wide) / (high * wide)


def tiles_for(columns, channels, vectors, depth, rows=1):
    """All tiles, the one first that takes least time for each multiply-add.

    Channels are all, or as many as weights were packed together for another processor. Each is the sum of so many
    products ("depth").
    """
    lanes = lanes_for(channels, vectors)

    def score(tile):
        high, wide = tile.columns * tile.rows, tile.vectors
        return -turns_of(tile, depth), high * wide / (high + wide), -wide, -tile.rows

    if vectors.threads:
        return [whole(channels)]
    tiles = [
        Tile(across, wide, lanes, down)
        for wide in divisors(channels // lanes, vectors.sums)
        for across in divisors(columns, vectors.sums // wide)
        for down in divisors(rows, vectors.sums // wide // across)
    ]
    return sorted(tiles, key=score, reverse=True)


def choose_tile(*problem):
    return tiles_for(*problem)[0]


def filled_tiles_for(columns, channels, vectors, depth, rows=1):
    """Channels that fill vectors of a convolution, and tiles of all: each has all, if what fills is not written then."""
    fill = channels_to_fill(channels, vectors)
    tiles = tiles_for(columns, channels + fill, vectors, depth, rows)
    if fill and fits_tile(channels + fill, vectors):
        tiles = [tile for tile in tiles if tile.channels == channels + fill]
    return fill, tiles


def depthwise_tiles_for(columns, channels, vectors, rows=1):
    """All tiles; first that of which each sum loads least, if windows are 3 x 3.

    There are few enough sums to leave registers for what they share.
    """
    lanes = lanes_for(channels, vectors)
    most = max(ENOUGH, vectors.sums * 3 // 5)

    def score(tile):
        high, across = tile.rows, tile.columns
        loads = ((high + 2) * (across + 2) + 9) / (high * across)
        return -loads, min(high * across * tile.vectors, ENOUGH), -tile.vectors, -high

    if vectors.threads:
        return [whole(channels)]
    tiles = [
        Tile(across, wide, lanes, down)
        for wide in divisors(channels // lanes, ENOUGH)
        for across in divisors(columns, most // wide)
        for down in divisors(rows, most // wide // across)
    ]
    return sorted(tiles, key=score, reverse=True)


def choose_depthwise_tile(*problem):
    return depthwise_tiles_for(*problem)[0]


def pack(weights, tile):
    """OIHW as the loops read it."""
    outputs, inputs, height, width = weights.shape
    parts = weights.reshape(outputs // tile.channels, tile.channels, inputs, height, width)
    return numpy.ascontiguousarray(parts.transpose(0, 3, 4, 2, 1))


def padded(x, padding, planar=False, filled=False):
    """A copy with zeros around it. Filled rows of one with channels first are whole vectors."""
    top, left, bottom, right = padding
    if not any(padding):
        return x
    if filled:
        right += -(left + int(x.shape[-1]) + right) % WIDEST
    before, after = ([0, 0, top, left], [0, 0, bottom, right]) if planar else ([0, top, left, 0], [0, bottom, right, 0])
    return topi.nn.pad(x, before, after, name="pad")


def mark(tile):
    return {MARK: [tile.rows, tile.columns, tile.vectors, tile.lanes]}


def conv2d(x, weights, shape, strides, padding, dilation, tile, planar=False, around=(0, 0)):
    """The convolution of x (NHWC, or NCHW if it is planar) to a shape, by packed weights.

    With rows "around" it, above and below, the result has so many more: copies of those at the border.
    """
    above, below = around
    pictures, rows, *rest = shape
    _, height, width, inputs, channels = (int(extent) for extent in weights.shape)
    source = padded(x, padding, planar, filled=planar and tile.lanes > 1)
    row, column, channel = (te.reduce_axis((0, extent)) for extent in (height, width, inputs))

    def term(n, h, w, o):
        h = tirx.min(tirx.max(h - above, 0), rows - 1) if above or below else h
        y, z = h * strides[0] + row * dilation[0], w * strides[1] + column * dilation[1]
        at = source[n, channel, y, z] if planar else source[n, y, z, channel]
        return te.sum(at * weights[o // channels, row, column, channel, o % channels], axis=[row, column, channel])

    return te.compute((pictures, above + rows + below, *rest), term, name="conv2d", attrs=mark(tile))


def depthwise_conv2d(x, weights, shape, strides, padding, dilation, tile):
    """The convolution of each channel of x (NHWC) by its own weights (HWC). There are no products outside of the picture.

    Each element is read a few times only: a padded copy would cost more than the sums.
    """
    _, high, wide, _ = x.shape
    row, column = (te.reduce_axis((0, int(extent))) for extent in weights.shape[:2])

    def term(n, h, w, c):
        y = h * strides[0] + row * dilation[0] - padding[0]
        z = w * strides[1] + column * dilation[1] - padding[1]
        value = x[n, y, z, c] * weights[row, column, c]
        inside = tirx.all(y >= 0, y < high, z >= 0, z < wide)
        return te.sum(tirx.if_then_else(inside, value, tirx.const(0, x.dtype)) if any(padding) else value, axis=[row, column])

    return te.compute(shape, term, name="depthwise_conv2d", attrs=mark(tile))


def depth_to_space(x, shape, block):
    """Channels of x (NHWC) beside each other: those of a place are what a block has there, row by row."""
    (height, width), channels = block, shape[-1]

    def element(n, h, w, c):
        return x[n, h // height, w // width, (h % height * width + w % width) * channels + c]

    return te.compute(shape, element, name="depth_to_space")


def product(x, y, shape, tile):
    """The products of two values, of which each has as many matrices. Rows of y are read in the order of memory."""
    k = te.reduce_axis((0, int(x.shape[-1])))

    def term(*at):
        *batch, row, column = at
        return te.sum(x[(*batch, row, k)] * y[(*batch, k, column)], axis=[k])

    return te.compute(shape, term, name="product", attrs=mark(tile))


def dense(x, weights, shape, tile):
    """The product of x (M, K) and packed weights (N / T, K, T)."""
    _, inputs, channels = (int(extent) for extent in weights.shape)
    k = te.reduce_axis((0, inputs))
    return te.compute(
        shape,
        lambda m, n: te.sum(x[m, k] * weights[n // channels, k, n % channels], axis=[k]),
        name="dense",
        attrs=mark(tile),
    )
