/* SPDX-License-Identifier: MIT */
/* Create closures and call them with the bound arguments behind. */
#include "runtime/relax/relax_closure.h"

#include "lib/brief_errors.h"

#include <inttypes.h>

static int32_t closure_type;

/* Type index of closures; 0 before the first one. */
static int32_t type_now(void)
{
	return __atomic_load_n(&closure_type, __ATOMIC_RELAXED);
}

static void closure_release_items(void *self)
{
	struct relax_closure *c = self;
	uint32_t i;

	for (i = 0; i < c->bound_count; i++)
		tenon_value_release(&c->bound[i]);
	tenon_object_unref(c->x);
}

static int bind(struct relax_closure *c, const struct tenon_value *values, uint32_t count)
{
	uint32_t i;
	int err;

	for (i = 0; i < count; i++) {
		err = tenon_value_own(&values[i], &c->bound[c->bound_count]);
		if (err)
			return tenon_error_in(err, "argument %" PRIu32 " to bind", i);
		c->bound_count++;
	}
	return 0;
}

int relax_closure_create(struct relax_executable *x, uint32_t function,
			 const struct tenon_value *bound, uint32_t count,
			 const struct tenon_value *then, uint32_t then_count,
			 struct relax_closure **out)
{
	struct relax_closure *c;
	int32_t type;
	int err;

	*out = NULL;
	type = type_now();
	if (!type) {
		err = tenon_type_register("relax.vm.Closure", TENON_TYPE_OBJECT, &type);
		if (err)
			return err;
		__atomic_store_n(&closure_type, type, __ATOMIC_RELAXED);
	}
	c = relax_nest_create(NULL, sizeof(*c) + ((size_t)count + then_count) * sizeof(c->bound[0]),
			      type, closure_release_items);
	if (!c)
		return -TENON_E_NOMEM;
	tenon_object_ref(x);
	c->x = x;
	c->function = function;
	c->drop_result = false;
	c->bound_count = 0;
	err = bind(c, bound, count);
	if (!err)
		err = bind(c, then, then_count);
	if (err) {
		tenon_object_unref(c);
		return err;
	}
	*out = c;
	return 0;
}

struct relax_closure *relax_closure_of(const struct tenon_value *v)
{
	return v->type >= TENON_TYPE_DYNAMIC && v->type == type_now()
		       ? (struct relax_closure *)v->as.object
		       : NULL;
}
