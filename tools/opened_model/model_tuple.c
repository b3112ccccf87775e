/* SPDX-License-Identifier: MIT */
/* Build tuples from arguments with dotted names. */
#include "tools/opened_model/model.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include <tenon/array.h>

#define DEPTH_MOST 64 /* nesting of tuples */

/* an argument, and the rest of its path below the current tuple: ".1.0", or "" */
struct part {
	const struct argument *a;
	struct tenon_slice path;
};

/* Remove the last ".N" from a name. */
static bool cut_number(struct tenon_slice *name)
{
	size_t n = name->size;

	while (n && isdigit((unsigned char)name->data[n - 1]))
		n--;
	if (n < 2 || n == name->size || name->data[n - 1] != '.')
		return false;
	name->size = n - 1;
	return true;
}

static bool find(struct tenon_model *model, const struct argument *a, size_t *index,
		 struct tenon_slice *path)
{
	struct tenon_slice name = a->spec.name;
	bool found = !tenon_model_find_input(model, name, index), item = false;

	while (!found && cut_number(&name)) {
		found = !tenon_model_find_input(model, name, index);
		item = found;
	}
	tenon_error_clear();
	path->data = a->spec.name.data + name.size;
	path->size = a->spec.name.size - name.size;
	return item;
}

bool model_tuple_input(struct tenon_model *model, const struct argument *a, size_t *index)
{
	struct tenon_slice path;

	return find(model, a, index, &path);
}

/* Remove ".N" from the front of a path. Clamp a number too large for any tuple. */
static uint64_t take_number(struct tenon_slice *path)
{
	uint64_t n = 0;
	size_t i;

	for (i = 1; i < path->size && path->data[i] != '.'; i++)
		if (n < UINT32_MAX)
			n = n * 10 + (uint64_t)(path->data[i] - '0');
	path->data += i;
	path->size -= i;
	return n;
}

static int build(const struct part *parts, size_t count, int depth, struct tenon_value *out);

/*
 * Build item @number of a tuple from the parts whose path begins with it; @room has space for
 * @count.
 */
static int build_item(const struct part *parts, size_t count, uint64_t number, int depth,
		      struct part *room, struct tenon_value *out)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		room[n] = parts[i];
		n += take_number(&room[n].path) == number;
	}
	if (!n)
		return tenon_error(-TENON_E_USAGE,
				   "item %" PRIu64
				   " of the tuple is not given, though later ones are",
				   number);
	return build(room, n, depth + 1, out);
}

static uint64_t count_items(const struct part *parts, size_t count)
{
	uint64_t items = 0, n;
	size_t i;

	for (i = 0; i < count; i++) {
		struct tenon_slice path = parts[i].path;

		n = take_number(&path) + 1;
		items = n > items ? n : items;
	}
	return items;
}

static int build_tuple(const struct part *parts, size_t count, int depth, struct tenon_value *out)
{
	uint64_t items = count_items(parts, count), i, made = 0;
	struct tenon_value *values = calloc(count, sizeof(*values));
	struct part *room = calloc(count, sizeof(*room));
	struct tenon_array *array;
	int err = 0;

	if (!values || !room)
		err = tenon_error(-TENON_E_NOMEM, "no memory for a tuple");
	/* With more items than parts one is missing, so this ends early. */
	for (i = 0; i < items && !err; i++) {
		err = build_item(parts, count, i, depth, room, &values[i]);
		made += !err;
	}
	if (!err)
		err = tenon_array_create(values, (size_t)items, &array);
	if (!err)
		*out = tenon_arg_object(array);
	for (i = 0; i < made; i++)
		tenon_value_release(&values[i]);
	free(room);
	free(values);
	return err;
}

static int build(const struct part *parts, size_t count, int depth, struct tenon_value *out)
{
	size_t i;

	if (depth > DEPTH_MOST)
		return tenon_error(-TENON_E_USAGE, "tuples more than %d deep", DEPTH_MOST);
	for (i = 0; i < count; i++) {
		if (parts[i].path.size)
			continue;
		if (count > 1)
			return tenon_error(-TENON_E_USAGE, "\"%.*s\" is given twice",
					   (int)parts[i].a->spec.name.size,
					   parts[i].a->spec.name.data);
		return tenon_value_own(&parts[i].a->value, out);
	}
	return build_tuple(parts, count, depth, out);
}

int model_tuple_set(struct tenon_model *model, size_t index, const struct argument *list,
		    size_t count)
{
	struct part *parts = calloc(count, sizeof(*parts));
	struct tenon_value tuple = tenon_arg_none();
	size_t i, n = 0, of;
	int err;

	if (!parts)
		return tenon_error(-TENON_E_NOMEM, "no memory for a tuple");
	for (i = 0; i < count; i++) {
		if (list[i].spec.role != SPEC_INPUT || !list[i].spec.name.size)
			continue;
		parts[n].a = &list[i];
		n += find(model, &list[i], &of, &parts[n].path) && of == index;
	}
	err = build(parts, n, 0, &tuple);
	if (!err)
		err = tenon_model_set_input(model, index, &tuple);
	tenon_value_release(&tuple);
	free(parts);
	return err;
}
