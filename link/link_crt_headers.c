/* SPDX-License-Identifier: MIT */
/* Headers for the C sources in archives: what TVM's code generator for C uses of TVM 0.8 to 0.18. */
#include "link/link_crt_headers.h"

#include <stddef.h>

#define TEXT(...) #__VA_ARGS__ "\n"

static const char runtime[] =
	"#ifndef TENON_TVM_RUNTIME\n"
	"#define TENON_TVM_RUNTIME\n"
	"#include <stdbool.h>\n"
	"#include <stddef.h>\n"
	"#include <stdint.h>\n"
	"#define TVM_DLL __attribute__((visibility(\"default\")))\n"
	"#define TVM_WEAK __attribute__((weak))\n"
	"#define TVM_ATTRIBUTE_UNUSED __attribute__((unused))\n"
	"#ifdef __cplusplus\n"
	"extern \"C\" {\n"
	"#endif\n" TEXT(
		enum { kDLInt, kDLUInt, kDLFloat, kTVMOpaqueHandle, kTVMNullptr, kTVMDataType,
		       kDLDevice, kTVMDLTensorHandle, kTVMObjectHandle, kTVMModuleHandle,
		       kTVMPackedFuncHandle, kTVMStr, kTVMBytes, kTVMNDArrayHandle,
		       kTVMObjectRValueRefArg };) TEXT(enum { kDLCPU = 1 };) TEXT(typedef struct {
		int device_type;
		int device_id;
	} DLDevice;) TEXT(typedef struct {
		uint8_t code;
		uint8_t bits;
		uint16_t lanes;
	} DLDataType;) TEXT(typedef struct {
		void *data;
		DLDevice device;
		int ndim;
		DLDataType dtype;
		int64_t *shape;
		int64_t *strides;
		uint64_t byte_offset;
	} DLTensor;) TEXT(typedef union {
		int64_t v_int64;
		double v_float64;
		void *v_handle;
		const char *v_str;
		DLDataType v_type;
		DLDevice v_device;
	} TVMValue;) TEXT(typedef int64_t tvm_index_t;) TEXT(typedef DLTensor * TVMArrayHandle;)
		TEXT(typedef void *TVMFunctionHandle;) TEXT(typedef void *TVMModuleHandle;) TEXT(
			typedef int (*TVMBackendPackedCFunc)(TVMValue *, int *, int, TVMValue *,
							     int *, void *);) TEXT(typedef struct {
			int32_t num_task;
			int32_t sync_handle;
		} TVMParallelGroupEnv;) TEXT(typedef int (*FTVMParallelLambda)(int,
									       TVMParallelGroupEnv
										       *,
									       void *);)
			TEXT(void *TVMBackendAllocWorkspace(int, int, uint64_t, int, int);) TEXT(
				int TVMBackendFreeWorkspace(
					int, int,
					void *);) TEXT(int
							       TVMBackendParallelLaunch(
								       FTVMParallelLambda, void *,
								       int);)
				TEXT(int TVMBackendParallelBarrier(
					     int,
					     TVMParallelGroupEnv
						     *);) TEXT(int
								       TVMBackendGetFuncFromEnv(
									       void *,
									       const char
										       *,
									       TVMFunctionHandle *);)
					TEXT(int TVMFuncCall(
						     TVMFunctionHandle,
						     TVMValue *,
						     int *, int, TVMValue *,
						     int *);)
						TEXT(void TVMAPISetLastError(const char *);)
							TEXT(typedef struct TVMFuncRegistry {
								const char *names;
								const TVMBackendPackedCFunc *funcs;
							} TVMFuncRegistry;)
								TEXT(typedef struct TVMModule {
									const TVMFuncRegistry
										*registry;
								} TVMModule;) "#ifdef __cplusplus\n"
									      "}\n"
									      "#endif\n"
									      "#endif\n";

static const char include[] = "#include <tvm/runtime/c_runtime_api.h>\n";

const char *const link_crt_folders[] = { "include/tvm", "include/tvm/runtime",
					 "include/tvm/runtime/crt", NULL };

const struct link_crt_header link_crt_headers[] = {
	{ "include/tvm/runtime/c_runtime_api.h", runtime },
	{ "include/tvm/runtime/c_backend_api.h", include },
	{ "include/tvm/runtime/crt/module.h", include },
	{ NULL, NULL },
};
