/* SPDX-License-Identifier: MIT */
// Typed functions on arrays and shapes.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>

namespace ffi = tvm::ffi;

ffi::Array<int64_t> count_to(int64_t n) {
  ffi::Array<int64_t> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(i);
  return out;
}
int64_t array_sum(ffi::Array<int64_t> items) {
  int64_t sum = 0;
  for (int64_t i : items) sum += i;
  return sum;
}
int64_t shape_product(ffi::Shape shape) {
  int64_t product = 1;
  for (int64_t n : shape) product *= n;
  return product;
}
