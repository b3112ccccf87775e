/* SPDX-License-Identifier: MIT */
/* Read and check attributes of a node: numbers, axes, lists, paddings. */
#include "runtime/byoc/json_attributes.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/number.h"
#include "lib/slice_text.h"

/* Largest value of an attribute. */
#define VALUE_MOST (INT64_C(1) << 31)

/* ---- the node */

bool byoc_named(const struct byoc_reader *r, const char *word)
{
	return memmem(r->n->name.data, r->n->name.size, word, strlen(word)) != NULL;
}

void byoc_want(struct byoc_reader *r, uint32_t least)
{
	if (!r->err && r->n->input_count < least)
		r->err =
			tenon_error(-TENON_E_VALUE, "%u inputs, want %u", r->n->input_count, least);
}

const struct byoc_entry *byoc_src(const struct byoc_reader *r, uint32_t input)
{
	return &r->g->entries[r->n->inputs[input]];
}

const struct byoc_entry *byoc_dst(const struct byoc_reader *r)
{
	return &r->g->entries[r->n->first_entry];
}

/* ---- attributes */

/* Find the items of an attribute: [["1", "1"]], ["1", "1"] or "1". Returns how many there are. */
static uint32_t find_items(const struct byoc_reader *r, const char *key, uint32_t *at)
{
	const struct json_text *j = &r->g->json;
	struct tenon_slice found;
	uint32_t count, i;

	*at = r->n->attrs;
	/* the text was read before, so nothing here can fail */
	if (r->err || json_enter(j, at, JSMN_OBJECT, "attributes", &count))
		return 0;
	for (i = 0; i < count; i++) {
		if (json_key(j, at, &found))
			return 0;
		if (slice_is(found, key))
			break;
		json_skip(j, at);
	}
	if (i == count)
		return 0;
	count = 1;
	while (json_is(j, *at, JSMN_ARRAY)) {
		count = (uint32_t)j->tokens[*at].size;
		if (!count)
			return 0;
		(*at)++;
	}
	/* "" is an attribute that was not given */
	return json_raw(j, *at).size ? count : 0;
}

uint32_t byoc_count(const struct byoc_reader *r, const char *key)
{
	uint32_t at;

	return find_items(r, key, &at);
}

bool byoc_has(const struct byoc_reader *r, const char *key)
{
	return byoc_count(r, key) > 0;
}

struct tenon_slice byoc_text_at(struct byoc_reader *r, const char *key, uint32_t item)
{
	struct tenon_slice text = { "", 0 };
	uint32_t at;

	if (item >= find_items(r, key, &at))
		return text;
	if (json_is(&r->g->json, at + item, JSMN_STRING))
		text = json_raw(&r->g->json, at + item);
	else
		r->err =
			json_error(&r->g->json, at + item, -TENON_E_FORMAT, "%s is no string", key);
	return text;
}

struct tenon_slice byoc_text(struct byoc_reader *r, const char *key)
{
	return byoc_text_at(r, key, 0);
}

/* Copy the item at @at, which is a number in quotes or without; "" after a failure. */
static void copy_item(struct byoc_reader *r, const char *key, uint32_t at, char *out, size_t size)
{
	const struct json_text *j = &r->g->json;
	struct tenon_slice raw;

	*out = '\0';
	if (!json_is(j, at, JSMN_STRING) && !json_is(j, at, JSMN_PRIMITIVE)) {
		r->err = json_error(j, at, -TENON_E_FORMAT, "%s: no number", key);
		return;
	}
	raw = json_raw(j, at);
	if (raw.size >= size) {
		r->err = json_error(j, at, -TENON_E_VALUE, "%s: a value too long", key);
		return;
	}
	memcpy(out, raw.data, raw.size);
	out[raw.size] = '\0';
}

/* Read at most @most integers or truth values. Returns how many there are; 0 after a failure. */
static uint32_t read_integers(struct byoc_reader *r, const char *key, int64_t *out, uint32_t most)
{
	uint32_t at, i, count = find_items(r, key, &at);
	char item[32], *end;

	if (count > most)
		r->err = json_error(&r->g->json, at, -TENON_E_VALUE, "%s has %u values, at most %u",
				    key, (unsigned int)count, (unsigned int)most);
	for (i = 0; i < count && !r->err; i++) {
		copy_item(r, key, at + i, item, sizeof(item));
		out[i] = !strcmp(item, "True") || !strcmp(item, "true");
		if (r->err || out[i] || !strcmp(item, "False") || !strcmp(item, "false"))
			continue;
		out[i] = strtoll(item, &end, 10);
		if (end == item || *end || out[i] > VALUE_MOST || out[i] < -VALUE_MOST)
			r->err = json_error(&r->g->json, at + i, -TENON_E_VALUE,
					    "%s: \"%s\" is no integer of 32 bits", key, item);
	}
	return r->err ? 0 : count;
}

int64_t byoc_integer(struct byoc_reader *r, const char *key, int64_t otherwise)
{
	int64_t value;

	return read_integers(r, key, &value, 1) ? value : otherwise;
}

float byoc_real_at(struct byoc_reader *r, const char *key, uint32_t item, float otherwise)
{
	const char *end;
	char text[64];
	uint32_t at;
	float value;

	if (item >= find_items(r, key, &at))
		return otherwise;
	copy_item(r, key, at + item, text, sizeof(text));
	value = number_read_float(text, &end);
	if (!r->err && (end == text || *end))
		r->err = json_error(&r->g->json, at + item, -TENON_E_VALUE,
				    "%s: \"%s\" is no number", key, text);
	return r->err ? otherwise : value;
}

float byoc_real(struct byoc_reader *r, const char *key, float otherwise)
{
	const uint32_t count = byoc_count(r, key);

	if (!r->err && count > 1)
		r->err = tenon_error(-TENON_E_VALUE, "%s has %u values, want 1", key, count);
	return byoc_real_at(r, key, 0, otherwise);
}

int byoc_axis(struct byoc_reader *r, int64_t otherwise, int32_t ndim)
{
	int64_t axis = byoc_integer(r, "axis", otherwise);

	if (axis < 0)
		axis += ndim;
	if (!r->err && (axis < 0 || axis >= ndim))
		r->err = tenon_error(-TENON_E_VALUE, "axis %lld of %d dimensions", (long long)axis,
				     ndim);
	return r->err ? 0 : (int)axis;
}

void byoc_axes(struct byoc_reader *r, struct tenon_slice layout, const char *order, int *to)
{
	const size_t count = strlen(order);
	unsigned int seen = 0;
	const char *at;
	size_t i;

	for (i = 0; i < count && i < layout.size; i++) {
		at = memchr(order, layout.data[i], count);
		if (!at)
			break;
		to[i] = (int)(at - order);
		seen |= 1u << to[i];
	}
	if (!r->err && (layout.size != count || seen != (1u << count) - 1))
		r->err =
			tenon_error(-TENON_E_UNSUPPORTED, "layout \"%.*s\", want the letters of %s",
				    json_shown(layout), layout.data, order);
}

void byoc_data_axes(struct byoc_reader *r, const char *key, const char *other, int32_t ndim,
		    int *to)
{
	static const char *const orders[] = { "NCW", "NCHW", "NCDHW" };
	struct tenon_slice layout = byoc_text(r, key);

	if (!layout.size && other)
		layout = byoc_text(r, other);
	if (!r->err && (ndim < 3 || ndim > 5))
		r->err = tenon_error(-TENON_E_VALUE, "%d dimensions, want 3 to 5", ndim);
	if (!r->err)
		byoc_axes(r, layout.size ? layout : tenon_slice_of(orders[ndim - 3]),
			  orders[ndim - 3], to);
}

void byoc_list(struct byoc_reader *r, const char *key, uint32_t count, int64_t otherwise,
	       int64_t *out)
{
	const uint32_t found = read_integers(r, key, out, count);
	uint32_t i;

	if (found > 1 && found != count)
		r->err =
			tenon_error(-TENON_E_VALUE, "%s has %u values, want %u", key, found, count);
	for (i = found; i < count && !r->err; i++)
		out[i] = found ? out[0] : otherwise;
	for (i = 0; i < count && !r->err; i++)
		if (out[i] < 0)
			r->err = tenon_error(-TENON_E_VALUE, "%s is negative", key);
}

void byoc_padding(struct byoc_reader *r, uint32_t dims, int64_t *before, int64_t *after)
{
	int64_t padding[2 * GRAPH_DIMS_MOST];
	uint32_t i, at;

	/* one number for all sides, one for each dimension, or those before and those after */
	const uint32_t count = find_items(r, "padding", &at) > dims ? 2 * dims : dims;

	byoc_list(r, "padding", count, 0, padding);
	for (i = 0; i < dims && !r->err; i++) {
		before[i] = padding[i];
		after[i] = padding[count - dims + i];
	}
}
