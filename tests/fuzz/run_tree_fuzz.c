/* SPDX-License-Identifier: MIT */
/*
 * An import tree, in a library without code that is loaded and run. The first byte says which form the tree
 * has: 0 for TVM up to 0.21. What compiled code would do is done by stand-ins, as sanitizers see it.
 */
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "runtime/relax/relax.h"
#include "tests/fuzz/command.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/library_file.h"
#include "tests/fuzz/real_tree.h"
#include "tests/fuzz/scratch.h"
#include "tests/unit/relax_stand_in.h"

#define LARGEST_FILE (256 << 10)

#define JUMPS_MOST  200
#define MEMORY_MOST (1 << 20)

const bool fuzz_may_ask_for_memory = true;
const bool fuzz_is_slow = true;

/* ---- a program may loop for ever, and ask for all memory, without any fault of its reader's */

int __real_relax_create(struct relax_executable *x, struct tenon_module **out);
int __wrap_relax_create(struct relax_executable *x, struct tenon_module **out);

int __wrap_relax_create(struct relax_executable *x, struct tenon_module **out)
{
	int err = __real_relax_create(x, out);
	struct relax_vm *vm;

	if (err)
		return err;
	vm = relax_of(*out);
	vm->budget = JUMPS_MOST;
	relax_pool_limit(vm->pool, MEMORY_MOST);
	return 0;
}

/* ---- what programs call */

static void register_stand_ins_of(const struct relax_executable *x)
{
	struct tenon_function *f;
	uint32_t i;
	char name[256];

	for (i = 0; i < x->function_count; i++) {
		if (x->functions[i].kind != RELAX_FUNCTION_PACKED)
			continue;
		tenon_function_find_slice(x->functions[i].name, &f);
		tenon_object_unref(f);
		if (f || x->functions[i].name.size >= sizeof(name))
			continue;
		memcpy(name, x->functions[i].name.data, x->functions[i].name.size);
		name[x->functions[i].name.size] = '\0';
		fuzz_check(tenon_function_register_c(name, relax_stand_in, false));
	}
}

static void register_stand_ins(struct tenon_module *m)
{
	struct relax_executable *x = relax_executable_of(m);
	size_t i;

	if (x)
		register_stand_ins_of(x);
	for (i = 0; i < m->import_count; i++)
		register_stand_ins(m->imports[i]);
}

static const char *library_of(struct tenon_slice tree, enum tenon_generation generation)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const char *path;

	library_file(generation == TENON_GENERATION_FFI ? "__tvm_ffi__library_bin"
							: "__tvm_dev_mblob",
		     tree, &b);
	path = scratch_write("m.so", b.data, b.size);
	tenon_buffer_fini(&b);
	return path;
}

static void register_stand_ins_of_file(void *context, struct tenon_slice bytes)
{
	struct tenon_module *m;
	struct real_tree tree;

	(void)context;
	if (!real_tree_find(bytes, &tree))
		return;
	if (!tenon_module_load(library_of(tree.bytes, tree.generation), &m)) {
		register_stand_ins(m);
		tenon_object_unref(m);
	}
	tenon_error_clear();
}

/* ---- seeds: the trees of all fixtures */

struct visitor {
	void (*visit)(void *context, struct tenon_slice bytes);
	void *context;
};

static void visit_tree(void *context, struct tenon_slice bytes)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct visitor *v = context;
	struct real_tree tree;

	if (!real_tree_find(bytes, &tree))
		return;
	tenon_buffer_u8(&b, tree.generation == TENON_GENERATION_FFI);
	tenon_buffer_append(&b, tree.bytes.data, tree.bytes.size);
	v->visit(v->context, (struct tenon_slice){ b.data, b.size });
	tenon_buffer_fini(&b);
}

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	struct visitor v = { visit, context };

	fixtures_each(".so", LARGEST_FILE, visit_tree, &v);
}

void fuzz_mutate(struct mutant *m)
{
	struct mutant tree = *m;

	if (m->size < 1)
		return;
	tree.data++;
	tree.size--;
	tree.room--;
	mutate_blob(&tree);
	m->size = tree.size + 1;
	m->random = tree.random;
}

/* ---- runs */

static void run_line(unsigned int line, const char *file)
{
	switch (line) {
	case 0:
		COMMAND("bench", file, "--runs", "1", "--warmup", "0", "--json");
		return;
	case 1:
		COMMAND("bench", file, "--runs", "1", "--warmup", "0", "--per-op");
		return;
	case 2:
		COMMAND("run", file, "--input", "1x32xfloat32=random:1", "--top", "3");
		return;
	case 3:
		COMMAND("run", file, "--function", "main", "--input", "2x16xfloat32=arange",
			"--json");
		return;
	case 4:
		COMMAND("inspect", file, "--functions", "--model");
		return;
	case 5:
		COMMAND("inspect", file, "--model", "--json");
		return;
	default:
		COMMAND("inspect", file, "--model", "--dot");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool registered;
	struct command_choice c;
	const char *file;

	if (!registered) {
		registered = true;
		fixtures_each(".so", LARGEST_FILE, register_stand_ins_of_file, NULL);
	}
	if (!size)
		return 0;
	file = library_of((struct tenon_slice){ (const char *)data + 1, size - 1 },
			  data[0] & 1 ? TENON_GENERATION_FFI : TENON_GENERATION_LEGACY);
	c = command_choose((struct tenon_slice){ (const char *)data, size }, 7);
	for (; c.from < c.to; c.from++)
		run_line(c.from, file);
	return 0;
}
