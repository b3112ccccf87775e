/* SPDX-License-Identifier: MIT */
#ifndef TENON_FUNCTION_H
#define TENON_FUNCTION_H

/**
 * DOC: packed functions
 *
 * In a function object the address to call follows the header, as in tvm-ffi; a call is one
 * indirect jump. The same object serves code of both TVM generations.
 *
 * Calling convention: arguments are views, borrowed for the call; the callee must not change them.
 * The caller passes a result whose type is below TENON_TYPE_OBJECT, usually None. The callee
 * overwrites it with an owned value, which the caller releases. A callee never reads or releases
 * the old result, because compiled code may leave garbage there. 0 is success; any other value is
 * failure with the thread's error set (tenon/error.h).
 */

#include <tenon/error.h>
#include <tenon/export.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * typedef tenon_call_fn - implementation of a packed function
 * @self: the function object, or the @self of tenon_function_create()
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
 * @cpp_call: for the C++ code that created the function; never called by Tenon
 */
struct tenon_function {
	struct tenon_object object;
	tenon_call_fn call;
	void *cpp_call;
};

/**
 * tenon_function_create - create a function object from a C function
 * @self: passed to @fn as its first argument
 * @fn: the C function. When @self and @release are both NULL it is called directly, and receives
 *	the function object as self.
 * @release: called with @self when the function object is destroyed; may be NULL
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
 * @ret: the result; its type must be below TENON_TYPE_OBJECT. The caller releases it.
 *
 * Return: 0; any other value is failure with the thread's error set.
 */
static inline int tenon_function_call(const struct tenon_function *function,
				      const struct tenon_value *args, int32_t count,
				      struct tenon_value *ret)
{
	return function->call((void *)function, args, count, ret);
}

#ifndef __cplusplus
/**
 * tenon_call - call a function with a variable number of arguments
 * @function: struct tenon_function *
 * @ret: struct tenon_value *, as in tenon_function_call()
 *
 * The remaining arguments are tenon_arg_*() values; there may be none.
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
 * @replace: replace a function of the same name instead of returning -TENON_E_EXISTS
 *
 * A replaced function is never freed, because another thread may be about to call it. So register
 * functions at startup, not in a loop.
 *
 * Context: any thread; takes a lock.
 * Return: 0; -TENON_E_EXISTS; -TENON_E_NOMEM.
 */
TENON_API int tenon_function_register(const char *name, struct tenon_function *function,
				      bool replace);

/** tenon_function_register_c - create a function from a C function and register it */
TENON_API int tenon_function_register_c(const char *name, tenon_call_fn fn, bool replace);

/**
 * tenon_function_find - get a global function by name
 * @name: its name
 * @out: receives the function with one reference for the caller, or NULL when there is none
 *
 * Functions of the library itself, and those of its plug-ins, need no registration: the first
 * lookup of such a name registers them, for which it may open the plug-in.
 *
 * Context: any thread. Finding a registered function is lock-free and allocates nothing.
 * Return: 0 also when there is none; no error is raised then. -TENON_E_UNSUPPORTED when the plug-in
 * that has the function cannot be used, with the reason; -TENON_E_NOMEM.
 */
TENON_API int tenon_function_find(const char *name, struct tenon_function **out);

/** tenon_function_find_slice - tenon_function_find() for a name without a final NUL */
TENON_API int tenon_function_find_slice(struct tenon_slice name, struct tenon_function **out);

/**
 * tenon_function_remove - remove a function from the registry
 * @name: its name
 *
 * Return: 0; -TENON_E_NOT_FOUND.
 */
TENON_API int tenon_function_remove(const char *name);

/**
 * tenon_function_each - visit every global function
 * @visit: called with each name; stops when it returns non-zero
 * @context: passed to @visit
 *
 * Opens the plug-ins that have global functions.
 *
 * Return: the result of the last @visit; 0 without functions.
 */
TENON_API int tenon_function_each(int (*visit)(void *context, const char *name,
					       struct tenon_function *function),
				  void *context);

#ifdef __cplusplus
}
#endif

#endif /* TENON_FUNCTION_H */
