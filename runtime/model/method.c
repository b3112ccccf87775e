/* SPDX-License-Identifier: MIT */
/* Bind a row of the table to its module, and check argument counts. */
#include "runtime/model/method.h"

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"

#include <stdlib.h>

struct bound {
	struct tenon_module *module;
	const struct method *method;
};

static void bound_release(void *self)
{
	struct bound *b = self;

	tenon_object_unref(b->module);
	free(b);
}

static PACKED_CALL(bound_call)
{
	const struct bound *b = self;
	int err = arguments_check(b->method->name, count, b->method->least, b->method->most);

	if (err)
		return err;
	*ret = tenon_arg_none();
	err = b->method->fn(b->module, args, count, ret);
	return err ? tenon_error_in(err, "%s", b->method->name) : 0;
}

int method_function(struct tenon_module *m, const struct method *method,
		    struct tenon_function **out)
{
	struct bound *b = malloc(sizeof(*b));
	int err;

	*out = NULL;
	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	b->module = m;
	b->method = method;
	tenon_object_ref(m);
	err = tenon_function_create(b, bound_call, bound_release, out);
	if (err)
		bound_release(b);
	return err;
}

int method_find(struct tenon_module *m, const struct method *table, struct tenon_slice name,
		struct tenon_function **out)
{
	*out = NULL;
	for (; table->name; table++)
		if (tenon_slice_equal(tenon_slice_of(table->name), name))
			return method_function(m, table, out);
	return 0;
}

int method_each(const struct method *table, int (*visit)(void *context, struct tenon_slice name),
		void *context)
{
	int stop = 0;

	for (; table->name && !stop; table++)
		stop = visit(context, tenon_slice_of(table->name));
	return stop;
}

static int read_device(const struct tenon_value *args, bool pair, DLDevice *out)
{
	int64_t type, id;
	int err;

	if (!pair) {
		if (args->type != TENON_TYPE_DEVICE)
			return tenon_error(-TENON_E_TYPE, "the argument is no device but %s",
					   tenon_type_key(args->type));
		*out = args->as.device;
		return 0;
	}
	err = tenon_value_int(&args[0], &type);
	if (!err)
		err = tenon_value_int(&args[1], &id);
	if (err)
		return err;
	if (type < 0 || type > INT32_MAX || id < 0 || id > INT32_MAX)
		return tenon_error(-TENON_E_VALUE, "no device has these numbers");
	*out = (DLDevice){ (DLDeviceType)type, (int32_t)id };
	return 0;
}

int method_devices(const struct tenon_value *args, int32_t count, bool pairs, DLDevice *out,
		   size_t *out_count)
{
	int32_t step = pairs ? 2 : 1, i;
	int err = 0;

	*out_count = 0;
	if (pairs && count % 2)
		return tenon_error(-TENON_E_TYPE, "a device type without an id");
	if (count / step > METHOD_DEVICES_MOST)
		return tenon_error(-TENON_E_VALUE, "%d devices, %d at most", count / step,
				   METHOD_DEVICES_MOST);
	for (i = 0; i < count && !err; i += step)
		err = read_device(&args[i], pairs, &out[(*out_count)++]);
	return err;
}
