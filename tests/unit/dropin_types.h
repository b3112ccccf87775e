/* SPDX-License-Identifier: MIT */
/* Register types with the drop-in for tvm-ffi as foreign code does; their objects hold values. */
#ifndef TESTS_UNIT_DROPIN_TYPES_H
#define TESTS_UNIT_DROPIN_TYPES_H

#include "dropin_calls.h"
#include "dropin_holder.h"

static inline int holder_get(void *field, struct tenon_value *out)
{
	return tenon_value_own(field, out);
}

static inline int holder_set(void *field, const struct tenon_value *value)
{
	tenon_value_release(field);
	return tenon_value_own(value, field);
}

/* Add a field, which is a value. @getter and @setter may be NULL */
static inline void type_add_field(int32_t type, const char *name, size_t offset, int64_t flags,
				  getter_fn getter, setter_fn setter)
{
	struct type_field f = { .name = s(name),
				.flags = flags,
				.size = sizeof(struct tenon_value),
				.alignment = 8,
				.offset = (int64_t)offset,
				.getter = getter,
				.static_type = TENON_TYPE_ANY };

	memcpy(&f.setter, &setter, sizeof(f.setter));
	assert_int_equal(abi_ffi_type_add_field(type, &f), 0);
}

static inline void type_set_attribute(int32_t type, const char *name, struct tenon_value value)
{
	struct tenon_slice key = s(name);

	assert_int_equal(abi_ffi_type_set_attribute(type, &key, &value), 0);
}

static inline void type_set_function(int32_t type, const char *name, void *self,
				     tenon_call_fn call_fn)
{
	void *f;

	assert_int_equal(abi_ffi_function_create(self, call_fn, NULL, &f), 0);
	type_set_attribute(type, name, tenon_arg_object(f));
	abi_ffi_object_unref(f);
}

/* ---- objects that a creator makes */

static int32_t holder_next_type;
static bool holder_creator_fails, holder_creator_is_empty;

static inline void holder_delete(void *self, int flags)
{
	struct holder *h = self;

	if (flags & TENON_DELETE_CONTENT) {
		tenon_value_release(&h->inner);
		tenon_value_release(&h->other);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(h);
}

static inline int holder_create(struct tenon_object **out)
{
	struct holder *h;

	if (holder_creator_fails)
		return tenon_error(-TENON_E_VALUE, "said by a creator");
	*out = NULL;
	if (holder_creator_is_empty)
		return 0;
	h = calloc(1, sizeof(*h));
	assert_non_null(h);
	h->object.refs = (UINT64_C(1) << 32) | 1;
	h->object.type = holder_next_type;
	h->object.deleter = holder_delete;
	*out = &h->object;
	return 0;
}

/* Register a type. @creator may be NULL */
static inline int32_t type_add(const char *key, int32_t kind,
			       int (*creator)(struct tenon_object **))
{
	const struct type_metadata metadata = { .total_size = sizeof(struct holder),
						.creator = creator,
						.structural_kind = kind };
	int32_t type;

	assert_int_equal(tenon_type_register(key, TENON_TYPE_OBJECT, &type), 0);
	assert_int_equal(abi_ffi_type_set_metadata(type, &metadata), 0);
	return type;
}

/* A type with the field "inner" */
static inline int32_t holder_type(const char *key, int32_t kind,
				  int (*creator)(struct tenon_object **))
{
	int32_t type = type_add(key, kind, creator);

	type_add_field(type, "inner", offsetof(struct holder, inner), 0, holder_get, holder_set);
	return type;
}

/* What Python's dataclasses have besides: constructors, and a function that copies */
static inline void type_add_class(int32_t type)
{
	struct tenon_value ret;

	assert_int_equal(CALL("ffi._PyClassRegisterTypeAttrColumns", &ret, tenon_arg_int(type),
			      tenon_arg_int(sizeof(struct holder))),
			 0);
}

static inline struct tenon_value holder_make(int32_t type, struct tenon_value inside)
{
	struct tenon_value v;

	holder_next_type = type;
	assert_int_equal(CALL("ffi.MakeObjectFromPackedArgs", &v, tenon_arg_int(type),
			      tenon_arg_string("inner"), inside),
			 0);
	return v;
}

#endif /* TESTS_UNIT_DROPIN_TYPES_H */
