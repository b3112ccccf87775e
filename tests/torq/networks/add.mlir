// SPDX-License-Identifier: MIT
func.func @main(%a: tensor<1x64xi32>, %b: tensor<1x64xi32>) -> tensor<1x64xi32> {
  %sum = tosa.add %a, %b : (tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi32>
  return %sum : tensor<1x64xi32>
}
