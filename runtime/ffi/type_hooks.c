/* SPDX-License-Identifier: MIT */
/* Call functions of types with one that goes on with the visit. */
#include "runtime/ffi/type_hooks.h"

#include <stdlib.h>

/* The hook may keep the function longer than the visit lasts. */
struct within {
	void *visit; /* NULL once the hook returned */
};

int ffi_hook_call(struct tenon_object *hook, struct tenon_value *args, int32_t count,
		  tenon_call_fn within, void *visit, struct tenon_value *ret)
{
	struct within *w = malloc(sizeof(*w));
	int err;

	if (!w)
		return ffi_nomem("a callback");
	w->visit = visit;
	if (ffi_function(w, within, free, &args[count])) {
		free(w);
		return -1;
	}
	err = ffi_call(hook, args, count + 1, ret);
	w->visit = NULL;
	ffi_release(&args[count]);
	return err;
}

void *ffi_hook_visit(void *self, const char *attribute)
{
	struct within *w = self;

	if (!w->visit)
		ffi_raise("RuntimeError",
			  "%s: its last argument may be called only until it returns", attribute);
	return w->visit;
}

int ffi_hook_integer(struct tenon_value *ret, const char *attribute, const char *wanted,
		     int64_t *out)
{
	*out = ret->as.integer;
	if (ret->type == TENON_TYPE_INT || ret->type == TENON_TYPE_BOOL)
		return 0;
	ffi_release(ret);
	return ffi_raise("TypeError", "%s must return %s", attribute, wanted);
}
