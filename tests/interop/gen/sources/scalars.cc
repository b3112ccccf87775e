/* SPDX-License-Identifier: MIT */
// Typed functions on numbers, and errors with a kind.
#include <tvm/ffi/string.h>

namespace ffi = tvm::ffi;

int64_t add_ints(int64_t a, int64_t b) { return a + b; }
double scale_float(double x, double k) { return x * k; }
bool negate(bool x) { return !x; }
ffi::Optional<int64_t> maybe(bool yes) {
  if (yes) return 7;
  return std::nullopt;
}
ffi::Any echo(ffi::Any x) { return x; }
void raise_value_error(int64_t at) { TVM_FFI_THROW(ValueError) << "refused at " << at; }
void raise_index_error(ffi::String what) { TVM_FFI_THROW(IndexError) << "no item " << what; }
