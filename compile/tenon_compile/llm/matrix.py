# SPDX-License-Identifier: MIT
"""Matrices of weights, [outputs, inputs], as files hold them."""

from dataclasses import dataclass

import numpy

GROUP = 32  # inputs that share a scale


@dataclass
class Floats:
    """Numbers, in float32 or float16."""

    values: numpy.ndarray

    @property
    def shape(self):
        return self.values.shape

    def finite(self):
        return bool(numpy.isfinite(self.values).all())

    def rows(self, order):
        return Floats(self.values[order])

    def floats(self):
        return self.values.astype(numpy.float32)


@dataclass
class Codes:
    """code × scale + offset: codes of 4 bits (0 to 15, an offset) or 8 (signed, none); scales by groups of inputs."""

    bits: int
    codes: numpy.ndarray  # [outputs, inputs]
    scale: numpy.ndarray  # [outputs, groups], float16
    offset: numpy.ndarray | None

    @property
    def shape(self):
        return self.codes.shape

    def finite(self):
        return all(scale is None or bool(numpy.isfinite(scale).all()) for scale in (self.scale, self.offset))

    def rows(self, order):
        offset = None if self.offset is None else self.offset[order]
        return Codes(self.bits, self.codes[order], self.scale[order], offset)

    def floats(self):
        groups = self.codes.reshape(len(self.codes), -1, GROUP).astype(numpy.float32)
        values = groups * self.scale.astype(numpy.float32)[..., None]
        if self.offset is not None:
            values += self.offset.astype(numpy.float32)[..., None]
        return values.reshape(self.codes.shape)


def joined(matrices):
    """The outputs of several matrices one after another: in codes if all are in the same, in float32 if they differ."""
    if len(matrices) == 1:
        return matrices[0]
    first = matrices[0]
    if all(isinstance(m, Codes) and m.bits == first.bits for m in matrices) and isinstance(first, Codes):
        offsets = [m.offset for m in matrices]
        offset = None if first.offset is None else numpy.concatenate(offsets)
        codes, scales = [m.codes for m in matrices], [m.scale for m in matrices]
        return Codes(first.bits, numpy.concatenate(codes), numpy.concatenate(scales), offset)
    if all(isinstance(m, Floats) and m.values.dtype == numpy.float16 for m in matrices):
        return Floats(numpy.concatenate([m.values for m in matrices]))
    return Floats(numpy.concatenate([m.floats() for m in matrices]))
