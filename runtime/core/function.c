/* SPDX-License-Identifier: MIT */
/* Function objects with a C function and its data. */
#include <stdlib.h>
#include <tenon/function.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"

struct closure {
	struct tenon_function base;
	void *self;
	tenon_call_fn fn;
	void (*release)(void *self);
};

static PACKED_CALL(closure_call)
{
	struct closure *c = self;

	return c->fn(c->self, args, count, ret);
}

static void closure_delete(void *self, int flags)
{
	struct closure *c = self;

	if ((flags & TENON_DELETE_CONTENT) && c->release)
		c->release(c->self);
	if (flags & TENON_DELETE_MEMORY)
		free(c);
}

int tenon_function_create(void *self, tenon_call_fn fn, void (*release)(void *self),
			  struct tenon_function **out)
{
	struct closure *c = malloc(sizeof(*c));

	*out = NULL;
	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	tenon_object_init(&c->base.object, TENON_TYPE_FUNCTION, closure_delete);
	c->base.call = self || release ? closure_call : fn;
	c->base.cpp_call = NULL;
	c->self = self;
	c->fn = fn;
	c->release = release;
	*out = &c->base;
	return 0;
}

int arguments_refuse(const char *function, int32_t count, int32_t least, int32_t most)
{
	const char *between = least == most ? "" : most < 0 ? "at least " : NULL;

	if (between)
		return tenon_error(-TENON_E_TYPE, "%s takes %s%d argument%s, %d given", function,
				   between, least, least == 1 ? "" : "s", count);
	return tenon_error(-TENON_E_TYPE, "%s takes %d to %d arguments, %d given", function, least,
			   most, count);
}
