/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_RELAX_RELAX_BUILTIN_H
#define RUNTIME_RELAX_RELAX_BUILTIN_H

/**
 * DOC: builtins
 *
 * The functions `vm.builtin.*` that compiled Relax programs call. They are global functions, since
 * native functions call them by name. They check all arguments: a program may pass anything.
 */

#include <tenon/array.h>
#include <tenon/function.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

struct relax_vm;
struct relax_storage;

struct relax_builtin {
	const char *name;
	tenon_call_fn call;
};

/* All builtins; terminated by a NULL name. */
extern const struct relax_builtin relax_builtins[];

/* Register them as global functions, once; existing functions are not replaced. */
int relax_builtins_register(void);

#define RELAX_BUILTIN(name)                                                                           \
	int relax_builtin_##name(void *self, const struct tenon_value *args, int32_t count,           \
			      struct tenon_value *ret)

/* relax_builtin_shape.c */
RELAX_BUILTIN(alloc_shape_heap);
RELAX_BUILTIN(match_shape);
RELAX_BUILTIN(make_shape);
RELAX_BUILTIN(match_prim_value);
RELAX_BUILTIN(make_prim_value);
/* relax_builtin_check.c */
RELAX_BUILTIN(check_tensor_info);
RELAX_BUILTIN(check_shape_info);
RELAX_BUILTIN(check_prim_value_info);
RELAX_BUILTIN(check_tuple_info);
RELAX_BUILTIN(check_func_info);
/* relax_builtin_memory.c */
RELAX_BUILTIN(alloc_storage);
RELAX_BUILTIN(alloc_tensor);
RELAX_BUILTIN(null_value);
RELAX_BUILTIN(copy);
/* relax_builtin_tensor.c */
RELAX_BUILTIN(shape_of);
RELAX_BUILTIN(reshape);
RELAX_BUILTIN(to_device);
RELAX_BUILTIN(tensor_to_shape);
RELAX_BUILTIN(ensure_zero_offset);
RELAX_BUILTIN(read_if_cond);
/* relax_builtin_tuple.c */
RELAX_BUILTIN(make_tuple);
RELAX_BUILTIN(tuple_getitem);
RELAX_BUILTIN(tuple_reset_item);
/* relax_builtin_closure.c */
RELAX_BUILTIN(make_closure);
RELAX_BUILTIN(invoke_closure);
RELAX_BUILTIN(call_tir_dyn);
RELAX_BUILTIN(invoke_debug_func);

/* relax_argument.c: the arguments of a builtin. Errors name the builtin and the argument. */

struct relax_arguments {
	const char *name; /* without "vm.builtin." */
	const struct tenon_value *args;
	int32_t count;
};

/* Check that there are at least @least and at most @most (-1: any number) arguments. */
int relax_arguments_count(const struct relax_arguments *a, int32_t least, int32_t most);
int relax_argument_int(const struct relax_arguments *a, int32_t i, int64_t *out);
int relax_argument_dtype(const struct relax_arguments *a, int32_t i, DLDataType *out);
int relax_argument_shape(const struct relax_arguments *a, int32_t i, struct tenon_shape **out);
/* Get a tensor on any device. */
int relax_argument_any_tensor(const struct relax_arguments *a, int32_t i, DLTensor **out);
/* Get the tensor object of an argument, which can be referenced. */
int relax_argument_tensor_object(const struct relax_arguments *a, int32_t i, struct tenon_tensor **out);
int relax_argument_array(const struct relax_arguments *a, int32_t i, struct tenon_array **out);
/* Get the machine, which must be the one that the thread runs. */
int relax_argument_machine(const struct relax_arguments *a, int32_t i, struct relax_vm **out);
int relax_argument_storage(const struct relax_arguments *a, int32_t i, struct relax_storage **out);

/*
 * Get the compiler's prefix for messages: the function and parameter that a check is for. None and
 * other types count as "".
 */
struct tenon_slice relax_argument_context(const struct relax_arguments *a, int32_t i);

/* Address of the first element of a CPU tensor; byte_offset is in bytes. */
static inline void *relax_tensor_data(const DLTensor *t)
{
	return (char *)t->data + t->byte_offset;
}

#endif /* RUNTIME_RELAX_RELAX_BUILTIN_H */
