/* SPDX-License-Identifier: MIT */
// Functions on tensors: borrowed views, owned tensors passed through and returned.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>

namespace ffi = tvm::ffi;

void add_one(ffi::TensorView x, ffi::TensorView y) {
  TVM_FFI_ICHECK_EQ(x.ndim(), 1) << "x must have one dimension";
  DLDataType f32{kDLFloat, 32, 1};
  if (!(x.dtype() == f32)) TVM_FFI_THROW(TypeError) << "x must be float32";
  if (x.size(0) != y.size(0)) TVM_FFI_THROW(ValueError) << "x has " << x.size(0) << " items, y " << y.size(0);
  for (int64_t i = 0; i < x.size(0); ++i)
    static_cast<float*>(y.data_ptr())[i] = static_cast<float*>(x.data_ptr())[i] + 1.0f;
}
int64_t elements(ffi::TensorView x) {
  int64_t n = 1;
  for (int i = 0; i < x.ndim(); ++i) n *= x.size(i);
  return n;
}
ffi::Tensor same(ffi::Tensor x) { return x; }
struct HostAlloc {
  void AllocData(DLTensor* tensor) { tensor->data = ::operator new(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { ::operator delete(tensor->data); }
};
ffi::Tensor ramp(int64_t rows, int64_t columns) {
  ffi::Tensor out = ffi::Tensor::FromNDAlloc(HostAlloc(), ffi::Shape({rows, columns}), DLDataType{kDLFloat, 32, 1},
                                             DLDevice{kDLCPU, 0});
  for (int64_t i = 0; i < rows * columns; ++i) static_cast<float*>(out.data_ptr())[i] = static_cast<float>(i) / 2;
  return out;
}
