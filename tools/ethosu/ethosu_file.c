/* SPDX-License-Identifier: MIT */
/* Open a file, choose a network in it, and find its stream. */
#include "tools/ethosu/ethosu_file.h"

#include <string.h>

#include "lib/file_map.h"
#include "tools/ethosu/ethosu_tflite.h"

/* bytes at the start of a file that tell what it is */
#define MAGIC_MOST TFLITE_MAGIC

static bool has_suffix(const char *path, const char *suffix)
{
	const size_t length = strlen(path), want = strlen(suffix);

	return length > want && !strcmp(path + length - want, suffix);
}

bool ethosu_file_is(const char *path)
{
	struct tenon_slice head;
	bool is;

	if (file_map_head(path, MAGIC_MOST, &head)) {
		/* the command that reads the file says why it cannot be read */
		tenon_error_clear();
		return false;
	}
	is = ethosu_payload_is(head) || tflite_is(head) ||
	     (ethosu_container_is(head) && has_suffix(path, ".npz"));
	file_map_close(&head);
	return is;
}

int ethosu_file_open(const char *path, struct ethosu_file *out)
{
	struct tenon_cursor c;
	int err;

	memset(out, 0, sizeof(*out));
	out->path = path;
	err = file_map_open(path, &out->bytes);
	if (err)
		return err;
	c = tenon_cursor_of(out->bytes.data, out->bytes.size, path, 0);
	out->is_model = tflite_is(out->bytes);
	return out->is_model ? tflite_read(&c, &out->model)
			     : ethosu_container_read(&c, &out->contents);
}

void ethosu_file_fini(struct ethosu_file *f)
{
	file_map_close(&f->bytes);
}

uint32_t ethosu_file_graphs(const struct ethosu_file *f)
{
	return f->is_model ? f->model.graphs.count : 1;
}

int ethosu_file_graph(struct ethosu_file *f, uint32_t graph)
{
	const struct tflite_model model = f->model;

	return f->is_model && graph != model.graph ? tflite_graph(&model, graph, &f->model) : 0;
}

uint32_t ethosu_file_count(const struct ethosu_file *f)
{
	return f->is_model ? f->model.operators.count : 1;
}

bool ethosu_file_has(const struct ethosu_file *f, uint32_t index)
{
	struct tflite_operator op;

	return !f->is_model || (!tflite_operator(&f->model, index, &op) && ethosu_tflite_is(&op));
}

int ethosu_file_choose(struct ethosu_file *f, uint32_t index)
{
	return f->is_model ? ethosu_tflite_read(&f->model, index, &f->contents) : 0;
}

struct tenon_cursor ethosu_file_stream(const struct ethosu_file *f)
{
	const struct ethosu_payload *p = &f->contents.payload;

	return tenon_cursor_of(p->stream.data, p->stream.size, f->path, p->stream_at);
}

int ethosu_file_check(const struct ethosu_file *f, struct ethosu_extents *out)
{
	return ethosu_container_check(&f->contents, f->path, out);
}

const char *ethosu_region_role(const struct ethosu_file *f, unsigned int region)
{
	static const char *const roles[] = { "constants", "scratch", "fast scratch" };

	if (region < 3)
		return roles[region];
	if (f->contents.payload.local && region < 5)
		return region == 3 ? "inputs" : "outputs";
	return "";
}
