/* SPDX-License-Identifier: MIT */
/*
 * pack TREE LIBRARY.so GRAPH.json FILE.params KERNELS.mortise…
 *
 * Write the import tree of a model: a graph with its parameters, which imports the library with its operators, which
 * imports device code. Compiled into the library once more (launcher.h, IMPORTS), the tree makes the library the whole
 * model in one file.
 */
#include <stdio.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>
#include <tenon/tenon.h>

static int read_file(const char *path, struct tenon_buffer *out)
{
	FILE *f = fopen(path, "rb");
	char bytes[4096];
	size_t n;
	int err;

	if (!f)
		return tenon_error(-TENON_E_IO, "%s cannot be opened", path);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		tenon_buffer_append(out, bytes, n);
	err = ferror(f) ? tenon_error(-TENON_E_IO, "%s cannot be read", path) : out->status;
	fclose(f);
	return err;
}

static int write_file(const char *path, const struct tenon_buffer *bytes)
{
	FILE *f = fopen(path, "wb");
	int err = 0;

	if (!f)
		return tenon_error(-TENON_E_IO, "%s cannot be created", path);
	if (fwrite(bytes->data, 1, bytes->size, f) != bytes->size)
		err = tenon_error(-TENON_E_IO, "%s cannot be written", path);
	if (fclose(f) && !err)
		err = tenon_error(-TENON_E_IO, "%s cannot be written", path);
	return err;
}

/*
 * A file of parameters is a magic number, a reserved number, a count, names, the count again, tensors; the payload of a
 * model has the count twice in front.
 */
static int put_params(const char *path, const struct tenon_buffer *file, struct tenon_buffer *out)
{
	struct tenon_cursor c = tenon_cursor_of(file->data, file->size, path, 0), names;
	struct tenon_slice name;
	uint64_t i, count = 0;
	int err;

	err = tenon_cursor_skip(&c, 16);
	if (!err)
		err = tenon_cursor_count(&c, 8, &count);
	names = c;
	for (i = 0; i < count && !err; i++)
		err = tenon_cursor_string(&c, &name);
	if (err)
		return err;
	tenon_buffer_u64(out, count);
	tenon_buffer_u64(out, count);
	tenon_buffer_append(out, names.at, (size_t)(c.at - names.at));
	err = tenon_cursor_skip(&c, 8);
	return err ? err : tenon_buffer_append(out, c.at, tenon_cursor_left(&c));
}

/* A payload of the kind GraphExecutorFactory: the graph, its parameters, the model's name. */
static int make_factory(const char *graph, const char *params, struct tenon_module **out)
{
	struct tenon_buffer json = TENON_BUFFER_INIT, tensors = TENON_BUFFER_INIT;
	struct tenon_buffer payload = TENON_BUFFER_INIT;
	int err;

	err = read_file(graph, &json);
	if (!err)
		err = read_file(params, &tensors);
	if (!err)
		err = tenon_buffer_string(&payload, (struct tenon_slice){ json.data, json.size });
	if (!err)
		err = put_params(params, &tensors, &payload);
	if (!err)
		err = tenon_buffer_string(&payload, tenon_slice_of("default"));
	if (!err)
		err = tenon_module_load_bytes("GraphExecutorFactory",
					      (struct tenon_slice){ payload.data, payload.size },
					      out);
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&tensors);
	tenon_buffer_fini(&json);
	return err;
}

static int import_file(struct tenon_module *into, const char *path)
{
	struct tenon_module *m;
	int err = tenon_module_load(path, &m);

	if (err)
		return err;
	err = tenon_module_import(into, m);
	tenon_object_unref(m);
	return err;
}

static int pack(int count, char **files)
{
	struct tenon_module *library = NULL, *root = NULL;
	struct tenon_buffer tree = TENON_BUFFER_INIT;
	int i, err = tenon_module_load(files[1], &library);

	for (i = 4; i < count && !err; i++)
		err = import_file(library, files[i]);
	if (!err)
		err = make_factory(files[2], files[3], &root);
	if (!err)
		err = tenon_module_import(root, library);
	if (!err)
		err = tenon_module_write_blob(root, TENON_GENERATION_FFI, &tree);
	if (!err)
		err = write_file(files[0], &tree);
	tenon_buffer_fini(&tree);
	tenon_object_unref(root);
	tenon_object_unref(library);
	return err;
}

int main(int argc, char **argv)
{
	if (argc < 6) {
		fprintf(stderr,
			"Usage: pack TREE LIBRARY.so GRAPH.json FILE.params KERNELS.mortise…\n");
		return 2;
	}
	if (pack(argc - 1, argv + 1)) {
		fprintf(stderr, "pack: %s\n", tenon_error_message());
		return 1;
	}
	return 0;
}
