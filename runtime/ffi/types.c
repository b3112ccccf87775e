/* SPDX-License-Identifier: MIT */
/* Register types with their fields, methods and conversions. */
#include "runtime/ffi/types.h"

#include <stddef.h>

#include "runtime/ffi/attributes.h"
#include "runtime/ffi/map.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/shape.h"
#include "runtime/ffi/walker.h"

int32_t ffi_type_enum_state, ffi_type_enum, ffi_type_int_enum, ffi_type_str_enum;
int32_t ffi_type_access_step, ffi_type_access_path, ffi_type_structural_key;
int32_t ffi_type_visitor, ffi_type_mutator, ffi_type_visit_context;

/* ---- fields */

static int get_int32(void *field, struct tenon_value *out)
{
	*out = tenon_arg_int(*(int32_t *)field);
	return 0;
}

static int set_int64(void *field, const struct tenon_value *value)
{
	struct tenon_value v = *value;

	return ffi_field_write(field, TENON_TYPE_INT, &v);
}

static int set_int32(void *field, const struct tenon_value *value)
{
	int64_t n;

	if (set_int64(&n, value))
		return -1;
	*(int32_t *)field = (int32_t)n;
	return 0;
}

static int set_value(void *field, const struct tenon_value *value)
{
	struct tenon_value owned;

	return ffi_own(value, &owned) ? -1 : ffi_field_write(field, TENON_TYPE_ANY, &owned);
}

static int set_object(void *field, const struct tenon_value *value)
{
	struct tenon_value owned;

	return ffi_own(value, &owned) ? -1 : ffi_field_write(field, TENON_TYPE_OBJECT, &owned);
}

/* Choose what reads and writes a field. */
static void choose_access(struct type_field *f)
{
	int (*setter)(void *field, const struct tenon_value *value);

	if (f->static_type == TENON_TYPE_INT) {
		f->getter = f->size == 4 ? get_int32 : ffi_field_getter(TENON_TYPE_INT);
		setter = f->size == 4 ? set_int32 : set_int64;
	} else if (f->size == (int64_t)sizeof(struct tenon_value)) {
		f->getter = ffi_field_getter(TENON_TYPE_ANY);
		setter = set_value;
	} else {
		f->getter = ffi_field_getter(TENON_TYPE_OBJECT);
		setter = set_object;
	}
	memcpy(&f->setter, &setter, sizeof(f->setter));
}

/* Metadata of a field or a method: its schema as a string in JSON. */
static void write_metadata(char *out, size_t size, const char *schema)
{
	size_t n = (size_t)snprintf(out, size, "{\"type_schema\":\"");

	for (; *schema && n + 8 < size; schema++) {
		if (*schema == '"')
			out[n++] = '\\';
		out[n++] = *schema;
	}
	snprintf(out + n, size - n, "\"}");
}

int ffi_members_register(int32_t type, const struct ffi_member *members)
{
	const struct ffi_member *m;
	char metadata[512];
	struct type_field f;

	for (m = members; m->name; m++) {
		memset(&f, 0, sizeof(f));
		write_metadata(metadata, sizeof(metadata), m->schema);
		f.name = tenon_slice_of(m->name);
		f.metadata = tenon_slice_of(metadata);
		f.flags = m->flags;
		f.size = m->size;
		f.alignment = m->size < 8 ? m->size : 8;
		f.offset = m->offset;
		f.static_type = m->static_type;
		choose_access(&f);
		if (ffi->TVMFFITypeRegisterField(type, &f))
			return -1;
	}
	return 0;
}

int ffi_method_register(int32_t type, const char *name, bool is_static, tenon_call_fn call,
			const char *schema)
{
	struct type_method m = { .name = tenon_slice_of(name),
				 .flags = is_static ? FIELD_STATIC_METHOD : 0 };
	char metadata[512];
	int err;

	write_metadata(metadata, sizeof(metadata), schema);
	m.metadata = tenon_slice_of(metadata);
	if (ffi_function(NULL, call, NULL, &m.method))
		return -1;
	err = ffi->TVMFFITypeRegisterMethod(type, &m);
	ffi_release(&m.method);
	return err ? -1 : 0;
}

/* ---- types */

int ffi_type_add(const char *key, int32_t parent, size_t size, enum ffi_compared compared,
		 bool final, int32_t *index)
{
	struct type_metadata metadata = { .total_size = (int32_t)size,
					  .structural_kind = compared };
	struct tenon_value is_final = tenon_arg_bool(final);
	int32_t depth = ffi->TVMFFIGetTypeInfo(parent)->depth + 1;
	struct tenon_slice name = tenon_slice_of(key);

	*index = ffi->TVMFFITypeGetOrAllocIndex(&name, -1, depth, 0, 1, parent);
	if (*index < TENON_TYPE_DYNAMIC)
		return ffi_raise("RuntimeError", "type \"%s\" cannot be registered", key);
	if (ffi->TVMFFITypeRegisterMetadata(*index, &metadata))
		return -1;
	return ffi_attribute_set(*index, "__ffi_type_final__", &is_final);
}

struct enum_state {
	struct tenon_object object;
	struct tenon_object *entries;
	struct tenon_object *indexes;
	struct tenon_object *attributes;
};

static const struct ffi_member enum_state_members[] = {
	{ "entries", FFI_AT(struct enum_state, entries), TENON_TYPE_LIST, FIELD_INIT_OFF,
	  "{\"type\":\"ffi.List\",\"args\":[{\"type\":\"ffi.Object\"}]}" },
	{ "indexes", FFI_AT(struct enum_state, indexes), TENON_TYPE_OBJECT, FIELD_INIT_OFF,
	  "{\"type\":\"ffi.Dict\",\"args\":[{\"type\":\"Any\"},{\"type\":\"ffi.Object\"}]}" },
	{ "attrs", FFI_AT(struct enum_state, attributes), TENON_TYPE_OBJECT, FIELD_INIT_OFF,
	  "{\"type\":\"ffi.Dict\",\"args\":[{\"type\":\"ffi.String\"},{\"type\":\"ffi.Dict\","
	  "\"args\":"
	  "[{\"type\":\"ffi.Object\"},{\"type\":\"Any\"}]}]}" },
	{ 0 },
};

static const struct ffi_member enum_members[] = {
	{ "_int_index", FFI_AT(struct ffi_enum, number), TENON_TYPE_INT, FIELD_STRUCTURAL_IGNORE,
	  "{\"type\":\"int\"}" },
	{ "_str_index", FFI_AT(struct ffi_enum, name), TENON_TYPE_ANY, 0,
	  "{\"type\":\"ffi.String\"}" },
	{ 0 },
};

static const struct ffi_member int_enum_members[] = {
	{ "value", FFI_AT(struct ffi_enum, number), TENON_TYPE_INT,
	  FIELD_STRUCTURAL_IGNORE | FIELD_INIT_OFF, "{\"type\":\"int\"}" },
	{ 0 },
};

static const struct ffi_member str_enum_members[] = {
	{ "value", FFI_AT(struct ffi_enum, name), TENON_TYPE_ANY,
	  FIELD_STRUCTURAL_IGNORE | FIELD_INIT_OFF, "{\"type\":\"ffi.String\"}" },
	{ 0 },
};

static PACKED_CALL(enum_state_create)
{
	struct enum_state *s;

	if (ffi_count("ffi.EnumState", count, 0, 0))
		return -1;
	s = ffi_instance_create(ffi_type_enum_state, sizeof(*s));
	if (!s)
		return -1;
	*ret = tenon_arg_object(s);
	s->entries = (struct tenon_object *)ffi_sequence_create(TENON_TYPE_LIST, NULL, 0);
	s->indexes = (struct tenon_object *)ffi_map_create(TENON_TYPE_DICT);
	s->attributes = (struct tenon_object *)ffi_map_create(TENON_TYPE_DICT);
	if (s->entries && s->indexes && s->attributes)
		return 0;
	ffi_release(ret);
	return -1;
}

/* Make a shape of integers. Return: 0; -1 with an error raised; 1 if there are other items. */
static int shape_of_items(const struct tenon_array *items, struct tenon_value *ret)
{
	int64_t i;

	for (i = 0; i < items->size; i++)
		if (items->data[i].type != TENON_TYPE_INT)
			return 1;
	return ffi_shape_create(items->data, (size_t)items->size, ret);
}

/* Make a container of one type of what another holds. Return: 0; -1; 1 if that is not possible. */
static int convert_container(int32_t type, struct tenon_object *from, struct tenon_value *ret)
{
	const struct tenon_array *items = (const struct tenon_array *)from;
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_map *m;
	int err = 0;

	if (ffi_is_sequence(from->type) && type == TENON_TYPE_SHAPE)
		return shape_of_items(items, ret);
	if (ffi_is_sequence(from->type) && ffi_is_sequence(type)) {
		*ret = tenon_arg_object(ffi_sequence_create(type, items->data, items->size));
		return ret->type == TENON_TYPE_NONE ? -1 : 0;
	}
	if (!ffi_is_map(from->type) || !ffi_is_map(type))
		return 1;
	m = ffi_map_create(type);
	*ret = tenon_arg_object(m);
	if (!m)
		return -1;
	while (!err && ffi_map_next((struct tenon_map *)from, &at, &key, &value))
		err = ffi_map_set(m, key, value);
	if (err)
		ffi_release(ret);
	return err;
}

/* __ffi_convert__ of a type: the value itself if it is of the type, or what another container holds */
static PACKED_CALL(convert_call)
{
	int32_t type = (int32_t)(intptr_t)self;
	struct tenon_object *o = count == 1 ? ffi_object(&args[0]) : NULL;
	struct tenon_slice found, wanted = ffi_type_key(type);
	int err;

	if (ffi_count("__ffi_convert__", count, 1, 1))
		return -1;
	if (o && ffi_type_is(o->type, type)) {
		ffi_ref(o);
		*ret = tenon_arg_object(o);
		return 0;
	}
	if ((type == TENON_TYPE_STRING && ffi_is_string(args[0].type)) ||
	    (type == TENON_TYPE_BYTES && ffi_is_bytes(args[0].type)))
		return ffi_own(&args[0], ret);
	err = o ? convert_container(type, o, ret) : 1;
	if (err <= 0)
		return err;
	found = ffi_type_key(o ? o->type : args[0].type);
	return ffi_raise("TypeError", "Cannot cast from `%.*s` to `%.*s`", (int)found.size,
			 found.data, (int)wanted.size, wanted.data);
}

static int add_conversion(int32_t type)
{
	return ffi_attribute_function(type, "__ffi_convert__", (void *)(intptr_t)type, convert_call,
				      NULL);
}

static int enums_register(void)
{
	if (ffi_type_add("ffi.EnumState", TENON_TYPE_OBJECT, sizeof(struct enum_state),
			 COMPARED_NEVER, true, &ffi_type_enum_state) ||
	    ffi_members_register(ffi_type_enum_state, enum_state_members) ||
	    ffi_instance_attributes(ffi_type_enum_state, sizeof(struct enum_state)) ||
	    ffi_method_register(ffi_type_enum_state, "__ffi_init__", true, enum_state_create,
				"{\"type\":\"ffi.Function\"}") ||
	    ffi_attribute_function(ffi_type_enum_state, "__ffi_init__", NULL, enum_state_create,
				   NULL))
		return -1;
	if (ffi_type_add("ffi.Enum", TENON_TYPE_OBJECT, sizeof(struct ffi_enum), COMPARED_UNIQUE,
			 false, &ffi_type_enum) ||
	    ffi_members_register(ffi_type_enum, enum_members) ||
	    ffi_instance_attributes(ffi_type_enum, sizeof(struct ffi_enum)))
		return -1;
	if (ffi_type_add("ffi.IntEnum", ffi_type_enum, sizeof(struct ffi_enum), COMPARED_UNIQUE,
			 false, &ffi_type_int_enum) ||
	    ffi_members_register(ffi_type_int_enum, int_enum_members) ||
	    ffi_instance_attributes(ffi_type_int_enum, sizeof(struct ffi_enum)) ||
	    add_conversion(ffi_type_int_enum))
		return -1;
	if (ffi_type_add("ffi.StrEnum", ffi_type_enum, sizeof(struct ffi_enum), COMPARED_UNIQUE,
			 false, &ffi_type_str_enum) ||
	    ffi_members_register(ffi_type_str_enum, str_enum_members) ||
	    ffi_instance_attributes(ffi_type_str_enum, sizeof(struct ffi_enum)) ||
	    add_conversion(ffi_type_str_enum))
		return -1;
	return 0;
}

static const struct ffi_member visit_context_members[] = {
	{ "reverse_visit_pattern", FFI_AT(struct ffi_visit_context, reverse_pattern),
	  TENON_TYPE_LIST, 0, "{\"type\":\"ffi.List\",\"args\":[{\"type\":\"ffi.Object\"}]}" },
	{ "prev_error_context", FFI_AT(struct ffi_visit_context, previous), TENON_TYPE_ANY, 0,
	  "{\"type\":\"Optional\",\"args\":[{\"type\":\"ffi.Object\"}]}" },
	{ 0 },
};

static const struct ffi_member visit_interrupt_members[] = {
	{ "value", FFI_AT(struct ffi_visit_interrupt, value), TENON_TYPE_ANY, FIELD_HAS_DEFAULT,
	  "{\"type\":\"Any\"}" },
	{ 0 },
};

static int structural_types_register(void)
{
	/* C++ code derives its own visitors and mutators, without types of their own */
	if (ffi_type_add("ffi.StructuralVisitor", TENON_TYPE_OBJECT, sizeof(struct ffi_walker),
			 COMPARED_NEVER, false, &ffi_type_visitor) ||
	    ffi_type_add("ffi.VisitErrorContext", TENON_TYPE_OBJECT,
			 sizeof(struct ffi_visit_context), COMPARED_NEVER, true,
			 &ffi_type_visit_context) ||
	    ffi_members_register(ffi_type_visit_context, visit_context_members) ||
	    ffi_instance_attributes(ffi_type_visit_context, sizeof(struct ffi_visit_context)) ||
	    ffi_type_add("ffi.StructuralMutator", TENON_TYPE_OBJECT, sizeof(struct ffi_walker),
			 COMPARED_NEVER, false, &ffi_type_mutator))
		return -1;
	return ffi_members_register(TENON_TYPE_VISIT_INTERRUPT, visit_interrupt_members) ||
			       ffi_instance_attributes(TENON_TYPE_VISIT_INTERRUPT,
						       sizeof(struct ffi_visit_interrupt))
		       ? -1
		       : 0;
}

/* ---- what must exist before foreign code asks */

static const char *const columns[] = {
	"__any_equal__",
	"__any_hash__",
	"__data_from_json__",
	"__data_to_json__",
	"__ffi_compare__",
	"__ffi_convert__",
	"__ffi_convert_type_schema__",
	"__ffi_enum__",
	"__ffi_eq__",
	"__ffi_hash__",
	"__ffi_init__",
	"__ffi_new__",
	"__ffi_repr__",
	"__ffi_shallow_copy__",
	"__ffi_type_final__",
	"__s_equal__",
	"__s_hash__",
	"__s_maybe_inplace_mutate__",
	"__s_mutate__",
	"__s_visit__",
};

static const int32_t convertible[] = {
	TENON_TYPE_OBJECT,   TENON_TYPE_STRING, TENON_TYPE_BYTES,  TENON_TYPE_ERROR,
	TENON_TYPE_FUNCTION, TENON_TYPE_SHAPE,	TENON_TYPE_TENSOR, TENON_TYPE_ARRAY,
	TENON_TYPE_MAP,	     TENON_TYPE_LIST,	TENON_TYPE_DICT,
};

/* Types with static indices from which none may be derived; C++ headers reserve 32 bytes for integers of any size. */
static const struct {
	int32_t type;
	int32_t size; /* 0 for objects that only this library makes */
} final_types[] = {
	{ TENON_TYPE_MODULE, 0 },
	{ TENON_TYPE_VISIT_INTERRUPT, sizeof(struct ffi_visit_interrupt) },
	{ FFI_TYPE_BIG_INT, 32 },
};

static int finals_register(void)
{
	struct tenon_value is_final = tenon_arg_bool(true);
	struct type_metadata metadata;
	size_t i;

	for (i = 0; i < sizeof(final_types) / sizeof(final_types[0]); i++) {
		metadata = (struct type_metadata){ .total_size = final_types[i].size };
		if (metadata.total_size &&
		    ffi->TVMFFITypeRegisterMetadata(final_types[i].type, &metadata))
			return -1;
		if (ffi_attribute_set(final_types[i].type, "__ffi_type_final__", &is_final))
			return -1;
	}
	return 0;
}

int types_register(void)
{
	const struct type_metadata root = { .total_size = sizeof(struct tenon_object) };
	size_t i;

	if (ffi->TVMFFITypeRegisterMetadata(TENON_TYPE_OBJECT, &root) || finals_register())
		return -1;

	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (ffi_attribute_column(columns[i]))
			return -1;
	for (i = 0; i < sizeof(convertible) / sizeof(convertible[0]); i++)
		if (add_conversion(convertible[i]))
			return -1;
	return enums_register() || structural_types_register() || access_path_register() ? -1 : 0;
}
