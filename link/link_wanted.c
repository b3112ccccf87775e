/* SPDX-License-Identifier: MIT */
/* Parameters without a graph: a module of constants, which passes each launcher those it names. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/slice_text.h"
#include "link/link_request.h"
#include "link/module/link_graph.h"

/* TENON_LAUNCHER_PARAMETERS() defines such a symbol: names, each in so many bytes. */
#define WANTED_SYMBOL "__tenon_parameters_"
#define WANTED_NAME   128

/* What launchers want, in the form of a payload's end. */
struct wanted {
	struct link_work *w;
	struct artifact *constants; /* NULL without parameters of this kind */
	struct tenon_buffer launchers;
	struct tenon_buffer lists;
	uint64_t count;
};

static bool has_parameter(const struct wanted *v, struct tenon_slice wanted)
{
	struct tenon_cursor c = tenon_cursor_of(v->constants->content.data,
						v->constants->content.size, "parameters", 0);
	struct tenon_slice name;
	uint64_t i, count;

	if (tenon_cursor_count(&c, 8, &count))
		return false;
	for (i = 0; i < count && !tenon_cursor_string(&c, &name); i++)
		if (tenon_slice_equal(name, wanted))
			return true;
	return false;
}

static int add_name(struct wanted *v, const struct link_object *object, struct tenon_slice launcher,
		    const char *at)
{
	const struct tenon_slice name = { at, strnlen(at, WANTED_NAME) };

	if (!has_parameter(v, name))
		return tenon_error(-TENON_E_NOT_FOUND,
				   "%s: launcher %.*s wants the parameter \"%.*s\", which %s does "
				   "not have: tenon params list prints the names there",
				   object->source, (int)launcher.size, launcher.data,
				   (int)name.size, name.data, v->w->request->params);
	return tenon_buffer_string(&v->lists, name);
}

static int add_launcher(struct wanted *v, const struct link_object *object,
			struct tenon_slice launcher, struct tenon_slice names)
{
	size_t at;
	int err = 0;

	if (!v->constants)
		return tenon_error(-TENON_E_VALUE,
				   "%s: launcher %.*s wants parameters: give their file with "
				   "--params, without --graph, to which they would belong",
				   object->source, (int)launcher.size, launcher.data);
	v->count++;
	tenon_buffer_string(&v->launchers, launcher);
	tenon_buffer_u64(&v->lists, names.size / WANTED_NAME);
	for (at = 0; at + WANTED_NAME <= names.size && !err; at += WANTED_NAME)
		err = add_name(v, object, launcher, names.data + at);
	return err;
}

static int add_launchers(struct wanted *v, const struct link_object *object,
			 const struct elf_file *elf)
{
	const size_t prefix = strlen(WANTED_SYMBOL);
	struct tenon_slice launcher, names;
	struct elf_symbol symbol;
	uint64_t i;
	int err = 0;

	for (i = 0; i < elf->symbols.count && !err; i++) {
		elf_symbol(elf, i, &symbol);
		if (!symbol.defined || symbol.section >= ELF_SECTION_RESERVED ||
		    !slice_starts(symbol.name, WANTED_SYMBOL))
			continue;
		launcher.data = symbol.name.data + prefix;
		launcher.size = symbol.name.size - prefix;
		err = elf_symbol_bytes(elf, &symbol, &names);
		if (!err)
			err = add_launcher(v, object, launcher, names);
	}
	return err;
}

static int add_object(struct wanted *v, const struct link_object *object)
{
	struct link_object_file file = { 0 };
	int err;

	err = link_object_open(object, &file);
	if (!err && file.bytes.data)
		err = add_launchers(v, object, &file.elf);
	file_map_close(&file.bytes);
	return err;
}

/* The payload ends with a list of launchers, and of the names that each wants. */
static int put_wanted(struct wanted *v)
{
	struct tenon_buffer *out = &v->constants->content;
	int err;

	err = v->launchers.status ? v->launchers.status : v->lists.status;
	if (err)
		return tenon_error(-TENON_E_NOMEM, "no memory for the names of parameters");
	out->size -= LINK_CONSTANTS_END;
	tenon_buffer_u64(out, v->count);
	tenon_buffer_append(out, v->launchers.data, v->launchers.size);
	tenon_buffer_u64(out, v->count);
	return tenon_buffer_append(out, v->lists.data, v->lists.size);
}

int link_wanted(struct link_work *w)
{
	struct wanted v = { .w = w };
	size_t i;
	int err = 0;

	for (i = 0; i < w->set.count; i++)
		if (!artifact_is_native(&w->set.items[i]) &&
		    link_input_of(w, &w->set.items[i])->is_constants)
			v.constants = &w->set.items[i];
	for (i = 0; i < w->object_count && !err; i++)
		err = add_object(&v, &w->objects[i]);
	if (!err && v.count)
		err = put_wanted(&v);
	tenon_buffer_fini(&v.launchers);
	tenon_buffer_fini(&v.lists);
	return err;
}
