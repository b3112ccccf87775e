/* SPDX-License-Identifier: MIT */
/* Show the fields of any object to a visitor, also those of foreign types. */
#include "lib/brief_errors.h"
#include "lib/options.h"
#include "runtime/core/describer.h"
#include "runtime/core/type.h"

#include <tenon/error.h>

static int visit_foreign_field(const struct type_field *field, const struct tenon_object *object,
			       const struct tenon_visitor *v)
{
	struct tenon_value value = tenon_arg_none();
	struct tenon_value name;
	int err;

	if (!field->getter)
		return 0;
	err = field->getter((char *)(uintptr_t)object + field->offset, &value);
	if (err)
		return -TENON_E_CALL;
	err = tenon_string_value(field->name, &name);
	if (!err) {
		struct tenon_slice text;

		tenon_value_text(&name, &text);
		err = v->field(v->context, text.data, &value);
		tenon_value_release(&name);
	}
	tenon_value_release(&value);
	return err;
}

/* Visit the fields that @info registered with TVMFFITypeRegisterField. */
static int visit_fields(const struct type_info *info, const struct tenon_object *object,
			const struct tenon_visitor *v)
{
	int32_t i, count = __atomic_load_n(&info->field_count, __ATOMIC_ACQUIRE);
	const struct type_field *fields = __atomic_load_n(&info->fields, __ATOMIC_ACQUIRE);
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = visit_foreign_field(&fields[i], object, v);
	return err;
}

static int visit_type(const struct type_info *info, const struct tenon_object *object,
		      const struct tenon_visitor *v)
{
	const struct type_record *r = (const struct type_record *)info;
	tenon_visit_fn visit = __atomic_load_n(&r->visit, __ATOMIC_ACQUIRE);

	if (!visit)
		visit = type_builtin_visit(info->index);
	return visit ? visit(object, v) : visit_fields(info, object, v);
}

int describe_object(const struct tenon_object *object, const struct tenon_visitor *v)
{
	const struct type_record *r = type_record(object->type);
	struct tenon_visitor all;
	int err = options_read(v, &all, sizeof(all));
	int32_t i;

	if (err || !r)
		return err;
	for (i = 0; i < r->info.depth && !err; i++)
		err = visit_type(r->info.ancestors[i], object, &all);
	return err ? err : visit_type(&r->info, object, &all);
}
