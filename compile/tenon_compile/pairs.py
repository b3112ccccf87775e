# SPDX-License-Identifier: MIT
"""A convolution, and a depthwise one that alone reads it, in one kernel.

What is between them would pass through memory as a whole. The kernel computes it in blocks of rows and of channels, each
of which the depthwise convolution reads while it is in a cache. Rows that two blocks read are computed for both.

The first convolution has rows above and below its picture, where the second one's window is outside of it: blocks have
the same number of rows then. These rows are copies of those at the border until the second kernel sets them to zero.
"""

import math

from tvm import te, tirx

from .kernels import MARK, choose_depthwise_tile, choose_tile, mark, tiles_for, turns_of
from .loops import compute_behind, extent, loops_of, size, unroll_and_vectorize, unroll_window, zero_before

PAIR = "tenon.pair"  # of a depthwise block: channels in a block, rows from one window to the next, and of a window
LEAST_BETWEEN = 1 << 18  # elements between two convolutions; fewer stay in a cache anyway
BLOCK = 1 << 17  # elements of a block at most
MOST_VECTORS = 4  # of channels in a block
PASSING = 8  # products that cost less than to write an element to memory and to read it again


# ---- which convolutions are a pair


def products_of(node):
    """How many products an element of a convolution is the sum of."""
    return math.prod(node.inputs[1].shape[1:])


def tile_in_pair(node, vectors):
    """The tile of the first convolution: of one row, and as many channels as a block has."""
    _, channels, _, columns = node.shape
    tiles = tiles_for(columns, channels, vectors, products_of(node))
    return next(tile for tile in tiles if tile.vectors <= MOST_VECTORS)


def turns_lost(node, vectors):
    """How much longer a multiply-add of the first convolution takes than in the tile that it has alone."""
    _, channels, rows, columns = node.shape
    products = products_of(node)
    alone = choose_tile(columns, channels, vectors, products, rows)
    return turns_of(tile_in_pair(node, vectors), products) - turns_of(alone, products)


def rows_of_block(rows, step, window, width, products, lost=0):
    """How many rows of a depthwise convolution are in a block; None if none gains.

    A row of what it reads has so many elements in a block ("width"), each the sum of so many products, of which each takes
    longer by what is "lost". Blocks are an even number, if they can be, so that two threads have as many rows each.
    """
    counts = [count for count in range(1, rows + 1) if rows % count == 0]
    read = {count: (count - 1) * step + window for count in counts}
    fitting = [count for count in counts if read[count] * width <= BLOCK]
    again = {count: read[count] / (step * count) - 1 for count in fitting}
    gaining = [count for count in fitting if (again[count] + lost) * products <= PASSING]
    return max(gaining, key=lambda count: (rows // count % 2 == 0, count), default=None)


def window_of(node):
    """Rows from one window of a convolution to the next, and rows of a window."""
    return node.strides[0], (node.inputs[1].shape[2] - 1) * node.dilation[0] + 1


def first_of_pair(graph, node, vectors):
    """The convolution that is a pair with a depthwise one; None if there is none that gains by it."""
    if node.op != "conv2d":
        return None
    each = node.groups == node.shape[1] == node.input.shape[1] and node.groups > 1
    x = node.input
    while x.op in ("unary", "clip") and graph.single(x):
        x = x.input
    if not each or x.op != "conv2d" or x.groups != 1 or not graph.single(x) or node.dtype != "float32":
        return None
    constants = all(one.is_constant() for one in [*x.inputs[1:], *node.inputs[1:]])
    if not constants or x.elements < LEAST_BETWEEN or x.shape[1] % vectors.lanes:
        return None
    width = x.shape[3] * tile_in_pair(x, vectors).channels
    lost = turns_lost(x, vectors)
    return x if rows_of_block(node.shape[2], *window_of(node), width, products_of(x), lost) else None


def pairs_of(graph, vectors):
    """The pairs of a graph, by both of their convolutions."""
    found = {}
    for node in graph.nodes() if vectors.blocks and vectors.conditions and not vectors.threads else ():
        if first := first_of_pair(graph, node, vectors):
            found[first] = found[node] = first, node
    return found


# ---- the second kernel


def depthwise_in_pair(x, weights, shape, strides, padding, dilation, tile):
    """The convolution of each channel of x (NHWC), with rows above and below its picture, by its own weights (HWC)."""
    _, high, wide, _ = x.shape
    above, left, below, _ = padding
    row, column = (te.reduce_axis((0, int(extent))) for extent in weights.shape[:2])
    zero = tirx.const(0, x.dtype)

    def inside(n, h, w, c):
        return tirx.if_then_else(tirx.all(h >= above, h < high - below), x[n, h, w, c], zero)

    picture = te.compute(x.shape, inside, name="inside")

    def term(n, h, w, c):
        z = w * strides[1] + column * dilation[1] - left
        value = picture[n, h * strides[0] + row * dilation[0], z, c] * weights[row, column, c]
        return te.sum(tirx.if_then_else(tirx.all(z >= 0, z < wide), value, zero), axis=[row, column])

    window = strides[0], (int(weights.shape[0]) - 1) * dilation[0] + 1
    return te.compute(shape, term, name="depthwise_conv2d", attrs={PAIR: [tile.channels, *window]})


# ---- the schedule


def is_pair(schedule, name):
    return PAIR in schedule.get(schedule.get_sblock(name)).annotations


def tile_pair(schedule, names, vectors):
    """The blocks of a pair, which threads share; those before and behind it that are left to be scheduled."""
    first, second = names.index("conv2d"), names.index("depthwise_conv2d")
    one, other = (schedule.get_sblock(names[at]) for at in (first, second))
    channels = int(schedule.get(other).annotations[PAIR][0])
    _, _, width, _, *window = (int(variable.dom.extent) for variable in schedule.get(one).iter_vars)
    products = math.prod(window)
    tile = choose_tile(width, channels, vectors, products)
    schedule.unannotate(one, MARK)
    blocks, summed, inner, rest = tile_second(schedule, other, names[second + 1 :], (width * channels, products), vectors)
    # before blocks have rows of the first: TVM refuses it for those that are computed again
    block = schedule.fuse(*blocks)
    schedule.parallel(block)
    tile_first(schedule, one, names[first + 1 : second], block, tile)
    zero_before(schedule, other, summed, inner)
    return names[:first] + rest


def tile_second(schedule, block, behind, first, vectors):
    """The depthwise convolution, and what follows it. What rows_of_block() wants of the first one is given.

    Returns loops over blocks, the outermost loop of its sums, how many loops a tile has, and blocks that are left.
    """
    channels, *window = (int(number) for number in schedule.get(block).annotations[PAIR])
    schedule.unannotate(block, PAIR)
    elements = size(schedule, block)
    (picture, row, column, channel), summed = loops_of(schedule, block)
    rows = rows_of_block(extent(schedule, row), *window, *first)
    tile = choose_depthwise_tile(extent(schedule, column), channels, vectors, rows)
    part, channel = schedule.split(channel, [None, channels])
    share, row, inner_row = schedule.split(row, [None, rows // tile.rows, tile.rows])
    column, inner_column = schedule.split(column, [None, tile.columns])
    channel, inner_wide, lane = schedule.split(channel, [None, tile.vectors, tile.lanes])
    # a thread has rows that are beside each other, and reads them again in the next kernel
    outer, inner = [picture, share, part, row, column, channel], [inner_row, inner_column, inner_wide]
    schedule.reorder(*outer, *summed, *inner, lane)
    same = behind and size(schedule, schedule.get_sblock(behind[-1])) == elements
    rest = compute_behind(schedule, block, behind, outer, tile.lanes, same)
    unroll_and_vectorize(schedule, inner, lane)
    # TVM makes loops of their own of the first and the last columns, where it knows of each product whether it is in the picture
    schedule.annotate(column, "pragma_loop_partition_hint", 1)
    unroll_window(schedule, summed, math.prod(extent(schedule, loop) for loop in [*summed, *inner]))
    return [picture, share, part], summed[0], len(inner), rest


def tile_first(schedule, block, between, loop, tile):
    """The first convolution and what is between the two: those rows and channels that a block of the second one reads."""
    *inlined, last = between
    for name in inlined:
        schedule.compute_inline(schedule.get_sblock(name))
    last = schedule.get_sblock(last)
    schedule.compute_at(last, loop, preserve_unit_loops=True)
    row, column, channel = schedule.get_loops(last)[-3:]
    column, inner_column = schedule.split(column, [None, tile.columns])
    channel, inner_wide, lane = schedule.split(channel, [None, tile.vectors, tile.lanes])
    schedule.reorder(row, channel, column, inner_column, inner_wide, lane)
    unroll_and_vectorize(schedule, [inner_column, inner_wide], lane)
    schedule.set_scope(block, 0, "global")  # TVM allocates a tile on the stack
    schedule.compute_at(block, column, preserve_unit_loops=True)
    *_, inner_column, channel, height, across, depth = schedule.get_loops(block)
    wide, lane = schedule.split(channel, [None, tile.lanes])
    schedule.reorder(height, across, depth, inner_column, wide, lane)
    unroll_and_vectorize(schedule, [inner_column, wide], lane)
    zero_before(schedule, block, height, 2)
