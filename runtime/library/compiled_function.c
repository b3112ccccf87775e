/* SPDX-License-Identifier: MIT */
/* Function objects of compiled code, and the guard that frees leaked workspace. */
#include "runtime/library/compiled_function.h"

#include <stdlib.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/core/arguments.h"
#include "runtime/library/call.h"

static void compiled_delete(void *self, int flags)
{
	struct compiled_function *f = self;

	if (flags & TENON_DELETE_CONTENT)
		tenon_object_unref(f->keep);
	if (flags & TENON_DELETE_MEMORY)
		heap_free(f);
}

int compiled_function_create(tenon_call_fn call, void *symbol, struct tenon_object *keep,
			     struct tenon_function **out)
{
	struct compiled_function *f = heap_alloc(sizeof(*f), "function");

	*out = NULL;
	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	tenon_object_init(&f->base.object, TENON_TYPE_FUNCTION, compiled_delete);
	f->base.call = call;
	f->base.cpp_call = NULL;
	f->symbol = symbol;
	f->keep = keep;
	f->legacy = false;
	tenon_object_ref(keep);
	*out = &f->base;
	return 0;
}

/* Here, so that an executor does not link the calls of such functions into a program that has none. */
#ifdef CONFIG_TVM_LEGACY
bool tvm_legacy_function_raw(const struct tenon_function *function, void **symbol)
{
	const struct compiled_function *f = (const struct compiled_function *)function;

	if (function->object.deleter != compiled_delete || !f->legacy)
		return false;
	*symbol = f->symbol;
	return true;
}
#endif

static PACKED_CALL(guarded_call)
{
	tenon_call_fn call = (tenon_call_fn)((struct compiled_function *)self)->symbol;
	size_t mark = tenon_workspace_mark();
	int err = call(NULL, args, count, ret);

	if (__builtin_expect(err, 0))
		tenon_workspace_reclaim(mark);
	return err;
}

int workspace_guard_function_create(tenon_call_fn symbol, struct tenon_object *keep,
				    struct tenon_function **out)
{
	return compiled_function_create(guarded_call, (void *)symbol, keep, out);
}
