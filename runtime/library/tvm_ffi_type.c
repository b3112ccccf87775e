/* SPDX-License-Identifier: MIT */
/*
 * tvm-ffi: types, and the data that foreign code registers for them. The data is deep-copied, since
 * its library may be closed, and never freed.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "lib/string_map.h"
#include "runtime/library/tvm_table.h"

#define PARENT_QUERY_ONLY (-2)

const struct type_info abi_unknown_type = { .index = -1, .key = { "?", 1 } };

int abi_ffi_type_index(const struct tenon_slice *key, int32_t *index)
{
	struct type_record *r = type_record_by_key(*key);

	if (!r)
		return ffi_result(tenon_error(-TENON_E_NOT_FOUND, "no type \"%.*s\" is registered",
					      (int)key->size, key->data));
	*index = r->info.index;
	return 0;
}

int32_t abi_ffi_type_allocate(const struct tenon_slice *key, int32_t fixed, int32_t depth,
			      int32_t child_slots, int32_t may_overflow, int32_t parent)
{
	struct type_layout layout = { child_slots, may_overflow != 0 };
	struct type_record *r;
	int32_t index;

	/* all types of fixed index are predefined */
	/* follows from the parent */
	if (parent == PARENT_QUERY_ONLY) {
		r = type_record_by_key(*key);
		return r ? r->info.index : PARENT_QUERY_ONLY;
	}
	if (parent < TENON_TYPE_OBJECT)
		parent = TENON_TYPE_OBJECT;
	return type_register(*key, parent, layout, &index) ? PARENT_QUERY_ONLY : index;
}

const struct type_info *abi_ffi_type_info(int32_t index)
{
	struct type_record *r = type_record(index);

	return r ? &r->info : &abi_unknown_type;
}

static int no_type(int32_t index)
{
	return ffi_result(tenon_error(-TENON_E_USAGE, "there is no type %d", index));
}

static int no_memory(const struct type_record *r)
{
	return ffi_result(tenon_error(-TENON_E_NOMEM,
				      "no memory for the registration of "
				      "type \"%.*s\"",
				      (int)r->info.key.size, r->info.key.data));
}

/* Copy a slice and add a NUL; false if out of memory. */
static bool copy_text(struct tenon_slice *s)
{
	char *copy = malloc(s->size + 1);

	if (!copy)
		return false;
	if (s->size)
		memcpy(copy, s->data, s->size);
	copy[s->size] = '\0';
	s->data = copy;
	return true;
}

static void free_text(const struct tenon_slice *copy)
{
	free((void *)(uintptr_t)copy->data);
}

static bool copy_texts(struct tenon_slice *name, struct tenon_slice *doc,
		       struct tenon_slice *metadata)
{
	if (!copy_text(name))
		return false;
	if (!copy_text(doc))
		goto free_name;
	if (!copy_text(metadata))
		goto free_doc;
	return true;

free_doc:
	free_text(doc);
free_name:
	free_text(name);
	return false;
}

/* A list with lock-free readers: growing makes a new list, and old ones are kept. */
struct list {
	struct list *older;
	int32_t room;
};

/* Make room for one item after @count; return the items, or NULL. Caller holds the type lock. */
static void *list_grow(const void *items, int32_t count, size_t size)
{
	struct list *old = items ? (struct list *)(uintptr_t)items - 1 : NULL, *fresh;
	int32_t room = old ? 2 * old->room : 4;

	if (old && count < old->room)
		return old + 1;
	fresh = calloc(1, sizeof(*fresh) + (size_t)room * size);
	if (!fresh)
		return NULL;
	fresh->older = old;
	fresh->room = room;
	if (old)
		memcpy(fresh + 1, items, (size_t)count * size);
	return fresh + 1;
}

int abi_ffi_type_add_field(int32_t index, const struct type_field *field)
{
	struct type_record *r = type_record(index);
	struct type_field copy = *field, *fields;
	int32_t count;

	if (!r)
		return no_type(index);
	if (!copy_texts(&copy.name, &copy.doc, &copy.metadata))
		return no_memory(r);
	tenon_value_own(&field->default_value, &copy.default_value);
	if (copy.flags & TYPE_FIELD_SETTER_OBJECT)
		tenon_object_ref(copy.setter);
	type_lock();
	count = r->info.field_count;
	fields = list_grow(r->info.fields, count, sizeof(*fields));
	if (fields) {
		fields[count] = copy;
		__atomic_store_n(&r->info.fields, fields, __ATOMIC_RELEASE);
		__atomic_store_n(&r->info.field_count, count + 1, __ATOMIC_RELEASE);
	}
	type_unlock();
	return fields ? 0 : no_memory(r);
}

int abi_ffi_type_add_method(int32_t index, const struct type_method *method)
{
	struct type_record *r = type_record(index);
	struct type_method copy = *method, *methods;
	int32_t count;

	if (!r)
		return no_type(index);
	if (!copy_texts(&copy.name, &copy.doc, &copy.metadata))
		return no_memory(r);
	tenon_value_own(&method->method, &copy.method);
	type_lock();
	count = r->info.method_count;
	methods = list_grow(r->info.methods, count, sizeof(*methods));
	if (methods) {
		methods[count] = copy;
		__atomic_store_n(&r->info.methods, methods, __ATOMIC_RELEASE);
		__atomic_store_n(&r->info.method_count, count + 1, __ATOMIC_RELEASE);
	}
	type_unlock();
	return methods ? 0 : no_memory(r);
}

int abi_ffi_type_set_metadata(int32_t index, const struct type_metadata *metadata)
{
	struct type_record *r = type_record(index);
	struct type_metadata *copy;
	bool taken = false;

	if (!r)
		return no_type(index);
	copy = malloc(sizeof(*copy));
	if (!copy)
		return no_memory(r);
	*copy = *metadata;
	if (!copy_text(&copy->doc)) {
		free(copy);
		return no_memory(r);
	}
	type_lock();
	if (!r->info.metadata) {
		__atomic_store_n(&r->info.metadata, copy, __ATOMIC_RELEASE);
		taken = true;
	}
	type_unlock();
	if (taken)
		return 0;
	free_text(&copy->doc);
	free(copy);
	return ffi_result(tenon_error(-TENON_E_EXISTS, "type \"%.*s\" has metadata already",
				      (int)r->info.key.size, r->info.key.data));
}

/* ---- attributes: one column per name, with one value per type */

struct column {
	struct ffi_column column; /* foreign code has its address: it never moves */
	int32_t room;
	struct tenon_value *retired; /* replaced data that readers may still use */
};

static struct string_map columns = STRING_MAP_INIT; /* protected by the type lock */

/* C++ headers use these two without a check for existence. */
static bool always_there(struct tenon_slice name)
{
	return slice_is(name, "__any_hash__") || slice_is(name, "__any_equal__");
}

/* Caller holds the lock. */
static struct column *column_get(struct tenon_slice name, bool make)
{
	struct column *c = string_map_get(&columns, name);
	void **slot;

	if (c || !make)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c || !copy_text(&name))
		goto free_column;
	slot = string_map_slot(&columns, name);
	if (!slot)
		goto free_name;
	*slot = c;
	return c;

free_name:
	free_text(&name);
free_column:
	free(c);
	return NULL;
}

static bool column_set(struct column *c, int32_t index, const struct tenon_value *value)
{
	int32_t room = c->room ? c->room : 256;
	struct tenon_value *data = (struct tenon_value *)(uintptr_t)c->column.data;

	if (index < 0)
		return true;
	while (room <= index)
		room *= 2;
	if (room != c->room) {
		/* The extra slot in front links to the replaced data. */
		data = calloc((size_t)room + 1, sizeof(*data));
		if (!data)
			return false;
		data->as.pointer = c->retired;
		c->retired = data++;
		if (c->column.size)
			memcpy(data, c->column.data, (size_t)c->column.size * sizeof(*data));
		c->room = room;
		__atomic_store_n(&c->column.data, data, __ATOMIC_RELEASE);
	}
	if (value->type == TENON_TYPE_NONE)
		return true;
	if (tenon_value_own(value, &data[index]))
		return false;
	if (c->column.size <= index)
		__atomic_store_n(&c->column.size, index + 1, __ATOMIC_RELEASE);
	return true;
}

int abi_ffi_type_set_attribute(int32_t index, const struct tenon_slice *name,
			       const struct tenon_value *value)
{
	struct type_record *r = type_record(index);
	struct column *c;
	bool done;

	if (!r)
		return no_type(index);
	type_lock();
	c = column_get(*name, true);
	done = c && column_set(c, index, value);
	type_unlock();
	return done ? 0 : no_memory(r);
}

const struct ffi_column *abi_ffi_type_column(const struct tenon_slice *name)
{
	struct column *c;

	type_lock();
	c = column_get(*name, always_there(*name));
	type_unlock();
	return c ? &c->column : NULL;
}
