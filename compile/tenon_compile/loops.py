# SPDX-License-Identifier: MIT
"""The loops of a kernel's blocks, which schedules ask about, put in tiles and make vectors of."""

import math

UNROLLED = 400  # products of a tile of a depthwise convolution, more than which stay in loops


def extent(schedule, loop):
    return int(schedule.get(loop).extent)


def loops_of(schedule, block):
    """The loops of a block: those of its space, and those that it sums over; None if they are not one to one."""
    loops = schedule.get_loops(block)
    kinds = [int(variable.iter_type) for variable in schedule.get(block).iter_vars]
    if len(loops) != len(kinds):
        return None
    space = [loop for loop, kind in zip(loops, kinds) if kind == 0]
    summed = [loop for loop, kind in zip(loops, kinds) if kind != 0]
    return space, summed


def size(schedule, block):
    """How many elements a block computes."""
    found = loops_of(schedule, block)
    return math.prod(extent(schedule, loop) for loop in found[0]) if found else None


def unroll_and_vectorize(schedule, unrolled, vector):
    for loop in unrolled:
        if extent(schedule, loop) > 1:
            schedule.unroll(loop)
    if vector and extent(schedule, vector) > 1:
        schedule.vectorize(vector)


def unroll_window(schedule, summed, products):
    """Unroll the loops over a window: TVM then knows of each of a tile's products whether it is in the picture."""
    if products <= UNROLLED:
        unroll_and_vectorize(schedule, summed, None)


def needed_by(schedule, name):
    """The names of the blocks that a block is computed from."""
    names = set()
    for block in schedule.get_producers(schedule.get_sblock(name)):
        one = schedule.get(block).name_hint
        names |= {one} | needed_by(schedule, one)
    return names


def zero_before(schedule, block, summed, inner):
    """Set the sums of a tile to zero before its first loop over what is summed; so many inner loops and a vector are the tile."""
    *_, vector = loops = schedule.get_loops(schedule.decompose_reduction(block, summed))
    unroll_and_vectorize(schedule, loops[-inner - 1 : -1], vector)


def compute_behind(schedule, block, behind, outer, lanes, same):
    """Compute what follows a tiled block in its tiles, in the last of the loops outside of them; the blocks that are left.

    The last of what follows is left, and the tile's sums are copied, if its elements are not the "same" as the tile's.
    """
    for name in behind[:-1]:
        schedule.compute_inline(schedule.get_sblock(name))
    # TVM allocates a small tensor of this scope on the stack, but calls the runtime for one that is "local"
    if same:
        schedule.set_scope(block, 0, "global")
        last = schedule.get_sblock(behind[-1])
    else:
        last = schedule.cache_write(block, 0, "global")
    schedule.reverse_compute_at(last, outer[-1])
    # a tile of one element has no loops
    within = schedule.get_loops(last)[len(outer) :]
    if within:
        # channels that only fill vectors are not among them
        over, vector = schedule.split(within[-1], [None, math.gcd(extent(schedule, within[-1]), lanes)])
        unroll_and_vectorize(schedule, [*within[:-1], over], vector)
    return [] if same else behind[-1:]
