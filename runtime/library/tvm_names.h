/* SPDX-License-Identifier: MIT */
/*
 * Every name that compiled modules may import from a TVM runtime: type, failure value, name,
 * implementation, parameters, arguments. The includer defines NAME and NAME_VOID to generate
 * declarations, table members or stubs. Append only: the order is the layout of struct
 * tenon_tvm_table.
 */

/* objects and types */
NAME_VOID(TVMFFIGetVersion, abi_ffi_version, (uint32_t version[3]), (version))
NAME(int, -1, TVMFFIObjectIncRef, abi_ffi_object_ref, (void *object), (object))
NAME(int, -1, TVMFFIObjectDecRef, abi_ffi_object_unref, (void *object), (object))
NAME(int, -1, TVMFFIObjectCreateOpaque, abi_ffi_object_opaque,
     (void *handle, int32_t type, void (*deleter)(void *handle), void **out),
     (handle, type, deleter, out))
NAME(struct ffi_allocator *, 0, TVMFFIGetCustomAllocator, abi_ffi_allocator, (void), ())
NAME(int, -1, TVMFFISetCustomAllocator, abi_ffi_allocator_set, (struct ffi_allocator * allocator),
     (allocator))
NAME(int, -1, TVMFFITypeKeyToIndex, abi_ffi_type_index,
     (const struct tenon_slice *key, int32_t *index), (key, index))
NAME(int32_t, -2, TVMFFITypeGetOrAllocIndex, abi_ffi_type_allocate,
     (const struct tenon_slice *key, int32_t fixed, int32_t depth, int32_t child_slots,
      int32_t may_overflow, int32_t parent),
     (key, fixed, depth, child_slots, may_overflow, parent))
NAME(const struct type_info *, &abi_unknown_type, TVMFFIGetTypeInfo, abi_ffi_type_info,
     (int32_t index), (index))
NAME(int, -1, TVMFFITypeRegisterField, abi_ffi_type_add_field,
     (int32_t index, const struct type_field *field), (index, field))
NAME(int, -1, TVMFFITypeRegisterMethod, abi_ffi_type_add_method,
     (int32_t index, const struct type_method *method), (index, method))
NAME(int, -1, TVMFFITypeRegisterMetadata, abi_ffi_type_set_metadata,
     (int32_t index, const struct type_metadata *metadata), (index, metadata))
NAME(int, -1, TVMFFITypeRegisterAttr, abi_ffi_type_set_attribute,
     (int32_t index, const struct tenon_slice *name, const struct tenon_value *value),
     (index, name, value))
NAME(const struct ffi_column *, 0, TVMFFIGetTypeAttrColumn, abi_ffi_type_column,
     (const struct tenon_slice *name), (name))

/* functions and values */
NAME(int, -1, TVMFFIFunctionCreate, abi_ffi_function_create,
     (void *self, tenon_call_fn call, void (*deleter)(void *self), void **out),
     (self, call, deleter, out))
NAME(int, -1, TVMFFIFunctionGetGlobal, abi_ffi_function_get_global,
     (const struct tenon_slice *name, void **out), (name, out))
NAME(int, -1, TVMFFIFunctionSetGlobal, abi_ffi_function_set_global,
     (const struct tenon_slice *name, void *function, int replace), (name, function, replace))
NAME(int, -1, TVMFFIFunctionSetGlobalFromMethodInfo, abi_ffi_function_set_global_method,
     (const struct type_method *method, int replace), (method, replace))
NAME(int, -1, TVMFFIFunctionCall, abi_ffi_function_call,
     (void *function, struct tenon_value *args, int32_t count, struct tenon_value *ret),
     (function, args, count, ret))
NAME(int, -1, TVMFFIAnyViewToOwnedAny, abi_ffi_value_own,
     (const struct tenon_value *view, struct tenon_value *owned), (view, owned))
NAME(int, -1, TVMFFIHandleInitOnce, abi_ffi_init_once, (void **handle, int (*init)(void **result)),
     (handle, init))
NAME(int, -1, TVMFFIHandleDeinitOnce, abi_ffi_deinit_once,
     (void **handle, int (*deinit)(void *handle)), (handle, deinit))

/* errors */
NAME_VOID(TVMFFIErrorMoveFromRaised, abi_ffi_error_take, (void **out), (out))
NAME_VOID(TVMFFIErrorSetRaised, abi_ffi_error_raise, (void *error), (error))
NAME_VOID(TVMFFIErrorSetRaisedFromCStr, abi_ffi_error_raise_text,
	  (const char *kind, const char *message), (kind, message))
NAME_VOID(TVMFFIErrorSetRaisedFromCStrParts, abi_ffi_error_raise_parts,
	  (const char *kind, const char **parts, int32_t count), (kind, parts, count))
NAME(int, -1, TVMFFIErrorCreate, abi_ffi_error_create,
     (const struct tenon_slice *kind, const struct tenon_slice *message,
      const struct tenon_slice *backtrace, void **out),
     (kind, message, backtrace, out))
NAME(int, -1, TVMFFIErrorCreateWithCauseAndExtraContext, abi_ffi_error_create_caused,
     (const struct tenon_slice *kind, const struct tenon_slice *message,
      const struct tenon_slice *backtrace, void *cause, void *extra, void **out),
     (kind, message, backtrace, cause, extra, out))
NAME(const struct tenon_slice *, &abi_no_text, TVMFFIBacktrace, abi_ffi_backtrace,
     (const char *file, int line, const char *function, int cross_boundary),
     (file, line, function, cross_boundary))

/* tensors, strings, dtypes */
NAME(int, -1, TVMFFITensorFromDLPack, abi_ffi_tensor_from_dlpack,
     (DLManagedTensor * from, int32_t align, int32_t contiguous, void **out),
     (from, align, contiguous, out))
NAME(int, -1, TVMFFITensorToDLPack, abi_ffi_tensor_to_dlpack, (void *tensor, DLManagedTensor **out),
     (tensor, out))
NAME(int, -1, TVMFFITensorFromDLPackVersioned, abi_ffi_tensor_from_dlpack_versioned,
     (DLManagedTensorVersioned * from, int32_t align, int32_t contiguous, void **out),
     (from, align, contiguous, out))
NAME(int, -1, TVMFFITensorToDLPackVersioned, abi_ffi_tensor_to_dlpack_versioned,
     (void *tensor, DLManagedTensorVersioned **out), (tensor, out))
NAME(int, -1, TVMFFITensorCreateUnsafeView, abi_ffi_tensor_view,
     (void *source, const DLTensor *prototype, void **out), (source, prototype, out))
NAME(int, -1, TVMFFIStringFromByteArray, abi_ffi_string,
     (const struct tenon_slice *text, struct tenon_value *out), (text, out))
NAME(int, -1, TVMFFIBytesFromByteArray, abi_ffi_bytes,
     (const struct tenon_slice *bytes, struct tenon_value *out), (bytes, out))
NAME(int, -1, TVMFFIDataTypeFromString, abi_ffi_dtype_parse,
     (const struct tenon_slice *text, DLDataType *out), (text, out))
NAME(int, -1, TVMFFIDataTypeToString, abi_ffi_dtype_name,
     (const DLDataType *dtype, struct tenon_value *out), (dtype, out))

/* environment */
NAME(int, -1, TVMFFIEnvSetStream, abi_ffi_env_set_stream,
     (int32_t type, int32_t id, void *stream, void **old), (type, id, stream, old))
NAME(void *, 0, TVMFFIEnvGetStream, abi_ffi_env_get_stream, (int32_t type, int32_t id), (type, id))
NAME(int, -1, TVMFFIEnvSetDLPackManagedTensorAllocator, abi_ffi_env_set_tensor_allocator,
     (ffi_tensor_allocator allocator, int global, ffi_tensor_allocator *old),
     (allocator, global, old))
NAME(ffi_tensor_allocator, 0, TVMFFIEnvGetDLPackManagedTensorAllocator,
     abi_ffi_env_get_tensor_allocator, (void), ())
NAME(int, -1, TVMFFIEnvTensorAlloc, abi_ffi_env_tensor_alloc, (DLTensor * prototype, void **out),
     (prototype, out))
NAME(int, 0, TVMFFIEnvCheckSignals, abi_ffi_env_check_signals, (void), ())
NAME(int, -1, TVMFFIEnvRegisterCAPI, abi_ffi_env_register_c_api, (const char *name, void *symbol),
     (name, symbol))
NAME(int, -1, TVMFFIEnvModLookupFromImports, abi_ffi_env_lookup,
     (void *context, const char *name, void **out), (context, name, out))
NAME(int, -1, TVMFFIEnvModRegisterContextSymbol, abi_ffi_env_register_context,
     (const char *name, void *symbol), (name, symbol))
NAME(int, -1, TVMFFIEnvModRegisterSystemLibSymbol, abi_ffi_env_register_system,
     (const char *name, void *symbol), (name, symbol))

/* functions that code of both generations calls */
NAME(void *, 0, TVMBackendAllocWorkspace, abi_backend_alloc,
     (int type, int id, uint64_t size, int dtype_code, int dtype_bits),
     (type, id, size, dtype_code, dtype_bits))
NAME(int, -1, TVMBackendFreeWorkspace, abi_backend_free, (int type, int id, void *memory),
     (type, id, memory))
NAME(int, -1, TVMBackendParallelLaunch, abi_backend_launch,
     (tenon_parallel_fn task, void *closure, int tasks), (task, closure, tasks))
NAME(int, -1, TVMBackendParallelBarrier, abi_backend_barrier,
     (int task, struct tenon_parallel_env *env), (task, env))
NAME(int, -1, TVMBackendGetFuncFromEnv, abi_backend_lookup,
     (void *context, const char *name, void **out), (context, name, out))
NAME(int, -1, TVMBackendRegisterSystemLibSymbol, abi_backend_register_system,
     (const char *name, void *symbol), (name, symbol))
NAME(int, -1, TVMBackendRunOnce, abi_backend_run_once,
     (void **handle, int (*fn)(void *data), void *data, int size), (handle, fn, data, size))

#ifdef CONFIG_TVM_LEGACY
NAME(int, -1, TVMFuncCall, abi_legacy_func_call,
     (void *function, union legacy_value *args, int *codes, int count, union legacy_value *ret,
      int *ret_code),
     (function, args, codes, count, ret, ret_code))
NAME(int, -1, TVMFuncFree, abi_legacy_func_free, (void *function), (function))
NAME(int, -1, TVMFuncGetGlobal, abi_legacy_func_global, (const char *name, void **out), (name, out))
NAME_VOID(TVMAPISetLastError, abi_legacy_error_set, (const char *message), (message))
NAME(const char *, "", TVMGetLastError, abi_legacy_error_get, (void), ())
#endif

#if defined(CONFIG_RELAX_VM) || defined(CONFIG_RELAX_VM_MODULE)
/* native functions of Relax programs; before TVM 0.21 they had one more argument */
NAME(int, -1, TVMBackendAnyListSetPackedArg, abi_backend_list_set_argument,
     (void *list, int index, void *args, intptr_t codes_or_offset, int legacy_offset),
     (list, index, args, codes_or_offset, legacy_offset))
NAME(int, -1, TVMBackendAnyListResetItem, abi_backend_list_reset, (void *list, int index),
     (list, index))
NAME(int, -1, TVMBackendAnyListMoveFromPackedReturn, abi_backend_list_take_result,
     (void *list, int index, void *args, intptr_t codes_or_offset, int legacy_offset),
     (list, index, args, codes_or_offset, legacy_offset))
#endif
