/* SPDX-License-Identifier: MIT */
// Typed functions that take and return functions.
#include <tvm/ffi/function.h>

namespace ffi = tvm::ffi;

int64_t call_with(ffi::Function f, int64_t x) { return f(x).cast<int64_t>(); }
ffi::Function adder(int64_t k) {
  return ffi::Function::FromTyped([k](int64_t x) -> int64_t { return x + k; });
}
