/* SPDX-License-Identifier: MIT */
// A typed function on a map.
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/string.h>

namespace ffi = tvm::ffi;

int64_t map_value(ffi::Map<ffi::String, int64_t> map, ffi::String key) { return map.at(key); }
