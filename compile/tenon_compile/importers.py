# SPDX-License-Identifier: MIT
"""TVM's importers of ONNX's operators (0.27), where they are repaired or give what rules can read."""

import numpy


def static_shape(type_):
    """The shape of a value of a type, or None where it is not known."""
    extents = [getattr(extent, "value", None) for extent in getattr(type_.shape, "values", [None])]
    return None if None in extents else extents


def repaired_clip():
    """TVM's importer of Clip, but with constant bounds it emits relax.op.clip.

    TVM's own calls two opaque functions instead, which no pass sees through.
    """
    from tvm import relax
    from tvm.ir import GenericConst
    from tvm.relax.frontend.onnx import onnx_frontend

    class Clip(onnx_frontend.Clip):
        @classmethod
        def _impl_v1(cls, bb, inputs, attr, params):
            return relax.op.clip(inputs[0], float(attr.get("min", "-inf")), float(attr.get("max", "inf")))

        @classmethod
        def _impl_v13(cls, bb, inputs, attr, params):
            bounds = [float("-inf"), float("inf")]
            for i, bound in enumerate(inputs[1:3]):
                if bound is None:
                    continue
                value = float(bound.value.numpy()) if isinstance(bound, GenericConst) else float("nan")
                if value != value or not str(bound.ty.dtype).startswith(("float", "bfloat")):
                    return super()._impl_v13(bb, inputs, attr, params)
                bounds[i] = value
            if bounds == [float("-inf"), float("inf")]:
                return inputs[0]  # integers have no such bounds
            return relax.op.clip(inputs[0], *bounds)

    return Clip


def kept_dequantize():
    """TVM's importer of DequantizeLinear, but 8-bit weights stay what they are."""
    from tvm.relax.frontend.onnx import onnx_frontend

    from .kept_weights import keep

    class DequantizeLinear(onnx_frontend.DequantizeLinear):
        @classmethod
        def get_converter(cls, opset):
            convert = super().get_converter(opset)
            return lambda *arguments: keep(convert(*arguments))

    return DequantizeLinear


def broadcasting_expand():
    """TVM's importer of Expand, but extents of 1 in a constant shape leave those of the input, and ranks may differ."""
    from tvm import relax
    from tvm.ir import GenericConst
    from tvm.relax.frontend.onnx import onnx_frontend

    class Expand(onnx_frontend.Expand):
        @classmethod
        def _impl_v13(cls, bb, inputs, attr, params):
            shape = static_shape(inputs[0].ty)
            if shape is None or not isinstance(inputs[1], GenericConst):
                return super()._impl_v13(bb, inputs, attr, params)
            wanted = numpy.broadcast_shapes(shape, tuple(int(extent) for extent in inputs[1].value.numpy()))
            return relax.op.broadcast_to(inputs[0], relax.ShapeExpr(list(wanted)))

    return Expand


def padding_for(extent, wanted, kernel, stride, dilation, extra, upper):
    """Of a transposed convolution along one axis, whose output is to be that long: padding before, behind, and what is
    added to the output."""
    total = stride * (extent - 1) + extra + (kernel - 1) * dilation + 1 - wanted
    if total < 0:
        return 0, 0, extra - total
    before = total // 2 if upper else total - total // 2
    return before, total - before, extra


def shaped_transposed_convolution():
    """TVM's importer of ConvTranspose, but output_shape is obeyed."""
    from tvm.relax.frontend.onnx import onnx_frontend

    class ConvTranspose(onnx_frontend.ConvTranspose):
        @classmethod
        def _impl_v1(cls, bb, inputs, attr, params):
            shape, kernel = static_shape(inputs[0].ty), static_shape(inputs[1].ty)
            if "output_shape" in attr and shape is not None and kernel is not None:
                axes = len(shape) - 2
                upper = attr.get("auto_pad") in (b"SAME_UPPER", "SAME_UPPER")
                before, behind, extra = zip(*map(
                    padding_for, shape[2:], attr["output_shape"][-axes:], kernel[2:], attr.get("strides", [1] * axes),
                    attr.get("dilations", [1] * axes), attr.get("output_padding", [0] * axes), [upper] * axes,
                ))  # fmt: skip
                attr = {**attr, "auto_pad": "NOTSET", "pads": [*before, *behind], "output_padding": list(extra)}
            return super()._impl_v1(bb, inputs, attr, params)

    return ConvTranspose


def total_shift():
    """TVM's importer of BitShift, but a distance below 0, or of all bits and more, shifts all bits out.

    Processors take such a distance modulo the width of a register.
    """
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class BitShift(onnx_frontend.BitShift):
        @classmethod
        def _impl_v11(cls, bb, inputs, attr, params):
            dtype = numpy.dtype(str(inputs[1].ty.dtype))
            signed, bits = dtype.kind == "i", 8 * dtype.itemsize
            distance, zero = inputs[1], relax.const(0, dtype.name)
            inside = relax.op.less(distance, relax.const(bits, dtype.name))
            if signed:
                inside = relax.op.logical_and(inside, relax.op.greater_equal(distance, zero))
            if signed and attr["direction"] == b"RIGHT":
                return relax.op.right_shift(inputs[0], relax.op.where(inside, distance, relax.const(bits - 1, dtype.name)))
            shift = relax.op.right_shift if attr["direction"] == b"RIGHT" else relax.op.left_shift
            return relax.op.where(inside, shift(inputs[0], relax.op.where(inside, distance, zero)), zero)

    return BitShift


def infinite_modulo():
    """TVM's importer of Mod, but of floating-point numbers the result has the sign of the divisor without a quotient,
    which is no number where the divisor is infinite."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class Mod(onnx_frontend.Mod):
        @classmethod
        def _impl_v10(cls, bb, inputs, attr, params):
            dtype = str(inputs[0].ty.dtype)
            if attr.get("fmod", 0) or "float" not in dtype:
                return super()._impl_v10(bb, inputs, attr, params)
            if dtype == "bfloat16":
                inputs = [relax.op.astype(value, "float32") for value in inputs]
            x, y = map(bb.normalize, inputs[:2])
            zero, rest = relax.const(0, str(x.ty.dtype)), bb.normalize(relax.op.mod(x, y))
            other_sign = relax.op.logical_xor(relax.op.less(rest, zero), relax.op.less(y, zero))
            moved = relax.op.logical_and(other_sign, relax.op.not_equal(rest, zero))
            result = relax.op.where(moved, relax.op.add(rest, y), rest)
            return relax.op.astype(result, dtype) if dtype == "bfloat16" else result

    return Mod


def whole_normalization():
    """TVM's importer of RMSNormalization, but over all axes too, which TVM 0.27 does not compile: an axis is added in front."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class RMSNormalization(onnx_frontend.RMSNormalization):
        @classmethod
        def _impl_v23(cls, bb, inputs, attr, params):
            shape = static_shape(inputs[0].ty)
            if shape is None or attr.get("axis", -1) not in (0, -len(shape)):
                return super()._impl_v23(bb, inputs, attr, params)
            data = bb.normalize(relax.op.expand_dims(inputs[0], 0))
            result = super()._impl_v23(bb, [data, inputs[1]], {**attr, "axis": 1}, params)
            return relax.op.squeeze(bb.normalize(result), [0])

    return RMSNormalization


def columns_first():
    """TVM's importer of SpaceToDepth, but its mode "CRD" is obeyed: the channels of a block follow each other."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class SpaceToDepth(onnx_frontend.SpaceToDepth):
        @classmethod
        def _impl_v1(cls, bb, inputs, attr, params):
            result = bb.normalize(super()._impl_v1(bb, inputs, attr, params))
            if attr.get("mode") not in (b"CRD", "CRD"):
                return result
            n, channels, h, w = result.ty.shape
            block = int(attr["blocksize"]) ** 2
            parts = relax.op.permute_dims(relax.op.reshape(result, (n, block, channels // block, h, w)), [0, 2, 1, 3, 4])
            return relax.op.reshape(parts, (n, channels, h, w))

    return SpaceToDepth


def signed_infinity():
    """TVM's importer of IsInf, but it tells the infinities apart that the network asks for."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class IsInf(onnx_frontend.IsInf):
        @classmethod
        def _impl_v10(cls, bb, inputs, attr, params):
            found = super()._impl_v10(bb, inputs, attr, params)
            zero = relax.const(0, str(inputs[0].ty.dtype))
            if not attr.get("detect_negative", 1):
                found = relax.op.logical_and(found, relax.op.greater(inputs[0], zero))
            if not attr.get("detect_positive", 1):
                found = relax.op.logical_and(found, relax.op.less(inputs[0], zero))
            return found

    return IsInf


def typed_elu():
    """TVM's importer of Elu, but of numbers of any type: its constants are float32."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class Elu(onnx_frontend.Elu):
        @classmethod
        def _impl_v1(cls, bb, inputs, attr, params):
            zero, alpha, one = (relax.const(value, str(inputs[0].ty.dtype)) for value in (0, attr.get("alpha", 1.0), 1))
            below = relax.op.subtract(relax.op.exp(relax.op.minimum(inputs[0], zero)), one)
            return relax.op.where(relax.op.less(inputs[0], zero), relax.op.multiply(alpha, below), inputs[0])

    return Elu


def slice_by_attributes():
    """TVM's importer of Slice, but also as opsets before 10 have it, whose places are attributes."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class Slice(onnx_frontend.Slice):
        @classmethod
        def _impl_v1(cls, bb, inputs, attr, params):
            begin, end = attr["starts"], attr["ends"]
            return relax.op.strided_slice(inputs[0], list(attr.get("axes", range(len(begin)))), list(begin), list(end))

        @classmethod
        def _impl_v10(cls, bb, inputs, attr, params):
            return cls._impl_v13(bb, inputs, attr, params)

    return Slice


def sorted_as_others():
    """TVM's importer of TopK, but also of types that its runtime does not sort: as others in which the order is the same;
    and as opset 10 has it, whose number of values is an input already."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    sorts = {"int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64", "bfloat16": "float32"}

    class TopK(onnx_frontend.TopK):
        @classmethod
        def _impl_v10(cls, bb, inputs, attr, params):
            return cls._impl_v11(bb, inputs, attr, params)

        @classmethod
        def _impl_v11(cls, bb, inputs, attr, params):
            dtype = str(inputs[0].ty.dtype)
            if dtype not in sorts:
                return super()._impl_v11(bb, inputs, attr, params)

            def without_sign(x):
                """Bits of 64 are kept; the highest one, which decides first, is turned: it is a sign on the other side."""
                return relax.op.bitwise_xor(x, relax.const(1 << 63, dtype)) if dtype == "uint64" else x

            data = bb.normalize(relax.op.astype(bb.normalize(without_sign(inputs[0])), sorts[dtype]))
            both = bb.normalize(super()._impl_v11(bb, [data, *inputs[1:]], attr, params))
            values = bb.normalize(relax.op.astype(bb.normalize(relax.TupleGetItem(both, 0)), dtype))
            return relax.Tuple([without_sign(values), relax.TupleGetItem(both, 1)])

    return TopK


def exact_upsample():
    """TVM's importer of Upsample, but also as opset 9 has it, whose scales are an input; the nearest element is that of ONNX."""
    from tvm import relax
    from tvm.relax.frontend.onnx import onnx_frontend

    class Upsample(onnx_frontend.Upsample):
        @classmethod
        def _impl_v9(cls, bb, inputs, attr, params):
            scales = attr["scales"] if inputs[1] is None else inputs[1].value.numpy().tolist()
            result = bb.normalize(super()._impl_v9(bb, inputs, {**attr, "scales": scales}, params))
            if result.attrs.method != "nearest_neighbor":
                return result
            place = result.attrs.coordinate_transformation_mode
            return relax.op.image.resize2d(
                *result.args, layout="NCHW", method="nearest_neighbor", coordinate_transformation_mode=place, rounding_method="floor"
            )

    return Upsample


def repaired_importers():
    return {
        "BitShift": total_shift(),
        "Clip": repaired_clip(),
        "ConvTranspose": shaped_transposed_convolution(),
        "DequantizeLinear": kept_dequantize(),
        "Elu": typed_elu(),
        "Expand": broadcasting_expand(),
        "IsInf": signed_infinity(),
        "Mod": infinite_modulo(),
        "RMSNormalization": whole_normalization(),
        "Slice": slice_by_attributes(),
        "SpaceToDepth": columns_first(),
        "TopK": sorted_as_others(),
        "Upsample": exact_upsample(),
    }
