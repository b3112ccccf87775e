/* SPDX-License-Identifier: MIT */
/* tenon/link.h: what functions give as data, what they refuse, and structs of other sizes. No compiler is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/link.h>
#include <unistd.h>

#include "lib/file_map.h"
#include "tests/unit/suite.h"

#define DATA "tests/interop/data/tvm-0.18/opencl_multi/lib.so"

static char folder[] = "/tmp/tenon-link-library-XXXXXX";

/* Path of a file in the folder of this suite; the last eight stay. */
static const char *in_folder(const char *name)
{
	static char paths[8][128];
	static int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* Write the first bytes of a file to another one; all of them for SIZE_MAX. */
static void copy(const char *from, const char *to, size_t most)
{
	struct tenon_slice bytes, part;

	assert_int_equal(file_map_open(from, &bytes), 0);
	part = (struct tenon_slice){ bytes.data, bytes.size < most ? bytes.size : most };
	assert_int_equal(file_write(to, &part, 1), 0);
	file_map_close(&bytes);
}

static void assert_same(const char *a, const char *b)
{
	struct tenon_slice x, y;

	assert_int_equal(file_map_open(a, &x), 0);
	assert_int_equal(file_map_open(b, &y), 0);
	assert_int_equal(x.size, y.size);
	assert_memory_equal(x.data, y.data, x.size);
	file_map_close(&x);
	file_map_close(&y);
}

/* ---- linking */

static int link_with(struct tenon_link_options *o, const struct tenon_link_file *files,
		     size_t count)
{
	o->files = files;
	o->file_count = count;
	return tenon_link(o, in_folder("refused.so"));
}

static void files_that_cannot_be_linked_are_a_usage_error(void **state)
{
	static const struct tenon_link_file files[] = {
		{ NULL, NULL, NULL },	    { "", NULL, NULL },	    { "x.cl", NULL, NULL },
		{ "x.c", "", NULL },	    { "x.c", NULL, "key" }, { "x.json", "opencl", "" },
		{ "manifest", NULL, NULL },
	};
	struct tenon_link_options o;
	size_t i;

	(void)state;
	tenon_link_options_init(&o, sizeof(o));
	assert_int_equal(link_with(&o, files, 0), -TENON_E_USAGE);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_int_equal(link_with(&o, &files[i], 1), -TENON_E_USAGE);
	o.files = &(struct tenon_link_file){ .path = "x.c" };
	assert_int_equal(tenon_link(&o, NULL), -TENON_E_USAGE);
	assert_int_equal(access(in_folder("refused.so"), F_OK), -1);
}

static void options_that_exclude_each_other_are_refused(void **state)
{
	const struct tenon_link_file source = { .path = "x.c" }, manifest = { .path = "x.json" };
	struct tenon_link_options o;

	(void)state;
	tenon_link_options_init(&o, sizeof(o));
	o.prefix = "p_";
	assert_int_equal(link_with(&o, &source, 1), -TENON_E_USAGE);
	o.form = TENON_LINK_SYSTEM_LIB;
	o.prefix = "no\"pe";
	assert_int_equal(link_with(&o, &source, 1), -TENON_E_USAGE);
	tenon_link_options_init(&o, sizeof(o));
	o.model = "../x";
	assert_int_equal(link_with(&o, &source, 1), -TENON_E_USAGE);
	tenon_link_options_init(&o, sizeof(o));
	o.allow_weak = true;
	assert_int_equal(link_with(&o, &manifest, 1), -TENON_E_USAGE);
	tenon_link_options_init(&o, sizeof(o));
	o.targets = &(struct tenon_target){ "key", NULL };
	o.target_count = 1;
	assert_int_equal(link_with(&o, &source, 1), -TENON_E_USAGE);
}

static void members_behind_a_smaller_struct_are_not_read(void **state)
{
	const struct tenon_link_file manifest = { .path = in_folder("missing.json") };
	struct tenon_link_options o;

	(void)state;
	memset(&o, 0xff, sizeof(o));
	tenon_link_options_init(&o, offsetof(struct tenon_link_options, targets));
	assert_ptr_equal(o.files, NULL);
	assert_int_equal(o.file_count, 0);
	assert_ptr_not_equal(o.context, NULL);
	assert_int_equal(link_with(&o, &manifest, 1), -TENON_E_IO);
	assert_error_has("missing.json");
}

/* ---- taking apart and putting together */

static void count_step(void *context, const char *step)
{
	assert_true(*step);
	++*(int *)context;
}

static void a_module_is_taken_apart_and_linked_to_the_same_bytes(void **state)
{
	const struct tenon_link_unpacked *u;
	struct tenon_link_options o;
	struct tenon_link_file file;
	int steps = 0;

	(void)state;
	assert_int_equal(tenon_link_unpack(DATA, in_folder("parts"), &u), 0);
	assert_int_equal(u->size, sizeof(*u));
	assert_string_equal(u->machine, "x86-64");
	assert_true(u->same);
	assert_int_equal(u->part_count, 2);
	assert_slice(u->parts[0]->kind, "native");
	assert_string_equal(u->parts[0]->file, u->host);
	assert_slice(u->parts[1]->kind, "opencl");
	assert_int_equal(u->parts[1]->module, 1);
	assert_true(*u->parts[1]->file && *u->parts[1]->table && u->parts[1]->bytes);
	file = (struct tenon_link_file){ .path = in_folder("parts/manifest.json") };
	assert_string_equal(u->manifest, "manifest.json");
	tenon_link_unpacked_free(u);

	tenon_link_options_init(&o, sizeof(o));
	o.files = &file;
	o.file_count = 1;
	o.progress = count_step;
	o.context = &steps;
	assert_int_equal(tenon_link(&o, in_folder("again.so")), 0);
	assert_int_equal(steps, 1);
	assert_same(DATA, in_folder("again.so"));
}

static void an_input_is_no_output(void **state)
{
	const struct tenon_link_unpacked *u;
	const char *host = in_folder("host.so");
	struct tenon_link_file file = { .path = in_folder("parts/manifest.json") };
	struct tenon_link_options o;

	(void)state;
	copy(DATA, host, SIZE_MAX);
	assert_int_equal(tenon_link_unpack(host, folder, &u), -TENON_E_VALUE);
	assert_ptr_equal(u, NULL);
	assert_same(DATA, host);
	tenon_link_options_init(&o, sizeof(o));
	o.files = &file;
	o.file_count = 1;
	assert_int_equal(tenon_link(&o, file.path), -TENON_E_VALUE);
	assert_int_equal(tenon_link(&o, in_folder("parts/host.so")), -TENON_E_VALUE);
}

static void a_file_that_is_missing_leaves_no_folder(void **state)
{
	const struct tenon_link_unpacked *u;

	(void)state;
	assert_int_equal(tenon_link_unpack("/nowhere.so", in_folder("none"), &u), -TENON_E_IO);
	assert_ptr_equal(u, NULL);
	assert_int_equal(access(in_folder("none"), F_OK), -1);
	tenon_link_unpacked_free(NULL);
}

/* ---- checking */

static void a_file_in_order_has_a_report_without_faults(void **state)
{
	const struct tenon_link_report *r;

	(void)state;
	assert_int_equal(tenon_link_verify(DATA, NULL, &r), 0);
	assert_int_equal(r->size, sizeof(*r));
	assert_int_equal(r->faults, 0);
	assert_true(r->readable);
	assert_string_equal(r->machine, "x86-64");
	assert_true(*r->tvm);
	assert_int_equal(r->modules, 2);
	tenon_link_report_free(r);
	tenon_link_report_free(NULL);
}

static void what_is_wrong_is_a_finding_and_no_error(void **state)
{
	const struct tenon_link_report *r;

	(void)state;
	copy("README.md", in_folder("text.so"), SIZE_MAX);
	assert_int_equal(tenon_link_verify(in_folder("text.so"), NULL, &r), 0);
	assert_false(r->readable);
	assert_int_equal(r->faults, 1);
	assert_int_equal(r->finding_count, 1);
	assert_true(r->findings[0]->fault);
	assert_true(r->findings[0]->module == SIZE_MAX);
	assert_true(*r->findings[0]->text);
	tenon_link_report_free(r);
	/* the section headers are at the end of the file */
	copy(DATA, in_folder("cut.so"), 43000);
	assert_int_equal(tenon_link_verify(in_folder("cut.so"), NULL, &r), 0);
	assert_true(r->faults > 0);
	tenon_link_report_free(r);
}

static void a_signature_needs_a_key_that_can_be_read(void **state)
{
	const struct tenon_link_verify_options o = { sizeof(o), "/nowhere.pem", NULL };
	struct tenon_buffer signature = TENON_BUFFER_INIT;
	const struct tenon_link_report *r;

	(void)state;
	assert_true(tenon_link_verify(DATA, &o, &r) < 0);
	assert_ptr_equal(r, NULL);
	assert_true(tenon_link_sign(DATA, "/nowhere.pem", &signature) < 0);
	assert_int_equal(signature.size, 0);
	tenon_buffer_fini(&signature);
}

/* ---- describing */

static void a_file_is_described_with_a_parent_before_its_imports(void **state)
{
	const struct tenon_link_inspection *n;
	const struct tenon_link_module *m;

	(void)state;
	assert_int_equal(tenon_link_inspect(DATA, &n), 0);
	assert_int_equal(n->size, sizeof(*n));
	assert_int_equal(n->file_size, 43272);
	assert_int_equal(n->module_count, 2);
	assert_ptr_equal(n->library, n->modules[0]);
	assert_ptr_equal(n->root, n->modules[0]->module);
	m = n->modules[1];
	assert_slice(m->kind, "opencl");
	assert_int_equal(m->parent, 0);
	assert_int_equal(m->depth, 1);
	assert_true(m->last);
	assert_int_equal(m->number, 1);
	assert_string_equal(m->format, "cl");
	assert_true(m->function_count > 0 && m->functions->size == m->function_count);
	assert_int_equal(m->launch->size, m->function_count);
	assert_true(m->payload_size > 0 && m->payload_offset > 0);
	assert_int_equal(m->nodes, -1);
	assert_string_equal(m->sha256, "");
	assert_string_equal(m->file_name, "");
	tenon_link_inspection_free(n);
	tenon_link_inspection_free(NULL);
	assert_int_equal(tenon_link_inspect("/nowhere.so", &n), -TENON_E_IO);
	assert_ptr_equal(n, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_cannot_be_linked_are_a_usage_error),
		cmocka_unit_test(options_that_exclude_each_other_are_refused),
		cmocka_unit_test(members_behind_a_smaller_struct_are_not_read),
		cmocka_unit_test(a_module_is_taken_apart_and_linked_to_the_same_bytes),
		cmocka_unit_test(an_input_is_no_output),
		cmocka_unit_test(a_file_that_is_missing_leaves_no_folder),
		cmocka_unit_test(a_file_in_order_has_a_report_without_faults),
		cmocka_unit_test(what_is_wrong_is_a_finding_and_no_error),
		cmocka_unit_test(a_signature_needs_a_key_that_can_be_read),
		cmocka_unit_test(a_file_is_described_with_a_parent_before_its_imports),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
