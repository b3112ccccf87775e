/* SPDX-License-Identifier: MIT */
/* Register types, static and dynamic, and find their records by index or key. */
#include "runtime/core/type.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/string_map.h"

/* keys of the static indices 0, 1, … and 64, 65, …; one string, which needs no relocations */
static const char value_keys[] = "None\0int\0bool\0float\0void*\0DataType\0Device\0DLTensor*\0"
				 "const char*\0TVMFFIByteArray*\0ObjectRValueRef\0ffi.SmallStr\0"
				 "ffi.SmallBytes\0ffi.Unchanged";
static const char object_keys[] =
	"ffi.Object\0ffi.String\0ffi.Bytes\0ffi.Error\0ffi.Function\0ffi.Shape\0ffi.Tensor\0"
	"ffi.Array\0ffi.Map\0ffi.Module\0ffi.OpaquePyObject\0ffi.List\0ffi.Dict\0"
	"ffi.VisitInterrupt\0ffi.BigInt";

#define OBJECT_COUNT (TYPE_STATIC_LAST - TENON_TYPE_OBJECT + 1)
#define STATIC_COUNT (TYPE_VALUE_END + OBJECT_COUNT)

/* dynamic indices: segment k holds 64 << k pointers, so that no segment ever moves */
#define SEGMENT_FIRST 64
#define SEGMENT_COUNT 24
#define DYNAMIC_END   (TENON_TYPE_DYNAMIC + SEGMENT_FIRST * ((1 << SEGMENT_COUNT) - 1))

#define BUCKETS 64

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct type_record statics[STATIC_COUNT];
static const struct type_info *object_ancestors[1];
static bool statics_made;
static struct type_record **segments[SEGMENT_COUNT];
static struct type_record *buckets[BUCKETS];
static int32_t next_index = TENON_TYPE_DYNAMIC;

void type_lock(void)
{
	fork_gate_lock(&table_lock);
}

void type_unlock(void)
{
	fork_gate_unlock(&table_lock);
}

static const char *nth_key(const char *keys, int32_t n)
{
	while (n--)
		keys += strlen(keys) + 1;
	return keys;
}

static const char *static_key(int32_t index)
{
	if (index >= 0 && index < TYPE_VALUE_END)
		return nth_key(value_keys, index);
	if (index >= TENON_TYPE_OBJECT && index <= TYPE_STATIC_LAST)
		return nth_key(object_keys, index - TENON_TYPE_OBJECT);
	return NULL;
}

static void record_key(struct type_record *r, struct tenon_slice key)
{
	struct type_record **bucket;

	r->info.key = key;
	/* programs see it, and what they hash with it may be in their files */
	r->info.key_hash = string_hash_seeded(key, 0);
	bucket = &buckets[r->info.key_hash % BUCKETS];
	r->next_of_hash = *bucket;
	*bucket = r;
}

/* Caller holds the lock. */
static void statics_make(void)
{
	struct type_record *r;
	int32_t i;

	if (statics_made)
		return;
	object_ancestors[0] = &statics[TYPE_VALUE_END].info;
	for (i = 0; i < STATIC_COUNT; i++) {
		r = &statics[i];
		r->info.index = i < TYPE_VALUE_END ? i : TENON_TYPE_OBJECT + i - TYPE_VALUE_END;
		if (r->info.index > TENON_TYPE_OBJECT) {
			r->info.depth = 1;
			r->info.ancestors = object_ancestors;
		}
		r->slots = r->slots_used = 1;
		r->may_overflow = true;
		record_key(r, tenon_slice_of(static_key(r->info.index)));
	}
	__atomic_store_n(&statics_made, true, __ATOMIC_RELEASE);
}

static struct type_record *static_record(int32_t index)
{
	if (index >= 0 && index < TYPE_VALUE_END)
		return &statics[index];
	if (index >= TENON_TYPE_OBJECT && index <= TYPE_STATIC_LAST)
		return &statics[TYPE_VALUE_END + index - TENON_TYPE_OBJECT];
	return NULL;
}

/* Find the segment of a dynamic index; @at receives the position within. */
static int segment_of(int32_t index, uint32_t *at)
{
	uint32_t n = (uint32_t)(index - TENON_TYPE_DYNAMIC) / SEGMENT_FIRST + 1;
	int k = 31 - __builtin_clz(n);

	*at = (uint32_t)(index - TENON_TYPE_DYNAMIC) - SEGMENT_FIRST * ((1u << k) - 1);
	return k;
}

static struct type_record *dynamic_record(int32_t index)
{
	struct type_record **segment;
	uint32_t at;
	int k;

	if (index < TENON_TYPE_DYNAMIC || index >= DYNAMIC_END)
		return NULL;
	k = segment_of(index, &at);
	segment = __atomic_load_n(&segments[k], __ATOMIC_ACQUIRE);
	return segment ? __atomic_load_n(&segment[at], __ATOMIC_ACQUIRE) : NULL;
}

struct type_record *type_record(int32_t index)
{
	if (index >= TENON_TYPE_DYNAMIC)
		return dynamic_record(index);
	if (!__atomic_load_n(&statics_made, __ATOMIC_ACQUIRE)) {
		type_lock();
		statics_make();
		type_unlock();
	}
	return static_record(index);
}

int32_t type_end(void)
{
	int32_t end;

	type_lock();
	end = next_index;
	type_unlock();
	return end;
}

/* Caller holds the lock. */
static struct type_record *find_key(struct tenon_slice key)
{
	struct type_record *r;

	statics_make();
	for (r = buckets[string_hash_seeded(key, 0) % BUCKETS]; r; r = r->next_of_hash)
		if (tenon_slice_equal(r->info.key, key))
			return r;
	return NULL;
}

struct type_record *type_record_by_key(struct tenon_slice key)
{
	struct type_record *r;

	type_lock();
	r = find_key(key);
	type_unlock();
	return r;
}

/* Allocate a record, its ancestors and its key in one block. */
static struct type_record *record_make(struct tenon_slice key, const struct type_info *parent)
{
	size_t depth = (size_t)parent->depth + 1;
	const struct type_info **ancestors;
	struct type_record *r;
	char *text;

	r = calloc(1, sizeof(*r) + depth * sizeof(*ancestors) + key.size + 1);
	if (!r)
		return NULL;
	ancestors = (const struct type_info **)(r + 1);
	if (parent->depth)
		memcpy(ancestors, parent->ancestors, (depth - 1) * sizeof(*ancestors));
	ancestors[depth - 1] = parent;
	text = (char *)(ancestors + depth);
	if (key.size)
		memcpy(text, key.data, key.size);
	r->info.depth = (int32_t)depth;
	r->info.ancestors = ancestors;
	r->info.key.data = text;
	r->info.key.size = key.size;
	return r;
}

/*
 * Allocate @count consecutive indices, from the parent's slots if possible: its type check is a
 * range.
 */
static int32_t take_indices(struct type_record *parent, int32_t count)
{
	int32_t index;

	if (parent->slots - parent->slots_used >= count) {
		index = parent->info.index + parent->slots_used;
		parent->slots_used += count;
		return index;
	}
	if (!parent->may_overflow || next_index > DYNAMIC_END - count)
		return -1;
	index = next_index;
	next_index += count;
	return index;
}

/* Allocate the segment of @index if needed. Caller holds the lock. */
static bool segment_make(int32_t index)
{
	struct type_record **segment;
	uint32_t at;
	int k = segment_of(index, &at);

	if (segments[k])
		return true;
	segment = calloc((size_t)SEGMENT_FIRST << k, sizeof(*segment));
	__atomic_store_n(&segments[k], segment, __ATOMIC_RELEASE);
	return segment;
}

static int type_add(struct tenon_slice key, struct type_record *parent, struct type_layout layout,
		    int32_t *index)
{
	struct type_record *r;
	uint32_t at;
	int k;

	r = record_make(key, &parent->info);
	if (!r)
		goto nomem;
	r->slots = layout.child_slots + 1;
	r->slots_used = 1;
	r->may_overflow = layout.may_overflow;
	r->info.index = take_indices(parent, r->slots);
	if (r->info.index < 0) {
		free(r);
		return tenon_error(
			-TENON_E_OVERFLOW, "type \"%.*s\": its parent \"%.*s\" has no index left",
			(int)key.size, key.data, (int)parent->info.key.size, parent->info.key.data);
	}
	if (!segment_make(r->info.index)) {
		free(r);
		goto nomem;
	}
	record_key(r, r->info.key);
	k = segment_of(r->info.index, &at);
	__atomic_store_n(&segments[k][at], r, __ATOMIC_RELEASE);
	*index = r->info.index;
	return 0;

nomem:
	return tenon_error(-TENON_E_NOMEM, "no memory for type \"%.*s\"", (int)key.size, key.data);
}

int type_register(struct tenon_slice key, int32_t parent, struct type_layout layout, int32_t *index)
{
	struct type_record *r, *p;
	int err = 0;

	if (layout.child_slots < 0 || layout.child_slots > SEGMENT_FIRST << 16)
		layout.child_slots = 0;
	type_lock();
	r = find_key(key);
	p = parent >= TENON_TYPE_DYNAMIC ? dynamic_record(parent) : static_record(parent);
	if (r)
		*index = r->info.index;
	else if (!p || parent < TENON_TYPE_OBJECT)
		err = tenon_error(-TENON_E_USAGE, "type \"%.*s\": there is no parent type %d",
				  (int)key.size, key.data, parent);
	else
		err = type_add(key, p, layout, index);
	type_unlock();
	return err;
}

int tenon_type_register(const char *key, int32_t parent, int32_t *index)
{
	struct type_layout layout = { 0, true };

	return type_register(tenon_slice_of(key), parent, layout, index);
}

const char *tenon_type_key(int32_t index)
{
	const char *key = static_key(index);
	struct type_record *r;

	if (key)
		return key;
	r = dynamic_record(index);
	return r ? r->info.key.data : "?";
}

int tenon_type_is(int32_t index, int32_t ancestor)
{
	const struct type_record *r, *a;

	if (index == ancestor)
		return 1;
	if (index < TENON_TYPE_OBJECT)
		return 0;
	if (ancestor == TENON_TYPE_OBJECT)
		return 1;
	/*
	 * Ancestors are registered first, so their indices are smaller or their slots contain this
	 * one.
	 */
	r = dynamic_record(index);
	a = r ? type_record(ancestor) : NULL;
	return a && r->info.depth > a->info.depth && r->info.ancestors[a->info.depth] == &a->info;
}
