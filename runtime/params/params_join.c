/* SPDX-License-Identifier: MIT */
/* Make one list of parameters of several, with other names. */
#include "runtime/params/params_interface.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "lib/nearest_name.h"
#include "lib/string_map.h"
#include "runtime/core/reference.h"

struct joining {
	const struct tenon_params_rename *renames;
	size_t rename_count;
	bool *used; /* which renames found a parameter */
	struct tenon_params *list;
	size_t room;		    /* items */
	struct tenon_buffer names;  /* of all items, one behind the other */
	struct tenon_buffer scoped; /* the name that is looked at, in its scope */
};

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for parameters");
}

/* Double the room. Items get their names when all are there. */
static int grow(struct joining *j)
{
	struct tenon_params *list = j->list;
	size_t room = j->room;

	if (!array_reserve(list->origins, room, j->room + 1) ||
	    !array_reserve(list->items, j->room, j->room + 1))
		return no_memory();
	return 0;
}

/* Append a parameter; its name is @head and @tail. */
static int put(struct joining *j, struct params_origin origin, struct tenon_slice head,
	       struct tenon_slice tail)
{
	struct tenon_params *list = j->list;
	int err = list->count == j->room ? grow(j) : 0;

	if (!err)
		err = tenon_buffer_slice(&j->names, head);
	if (!err)
		err = tenon_buffer_slice(&j->names, tail);
	if (err)
		return no_memory();
	list->items[list->count] = *origin.param;
	list->items[list->count].name = (struct tenon_slice){ NULL, head.size + tail.size };
	list->origins[list->count++] = origin;
	tenon_object_ref(&origin.params->object);
	return 0;
}

/* "model.*" stands for all names that begin so. */
static bool take_star(struct tenon_slice *name)
{
	const bool there = name->size && name->data[name->size - 1] == '*';

	name->size -= there;
	return there;
}

/* Append a parameter under each name that a rename gives it, or its own. */
static int put_renamed(struct joining *j, struct params_origin origin, struct tenon_slice name)
{
	static const struct tenon_slice none = { "", 0 };
	bool renamed = false;
	size_t i;
	int err = 0;

	for (i = 0; i < j->rename_count && !err; i++) {
		struct tenon_slice old = j->renames[i].old_name, new = j->renames[i].new_name;
		struct tenon_slice tail = none;

		if (take_star(&old)) {
			take_star(&new);
			if (name.size < old.size || memcmp(name.data, old.data, old.size))
				continue;
			tail = (struct tenon_slice){ name.data + old.size, name.size - old.size };
		} else if (!tenon_slice_equal(old, name)) {
			continue;
		}
		renamed = j->used[i] = true;
		err = put(j, origin, new, tail);
	}
	return err || renamed ? err : put(j, origin, name, none);
}

static int put_part(struct joining *j, const struct tenon_params_part *part)
{
	struct tenon_buffer *b = &j->scoped;
	size_t i;
	int err = 0;

	for (i = 0; i < part->params->count && !err; i++) {
		struct params_origin origin = { part->params, &part->params->items[i] };

		b->size = 0;
		tenon_buffer_slice(b, part->scope);
		if (part->scope.size)
			tenon_buffer_u8(b, '.');
		tenon_buffer_slice(b, origin.param->name);
		err = b->status ? no_memory()
				: put_renamed(j, origin, (struct tenon_slice){ b->data, b->size });
	}
	return err;
}

/* A rename without a parameter is a mistake in one of the two names. */
static int check_renames(const struct joining *j)
{
	struct nearest_name nearest = { .count = 0 };
	struct tenon_buffer text = TENON_BUFFER_INIT;
	size_t i, k;
	int err;

	for (i = 0; i < j->rename_count && j->used[i]; i++)
		;
	if (i == j->rename_count)
		return 0;
	nearest.wanted = j->renames[i].old_name;
	for (k = 0; k < j->list->count; k++)
		nearest_name_offer(&nearest, j->list->items[k].name);
	nearest_name_print(&nearest, &text);
	err = tenon_error(-TENON_E_NOT_FOUND,
			  "no parameter is called \"%.*s\", which is to be "
			  "renamed.%s",
			  (int)nearest.wanted.size, nearest.wanted.data,
			  text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return err;
}

static const char *source_of(const struct params_origin *o)
{
	while (o->params->origins)
		o = &o->params->origins[o->param - o->params->items];
	return o->params->path ? o->params->path : "bytes in memory";
}

/* Equal names of one file are that file's affair: the last one counts. */
static int check_names(const struct tenon_params *list)
{
	struct string_map map = STRING_MAP_INIT;
	size_t i;
	int err = 0;

	for (i = 0; i < list->count && !err; i++) {
		const struct params_origin *here = &list->origins[i], *other;
		void **slot = string_map_slot(&map, list->items[i].name);

		if (!slot) {
			err = no_memory();
			break;
		}
		other = *slot ? *slot : here;
		if (other->params != here->params || (other != here && other->param == here->param))
			err = tenon_error(-TENON_E_EXISTS,
					  "parameter \"%.*s\" is in %s and in %s: give one of them "
					  "a scope, or rename it",
					  (int)list->items[i].name.size, list->items[i].name.data,
					  source_of(other), source_of(here));
		*slot = (void *)(uintptr_t)here;
	}
	string_map_fini(&map);
	return err;
}

static void place_names(struct joining *j)
{
	struct tenon_params *list = j->list;
	char *at = list->names = j->names.data;
	size_t i;

	j->names = (struct tenon_buffer)TENON_BUFFER_INIT;
	for (i = 0; i < list->count; i++) {
		list->items[i].name.data = at ? at : "";
		at += list->items[i].name.size;
	}
}

int params_files_join(const struct tenon_params_part *parts, size_t part_count,
		      const struct tenon_params_rename *renames, size_t rename_count,
		      struct tenon_params **out)
{
	struct joining j = { .renames = renames, .rename_count = rename_count };
	size_t i;
	int err;

	j.names = j.scoped = (struct tenon_buffer)TENON_BUFFER_INIT;
	err = params_create(NULL, out);
	if (err)
		return err;
	j.list = *out;
	j.used = calloc(rename_count + 1, sizeof(*j.used));
	err = j.used ? grow(&j) : no_memory();
	for (i = 0; i < part_count && !err; i++)
		err = put_part(&j, &parts[i]);
	place_names(&j);
	if (!err)
		err = check_renames(&j);
	if (!err)
		err = check_names(*out);
	free(j.used);
	tenon_buffer_fini(&j.scoped);
	return object_made(err, out);
}
