// SPDX-License-Identifier: MIT
// what the NPU has no operation for: torq-compile makes code of Torq's RISC-V core
func.func @main(%x: tensor<1x16xf32>, %y: tensor<1x16xf32>) -> tensor<1x16xf32> {
  %sin = tosa.sin %x : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %sum = tosa.add %sin, %y : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  return %sum : tensor<1x16xf32>
}
