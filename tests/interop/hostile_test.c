/* SPDX-License-Identifier: MIT */
/*
 * An embedding program opens a thousand broken and hostile files from eight threads of one process, and runs a
 * model right afterwards. Each is a stored file that was cut off or changed. The native code of a library that
 * is loaded stays as it is, since a program that loads a library runs its code: what changes is its import tree.
 */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/elf.h"
#include "lib/file_map.h"

#define THREADS 8
#define FILES	1000

/* ---- ways to open a file */

static int load_model(const char *path)
{
	struct tenon_model *model;
	struct tenon_module *m;
	int err;

	err = tenon_module_load(path, &m);
	if (err)
		return err;
	err = tenon_model_open(m, NULL, &model);
	if (!err)
		tenon_model_close(model);
	tenon_object_unref(m);
	return err;
}

static int load(const char *path)
{
	struct tenon_module *m;
	int err;

	err = tenon_module_load(path, &m);
	if (!err)
		tenon_object_unref(m);
	return err;
}

static int inspect(const char *path)
{
	struct tenon_module *m;
	int err;

	err = tenon_module_inspect(path, &m);
	if (!err)
		tenon_object_unref(m);
	return err;
}

static int read_params(const char *path)
{
	struct tenon_tensor *tensor;
	struct tenon_params *p;
	size_t i;
	int err;

	err = tenon_params_open(path, &p);
	if (err)
		return err;
	for (i = 0; i < tenon_params_count(p) && !err; i++) {
		err = tenon_params_tensor(p, tenon_params_at(p, i), 64, &tensor);
		if (!err)
			tenon_object_unref(tensor);
	}
	tenon_object_unref(p);
	return err;
}

static struct tenon_module *graph_library;

static int open_graph(const char *path)
{
	struct tenon_model *model;
	struct tenon_slice text;
	int err;

	err = file_map_open(path, &text);
	if (err)
		return err;
	err = tenon_model_open_graph(graph_library, text, NULL, NULL, &model);
	if (!err)
		tenon_model_close(model);
	file_map_close(&text);
	return err;
}

/* ---- the files */

#define CUT    1 /* cut the file off somewhere */
#define CHANGE 2 /* change a few bytes */

/* @part: what of it may be changed: the whole file, or the import tree of a library that is loaded */
static struct original {
	const char *file;
	int (*open)(const char *path);
	int harm;
	struct tenon_slice bytes;
	struct tenon_slice part;
	int refused;
} originals[] = {
	{ .file = "tvm-0.18/graph_mlp/graph.so", .open = load_model, .harm = CUT | CHANGE },
	{ .file = "tvm-0.27.0.post1/model_mlp/model.so", .open = load_model, .harm = CUT | CHANGE },
	{ .file = "tvm-0.18/relax_mlp/vm.so", .open = load_model, .harm = CUT | CHANGE },
	{ .file = "tvm-0.18/opencl_vecadd/lib.so", .open = load, .harm = CUT | CHANGE },
	{ .file = "tvm-0.18/opencl_vecadd/lib.so", .open = inspect, .harm = CUT | CHANGE },
	{ .file = "tvm-0.27.0.post1/model_mlp/model.so", .open = inspect, .harm = CUT | CHANGE },
	{ .file = "tvm-0.18/params_file/all.params", .open = read_params, .harm = CUT | CHANGE },
	{ .file = "tvm-0.18/graph_mlp/graph.json", .open = open_graph, .harm = CUT | CHANGE },
	/* built for these tests: their constructors call what no library defines, or the runtime */
	{ .file = "unknown_at_start.so", .open = load },
	{ .file = "plain_unknown.so", .open = load },
	{ .file = "unknown_at_start.so", .open = load, .harm = CUT },
};

#define ORIGINALS (sizeof(originals) / sizeof(originals[0]))

/*
 * ThreadSanitizer reads the libraries that are loaded when it reports something, and a file that was cut off ends
 * it there. It sees neither the locks nor the mappings of the dynamic linker, so there is often something.
 */
static bool is_left_out(const struct original *o)
{
#ifdef __SANITIZE_THREAD__
	return o->open == load || o->open == load_model;
#else
	(void)o;
	return false;
#endif
}

static bool is_tree(struct tenon_slice name)
{
	return tenon_slice_equal(name, tenon_slice_of("__tvm_ffi__library_bin")) ||
	       tenon_slice_equal(name, tenon_slice_of("__tvm_ffi_library_bin")) ||
	       tenon_slice_equal(name, tenon_slice_of("__tvm_dev_mblob"));
}

static void find_tree(struct original *o)
{
	struct elf_symbol symbol;
	struct elf_file elf;
	uint64_t i;

	fixture_ok(elf_open(&elf, o->bytes, o->file), o->file);
	for (i = 0; i < elf.symbols.count; i++) {
		elf_symbol(&elf, i, &symbol);
		if (is_tree(symbol.name))
			fixture_ok(elf_symbol_bytes(&elf, &symbol, &o->part), o->file);
	}
	assert_non_null(o->part.data);
}

static void read_original(struct original *o)
{
	const char *path =
		strchr(o->file, '/') ? fixture_path(o->file) : fixture_module_path(o->file);

	fixture_ok(file_map_open(path, &o->bytes), path);
	o->part = o->bytes;
	if ((o->harm & CHANGE) && (o->open == load || o->open == load_model)) {
		o->part = (struct tenon_slice){ NULL, 0 };
		find_tree(o);
	}
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* numbers that formats count and measure with */
static void change(char *bytes, struct tenon_slice part, size_t offset, uint64_t *state)
{
	static const uint64_t odd[] = { 0,	    1,		255,	    1u << 31,
					UINT32_MAX, 1ull << 40, 1ull << 62, ~0ull };
	size_t at = offset + next(state) % part.size, n;

	if (next(state) & 1) {
		bytes[at] = (char)next(state);
		return;
	}
	n = part.size - (at - offset) < 8 ? part.size - (at - offset) : 8;
	memcpy(bytes + at, &odd[next(state) % 8], n);
}

static void write_harmed(const struct original *o, const char *path, uint64_t state)
{
	size_t size = o->bytes.size, changes = 0;
	char *bytes = malloc(size);
	int fd, mode = o->harm;

	memcpy(bytes, o->bytes.data, size);
	if (mode == (CUT | CHANGE))
		mode = next(&state) % 4 ? CHANGE : CUT;
	if (mode == CUT)
		size = next(&state) % size;
	if (mode == CHANGE)
		changes = 1 + next(&state) % 4;
	while (changes--)
		change(bytes, o->part, (size_t)(o->part.data - o->bytes.data), &state);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	free(bytes);
}

/* ---- the threads */

static int next_file;

static void open_one(int number)
{
	struct original *o = &originals[(size_t)number % ORIGINALS];
	const char *folder = getenv("TMPDIR");
	char path[512];

	if (is_left_out(o))
		return;
	/* the extension of the original chooses the loader */
	snprintf(path, sizeof(path), "%s/hostile-%d-%d%s", folder ? folder : "/tmp", (int)getpid(),
		 number, strrchr(o->file, '.'));
	write_harmed(o, path, 88172645463325252u + (uint64_t)number * 2654435761u);
	if (o->open(path)) {
		if (!*tenon_error_message())
			abort();
		tenon_error_clear();
		__atomic_fetch_add(&o->refused, 1, __ATOMIC_RELAXED);
	}
	unlink(path);
}

static void *open_files(void *unused)
{
	int number;

	(void)unused;
	while ((number = __atomic_fetch_add(&next_file, 1, __ATOMIC_RELAXED)) < FILES)
		open_one(number);
	return NULL;
}

static void runs_a_model(void)
{
	struct tenon_tensor *in, *want;
	struct tenon_value value;
	struct tenon_model *model;
	struct tenon_module *m;

	m = fixture_load("tvm-0.18/graph_mlp/graph.so");
	fixture_ok(tenon_model_open(m, NULL, &model), "model");
	in = fixture_tensor("tvm-0.18/graph_mlp/in_x.npy");
	want = fixture_tensor("tvm-0.18/graph_mlp/out0.npy");
	value = tenon_arg_tensor(&in->dl);
	fixture_ok(tenon_model_set_input(model, 0, &value), "input");
	fixture_ok(tenon_model_run(model), "run");
	fixture_ok(tenon_model_output_value(model, 0, &value), "output");
	fixture_near((struct tenon_tensor *)value.as.object, want);
	tenon_value_release(&value);
	tenon_object_unref(want);
	tenon_object_unref(in);
	tenon_model_close(model);
	tenon_object_unref(m);
}

static void a_program_opens_a_thousand_hostile_files_and_runs_a_model(void **state)
{
	pthread_t threads[THREADS];
	size_t i;

	(void)state;
	graph_library = fixture_load("tvm-0.18/graph_mlp/lib.so");
	for (i = 0; i < ORIGINALS; i++)
		read_original(&originals[i]);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_files, NULL), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < ORIGINALS; i++) {
		print_message("# %s: %d refused\n", originals[i].file, originals[i].refused);
		/* a quarter is cut off, and the two that nothing was done to are refused as they are */
		if (!is_left_out(&originals[i]))
			assert_in_range(originals[i].refused, FILES / ORIGINALS / 8, FILES);
		file_map_close(&originals[i].bytes);
	}
	runs_a_model();
	tenon_object_unref(graph_library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_opens_a_thousand_hostile_files_and_runs_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
