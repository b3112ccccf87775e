/* SPDX-License-Identifier: MIT */
// Typed functions on strings and bytes, in and out.
#include <tvm/ffi/string.h>

namespace ffi = tvm::ffi;

ffi::String greet(ffi::String name) { return ffi::String("hello, ") + name; }
ffi::String first_word(ffi::String text) {
  std::string s(text.data(), text.size());
  return ffi::String(s.substr(0, s.find(' ')));
}
int64_t text_length(ffi::String text) { return static_cast<int64_t>(text.size()); }
int64_t bytes_sum(ffi::Bytes bytes) {
  int64_t sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i) sum += static_cast<unsigned char>(bytes.data()[i]);
  return sum;
}
