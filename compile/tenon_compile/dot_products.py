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
    pairs: bool = False  # the function takes pairs, as those of a group of 2 do

    @property
    def form(self):
        """Processors with the same form read the same weights."""
        return f"{self.inputs} {self.weights} {self.group}"

    @property
    def adds(self):
        """Whether the function adds to sums that it is given."""
        return self.group == 4 and not self.pairs


MARK = "tenon.dot"  # of a block whose lanes are computed by a function: the form of its operands
PLAIN = Dot()
# a feature of LLVM's, and what comes with it, the best first; of each form the first that a processor has counts
FEATURES = (
    ("avx512vnni", Dot("uint8", "int8", 4, "llvm.x86.avx512.vpdpbusd.512", lanes=16, sums=24)),
    ("avxvnni", Dot("uint8", "int8", 4, "llvm.x86.avx512.vpdpbusd.256", lanes=8, sums=9)),
    ("avx512bw", Dot(group=2, function="llvm.x86.avx512.pmaddw.d.512", lanes=16, sums=24)),
    ("avx2", Dot(group=2, function="llvm.x86.avx2.pmadd.wd", lanes=8, sums=9)),
    ("sse2", Dot(group=2, function="llvm.x86.sse2.pmadd.wd", lanes=4, sums=9)),
    ("avx2", Dot("uint8", "int8", 4, "llvm.x86.avx2.pmadd.wd", lanes=8, sums=9, pairs=True)),
    ("sse2", Dot("uint8", "int8", 4, "llvm.x86.sse2.pmadd.wd", lanes=4, sums=9, pairs=True)),
    ("dotprod", Dot("int8", "int8", 4, "llvm.aarch64.neon.sdot.v4i32.v16i8", lanes=4, sums=24)),
    ("neon", Dot(lanes=4, sums=10)),
    ("v", Dot(lanes=4, sums=16)),
)


def dots_of(features):
    """The products of a processor with these features of LLVM's."""
    found = {}
    for feature, dot in FEATURES:
        if feature in features:
            found.setdefault(dot.form, dot)
    return tuple(found.values())


def dot_with_form(dots, form):
    """The one with operands of a form, or None."""
    return next((dot for dot in dots if dot.form == form), None)


def dot_for(dots, weights):
    """The first whose type weights fit into."""

    def fit(dot):
        limits = numpy.iinfo(dot.weights)
        return limits.min <= weights.min() and weights.max() <= limits.max

    return next((dot for dot in dots if fit(dot)), PLAIN)


def adds_bytes(dots):
    """Whether a processor adds products of bytes in 32 bits. oneDNN adds two in 16 on others, which may be too many."""
    return any(dot.inputs == "uint8" and dot.adds for dot in dots)


def pairs_of_bytes(inputs, weights, lanes):
    """The operands of two products of pairs in 16 bits: the first and third of each four bytes, then the others."""
    from tvm import tirx

    low, byte = tirx.const(0x00FF00FF, "int32"), tirx.Broadcast(tirx.const(8, "int16"), 2 * lanes)
    for shift in (0, 8):
        pair = tirx.Broadcast((inputs >> tirx.const(shift, "int32")) & low, lanes)
        # a shift to the right keeps the sign
        upper = weights if shift else weights << byte
        yield tirx.reinterpret(f"int16x{2 * lanes}", pair), upper >> byte


def dot_product(schedule, lane, dot):
    """Compute the loop over lanes, and that over a group inside of it, by a function.

    TVM's own way, Tensorize, ends in a segmentation fault in its wheel of 0.27.
    """
    from tvm import tirx
    from tvm.s_tir import SBlock

    outer = schedule.blockize(lane)
    block = schedule.get(outer)
    sums = block.writes[0]
    inputs, weights = (region for region in block.reads if not region.source.same_as(sums.source))
    every, of_sums = dot.lanes * dot.group, f"int32x{dot.lanes}"

    def begin(region):
        return [one.min for one in region.region]

    group = tirx.reinterpret("int32", inputs.source.vload(begin(inputs), f"{dot.inputs}x{dot.group}"))
    row = weights.source.vload(begin(weights), f"{dot.weights}x{every}")
    total = sums.source.vload(begin(sums), of_sums)
    if dot.pairs:
        operands = pairs_of_bytes(group, tirx.reinterpret(f"int16x{every // 2}", row), dot.lanes)
    else:
        operands = [(tirx.reinterpret(f"{dot.inputs}x{every}", tirx.Broadcast(group, dot.lanes)), row)]
    for pair in operands:
        if dot.adds:
            total = tirx.call_llvm_pure_intrin(of_sums, dot.function, total, *pair)
        else:
            total = total + tirx.call_llvm_pure_intrin(of_sums, dot.function, *pair)
    store = sums.source.vstore(begin(sums), total)
    new = SBlock(block.iter_vars, block.reads, block.writes, block.name_hint, store)
    schedule.state.replace(schedule.get_sref(outer), new, {block: new})
