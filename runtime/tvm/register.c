/* SPDX-License-Identifier: MIT */
/* Register the global functions when the library is loaded, and export the names of TVM's runtime. */
#include <stdio.h>
#include <tenon/model.h>

#include "runtime/library/tvm_table.h"
#include "runtime/tvm/tvm.h"

static const struct global_function *const lists[] = {
	tvm_tensor_globals,	  tvm_device_globals,	     tvm_param_globals,
	tvm_evaluator_globals,	  tvm_session_globals,	     tvm_server_globals,
	tvm_event_server_globals, tvm_child_session_globals, tvm_static_library_globals,
	tvm_refused_globals,
};

static int register_list(const struct global_function *list)
{
	int err = 0;

	/* replace those of libtenon, which know no devices of servers */
	for (; list->name && !err; list++)
		err = tenon_function_register_c(list->name, list->call, true);
	return err;
}

/* Functions that the Python package registers itself, which fails where the runtime has them */
static int leave_to_python(const char *name)
{
	struct tenon_function *function;
	int err = tenon_function_find(name, &function);

	if (!err && function)
		err = tenon_function_remove(name);
	tenon_object_unref(function);
	return err;
}

__attribute__((constructor)) static void register_all(void)
{
	size_t i;
	int err;

	/*
	 * Only Tenon's libtvm_ffi.so has this function. The functions of this library would be missing in TVM's own, so
	 * the dynamic linker must not load this library on it.
	 */
	err = tenon_tvm_bind(tenon_tvm_table());
	for (i = 0; !err && i < sizeof(lists) / sizeof(lists[0]); i++)
		err = register_list(lists[i]);
	if (!err)
		err = leave_to_python("vm.builtin.debug_print");
	if (err)
		fprintf(stderr, "libtvm_runtime.so: %s\n",
			err == -1 ? "libtvm_ffi.so is of another version of Tenon"
				  : tenon_error_message());
	tenon_error_clear();
}
