/* SPDX-License-Identifier: MIT */
/* Make payloads for graph executors and constants of files of a model. */
#include "link/module/link_graph.h"

#include <inttypes.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

#define PARAMS_MAGIC UINT64_C(0xf7e58d4f05049cb7)

/* A tensor takes a header, its shape and its data. */
#define TENSOR_LEAST 40

static int check_magic(struct tenon_cursor *c)
{
	uint64_t magic, reserved;
	int err;

	err = tenon_cursor_u64(c, &magic);
	if (!err)
		err = tenon_cursor_u64(c, &reserved);
	if (!err && magic != PARAMS_MAGIC)
		err = tenon_error(
			-TENON_E_FORMAT,
			"%s: not a file of parameters (.params); tenon params convert and "
			"from-npz make one of other files",
			c->name);
	return err;
}

/*
 * Read what precedes the tensors of a file of parameters: the list of names, and their number again.
 * The tensors are checked with the payload.
 */
static int take_names(struct tenon_cursor *c, struct tenon_cursor *names, uint64_t *count)
{
	struct tenon_slice name;
	uint64_t again, i;
	int err;

	err = check_magic(c);
	*names = *c;
	if (!err)
		err = tenon_cursor_count(c, 8, count);
	for (i = 0; !err && i < *count; i++)
		err = tenon_cursor_string(c, &name);
	names->end = c->at;
	if (!err)
		err = tenon_cursor_count(c, TENSOR_LEAST, &again);
	if (!err && again != *count)
		err = tenon_error(-TENON_E_FORMAT, "%s: %" PRIu64 " names for %" PRIu64 " tensors",
				  c->name, *count, again);
	return err;
}

/* Append parameters as factories have them: their number is in front. */
static int append_params(struct tenon_cursor *c, struct tenon_buffer *out)
{
	struct tenon_cursor names;
	uint64_t count;
	int err;

	err = take_names(c, &names, &count);
	if (err)
		return err;
	tenon_buffer_u64(out, count);
	tenon_buffer_append(out, names.at, tenon_cursor_left(&names));
	return tenon_buffer_append(out, c->at, tenon_cursor_left(c));
}

int link_constants_payload(struct tenon_slice params, const char *params_name,
			   struct tenon_buffer *out)
{
	struct tenon_cursor c = tenon_cursor_of(params.data, params.size, params_name, 0), names;
	uint64_t count;
	int err;

	err = take_names(&c, &names, &count);
	if (err)
		return err;
	tenon_buffer_append(out, names.at, tenon_cursor_left(&names));
	tenon_buffer_u64(out, count);
	tenon_buffer_append(out, c.at, tenon_cursor_left(&c));
	tenon_buffer_u64(out, 0);
	return tenon_buffer_u64(out, 0);
}

int link_aot_payload(struct tenon_slice params, const char *params_name, const char *name,
		     struct tenon_buffer *out)
{
	struct tenon_cursor c =
		tenon_cursor_of(params.data, params.size, params_name ? params_name : "", 0);
	int err = 0;

	if (params.size) {
		err = append_params(&c, out);
	} else {
		tenon_buffer_u64(out, 0);
		tenon_buffer_u64(out, 0);
	}
	return err ? err : tenon_buffer_string(out, tenon_slice_of(name));
}

int link_graph_payload(struct tenon_slice graph, struct tenon_slice params, const char *params_name,
		       const char *name, struct tenon_buffer *out)
{
	int err = tenon_buffer_string(out, graph);

	return err ? err : link_aot_payload(params, params_name, name, out);
}
