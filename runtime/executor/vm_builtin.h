/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_EXECUTOR_VM_BUILTIN_H
#define RUNTIME_EXECUTOR_VM_BUILTIN_H

/**
 * DOC: builtins
 *
 * The functions `vm.builtin.*` that compiled Relax programs lean on. They are global functions, since
 * native functions call them by name, and take nothing on trust: a program may hand them anything.
 */

#include <tenon/array.h>
#include <tenon/function.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

struct vm;
struct vm_storage;

struct vm_builtin {
	const char *name;
	tenon_call_fn call;
};

/* All of them; ends with a NULL name. */
extern const struct vm_builtin vm_builtins[];

/* Register them as global functions, once; those that somebody registered before stay. */
int vm_builtins_register(void);

#define VM_BUILTIN(name)                                                                           \
	int vm_builtin_##name(void *self, const struct tenon_value *args, int32_t count,           \
			      struct tenon_value *ret)

/* vm_builtin_shape.c */
VM_BUILTIN(alloc_shape_heap);
VM_BUILTIN(match_shape);
VM_BUILTIN(make_shape);
VM_BUILTIN(match_prim_value);
VM_BUILTIN(make_prim_value);
/* vm_builtin_check.c */
VM_BUILTIN(check_tensor_info);
VM_BUILTIN(check_shape_info);
VM_BUILTIN(check_prim_value_info);
VM_BUILTIN(check_tuple_info);
VM_BUILTIN(check_func_info);
/* vm_builtin_memory.c */
VM_BUILTIN(alloc_storage);
VM_BUILTIN(alloc_tensor);
VM_BUILTIN(null_value);
VM_BUILTIN(copy);
/* vm_builtin_tensor.c */
VM_BUILTIN(shape_of);
VM_BUILTIN(reshape);
VM_BUILTIN(to_device);
VM_BUILTIN(tensor_to_shape);
VM_BUILTIN(ensure_zero_offset);
VM_BUILTIN(read_if_cond);
/* vm_builtin_tuple.c */
VM_BUILTIN(make_tuple);
VM_BUILTIN(tuple_getitem);
VM_BUILTIN(tuple_reset_item);
/* vm_builtin_closure.c */
VM_BUILTIN(make_closure);
VM_BUILTIN(invoke_closure);
VM_BUILTIN(call_tir_dyn);
VM_BUILTIN(invoke_debug_func);

/* vm_argument.c: what a builtin was handed. The errors name builtin and argument. */

struct vm_arguments {
	const char *name; /* without the "vm.builtin." */
	const struct tenon_value *args;
	int32_t count;
};

/* Are there at least @least arguments, and at most @most (-1: any number). */
int vm_arguments_count(const struct vm_arguments *a, int32_t least, int32_t most);
int vm_argument_int(const struct vm_arguments *a, int32_t i, int64_t *out);
int vm_argument_dtype(const struct vm_arguments *a, int32_t i, DLDataType *out);
int vm_argument_shape(const struct vm_arguments *a, int32_t i, struct tenon_shape **out);
/* A tensor, wherever it lies. */
int vm_argument_any_tensor(const struct vm_arguments *a, int32_t i, DLTensor **out);
/* The object behind it, which can be kept. */
int vm_argument_tensor_object(const struct vm_arguments *a, int32_t i, struct tenon_tensor **out);
int vm_argument_array(const struct vm_arguments *a, int32_t i, struct tenon_array **out);
/* The machine, which must be the one that runs now. */
int vm_argument_machine(const struct vm_arguments *a, int32_t i, struct vm **out);
int vm_argument_storage(const struct vm_arguments *a, int32_t i, struct vm_storage **out);

/*
 * What TVM puts in front of messages: which function and parameter the compiler made a check for.
 * None and other types count as "".
 */
struct tenon_slice vm_argument_context(const struct vm_arguments *a, int32_t i);

/* First element of a CPU tensor; its offset is in bytes. */
static inline void *vm_tensor_data(const DLTensor *t)
{
	return (char *)t->data + t->byte_offset;
}

#endif /* RUNTIME_EXECUTOR_VM_BUILTIN_H */
