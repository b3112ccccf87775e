/* SPDX-License-Identifier: MIT */
/*
 * A complete kind of module: construction, functions, saving, and reading and writing of files. To
 * add your own kind, copy these files, rename "example", and either call example_json_register() when
 * your program starts, or build a plug-in (plugin.c).
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>
#include <tenon/visit.h>
#include <unistd.h>

#include "example_json.h"
#include "example_json_graph.h"

#define KIND "examplejson"

/* Largest file that is read: a text of this format has a few lines. */
#define FILE_MOST (64u << 20)

/* Every module begins with struct tenon_module, followed by the kind's own fields. */
struct example_module {
	struct tenon_module base;
	struct example_text text;
};

/* A function holds a reference to its module, which owns the graph. */
struct example_function {
	struct example_module *module;
	const struct example_graph *graph;
};

static struct example_module *example_of(const struct tenon_module *m)
{
	return (struct example_module *)(uintptr_t)m;
}

static int example_call(void *self, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret)
{
	const struct example_function *f = self;

	return example_graph_run(&f->module->text, f->graph, args, count, ret);
}

static void example_release(void *self)
{
	struct example_function *f = self;

	tenon_object_unref(f->module);
	free(f);
}

static int make_function(struct example_module *m, const struct example_graph *g,
			 struct tenon_function **out)
{
	struct example_function *f;
	int err;

	f = malloc(sizeof(*f));
	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	f->module = m;
	f->graph = g;
	err = tenon_function_create(f, example_call, example_release, out);
	if (err)
		free(f);
	else
		tenon_object_ref(m);
	return err;
}

/* An unknown name is not an error: another module of the tree may have it. */
static int example_get_function(struct tenon_module *base, struct tenon_slice name,
				struct tenon_function **out)
{
	struct example_module *m = example_of(base);
	size_t i;

	*out = NULL;
	for (i = 0; i < m->text.graph_count; i++)
		if (tenon_slice_equal(m->text.graphs[i].name, name))
			return make_function(m, &m->text.graphs[i], out);
	return 0;
}

static int example_each_function(struct tenon_module *base,
				 int (*visit)(void *context, struct tenon_slice name),
				 void *context)
{
	const struct example_module *m = example_of(base);
	size_t i;
	int err = 0;

	for (i = 0; i < m->text.graph_count && !err; i++)
		err = visit(context, m->text.graphs[i].name);
	return err;
}

static struct tenon_slice text_of(const struct example_module *m)
{
	return (struct tenon_slice){ m->text.text, m->text.size };
}

/* The output must be readable by example_load(). */
static int example_save(struct tenon_module *base, struct tenon_buffer *out)
{
	return tenon_buffer_string(out, text_of(example_of(base)));
}

static int check_format(const char *format)
{
	if (!format || !*format || !strcmp(format, KIND))
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED, "no format \"%s\": the only one is \"" KIND "\"",
			   format);
}

/* Write to a temporary file and rename it, so that readers never see a partial file. */
static int example_write_file(struct tenon_module *base, const char *path, const char *format)
{
	struct tenon_slice text = text_of(example_of(base));
	struct tenon_buffer name = TENON_BUFFER_INIT;
	FILE *file = NULL;
	int err;

	err = check_format(format);
	if (!err)
		err = tenon_buffer_printf(&name, "%s.%ld.new", path, (long)getpid());
	if (err)
		goto fini;
	file = fopen(name.data, "we");
	if (!file || fwrite(text.data, 1, text.size, file) != text.size || fflush(file) ||
	    fsync(fileno(file)) || rename(name.data, path)) {
		err = tenon_error(-TENON_E_IO, "%s: cannot be written: %s", path, strerror(errno));
		if (file)
			remove(name.data);
	}
	if (file)
		fclose(file);
fini:
	tenon_buffer_fini(&name);
	return err;
}

static int example_source(struct tenon_module *base, const char *format, struct tenon_value *out)
{
	int err = check_format(format);

	return err ? err : tenon_string_value(text_of(example_of(base)), out);
}

/* Report the fields that inspection shows besides kind and imports. */
static int example_visit(const struct tenon_module *base, const struct tenon_visitor *v)
{
	const struct example_module *m = example_of(base);
	struct tenon_value value = tenon_arg_int((int64_t)m->text.node_count), *names;
	struct tenon_array *array = NULL;
	size_t i;
	int err;

	err = v->field(v->context, "nodes", &value);
	if (err)
		return err;
	names = calloc(m->text.graph_count, sizeof(*names));
	if (!names)
		return tenon_error(-TENON_E_NOMEM, "no memory for names");
	for (i = 0; i < m->text.graph_count && !err; i++)
		err = tenon_string_value(m->text.graphs[i].name, &names[i]);
	if (!err)
		err = tenon_array_create(names, m->text.graph_count, &array);
	for (i = 0; i < m->text.graph_count; i++)
		tenon_value_release(&names[i]);
	free(names);
	if (err)
		return err;
	value = tenon_arg_object(array);
	err = v->field(v->context, "functions", &value);
	tenon_value_release(&value);
	return err;
}

static void example_destroy(struct tenon_module *base)
{
	example_text_fini(&example_of(base)->text);
}

/* No free slot: the module is one malloc() block. */
static const struct tenon_module_ops example_ops = {
	.get_function = example_get_function,
	.each_function = example_each_function,
	.save = example_save,
	.write_file = example_write_file,
	.source = example_source,
	.visit = example_visit,
	.destroy = example_destroy,
};

static int example_create(struct tenon_slice text, struct tenon_module **out)
{
	struct example_module *m;
	int err;

	*out = NULL;
	m = malloc(sizeof(*m));
	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a module");
	tenon_module_init(&m->base, &example_ops, tenon_slice_of(KIND),
			  TENON_MODULE_SERIALIZABLE | TENON_MODULE_RUNNABLE);
	err = example_text_parse(&m->text, text);
	if (err) {
		tenon_object_unref(m);
		return err;
	}
	*out = &m->base;
	return 0;
}

/*
 * The text is small, so it is copied. A kind with large payloads would keep the slice and a
 * reference to payload->keep, which holds the file mapping.
 */
static int example_load(struct tenon_cursor *c, const struct tenon_payload *payload,
			struct tenon_module **out)
{
	struct tenon_slice text;
	int err;

	(void)payload;
	*out = NULL;
	err = tenon_cursor_string(c, &text);
	return err ? err : example_create(text, out);
}

const struct tenon_module_loader example_json_loader = { KIND, example_load };

static int read_file(const char *path, struct tenon_buffer *out)
{
	char part[4096];
	size_t n;
	FILE *file;
	int err = 0;

	file = fopen(path, "re");
	if (!file)
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	while (!err && (n = fread(part, 1, sizeof(part), file))) {
		err = tenon_buffer_append(out, part, n);
		if (!err && out->size > FILE_MOST)
			err = tenon_error(-TENON_E_FORMAT, "%s: larger than 64 MiB", path);
	}
	if (!err && ferror(file))
		err = tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	fclose(file);
	return err;
}

/* `ffi.Module.load_from_file.examplejson`: takes the path, and an extension, which is ignored. */
static int load_file(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_buffer path = TENON_BUFFER_INIT, text = TENON_BUFFER_INIT;
	struct tenon_slice name, bytes;
	struct tenon_module *m;
	int err;

	(void)self;
	if (count < 1)
		return tenon_error(-TENON_E_TYPE, "want the path of a file");
	err = tenon_value_text(&args[0], &name);
	/* Copy the path: bytes need not end in NUL. */
	if (!err)
		err = tenon_buffer_slice(&path, name);
	if (!err)
		err = read_file(path.data, &text);
	if (!err) {
		bytes = (struct tenon_slice){ text.data, text.size };
		err = example_create(bytes, &m);
		if (err)
			tenon_error_in(err, "%s", path.data);
	}
	if (!err)
		*ret = tenon_arg_object(m);
	tenon_buffer_fini(&path);
	tenon_buffer_fini(&text);
	return err;
}

int example_json_register(void)
{
	int err = tenon_module_loader_register(&example_json_loader);

	return err ? err
		   : tenon_function_register_c("ffi.Module.load_from_file." KIND, load_file, true);
}
