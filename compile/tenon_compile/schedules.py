# SPDX-License-Identifier: MIT
"""Schedules for processors: loops in tiles that fit the vector registers.

One rule holds for convolutions, depthwise convolutions and products: a tile is some columns by some vectors of output
channels, whose sums stay in registers while the loops over what is summed run outside of it. Other kernels are
vectorised along their innermost axis, where that is contiguous.
"""

import contextlib
import math

import tvm
from tvm import relax
from tvm.s_tir import Schedule, ScheduleError

from .dot_products import MARK as DOT_MARK
from .dot_products import dot_product, dot_with_form
from .errors import first_line
from .kernels import MARK, Tile, Vectors, choose_depthwise_tile, choose_tile
from .loops import compute_behind, extent, loops_of, needed_by, size, unroll_and_vectorize, unroll_window, zero_before
from .pairs import is_pair, tile_pair

LEAST_WORK = 400_000  # multiply-adds: about ten times what a launch of threads costs
LEAST_ELEMENTS = LEAST_WORK // 12  # those that a kernel without a product computes in the same time
LEAST_TURNS = 8
LEAST_LANES = 8  # of a vector of elements that no product is among
LARGER = 2  # how many times as many elements a convolution reads and writes as weights, if it reads these for each block of rows
DEPTHWISE = ("depthwise_conv2d", "integer_depthwise_conv2d")
# those whose tiles depend on vectors alone
ALL_VECTORS = ("conv2d", "dense", "product", *DEPTHWISE)


def rows_in_blocks(schedule, row, channel, elements, weights):
    """Split the rows of a convolution for threads, each with all channels, if its pictures are larger than the weights.

    The next convolution then reads most of what its own thread wrote. The loop over blocks, and that within one.
    """
    count = next((one for one in range(2 * LEAST_TURNS, LEAST_TURNS - 1, -1) if extent(schedule, row) % one == 0), 1)
    if count == 1 or extent(schedule, channel) == 1 or elements < LARGER * weights:
        return [], row
    block, row = schedule.split(row, [count, None])
    return [block], row


def in_threads(schedule, loops, work):
    """Let threads share loops whose bodies do not depend on each other, if a launch costs little beside the work.

    The last of the loops stays as it is, unless the others have too few turns.
    """
    if work < LEAST_WORK:
        return
    few = math.prod(extent(schedule, loop) for loop in loops[:-1]) < LEAST_TURNS
    schedule.parallel(schedule.fuse(*(loops if few else loops[:-1])))


def elements_in_threads(schedule, loops, elements):
    """Let threads share the outermost of loops with little work in each turn: the fewest that have enough turns, since each turn
    of loops in one computes what it is of each. Returns how many loops became one."""
    if elements < LEAST_ELEMENTS:
        return 0
    for count in range(1, len(loops) + 1):
        if math.prod(extent(schedule, loop) for loop in loops[:count]) >= 2 * LEAST_TURNS:
            with contextlib.suppress(ScheduleError):  # an element that depends on others of its block
                schedule.parallel(schedule.fuse(*loops[:count]))
                return count
            return 0
    return 0


def share_depthwise(schedule, loops, work):
    """The loops of a depthwise convolution over tiles, and those of them that threads share: none if there is little work.

    Those over pictures, rows, columns and channels are given. Threads share rows, or blocks of channels if the rows are few.
    """
    pictures, row, column, channel = loops
    if work < LEAST_WORK:
        return loops, []
    turns = range(2 * LEAST_TURNS, LEAST_TURNS - 1, -1)
    count = next((one for one in turns if extent(schedule, channel) % one == 0), 1)
    one_picture = extent(schedule, pictures) == 1
    if count == 1 or (one_picture and extent(schedule, row) >= LEAST_TURNS):
        return loops, [row] if one_picture else [pictures, row]
    block, channel = schedule.split(channel, [count, None])
    return [pictures, block, row, column, channel], [pictures, block]


def finish_depthwise(schedule, outer, shared, summed, products):
    """Let threads share loops, and leave few conditions of what is in the picture.

    TVM makes loops of their own of the first and the last rows and columns of tiles. In those between all is inside; in
    the others, it knows of each product whether it is, if those of a tile are not in loops.
    """
    row, column = outer[-3:-1]
    for loop in [column] if len(shared) > 1 and row in shared else [row, column]:
        schedule.annotate(loop, "pragma_loop_partition_hint", 1)
    if shared:
        schedule.parallel(schedule.fuse(*shared) if len(shared) > 1 else shared[0])
    unroll_window(schedule, summed, products)


def dot_of(schedule, block, vectors):
    """How a processor multiplies the integers of a marked block; None if LLVM chooses the instructions."""
    form = schedule.get(block).annotations.get(DOT_MARK)
    return dot_with_form(vectors.dots, str(form)) if form else None


def tile_of(schedule, name, vectors, chosen):
    """The tile of a marked block; for other vectors than those that it was chosen for, a new one."""
    block = schedule.get_sblock(name)
    rows, columns, wide, lanes = (int(number) for number in schedule.get(block).annotations[MARK])
    dot = dot_of(schedule, block, vectors)
    if not dot and (chosen or name not in ALL_VECTORS):
        return Tile(columns, wide, lanes, rows)
    space, summed = loops_of(schedule, block)
    space = [extent(schedule, loop) for loop in space]
    if name in DEPTHWISE:
        return choose_depthwise_tile(*space[-2:], vectors, space[-3])
    depth = math.prod(extent(schedule, loop) for loop in summed) // (dot.group if dot else 1)
    vectors = Vectors(dot.lanes, dot.sums) if dot else vectors
    return choose_tile(space[-2], wide * lanes, vectors, depth, space[-3] if name.endswith("conv2d") else 1)


def in_tile(schedule, name, extents, all_channels):
    """Whether a block behind a tiled one of these extents computes as many elements, or fewer channels of a tile with all."""
    found = loops_of(schedule, schedule.get_sblock(name))
    own = [extent(schedule, loop) for loop in found[0]] if found else []
    fewer = all_channels and own[:-1] == extents[:-1] and own[-1] < extents[-1]
    return math.prod(own) == math.prod(extents) or fewer


def tile_product(schedule, names, vectors, chosen):
    """A marked block, the first of names, and what follows it in its kernel; the blocks that are left to be vectorised.

    What follows is computed in the tile of the product, unless it is larger, as of a gate that scales a whole picture.
    """
    block = schedule.get_sblock(names[0])
    tile = tile_of(schedule, names[0], vectors, chosen)
    schedule.unannotate(block, MARK)
    dot = dot_of(schedule, block, vectors)
    # outputs that fill no vector
    dot = dot if dot and tile.lanes == dot.lanes else None
    behind = names[1:]
    space, summed = loops_of(schedule, block)
    extents = [extent(schedule, loop) for loop in space]
    elements = math.prod(extents)
    group = [summed.pop()] if dot else []  # neighbours that one instruction sums
    *outer, columns, channels = space
    inner_row = []
    if tile.rows > 1:
        outer[-1], row = schedule.split(outer[-1], [None, tile.rows])
        inner_row = [row]
    column, inner_column = schedule.split(columns, [None, tile.columns])
    channel, inner_wide, lane = schedule.split(channels, [None, tile.vectors, tile.lanes])
    inner = [*inner_row, inner_column, inner_wide]
    all_channels = extent(schedule, channel) == 1
    products = math.prod(extent(schedule, loop) for loop in [*summed, *group])
    # a vector that is not full takes as long
    work = elements * products * max(1, vectors.lanes // tile.lanes)
    # weights of a tile stay in the cache from one row to the next; those of depthwise convolutions do anyway, and
    # their inputs are read once, in the order of memory; each matrix of a product has weights of its own
    blocks, shared = [], None
    if names[0] in DEPTHWISE:
        outer, shared = share_depthwise(schedule, [*outer, column, channel], work)
    elif names[0] == "product":
        outer = [*outer, column, channel]
    else:
        if names[0].endswith("conv2d"):
            weights = extent(schedule, channel) * tile.channels * products
            read = math.prod(int(extent) for extent in schedule.get(block).reads[0].source.shape)
            blocks, outer[-1] = rows_in_blocks(schedule, outer[-1], channel, read + elements, weights)
        outer = [*outer[:-1], *blocks, channel, outer[-1], column] if blocks else [channel, *outer, column]
    schedule.reorder(*outer, *summed, *inner, lane, *group)
    same = behind and in_tile(schedule, behind[-1], extents, all_channels)
    rest = compute_behind(schedule, block, behind, outer, tile.lanes, same)
    unroll_and_vectorize(schedule, inner, None if dot else lane)
    loops = schedule.get_loops(block)[: len(outer)]
    if shared is None:
        # the loop over channels stays as it is in each block
        in_threads(schedule, loops[: outer.index(channel) + 1] if blocks else loops, work)
    else:
        of_tile = math.prod(extent(schedule, loop) for loop in [*summed, *inner])
        finish_depthwise(schedule, outer, shared, summed, of_tile)
    zero_before(schedule, block, summed[0], len(inner))
    if dot:
        dot_product(schedule, lane, dot)
    return rest


def has_condition(schedule, block):
    """Whether a block computes one of two values, such as elements of a picture or its padding."""
    return "if_then_else" in schedule.get(block).script()


def vector_of(schedule, block, space, vectors):
    """How many elements a vector of a block without a product has; 1 if it stays scalar.

    Sums along the last axis of a matrix are vectors too, of elements that are a row apart: scalar sums take 1.3 to 5 times
    as long, since each addition waits for the one before.
    """
    lanes = math.gcd(extent(schedule, space[-1]), max(vectors.lanes, 8))
    if vectors.lanes == 1 or lanes < LEAST_LANES:
        return 1
    return 1 if not vectors.conditions and has_condition(schedule, block) else lanes


def vectorize_blocks(schedule, names, vectors):
    """Kernels without a product: each block along its last axis, if that is no sum, and in threads.

    Sums and scalar loops stay in one thread: in the function that TVM makes of a loop in threads, LLVM does not know that
    tensors do not overlap, and neither keeps sums in registers nor makes vectors by itself.
    """
    for name in names:
        block = schedule.get_sblock(name)
        found = loops_of(schedule, block)
        if not found or not found[0]:
            continue
        space, summed = found
        lanes = vector_of(schedule, block, space, vectors)
        if lanes > 1:
            space[-1], lane = schedule.split(space[-1], [None, lanes])
            if summed:
                schedule.reorder(*space, *summed, lane)
            schedule.vectorize(lane)
        if lanes > 1 and not summed:
            work = lanes * math.prod(extent(schedule, loop) for loop in space)
            if elements_in_threads(schedule, space, work) < len(space) and name == "pad":
                # TVM makes loops of their own of the vectors at the border
                schedule.annotate(space[-1], "pragma_loop_partition_hint", 1)
        elif lanes > 1:
            schedule.decompose_reduction(block, summed[0])


def marked(schedule, name):
    return MARK in schedule.get(schedule.get_sblock(name)).annotations


def in_32_bits(schedule):
    """The same kernel with loops of 32 bits, if its tensors are not larger: TVM 0.27 forgets marks of longer ones."""
    buffers = schedule.mod["main"].params
    small = all(math.prod(int(extent) for extent in one.shape) < 2**31 for one in buffers)
    if not small or any(one.dtype == "int64" for one in buffers):
        return schedule
    return Schedule(tvm.tirx.transform.ForceNarrowIndexToInt32()(schedule.mod))


def schedule_kernel(function, vectors, chosen):
    """A kernel with a schedule, and the rule that it is by."""
    schedule = Schedule(tvm.IRModule({"main": function}))
    names = [schedule.get(block).name_hint for block in schedule.get_child_blocks(schedule.get_sblock("root"))]
    main = next((name for name in names if marked(schedule, name)), None)
    before, rest = names, []
    if "depthwise_conv2d" in names:
        schedule = in_32_bits(schedule)
    if "depthwise_conv2d" in names and is_pair(schedule, "depthwise_conv2d"):
        before = tile_pair(schedule, names, vectors)
    elif main:
        needed = needed_by(schedule, main)
        before = [name for name in names if name in needed]
        behind = [name for name in names if name != main and name not in needed]
        rest = tile_product(schedule, [main, *behind], vectors, chosen)
    vectorize_blocks(schedule, [*before, *rest], vectors)
    return schedule.mod["main"], "tiled" if main else "vectorised"


def schedule_module(module, vectors, chosen=True):
    """Schedule the kernels of a module; the rule of each, or why it has TVM's default schedule.

    Tiles that were not chosen for these vectors, but for those of another processor, are chosen anew.
    """
    rules = {}
    for variable, function in list(module.functions.items()):
        if isinstance(function, relax.Function):
            continue
        try:
            scheduled, rules[variable.name_hint] = schedule_kernel(function, vectors, chosen)
        except Exception as error:  # schedules refuse by exceptions of several kinds
            rules[variable.name_hint] = "default: " + first_line(error)
            continue
        module[variable] = scheduled.with_attr("global_symbol", variable.name_hint)
    return module, rules
