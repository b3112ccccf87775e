// SPDX-License-Identifier: MIT
func.func @main(%x: tensor<1x8x8x4xi8>) -> tensor<1x8x8x8xi8> {
  %shift = "tosa.const"() <{values = dense<39> : tensor<1xi8>}> : () -> tensor<1xi8>
  %mul = "tosa.const"() <{values = dense<2003370132> : tensor<1xi32>}> : () -> tensor<1xi32>
  %zero32 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %w = "tosa.const"() <{values = dense<3> : tensor<8x3x3x4xi8>}> : () -> tensor<8x3x3x4xi8>
  %bias = "tosa.const"() <{values = dense<[0,100,200,300,-100,-200,-300,5]> : tensor<8xi32>}> : () -> tensor<8xi32>
  %zp = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = tosa.conv2d %x, %w, %bias, %zp, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xi8>, tensor<8x3x3x4xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x8xi32>
  %r = tosa.rescale %c, %mul, %shift, %zero32, %zp {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = DOUBLE_ROUND, scale32 = true} : (tensor<1x8x8x8xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x8xi8>
  %k = tosa.clamp %r {max_val = 127 : i8, min_val = -128 : i8} : (tensor<1x8x8x8xi8>) -> tensor<1x8x8x8xi8>
  return %k : tensor<1x8x8x8xi8>
}
