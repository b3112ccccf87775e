/* SPDX-License-Identifier: MIT */
/* Turn elements into keys that sort as integers, and merge-sort them. */
#include "runtime/relax/relax_element.h"

#include <string.h>
#include <tenon/workspace.h>

#include "lib/brief_errors.h"

#define RUN 8 /* items that are sorted by insertion */

static inline uint64_t direct(uint64_t key, bool ascending)
{
	return ascending ? key : ~key;
}

#define SIGNED_KEY(name, type)                                                                     \
	static uint64_t name(const void *element, bool ascending)                                  \
	{                                                                                          \
		type v;                                                                            \
                                                                                                   \
		memcpy(&v, element, sizeof(v));                                                    \
		return direct((uint64_t)(int64_t)v ^ UINT64_C(1) << 63, ascending);                \
	}

#define UNSIGNED_KEY(name, type)                                                                   \
	static uint64_t name(const void *element, bool ascending)                                  \
	{                                                                                          \
		type v;                                                                            \
                                                                                                   \
		memcpy(&v, element, sizeof(v));                                                    \
		return direct(v, ascending);                                                       \
	}

SIGNED_KEY(key_int8, int8_t)
SIGNED_KEY(key_int16, int16_t)
SIGNED_KEY(key_int32, int32_t)
SIGNED_KEY(key_int64, int64_t)
UNSIGNED_KEY(key_uint8, uint8_t)
UNSIGNED_KEY(key_uint16, uint16_t)
UNSIGNED_KEY(key_uint32, uint32_t)
UNSIGNED_KEY(key_uint64, uint64_t)

/* Key of a float of @width bits; its infinity has the bits @infinity. */
static uint64_t float_key(uint64_t bits, unsigned int width, uint64_t infinity, bool ascending)
{
	uint64_t sign = UINT64_C(1) << (width - 1), magnitude = bits & (sign - 1);

	if (magnitude > infinity)
		return RELAX_KEY_LAST;
	return direct(bits & sign ? sign - magnitude : sign + magnitude, ascending);
}

static uint64_t key_float16(const void *element, bool ascending)
{
	uint16_t v;

	memcpy(&v, element, sizeof(v));
	return float_key(v, 16, 0x7c00, ascending);
}

static uint64_t key_bfloat16(const void *element, bool ascending)
{
	uint16_t v;

	memcpy(&v, element, sizeof(v));
	return float_key(v, 16, 0x7f80, ascending);
}

static uint64_t key_float32(const void *element, bool ascending)
{
	uint32_t v;

	memcpy(&v, element, sizeof(v));
	return float_key(v, 32, 0x7f800000, ascending);
}

static uint64_t key_float64(const void *element, bool ascending)
{
	uint64_t v;

	memcpy(&v, element, sizeof(v));
	return float_key(v, 64, UINT64_C(0x7ff) << 52, ascending);
}

relax_element_key_fn relax_element_key(DLDataType d)
{
	static const struct {
		uint8_t code, bits;
		relax_element_key_fn key;
	} known[] = {
		{ TENON_DTYPE_INT, 8, key_int8 },	{ TENON_DTYPE_INT, 16, key_int16 },
		{ TENON_DTYPE_INT, 32, key_int32 },	{ TENON_DTYPE_INT, 64, key_int64 },
		{ TENON_DTYPE_UINT, 8, key_uint8 },	{ TENON_DTYPE_UINT, 16, key_uint16 },
		{ TENON_DTYPE_UINT, 32, key_uint32 },	{ TENON_DTYPE_UINT, 64, key_uint64 },
		{ TENON_DTYPE_UINT, 1, key_uint8 },	{ TENON_DTYPE_BOOL, 8, key_uint8 },
		{ TENON_DTYPE_FLOAT, 16, key_float16 }, { TENON_DTYPE_FLOAT, 32, key_float32 },
		{ TENON_DTYPE_FLOAT, 64, key_float64 }, { TENON_DTYPE_BFLOAT, 16, key_bfloat16 },
	};
	size_t i;

	for (i = 0; d.lanes == 1 && i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].code == d.code && known[i].bits == d.bits)
			return known[i].key;
	return NULL;
}

static void insertion(struct relax_sort_item *a, size_t count)
{
	struct relax_sort_item item;
	size_t i, k;

	for (i = 1; i < count; i++) {
		item = a[i];
		for (k = i; k > 0 && a[k - 1].key > item.key; k--)
			a[k] = a[k - 1];
		a[k] = item;
	}
}

/* Merge the sorted halves of @from, which meet at @middle, into @to. */
static void merge(const struct relax_sort_item *from, size_t middle, size_t count,
		  struct relax_sort_item *to)
{
	size_t a = 0, b = middle;

	while (a < middle && b < count) {
		if (from[b].key < from[a].key)
			*to++ = from[b++];
		else
			*to++ = from[a++];
	}
	memcpy(to, from + a, (middle - a) * sizeof(*to));
	memcpy(to + (middle - a), from + b, (count - b) * sizeof(*to));
}

void relax_sort(struct relax_sort_item *items, struct relax_sort_item *spare, size_t count)
{
	struct relax_sort_item *from = items, *to = spare, *other;
	size_t width, at, left;

	for (at = 0; at < count; at += RUN)
		insertion(items + at, count - at < RUN ? count - at : RUN);
	for (width = RUN; width < count; width *= 2) {
		for (at = 0; at < count; at += 2 * width) {
			left = count - at;
			merge(from + at, left < width ? left : width,
			      left < 2 * width ? left : 2 * width, to + at);
		}
		other = from;
		from = to;
		to = other;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

static const DLDevice host = { kDLCPU, 0 };

struct relax_sort_item *relax_sort_memory(size_t count)
{
	if (count > SIZE_MAX / 2 / sizeof(struct relax_sort_item)) {
		tenon_error(-TENON_E_NOMEM, "no memory to sort %zu elements", count);
		return NULL;
	}
	return tenon_workspace_alloc(host, (uint64_t)count * 2 * sizeof(struct relax_sort_item));
}

void relax_sort_done(struct relax_sort_item *items)
{
	tenon_workspace_free(host, items);
}

void relax_element_put(DLDataType d, void *data, int64_t index, int64_t value)
{
	char *at = (char *)data + index * (d.bits / 8);
	const int32_t word = (int32_t)value;
	const float single = (float)value;
	const double both = (double)value;

	if (d.bits == 8)
		*at = (char)value;
	else if (d.code == TENON_DTYPE_FLOAT && d.bits == 32)
		memcpy(at, &single, sizeof(single));
	else if (d.code == TENON_DTYPE_FLOAT)
		memcpy(at, &both, sizeof(both));
	else if (d.bits == 32)
		memcpy(at, &word, sizeof(word));
	else
		memcpy(at, &value, sizeof(value));
}
