/* SPDX-License-Identifier: MIT */
/* Random import trees: numbered as TVM does, written, read and compared. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/cursor_fast.h"
#include "link/module/link_tree.h"
#include "runtime/blob/import_blob.h"

#define MOST 500

/* a generator that is the same everywhere */
static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % n;
}

/* a random tree: module 0 is the root, every other is imported by one or more before it */
struct plan {
	size_t count;
	size_t library; /* SIZE_MAX: none */
	size_t imports[MOST][8];
	size_t import_count[MOST];
	char payload[MOST][32];
};

static void add_edge(struct plan *p, size_t parent, size_t child)
{
	size_t i;

	for (i = 0; i < p->import_count[parent]; i++)
		if (p->imports[parent][i] == child)
			return;
	if (p->import_count[parent] < 8)
		p->imports[parent][p->import_count[parent]++] = child;
}

static void make_plan(struct plan *p)
{
	const bool shared = below(2);
	size_t i, parent;

	memset(p, 0, sizeof(*p));
	p->count = 1 + below(below(4) ? 20 : MOST);
	p->library = below(5) ? below((uint32_t)p->count) : SIZE_MAX;
	for (i = 1; i < p->count; i++) {
		do
			parent = below((uint32_t)i);
		while (p->import_count[parent] == 8);
		add_edge(p, parent, i);
		if (shared && !below(3))
			add_edge(p, below((uint32_t)i), i);
	}
	for (i = 0; i < p->count; i++)
		snprintf(p->payload[i], sizeof(p->payload[i]), "%zu%.*s", i, (int)below(6),
			 "abcdef");
}

/*
 * TVM's numbering in its own words: a stack, the last import first; what is below the library comes
 * behind it. Where that gives an import a smaller number than its importer, TVM refuses.
 */
struct numbering {
	uint64_t number[MOST];
	size_t count;
	bool seen[MOST];
	size_t stack[MOST];
	size_t depth;
};

static void visit(const struct plan *p, struct numbering *n, size_t module)
{
	size_t i, child;

	for (i = 0; i < p->import_count[module]; i++) {
		child = p->imports[module][i];
		if (n->seen[child])
			continue;
		n->seen[child] = true;
		n->stack[n->depth++] = child;
	}
}

static bool number_as_tvm(const struct plan *p, struct numbering *n)
{
	bool library = false;
	size_t module, i;

	memset(n, 0, sizeof(*n));
	n->seen[0] = true;
	n->stack[n->depth++] = 0;
	while (n->depth) {
		module = n->stack[--n->depth];
		if (module == p->library) {
			library = true;
			continue;
		}
		n->number[module] = n->count++;
		visit(p, n, module);
	}
	if (library) {
		n->number[p->library] = n->count++;
		n->stack[n->depth++] = p->library;
	}
	while (n->depth) {
		module = n->stack[--n->depth];
		if (module != p->library)
			n->number[module] = n->count++;
		visit(p, n, module);
	}
	for (module = 0; module < p->count; module++)
		for (i = 0; i < p->import_count[module]; i++)
			if (n->number[p->imports[module][i]] < n->number[module])
				return false;
	return true;
}

static void make_tree(const struct plan *p, struct link_tree *t)
{
	size_t i, k;

	assert_int_equal(link_tree_create(t, p->count), 0);
	for (i = 0; i < p->count; i++) {
		t->modules[i].library = i == p->library;
		/* a kind whose payload is a program of any bytes, whose length is known */
		t->modules[i].kind = tenon_slice_of(i == p->library ? "_lib" : "cuda");
		t->modules[i].payload = tenon_slice_of(p->payload[i]);
		for (k = 0; k < p->import_count[i]; k++)
			assert_int_equal(link_tree_import(t, i, p->imports[i][k]), 0);
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* the module with this number has these imports, in the order of their numbers */
static void assert_imports(const struct plan *p, const uint64_t *number, size_t module,
			   const struct import_blob *b)
{
	uint64_t want[8], from = load_u64(b->rows + 8 * number[module]);
	size_t i, count = p->import_count[module];

	for (i = 0; i < count; i++)
		want[i] = number[p->imports[module][i]];
	qsort(want, count, sizeof(want[0]), by_value);
	assert_int_equal(load_u64(b->rows + 8 * (number[module] + 1)) - from, count);
	for (i = 0; i < count; i++)
		assert_int_equal(load_u64(b->children + 8 * (from + i)), want[i]);
}

static void assert_read(const struct plan *p, const uint64_t *number, struct tenon_slice blob,
			enum tenon_generation g)
{
	const struct blob_source source = { .file = "x.so", .generation = g, .inspect = true };
	struct import_blob b = { 0 };
	const struct import_entry *e;
	size_t i;

	if (import_blob_read(&b, blob, &source)) {
		print_error("%zu modules: %s\n", p->count, tenon_error_message());
		fail();
	}
	assert_int_equal(b.count, p->count);
	for (i = 0; i < p->count; i++) {
		e = &b.entries[number[i]];
		if (i == p->library) {
			assert_int_equal(b.library, number[i]);
		} else {
			assert_int_equal(e->bytes.size, strlen(p->payload[i]));
			assert_memory_equal(e->bytes.data, p->payload[i], e->bytes.size);
		}
		assert_imports(p, number, i, &b);
	}
	import_blob_fini(&b);
}

/* A legacy blob has no lengths: give each payload the form of its kind. */
static void wrap_payloads(struct link_tree *t, struct tenon_buffer *wrapped)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		tenon_buffer_string(&wrapped[i], tenon_slice_of("ptx"));
		tenon_buffer_u64(&wrapped[i], 0);
		tenon_buffer_string(&wrapped[i], t->modules[i].payload);
		t->modules[i].payload = (struct tenon_slice){ wrapped[i].data, wrapped[i].size };
	}
}

static void assert_read_wrapped(const struct plan *p, const uint64_t *number,
				struct tenon_slice blob)
{
	const struct blob_source source = { .file = "x.so",
					    .generation = TENON_GENERATION_LEGACY,
					    .inspect = true };
	struct import_blob b = { 0 };
	struct tenon_slice bytes;
	size_t i, size;

	assert_int_equal(import_blob_read(&b, blob, &source), 0);
	assert_int_equal(b.count, p->count);
	for (i = 0; i < p->count; i++) {
		bytes = b.entries[number[i]].bytes;
		size = strlen(p->payload[i]);
		if (i != p->library) {
			assert_int_equal(bytes.size, 8 + 3 + 8 + 8 + size);
			assert_memory_equal(bytes.data + 27, p->payload[i], size);
		}
		assert_imports(p, number, i, &b);
	}
	import_blob_fini(&b);
}

/* without its larger payloads the blob has the same bytes, once these are in their places */
static void assert_cut(const struct plan *p, const struct tenon_buffer *whole)
{
	struct tenon_buffer blob = TENON_BUFFER_INIT, joined = TENON_BUFFER_INIT;
	struct tenon_slice parts[2 * MOST + 1];
	struct link_tree t = { 0 };
	uint64_t number[MOST];
	size_t i, count;

	make_tree(p, &t);
	t.cut_least = 4;
	assert_int_equal(link_tree_write(&t, TENON_GENERATION_FFI, &blob, number), 0);
	assert_int_equal(link_cuts_close(t.cuts, t.cut_count, &blob), whole->size);
	count = link_cuts_parts(t.cuts, t.cut_count, &blob, parts);
	assert_true(count <= 2 * t.cut_count + 1);
	for (i = 0; i < count; i++)
		tenon_buffer_slice(&joined, parts[i]);
	assert_int_equal(joined.size, whole->size);
	assert_memory_equal(joined.data, whole->data, whole->size);
	tenon_buffer_fini(&joined);
	tenon_buffer_fini(&blob);
	link_tree_fini(&t);
}

/* number the plan, compare with TVM's numbers, read it back in both forms, and write it again */
static void check_plan(const struct plan *p, size_t *as_tvm)
{
	struct tenon_buffer modern = TENON_BUFFER_INIT, legacy = TENON_BUFFER_INIT;
	struct tenon_buffer *wrapped = calloc(p->count, sizeof(*wrapped));
	uint64_t number[MOST], legacy_number[MOST];
	static struct numbering tvm;
	struct link_tree t = { 0 };
	size_t i;

	make_tree(p, &t);
	assert_int_equal(link_tree_write(&t, TENON_GENERATION_FFI, &modern, number), 0);
	if (number_as_tvm(p, &tvm)) {
		++*as_tvm;
		for (i = 0; i < p->count; i++)
			assert_int_equal(number[i], tvm.number[i]);
	}
	assert_read(p, number, (struct tenon_slice){ modern.data, modern.size },
		    TENON_GENERATION_FFI);
	assert_cut(p, &modern);

	wrap_payloads(&t, wrapped);
	assert_int_equal(link_tree_write(&t, TENON_GENERATION_LEGACY, &legacy, legacy_number), 0);
	assert_memory_equal(legacy_number, number, p->count * sizeof(number[0]));
	if (p->count > 1 || p->library != 0)
		assert_read_wrapped(p, number, (struct tenon_slice){ legacy.data, legacy.size });
	for (i = 0; i < p->count; i++)
		tenon_buffer_fini(&wrapped[i]);
	free(wrapped);
	tenon_buffer_fini(&modern);
	tenon_buffer_fini(&legacy);
	link_tree_fini(&t);
}

static void random_trees_are_numbered_written_and_read(void **unused)
{
	static struct plan p;
	size_t i, as_tvm = 0;

	(void)unused;
	for (i = 0; i < 400; i++) {
		make_plan(&p);
		check_plan(&p, &as_tvm);
	}
	/* the rest are trees that TVM's exporter refuses */
	assert_true(as_tvm > 100);
}

static void modules_keep_the_numbers_that_they_are_listed_with(void **unused)
{
	static struct plan p;
	uint64_t number[MOST];
	struct tenon_buffer blob = TENON_BUFFER_INIT;
	struct link_tree t = { 0 };
	size_t i;

	(void)unused;
	for (i = 0; i < MOST; i++)
		number[i] = i;
	make_plan(&p);
	make_tree(&p, &t);
	for (i = 0; i < t.count; i++)
		if (t.modules[i].import_count)
			qsort(t.modules[i].imports, t.modules[i].import_count, sizeof(size_t),
			      by_index);
	assert_int_equal(link_tree_write_numbered(&t, TENON_GENERATION_FFI, &blob), 0);
	assert_read(&p, number, (struct tenon_slice){ blob.data, blob.size }, TENON_GENERATION_FFI);
	tenon_buffer_fini(&blob);
	link_tree_fini(&t);
}

static void a_tree_with_two_roots_is_refused(void **unused)
{
	struct tenon_buffer blob = TENON_BUFFER_INIT;
	struct link_tree t = { 0 };
	uint64_t number[2];

	(void)unused;
	assert_int_equal(link_tree_create(&t, 2), 0);
	t.modules[0].kind = tenon_slice_of("cuda");
	t.modules[1].kind = tenon_slice_of("opencl");
	assert_int_equal(link_tree_write(&t, TENON_GENERATION_FFI, &blob, number), -TENON_E_VALUE);
	assert_error_has("\"cuda\" and \"opencl\" are both imported by nothing");
	assert_int_equal(blob.size, 0);
	link_tree_fini(&t);
}

static void a_tree_without_root_is_refused(void **unused)
{
	struct tenon_buffer blob = TENON_BUFFER_INIT;
	struct link_tree t = { 0 };
	uint64_t number[2];

	(void)unused;
	assert_int_equal(link_tree_create(&t, 2), 0);
	t.modules[0].kind = t.modules[1].kind = tenon_slice_of("cuda");
	assert_int_equal(link_tree_import(&t, 0, 1), 0);
	assert_int_equal(link_tree_import(&t, 1, 0), 0);
	assert_int_equal(link_tree_write(&t, TENON_GENERATION_FFI, &blob, number), -TENON_E_CYCLE);
	assert_error_has("there is no root");
	link_tree_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_trees_are_numbered_written_and_read),
		cmocka_unit_test(modules_keep_the_numbers_that_they_are_listed_with),
		cmocka_unit_test(a_tree_with_two_roots_is_refused),
		cmocka_unit_test(a_tree_without_root_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
