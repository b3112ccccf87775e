/* SPDX-License-Identifier: MIT */
/* A module whose only function returns the parameters. */
#include "runtime/relax/relax_param_module.h"

#include <stdlib.h>
#include <tenon/backend/module_kind.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"

#define FUNCTION "get_params"

struct param_module {
	struct tenon_module base;
	struct tenon_value params;
};

static PACKED_CALL(get_params)
{
	const struct param_module *m = self;

	return tenon_value_own(&m->params, ret);
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	int err;

	if (!tenon_slice_equal(name, tenon_slice_of(FUNCTION)))
		return 0;
	err = tenon_function_create(m, get_params, tenon_object_unref, out);
	if (!err)
		tenon_object_ref(m);
	return err;
}

static int each_function(struct tenon_module *m,
			 int (*visit)(void *context, struct tenon_slice name), void *context)
{
	return visit(context, tenon_slice_of(FUNCTION));
}

static void destroy(struct tenon_module *m)
{
	tenon_value_release(&((struct param_module *)m)->params);
}

static const struct tenon_module_ops ops = {
	.get_function = get_function,
	.each_function = each_function,
	.destroy = destroy,
};

int relax_param_module_create(const struct tenon_value *params, struct tenon_module **out)
{
	struct param_module *m = calloc(1, sizeof(*m));
	int err;

	*out = NULL;
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a module of parameters");
	err = tenon_value_own(params, &m->params);
	if (err) {
		free(m);
		return err;
	}
	tenon_module_init(&m->base, &ops, tenon_slice_of("param_module"), TENON_MODULE_RUNNABLE);
	*out = &m->base;
	return 0;
}
