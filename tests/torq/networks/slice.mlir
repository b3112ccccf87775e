// SPDX-License-Identifier: MIT
// a slice from where the first input says, and twice its values
func.func @main(%from: tensor<1xi32>, %x: tensor<64xi32>) -> tensor<32xi32> {
  %c0 = arith.constant 0 : index
  %value = tensor.extract %from[%c0] : tensor<1xi32>
  %at = arith.index_cast %value : i32 to index
  %part = tensor.extract_slice %x[%at] [32] [1] : tensor<64xi32> to tensor<32xi32>
  %empty = tensor.empty() : tensor<32xi32>
  %twice = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]
  } ins(%part : tensor<32xi32>) outs(%empty : tensor<32xi32>) {
  ^bb0(%in: i32, %out: i32):
    %sum = arith.addi %in, %in : i32
    linalg.yield %sum : i32
  } -> tensor<32xi32>
  return %twice : tensor<32xi32>
}
