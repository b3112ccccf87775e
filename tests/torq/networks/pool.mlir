// SPDX-License-Identifier: MIT
func.func @main(%x: tensor<1x8x8x4xi8>) -> tensor<1x4x4x4xi8> {
  %largest = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x4xi8>) -> tensor<1x4x4x4xi8>
  return %largest : tensor<1x4x4x4xi8>
}
