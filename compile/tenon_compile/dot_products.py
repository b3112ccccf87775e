# SPDX-License-Identifier: MIT
"""Instructions that multiply small integers and add neighbouring products to sums of 32 bits.

One multiplies a group of inputs by a row of weights (lanes, group): each lane gets the sum of the group's products.
"""

from dataclasses import dataclass

import numpy


@dataclass(frozen=True)
class Dot:
    """How integers are multiplied: types of inputs and weights, products that a lane adds, and LLVM's function.

    Without a function the products are written out, one of each lane, and LLVM chooses the instructions.
    """

    inputs: str = "int16"
    weights: str = "int16"
    group: int = 1
    function: str | None = None
    lanes: int = 4
    sums: int = 8  # vectors of sums that are kept in registers

    @property
    def adds(self):
        """Whether the function adds to sums that it is given."""
        return self.group == 4


MARK = "tenon.dot"  # of a block whose lanes are computed by a function: its name
PLAIN = Dot()
# a feature of LLVM's, and what comes with it; the first that a processor has counts
FEATURES = (
    ("avx512vnni", Dot("uint8", "int8", 4, "llvm.x86.avx512.vpdpbusd.512", lanes=16, sums=24)),
    ("avxvnni", Dot("uint8", "int8", 4, "llvm.x86.avx512.vpdpbusd.256", lanes=8, sums=9)),
    ("avx512bw", Dot(group=2, function="llvm.x86.avx512.pmaddw.d.512", lanes=16, sums=24)),
    ("avx2", Dot(group=2, function="llvm.x86.avx2.pmadd.wd", lanes=8, sums=9)),
    ("sse2", Dot(group=2, function="llvm.x86.sse2.pmadd.wd", lanes=4, sums=9)),
    ("dotprod", Dot("int8", "int8", 4, "llvm.aarch64.neon.sdot.v4i32.v16i8", lanes=4, sums=24)),
    ("neon", Dot(lanes=4, sums=10)),
    ("v", Dot(lanes=4, sums=16)),
)
BY_FUNCTION = {dot.function: dot for _, dot in FEATURES if dot.function}


def dot_of(features):
    """The products of a processor with these features of LLVM's."""
    return next((dot for feature, dot in FEATURES if feature in features), PLAIN)


def dot_for(dot, weights):
    """The products of a processor, or others that it has besides if weights do not fit into their type."""
    limits = numpy.iinfo(dot.weights)
    if limits.min <= weights.min() and weights.max() <= limits.max:
        return dot
    wider = (one for _, one in FEATURES if dot.inputs == "uint8" and one.group == 2 and one.lanes == dot.lanes)
    return next(wider, PLAIN)


def dot_product(schedule, lane):
    """Compute the loop over lanes, and that over a group inside of it, by the function of the block's mark.

    TVM's own way, Tensorize, ends in a segmentation fault in its wheel of 0.27.
    """
    from tvm import tirx
    from tvm.s_tir import SBlock

    outer = schedule.blockize(lane)
    block = schedule.get(outer)
    sums = block.writes[0]
    inputs, weights = (region for region in block.reads if not region.source.same_as(sums.source))
    dot = BY_FUNCTION[str(schedule.get(schedule.get_child_blocks(outer)[0]).annotations[MARK])]
    every = dot.lanes * dot.group

    def begin(region):
        return [one.min for one in region.region]

    group = tirx.reinterpret("int32", inputs.source.vload(begin(inputs), f"{dot.inputs}x{dot.group}"))
    operands = [
        tirx.reinterpret(f"{dot.inputs}x{every}", tirx.Broadcast(group, dot.lanes)),
        weights.source.vload(begin(weights), f"{dot.weights}x{every}"),
    ]
    before = sums.source.vload(begin(sums), f"int32x{dot.lanes}")
    if dot.adds:
        operands.insert(0, before)
    products = tirx.call_llvm_pure_intrin(f"int32x{dot.lanes}", dot.function, *operands)
    store = sums.source.vstore(begin(sums), products if dot.adds else before + products)
    new = SBlock(block.iter_vars, block.reads, block.writes, block.name_hint, store)
    schedule.state.replace(schedule.get_sref(outer), new, {block: new})
