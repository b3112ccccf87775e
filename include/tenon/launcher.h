/* SPDX-License-Identifier: MIT */
#ifndef TENON_LAUNCHER_H
#define TENON_LAUNCHER_H

/**
 * DOC: launchers
 *
 * A launcher is host code that calls the kernels of devices: what TVM's host code does, written by
 * hand. `tenon link` compiles it and puts it into one file with the programs of the devices. Tenon
 * and TVM open that file; it needs neither library to link. By default the file is for TVM 0.22 and
 * later; with TENON_LAUNCHER_LEGACY, which `tenon link --abi legacy` defines, for TVM 0.8 to 0.19.
 *
 *	TENON_LAUNCHER(vecadd)
 *	{
 *		static struct tenon_launch_kernel add = { "vecadd_kernel", 0 };
 *		const DLTensor *a = tenon_launch_tensor(call, 0);
 *		const DLTensor *b = tenon_launch_tensor(call, 1);
 *		const DLTensor *sum = tenon_launch_tensor(call, 2);
 *
 *		if (!a || !b || !sum || tenon_launch_device(sum))
 *			return -1;
 *		return TENON_LAUNCH(&add, tenon_launch_data(sum), tenon_launch_data(a),
 *				    tenon_launch_data(b), tenon_launch_int(sum->shape[0]));
 *	}
 *
 * Include this header in sources of launchers only: it defines variables, which the runtime fills
 * when it opens the file.
 */

#include <stdint.h>
#include <tenon/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_LAUNCH_EXPORT __attribute__((visibility("default")))
#define TENON_LAUNCH_FILLED __attribute__((weak, visibility("default")))

/* room for the name of a parameter, with the NUL at its end */
#define TENON_LAUNCH_NAME 128

/* most arguments of a kernel, launch extents included */
#define TENON_LAUNCH_ARGS_MOST 64

/** union tenon_launch_word - the eight bytes of a value */
union tenon_launch_word {
	int64_t integer;
	double real;
	void *pointer;
};

#ifdef TENON_LAUNCHER_LEGACY

enum { TENON_LAUNCH_INT = 0, TENON_LAUNCH_REAL = 2, TENON_LAUNCH_POINTER = 3 };

/* filled by the runtime */
TENON_LAUNCH_FILLED void *__tvm_module_ctx;
TENON_LAUNCH_FILLED int (*__TVMBackendGetFuncFromEnv)(void *library, const char *name, void **out);
TENON_LAUNCH_FILLED int (*__TVMFuncCall)(void *function, union tenon_launch_word *args, int *codes,
					 int count, union tenon_launch_word *ret, int *code);
TENON_LAUNCH_FILLED void (*__TVMAPISetLastError)(const char *message);

#else

enum { TENON_LAUNCH_INT = 1, TENON_LAUNCH_REAL = 3, TENON_LAUNCH_POINTER = 4 };

/** struct tenon_launch_any - a value as TVM 0.22 and later passes it */
struct tenon_launch_any {
	int32_t type;
	uint32_t reserved;
	union tenon_launch_word as;
};

/* filled by the runtime; of the two that look up a function, one by TVM up to 0.25 */
TENON_LAUNCH_FILLED void *__tvm_ffi__library_ctx;
TENON_LAUNCH_FILLED int (*__TVMFFIEnvModLookupFromImports)(void *library, const char *name,
							   void **out);
TENON_LAUNCH_FILLED int (*__TVMBackendGetFuncFromEnv)(void *library, const char *name, void **out);
TENON_LAUNCH_FILLED int (*__TVMFFIFunctionCall)(void *function, const struct tenon_launch_any *args,
						int32_t count, struct tenon_launch_any *ret);
TENON_LAUNCH_FILLED void (*__TVMFFIErrorSetRaisedFromCStr)(const char *kind, const char *message);

#endif

/**
 * struct tenon_launch_call - the arguments of a call of a launcher
 * @values: @count values
 * @codes: their types; NULL where the values have them
 * @count: how many
 */
struct tenon_launch_call {
	const void *values;
	const int *codes;
	int count;
};

/**
 * struct tenon_launch_arg - an argument of a kernel
 * @type: TENON_LAUNCH_INT, TENON_LAUNCH_REAL or TENON_LAUNCH_POINTER
 * @as: the value
 */
struct tenon_launch_arg {
	int type;
	union tenon_launch_word as;
};

/**
 * struct tenon_launch_kernel - a kernel, or any function that the launcher's file imports
 * @name: its name
 * @function: 0 at first; keeps what the first call found
 *
 * Make it static: it stays valid while the file is open.
 */
struct tenon_launch_kernel {
	const char *name;
	void *function;
};

/** tenon_launch_error - fail with a message; returns -1, for the launcher to return */
static inline int tenon_launch_error(const char *message)
{
#ifdef TENON_LAUNCHER_LEGACY
	if (__TVMAPISetLastError)
		__TVMAPISetLastError(message);
#else
	if (__TVMFFIErrorSetRaisedFromCStr)
		__TVMFFIErrorSetRaisedFromCStr("ValueError", message);
#endif
	return -1;
}

/** tenon_launch_type - type of an argument, in the numbers of the calling convention */
static inline int tenon_launch_type(const struct tenon_launch_call *call, int index)
{
#ifdef TENON_LAUNCHER_LEGACY
	return call->codes[index];
#else
	return ((const struct tenon_launch_any *)call->values)[index].type;
#endif
}

/** tenon_launch_word - bytes of an argument */
static inline union tenon_launch_word tenon_launch_word(const struct tenon_launch_call *call,
							int index)
{
#ifdef TENON_LAUNCHER_LEGACY
	return ((const union tenon_launch_word *)call->values)[index];
#else
	return ((const struct tenon_launch_any *)call->values)[index].as;
#endif
}

/**
 * tenon_launch_tensor - get an argument that is a tensor
 * @call: the call
 * @index: 0 for the first argument
 *
 * Return: the tensor, valid during the call; NULL with a message when it is none, or has an offset
 * in its memory, which a kernel cannot take.
 */
static inline const DLTensor *tenon_launch_tensor(const struct tenon_launch_call *call, int index)
{
	const int type = index < call->count ? tenon_launch_type(call, index) : -1;
	const DLTensor *tensor = 0;

#ifdef TENON_LAUNCHER_LEGACY
	/* a pointer to a DLTensor, or an array, which begins with one */
	if (type == 7 || type == 13)
		tensor = (const DLTensor *)tenon_launch_word(call, index).pointer;
#else
	/* a pointer to a DLTensor, or an object, which has one behind its header of 24 bytes */
	if (type == 7)
		tensor = (const DLTensor *)tenon_launch_word(call, index).pointer;
	else if (type == 70)
		tensor = (const DLTensor *)((const char *)tenon_launch_word(call, index).pointer +
					    24);
#endif
	if (!tensor)
		tenon_launch_error("an argument is missing, or is no tensor");
	else if (tensor->byte_offset)
		tenon_launch_error("a tensor has a byte offset, which kernels do not take");
	return tensor && !tensor->byte_offset ? tensor : 0;
}

/**
 * tenon_launch_elements - get the data of a tensor in the memory of the host
 * @call: the call
 * @index: 0 for the first argument
 * @code: type of its elements, such as kDLFloat
 * @bits: size of an element
 * @count: number of elements
 *
 * Return: the first element; NULL with a message when the argument is no such tensor, or has gaps
 * between its elements.
 */
static inline void *tenon_launch_elements(const struct tenon_launch_call *call, int index, int code,
					  int bits, int64_t count)
{
	const DLTensor *tensor = tenon_launch_tensor(call, index);
	int64_t found = 1;
	int i, compact = 1;

	if (!tensor)
		return 0;
	for (i = tensor->ndim; i-- > 0; found *= tensor->shape[i])
		if (tensor->strides && tensor->shape[i] != 1 && tensor->strides[i] != found)
			compact = 0;
	if (compact && found == count && tensor->dtype.code == code && tensor->dtype.bits == bits &&
	    tensor->dtype.lanes == 1 && tensor->device.device_type == kDLCPU)
		return tensor->data;
	tenon_launch_error("a tensor has another type, size or device, or gaps between elements");
	return 0;
}

/** tenon_launch_integer - get an argument that is an integer; 0, or -1 with a message */
static inline int tenon_launch_integer(const struct tenon_launch_call *call, int index,
				       int64_t *out)
{
	if (index >= call->count || tenon_launch_type(call, index) != TENON_LAUNCH_INT)
		return tenon_launch_error("an argument is missing, or is no integer");
	*out = tenon_launch_word(call, index).integer;
	return 0;
}

/** tenon_launch_data - the memory of a tensor, as an argument of a kernel */
static inline struct tenon_launch_arg tenon_launch_data(const DLTensor *tensor)
{
	struct tenon_launch_arg arg = { TENON_LAUNCH_POINTER, { 0 } };

	arg.as.pointer = tensor->data;
	return arg;
}

/** tenon_launch_int - an integer as an argument of a kernel, or an extent of its grid */
static inline struct tenon_launch_arg tenon_launch_int(int64_t integer)
{
	struct tenon_launch_arg arg = { TENON_LAUNCH_INT, { 0 } };

	arg.as.integer = integer;
	return arg;
}

/** tenon_launch_real - a number as an argument of a kernel */
static inline struct tenon_launch_arg tenon_launch_real(double real)
{
	struct tenon_launch_arg arg = { TENON_LAUNCH_REAL, { 0 } };

	arg.as.real = real;
	return arg;
}

/** tenon_launch_find - look up a kernel; 0, or -1 with a message. The result is kept. */
static inline int tenon_launch_find(struct tenon_launch_kernel *kernel, void **out)
{
	void *found = __atomic_load_n(&kernel->function, __ATOMIC_ACQUIRE);
	int err = 0;

	if (!found) {
#ifdef TENON_LAUNCHER_LEGACY
		err = __TVMBackendGetFuncFromEnv(__tvm_module_ctx, kernel->name, &found);
#else
		err = (__TVMFFIEnvModLookupFromImports ? __TVMFFIEnvModLookupFromImports
						       : __TVMBackendGetFuncFromEnv)(
			__tvm_ffi__library_ctx, kernel->name, &found);
#endif
		if (!err)
			__atomic_store_n(&kernel->function, found, __ATOMIC_RELEASE);
	}
	*out = found;
	return err;
}

/**
 * tenon_launch_kernel - call a kernel
 * @kernel: the kernel
 * @args: its arguments in order, then the extent of each of its launch tags
 * @count: how many, at most TENON_LAUNCH_ARGS_MOST
 *
 * Return: 0; non-zero with a message.
 */
static inline int tenon_launch_kernel(struct tenon_launch_kernel *kernel,
				      const struct tenon_launch_arg *args, int count)
{
	void *function;
	int i;
#ifdef TENON_LAUNCHER_LEGACY
	/* the callee may use the word behind the arguments for its result */
	union tenon_launch_word words[TENON_LAUNCH_ARGS_MOST + 1], ret;
	int codes[TENON_LAUNCH_ARGS_MOST + 1], code = 4;
#else
	struct tenon_launch_any values[TENON_LAUNCH_ARGS_MOST], ret = { 0, 0, { 0 } };
#endif

	if (count > TENON_LAUNCH_ARGS_MOST)
		return tenon_launch_error("a kernel has too many arguments");
	if (tenon_launch_find(kernel, &function))
		return -1;
	for (i = 0; i < count; i++) {
#ifdef TENON_LAUNCHER_LEGACY
		words[i] = args[i].as;
		codes[i] = args[i].type;
#else
		values[i].type = args[i].type;
		values[i].reserved = 0;
		values[i].as = args[i].as;
#endif
	}
#ifdef TENON_LAUNCHER_LEGACY
	ret.integer = 0;
	return __TVMFuncCall(function, words, codes, count, &ret, &code);
#else
	return __TVMFFIFunctionCall(function, values, count, &ret);
#endif
}

/** TENON_LAUNCH - call a kernel with arguments of tenon_launch_data(), _int() and _real() */
#define TENON_LAUNCH(kernel, ...)                                                                  \
	tenon_launch_kernel(kernel, (const struct tenon_launch_arg[]){ __VA_ARGS__ },              \
			    (int)(sizeof((const struct tenon_launch_arg[]){ __VA_ARGS__ }) /       \
				  sizeof(struct tenon_launch_arg)))

/** tenon_launch_device - let the kernels that follow run on a tensor's device; 0 or non-zero */
static inline int tenon_launch_device(const DLTensor *tensor)
{
	static struct tenon_launch_kernel set_device = { "__tvm_set_device", 0 };
	const struct tenon_launch_arg args[] = { tenon_launch_int(tensor->device.device_type),
						 tenon_launch_int(tensor->device.device_id) };

	return tenon_launch_kernel(&set_device, args, 2);
}

/**
 * TENON_LAUNCHER - define a function that modules and programs can call
 *
 * The body follows. It has the parameter "call" and returns 0, or non-zero after an error.
 */
#ifdef TENON_LAUNCHER_LEGACY
#define TENON_LAUNCHER(name)                                                                       \
	static int name##_launcher(const struct tenon_launch_call *call);                          \
	TENON_LAUNCH_EXPORT int name(union tenon_launch_word *values, int *codes, int count,       \
				     union tenon_launch_word *ret, int *code, void *resource);     \
	int name(union tenon_launch_word *values, int *codes, int count,                           \
		 union tenon_launch_word *ret, int *code, void *resource)                          \
	{                                                                                          \
		const struct tenon_launch_call call = { values, codes, count };                    \
                                                                                                   \
		(void)ret;                                                                         \
		(void)code;                                                                        \
		(void)resource;                                                                    \
		return name##_launcher(&call);                                                     \
	}                                                                                          \
	static int name##_launcher(const struct tenon_launch_call *call)
#else
#define TENON_LAUNCHER(name)                                                                       \
	static int name##_launcher(const struct tenon_launch_call *call);                          \
	TENON_LAUNCH_EXPORT int __tvm_ffi_##name(void *self, const struct tenon_launch_any *args,  \
						 int32_t count, struct tenon_launch_any *ret);     \
	int __tvm_ffi_##name(void *self, const struct tenon_launch_any *args, int32_t count,       \
			     struct tenon_launch_any *ret)                                         \
	{                                                                                          \
		const struct tenon_launch_call call = { args, 0, count };                          \
                                                                                                   \
		(void)self;                                                                        \
		(void)ret;                                                                         \
		return name##_launcher(&call);                                                     \
	}                                                                                          \
	static int name##_launcher(const struct tenon_launch_call *call)
#endif

#ifndef TENON_LAUNCHER_LEGACY

/** struct tenon_launch_array - an array of values as TVM 0.22 and later passes it */
struct tenon_launch_array {
	int64_t header[3];
	const struct tenon_launch_any *items;
	int64_t count;
};

/* Take the items of an array, the one argument of a call, as arguments. */
static inline int tenon_launch_items(const struct tenon_launch_any *args, int32_t count,
				     struct tenon_launch_call *call)
{
	const struct tenon_launch_array *array;

	if (count != 1 || args[0].type != 71)
		return tenon_launch_error("want one argument, an array of parameters");
	array = (const struct tenon_launch_array *)args[0].as.pointer;
	call->values = array->items;
	call->count = (int)array->count;
	return 0;
}

/**
 * TENON_LAUNCHER_PARAMETERS - take parameters of the file of `tenon link --params`
 * @name: of a launcher, the function that wants them
 *
 * The names of the parameters follow, each a string of less than TENON_LAUNCH_NAME bytes. The body
 * follows. It has the parameter "call", whose arguments are these parameters, tensors in the memory
 * of the host, and returns 0, or non-zero after an error. It runs once for each module that is
 * opened, before the launcher is called. Copy what the launcher needs: the tensors may go away
 * later. Not for files of TVM up to 0.19, which pass C code no arrays.
 *
 *	static float weights[3];
 *
 *	TENON_LAUNCHER_PARAMETERS(scale, "w")
 *	{
 *		const float *w = tenon_launch_elements(call, 0, kDLFloat, 32, 3);
 *
 *		if (!w)
 *			return -1;
 *		memcpy(weights, w, sizeof(weights));
 *		return 0;
 *	}
 */
#define TENON_LAUNCHER_PARAMETERS(name, ...)                                                       \
	TENON_LAUNCH_EXPORT extern const char __tenon_parameters_##name[][TENON_LAUNCH_NAME];      \
	const char __tenon_parameters_##name[][TENON_LAUNCH_NAME] = { __VA_ARGS__ };               \
	static int name##_parameters(const struct tenon_launch_call *call);                        \
	TENON_LAUNCH_EXPORT int __tvm_ffi___init_##name(                                           \
		void *self, const struct tenon_launch_any *args, int32_t count,                    \
		struct tenon_launch_any *ret);                                                     \
	int __tvm_ffi___init_##name(void *self, const struct tenon_launch_any *args,               \
				    int32_t count, struct tenon_launch_any *ret)                   \
	{                                                                                          \
		struct tenon_launch_call call = { 0, 0, 0 };                                       \
                                                                                                   \
		(void)self;                                                                        \
		/* TVM wants an integer from such a function */                                    \
		ret->type = TENON_LAUNCH_INT;                                                      \
		ret->reserved = 0;                                                                 \
		ret->as.integer = 0;                                                               \
		return tenon_launch_items(args, count, &call) || name##_parameters(&call) ? -1     \
											  : 0;     \
	}                                                                                          \
	static int name##_parameters(const struct tenon_launch_call *call)

#endif /* !TENON_LAUNCHER_LEGACY */

#ifdef __cplusplus
}
#endif

#endif /* TENON_LAUNCHER_H */
