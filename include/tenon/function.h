/* SPDX-License-Identifier: MIT */
#ifndef TENON_FUNCTION_H
#define TENON_FUNCTION_H

/**
 * DOC: packed functions
 *
 * A function object is an object whose header is followed by the address to call, as in tvm-ffi; a
 * call is one indirect jump. The same object serves code of either TVM generation.
 *
 * Calling convention: arguments are views, borrowed for the call; the callee must not change them.
 * The caller hands in a result whose type is below TENON_TYPE_OBJECT, usually None; the callee
 * writes an owned value, which the caller releases. A callee never reads or releases the old
 * content of the result: compiled code is known to leave garbage there. 0 is success; anything else
 * is failure with the thread's error set (tenon/error.h).
 */

#include <tenon/error.h>
#include <tenon/export.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * typedef tenon_call_fn - the address behind a packed function
 * @self: the function object, or what tenon_function_create() was given
 * @args: @count views
 * @count: number of arguments, 0 or more
 * @ret: the result; None on entry
 */
typedef int (*tenon_call_fn)(void *self, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret);

/**
 * struct tenon_function - a counted function
 * @object: header; type TENON_TYPE_FUNCTION
 * @call: called with the function object as self
 * @cpp_call: for C++ code that made the function; never called by Tenon
 */
struct tenon_function {
	struct tenon_object object;
	tenon_call_fn call;
	void *cpp_call;
};

/**
 * tenon_function_create - make a function object of a C function
 * @self: handed to @fn as its first argument
 * @fn: the C function. When @self and @release are both NULL it is entered directly, and receives
 *	the function object as self.
 * @release: called with @self when the function object dies; may be NULL
 * @out: receives the function with one reference
 *
 * Return: 0; -TENON_E_NOMEM, in which case @release is not called.
 */
TENON_API int tenon_function_create(void *self, tenon_call_fn fn, void (*release)(void *self),
				    struct tenon_function **out);

/**
 * tenon_function_call - call a function
 * @function: the function
 * @args: @count views
 * @count: number of arguments
 * @ret: the result; its type must be below TENON_TYPE_OBJECT. The caller releases what comes back.
 *
 * Return: 0; anything else is failure, and the error is in the thread's slot.
 */
static inline int tenon_function_call(const struct tenon_function *function,
				      const struct tenon_value *args, int32_t count,
				      struct tenon_value *ret)
{
	return function->call((void *)function, args, count, ret);
}

#ifndef __cplusplus
/**
 * tenon_call - call a function with arguments written out
 * @function: struct tenon_function *
 * @ret: struct tenon_value *, as in tenon_function_call()
 *
 * The further arguments are tenon_arg_*() values; there may be none.
 */
#define tenon_call(function, ret, ...)                                                             \
	tenon_function_call(                                                                       \
		(function),                                                                        \
		(const struct tenon_value[]){ { TENON_TYPE_NONE, 0, { 0 } }, __VA_ARGS__ } + 1,    \
		(int32_t)(sizeof((const struct tenon_value[]){ { TENON_TYPE_NONE, 0, { 0 } },      \
							       __VA_ARGS__ }) /                    \
				  sizeof(struct tenon_value) -                                     \
			  1),                                                                      \
		(ret))
#endif

/**
 * tenon_function_register - give a function a global name
 * @name: "fixture.scale", "load_from_bytes.opencl", … ; copied
 * @function: the function; the registry takes a reference
 * @replace: replace a function of the same name, rather than refuse
 *
 * A replaced function stays alive to the end of the process, since a thread may be about to call
 * it: registering is for starting up, not for a loop.
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_EXISTS; -TENON_E_NOMEM.
 */
TENON_API int tenon_function_register(const char *name, struct tenon_function *function,
				      bool replace);

/** tenon_function_register_c - tenon_function_register() of a plain C function, in one step */
TENON_API int tenon_function_register_c(const char *name, tenon_call_fn fn, bool replace);

/**
 * tenon_function_find - get a global function by name
 * @name: its name
 * @out: receives the function with one reference for the caller, or NULL when there is none
 *
 * Context: any thread. Lock-free, no allocation.
 * Return: 0 also when there is none; no error is raised then.
 */
TENON_API int tenon_function_find(const char *name, struct tenon_function **out);

/** tenon_function_find_slice - tenon_function_find() of a name that no NUL ends */
TENON_API int tenon_function_find_slice(struct tenon_slice name, struct tenon_function **out);

/**
 * tenon_function_remove - take a name out of the registry
 * @name: its name
 *
 * Return: 0; -TENON_E_NOT_FOUND.
 */
TENON_API int tenon_function_remove(const char *name);

/**
 * tenon_function_each - visit every global function
 * @visit: called with each name; stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; 0 for none.
 */
TENON_API int tenon_function_each(int (*visit)(void *context, const char *name,
					       struct tenon_function *function),
				  void *context);

#ifdef __cplusplus
}
#endif

#endif /* TENON_FUNCTION_H */
