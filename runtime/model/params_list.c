/* SPDX-License-Identifier: MIT */
/* Lists of parameters: made, filled from a program's own, searched, and freed. */
#include "runtime/model/params_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>
#include <tenon/tensor.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/string_map.h"
#include "runtime/core/reference.h"

/* so many parameters are compared one by one */
#define FEW 32

static void free_places(struct string_map *places)
{
	if (places)
		string_map_fini(places);
	free(places);
}

static void params_delete(void *self, int flags)
{
	struct tenon_params *p = self;
	size_t i;

	if (flags & TENON_DELETE_CONTENT) {
		for (i = 0; p->origins && i < p->count; i++)
			tenon_object_unref(p->origins[i].params);
		free(p->origins);
		free(p->blocks);
		free_places(p->places);
		tenon_object_unref(p->keep);
		file_map_close(&p->head);
		file_map_close(&p->map);
		file_map_close(&p->owned);
		free(p->names);
		free(p->path);
		if (p->fd >= 0)
			close(p->fd);
		free(p->items);
		free(p->shapes);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(p);
}

int params_create(struct tenon_object *keep, struct tenon_params **out)
{
	struct tenon_params *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return tenon_error(-TENON_E_NOMEM, "no memory for parameters");
	tenon_object_init(&p->object, TENON_TYPE_OBJECT, params_delete);
	tenon_object_ref(keep);
	p->keep = keep;
	p->fd = -1;
	*out = p;
	return 0;
}

bool params_is_padding(const struct tenon_param *p)
{
	const size_t n = sizeof(PARAMS_PADDING) - 1;

	return p->name.size > n && !memcmp(p->name.data, PARAMS_PADDING, n) &&
	       p->tensor.ndim == 1 &&
	       tenon_dtype_equal(p->tensor.dtype, tenon_dtype(TENON_DTYPE_UINT, 8, 1));
}

int params_reserve(struct tenon_params *p, uint64_t count, uint64_t names, uint64_t extents)
{
	if (count < SIZE_MAX / sizeof(*p->items) && names < SIZE_MAX &&
	    extents < SIZE_MAX / sizeof(*p->shapes)) {
		p->items = calloc((size_t)count + 1, sizeof(*p->items));
		p->shapes = malloc(((size_t)extents + 1) * sizeof(*p->shapes));
		p->names = names ? malloc((size_t)names) : NULL;
	}
	if (p->items && p->shapes && (p->names || !names))
		return 0;
	return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " parameters", count);
}

int tenon_params_create(const struct tenon_param *list, size_t count, struct tenon_object *keep,
			struct tenon_params **out)
{
	uint64_t names = 0, extents = 0;
	struct tenon_params *p;
	int64_t *shape;
	char *name;
	size_t i;
	int err;

	for (i = 0; i < count; i++) {
		names += list[i].name.size;
		extents += (uint64_t)list[i].tensor.ndim;
	}
	err = params_create(keep, out);
	if (!err)
		err = params_reserve(*out, count, names + 1, extents);
	if (object_made(err, out))
		return err;
	p = *out;
	name = p->names;
	shape = p->shapes;
	for (i = 0; i < count; i++) {
		struct tenon_param *item = &p->items[p->count++];

		*item = list[i];
		item->name.data = name;
		item->tensor.shape = shape;
		if (list[i].name.size)
			memcpy(name, list[i].name.data, list[i].name.size);
		if (list[i].tensor.ndim)
			memcpy(shape, list[i].tensor.shape,
			       (size_t)list[i].tensor.ndim * sizeof(*shape));
		name += item->name.size;
		shape += item->tensor.ndim;
	}
	return 0;
}

/* ---- looking up */

static struct string_map *make_places(const struct tenon_params *params)
{
	struct string_map *places = calloc(1, sizeof(*places));
	void **slot;
	size_t i;

	if (!places)
		return NULL;
	for (i = 0; i < params->count; i++) {
		slot = string_map_slot(places, params->items[i].name);
		if (!slot) {
			free_places(places);
			return NULL;
		}
		*slot = &params->items[i];
	}
	return places;
}

/* Items by name, of equal names the last one. Threads may ask at once: one map stays. NULL where memory ran out. */
static const struct string_map *params_places(const struct tenon_params *params)
{
	struct string_map **place = &((struct tenon_params *)(uintptr_t)params)->places;
	struct string_map *made, *there = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (there)
		return there;
	made = make_places(params);
	if (!made) {
		tenon_error_clear();
		return NULL;
	}
	if (__atomic_compare_exchange_n(place, &there, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	free_places(made);
	return there;
}

const struct tenon_param *tenon_params_find(const struct tenon_params *params,
					    struct tenon_slice name)
{
	const struct string_map *places = params->count < FEW ? NULL : params_places(params);
	size_t i;

	if (places)
		return string_map_get(places, name);
	for (i = params->count; i--;)
		if (tenon_slice_equal(params->items[i].name, name))
			return &params->items[i];
	return NULL;
}
