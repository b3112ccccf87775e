/* SPDX-License-Identifier: MIT */
/* Plain C against tvm-ffi's C header: what a code generator or a hand writes. */
#include <stdint.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

TVM_FFI_DLL_EXPORT int __tvm_ffi_add_int(void *self, const TVMFFIAny *args, int32_t n,
					 TVMFFIAny *result)
{
	(void)self;
	if (n != 2 || args[0].type_index != kTVMFFIInt || args[1].type_index != kTVMFFIInt) {
		TVMFFIErrorSetRaisedFromCStr("TypeError", "add_int takes two ints");
		return -1;
	}
	result->type_index = kTVMFFIInt;
	result->zero_padding = 0;
	result->v_int64 = args[0].v_int64 + args[1].v_int64;
	return 0;
}

TVM_FFI_DLL_EXPORT int __tvm_ffi_nothing(void *self, const TVMFFIAny *args, int32_t n,
					 TVMFFIAny *result)
{
	(void)self, (void)args, (void)n, (void)result;
	return 0;
}

TVM_FFI_DLL_EXPORT int __tvm_ffi_twice(void *self, const TVMFFIAny *args, int32_t n,
				       TVMFFIAny *result)
{
	DLTensor *x, *y;
	int64_t i;

	(void)self, (void)result;
	if (n != 2) {
		TVMFFIErrorSetRaisedFromCStr("TypeError", "twice takes two tensors");
		return -1;
	}
	x = args[0].type_index == kTVMFFITensor
		    ? (DLTensor *)((char *)args[0].v_obj + sizeof(TVMFFIObject))
		    : (DLTensor *)args[0].v_ptr;
	y = args[1].type_index == kTVMFFITensor
		    ? (DLTensor *)((char *)args[1].v_obj + sizeof(TVMFFIObject))
		    : (DLTensor *)args[1].v_ptr;
	for (i = 0; i < x->shape[0]; i++)
		((float *)y->data)[i] = 2 * ((float *)x->data)[i];
	return 0;
}

TVM_FFI_DLL_EXPORT int __tvm_ffi_call_global(void *self, const TVMFFIAny *args, int32_t n,
					     TVMFFIAny *result)
{
	TVMFFIByteArray name = { "fixture.give", strlen("fixture.give") };
	TVMFFIObjectHandle f = NULL;
	int err;

	(void)self;
	err = TVMFFIFunctionGetGlobal(&name, &f);
	if (err)
		return err;
	if (!f) {
		TVMFFIErrorSetRaisedFromCStr("LookupError", "fixture.give is not registered");
		return -1;
	}
	err = TVMFFIFunctionCall(f, (TVMFFIAny *)args, n, result);
	TVMFFIObjectDecRef(f);
	return err;
}

TVM_FFI_DLL_EXPORT int __tvm_ffi_hello(void *self, const TVMFFIAny *args, int32_t n,
				       TVMFFIAny *result)
{
	TVMFFIByteArray text = { "hello from C", strlen("hello from C") };

	(void)self, (void)args, (void)n;
	return TVMFFIStringFromByteArray(&text, result);
}
