/* SPDX-License-Identifier: MIT */
/* Builtins and the checks of their arguments. */
#ifndef RUNTIME_RELAX_RELAX_BUILTIN_H
#define RUNTIME_RELAX_RELAX_BUILTIN_H

/*
 * The functions `vm.builtin.*` that compiled Relax programs call. They are global functions, since
 * native functions call them by name. They check all arguments: a program may pass anything.
 */

#include <tenon/array.h>
#include <tenon/function.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "runtime/relax/relax_builtin_list.h"

struct relax_vm;
struct relax_storage;

#define RELAX_BUILTIN_DECLARE(name, function)                                                      \
	int function(void *self, const struct tenon_value *args, int32_t count,                    \
		     struct tenon_value *ret);

RELAX_BUILTINS_EACH(RELAX_BUILTIN_DECLARE)
RELAX_LANGUAGE_BUILTINS_EACH(RELAX_BUILTIN_DECLARE)

/* relax_argument.c: the arguments of a builtin. Errors name the builtin and the argument. */

struct relax_arguments {
	const char *name; /* without "vm.builtin." */
	const struct tenon_value *args;
	int32_t count;
};

/* Check that there are at least @least and at most @most (-1: any number) arguments. */
int relax_arguments_count(const struct relax_arguments *a, int32_t least, int32_t most);

/*
 * Define a builtin. Its body follows, with its arguments @a, of which there are at least @least and at most @most (-1: any
 * number), and @ret, which is None. Messages call it @said.
 */
#define RELAX_BUILTIN_SAID(builtin, said, least, most)                                             \
	static int builtin_##builtin(const struct relax_arguments *a, struct tenon_value *ret);    \
	int relax_builtin_##builtin(void *self, const struct tenon_value *args, int32_t count,     \
				    struct tenon_value *ret)                                       \
	{                                                                                          \
		const struct relax_arguments a = { said, args, count };                            \
		int err = relax_arguments_count(&a, least, most);                                  \
                                                                                                   \
		*ret = tenon_arg_none();                                                           \
		return err ? err : builtin_##builtin(&a, ret);                                     \
	}                                                                                          \
	static int builtin_##builtin(const struct relax_arguments *a, struct tenon_value *ret)

#define RELAX_BUILTIN(builtin, least, most) RELAX_BUILTIN_SAID(builtin, #builtin, least, most)

int relax_argument_int(const struct relax_arguments *a, int32_t i, int64_t *out);
/* Get an integer from @least to @most. */
int relax_argument_range(const struct relax_arguments *a, int32_t i, int64_t least, int64_t most,
			 int64_t *out);
/* Get a number; integers are converted. */
int relax_argument_float(const struct relax_arguments *a, int32_t i, double *out);
int relax_argument_text(const struct relax_arguments *a, int32_t i, struct tenon_slice *out);
int relax_argument_function(const struct relax_arguments *a, int32_t i,
			    struct tenon_function **out);
/* Get an object of the type @type; @what is its name in messages, @out a pointer to a pointer. */
int relax_argument_object(const struct relax_arguments *a, int32_t i, int32_t type,
			  const char *what, void *out);
/* Get a compact tensor in host memory whose size in bytes does not overflow. */
int relax_argument_host_tensor(const struct relax_arguments *a, int32_t i, DLTensor **out);
/* Prepend builtin and argument to the error @status; returns it. */
int relax_argument_refuse(const struct relax_arguments *a, int32_t i, int status);
/* Raise an error, as tenon_error() does, for argument @i; returns it. */
#define relax_argument_error(a, i, ...) relax_argument_refuse(a, i, tenon_error(__VA_ARGS__))
int relax_argument_dtype(const struct relax_arguments *a, int32_t i, DLDataType *out);
int relax_argument_shape(const struct relax_arguments *a, int32_t i, struct tenon_shape **out);
/* Get a tensor on any device. */
int relax_argument_any_tensor(const struct relax_arguments *a, int32_t i, DLTensor **out);
/* Get the tensor object of an argument, which can be referenced. */
int relax_argument_tensor_object(const struct relax_arguments *a, int32_t i,
				 struct tenon_tensor **out);
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
