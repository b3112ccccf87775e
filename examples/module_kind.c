/* SPDX-License-Identifier: MIT */
/*
 * A kind of module of one's own: "scaler", whose bytes are a number, with a function that multiplies by it.
 * Modules of this kind may stand in the import tree of any file that is opened from now on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/module_kind.h>

struct scaler {
	struct tenon_module base;
	uint32_t factor;
};

/* self is the module, of which the function holds a reference */
static int scale(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	const struct scaler *s = self;
	int64_t number;

	if (count != 1 || tenon_value_int(&args[0], &number))
		return tenon_error(-TENON_E_TYPE, "scale wants one number");
	*ret = tenon_arg_int(number * s->factor);
	return 0;
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	int err;

	*out = NULL;
	if (!tenon_slice_equal(name, tenon_slice_of("scale")))
		return 0;
	err = tenon_function_create(m, scale, tenon_object_unref, out);
	if (!err)
		tenon_object_ref(m);
	return err;
}

static const struct tenon_module_ops scaler_ops = { .get_function = get_function };

/* The bytes are hostile: the cursor refuses to read past their end and names the place. */
static int load(struct tenon_cursor *c, const struct tenon_payload *payload,
		struct tenon_module **out)
{
	struct scaler *s;
	uint32_t factor;

	(void)payload;
	if (tenon_cursor_u32(c, &factor))
		return tenon_error_status();
	if (!(s = calloc(1, sizeof(*s))))
		return tenon_error(-TENON_E_NOMEM, "no memory for a scaler");
	s->factor = factor;
	tenon_module_init(&s->base, &scaler_ops, tenon_slice_of("scaler"), TENON_MODULE_RUNNABLE);
	*out = &s->base;
	return 0;
}

int main(void)
{
	static const struct tenon_module_loader loader = { "scaler", load };
	const struct tenon_slice bytes = { "\x07\0\0\0", 4 };
	struct tenon_value result = tenon_arg_none();
	struct tenon_function *f = NULL;
	struct tenon_module *m = NULL;
	int err = tenon_module_loader_register(&loader);

	if (err || (err = tenon_module_load_bytes("scaler", bytes, &m)) ||
	    (err = tenon_module_get_function(m, "scale", &f)) ||
	    (err = tenon_call(f, &result, tenon_arg_int(6))))
		fprintf(stderr, "%s\n", tenon_error_message());
	else
		printf("%lld\n", (long long)result.as.integer);
	tenon_object_unref(f);
	tenon_object_unref(m);
	return err != 0;
}
