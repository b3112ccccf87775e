# SPDX-License-Identifier: MIT
"""What schedules need to know of a processor."""

from dataclasses import replace

from .dot_products import dot_with_form, dots_of
from .kernels import Vectors
from .small_core import CORES

# a feature of LLVM's, and the vectors of 32-bit lanes that come with it; the first that a processor has counts
FEATURES = (
    ("avx512f", Vectors(16, 24)),
    ("avx2", Vectors(8, 12)),
    ("sse2", Vectors(4, 12)),
    ("neon", Vectors(4, 10)),
    # of a choice TVM 0.27 makes vectors of two lengths, and refuses them
    ("v", Vectors(4, 24, conditions=False)),
)
WITHOUT = Vectors(1, 12)


def widest(vectors):
    """Vectors for which weights are laid out if code for several processors reads them: the first one's, but wider.

    Integers are multiplied as the best one does, in a form that all have.
    """
    best = max(vectors, key=lambda one: (one.lanes, one.sums))
    dots = tuple(dot for dot in best.dots if all(dot_with_form(one.dots, dot.form) for one in vectors))
    return replace(vectors[0], lanes=best.lanes, sums=best.sums, dots=dots)


def vectors_of(target):
    """The vector registers of a target of TVM's with code for a processor."""
    from tvm.target import codegen

    with target:
        has = {str(feature) for feature in codegen.llvm_get_cpu_features(target)}
    found = next((vectors for feature, vectors in FEATURES if feature in has), WITHOUT)
    # NEON of 64 bits has 32 registers
    architecture = str(target.attrs.get("mtriple", "")).split("-")[0]
    if "neon" in has and architecture == "aarch64":
        found = Vectors(4, 24)
    return replace(found, dots=dots_of(has), blocks=architecture not in CORES)
