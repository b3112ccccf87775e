/* SPDX-License-Identifier: MIT */
/* Libraries whose import tree has a given number of modules, written as TVM 0.22 and later write them. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes {
	uint8_t *data;
	size_t size, room;
};

static void put(struct bytes *b, const void *data, size_t size)
{
	if (b->size + size > b->room) {
		b->room = 2 * (b->size + size);
		b->data = realloc(b->data, b->room);
		if (!b->data)
			abort();
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static void put_u64(struct bytes *b, uint64_t v)
{
	uint8_t le[8];
	int i;

	for (i = 0; i < 8; i++)
		le[i] = (uint8_t)(v >> (8 * i));
	put(b, le, 8);
}

static void put_string(struct bytes *b, const char *text)
{
	put_u64(b, strlen(text));
	put(b, text, strlen(text));
}

/* no variables, no tensors, no symbols, no lists of constants */
static void put_const_loader(struct bytes *b)
{
	int i;

	put_u64(b, 4 * 8);
	for (i = 0; i < 4; i++)
		put_u64(b, 0);
}

/* one kernel of one float* argument, launched over blockIdx.x */
static void put_opencl(struct bytes *b, int number)
{
	static const uint8_t handle[4] = { 3, 64, 1, 0 };
	struct bytes p = { NULL, 0, 0 };
	char name[32], code[256];

	snprintf(name, sizeof(name), "subgraph_%d", number);
	snprintf(code, sizeof(code),
		 "// Function: %s\n__kernel void %s(__global float* a) { a[get_group_id(0)] += 1; "
		 "}\n",
		 name, name);
	put_string(&p, "cl");
	put_u64(&p, 1);
	put_string(&p, name);
	put_string(&p, name);
	put_u64(&p, 1);
	put(&p, handle, 4);
	put_u64(&p, 1);
	put_string(&p, "blockIdx.x");
	put_u64(&p, 0);
	put_string(&p, code);
	put_u64(b, p.size);
	put(b, p.data, p.size);
	free(p.data);
}

/* one function that adds two vectors of four */
static void put_example(struct bytes *b, int number)
{
	char text[200];
	int size = snprintf(text, sizeof(text),
			    "subgraph_%d\n  input 0 4\n  input 1 4\n"
			    "  add 2 inputs: 0 1 shape: 4\n",
			    number);

	put_u64(b, (uint64_t)size + 8);
	put_string(b, text);
}

/* the number as text, for the loader that the benchmark gives tvm-ffi */
static void put_number(struct bytes *b, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	put_string(b, text);
}

static void put_tree(struct bytes *b, const char *kind, int imports)
{
	int i;

	put_u64(b, (uint64_t)imports + 2);
	put_u64(b, 0);
	for (i = 0; i <= imports; i++)
		put_u64(b, (uint64_t)imports);
	put_u64(b, (uint64_t)imports);
	for (i = 1; i <= imports; i++)
		put_u64(b, (uint64_t)i);
	put_string(b, "_lib");
	for (i = 1; i <= imports; i++) {
		put_string(b, kind);
		if (!strcmp(kind, "opencl"))
			put_opencl(b, i);
		else if (!strcmp(kind, "examplejson"))
			put_example(b, i);
		else if (!strcmp(kind, "bench"))
			put_number(b, i);
		else
			put_const_loader(b);
	}
}

static int write_source(const char *path, const struct bytes *tree)
{
	FILE *f = fopen(path, "w");
	size_t i;

	if (!f)
		return -1;
	fputs("__attribute__((weak, visibility(\"default\"))) void *__tvm_ffi__library_ctx;\n", f);
	if (tree->size) {
		fprintf(f, "const unsigned char __tvm_ffi__library_bin[%zu] = {", tree->size + 8);
		for (i = 0; i < 8; i++)
			fprintf(f, "%u,", (unsigned int)(((uint64_t)tree->size >> (8 * i)) & 255));
		for (i = 0; i < tree->size; i++)
			fprintf(f, "%u,%s", tree->data[i], i % 32 ? "" : "\n");
		fputs("};\n", f);
	}
	return fclose(f);
}

const char *bench_blob(const char *kind, int imports)
{
	static char path[900];
	struct bytes tree = { NULL, 0, 0 };
	const char *build = getenv("TENON_BUILD"), *cc = getenv("CC");
	char source[900], command[4096], name[64];

	snprintf(name, sizeof(name), "blob-%s-%d", kind, imports);
	snprintf(path, sizeof(path), "%s/tests/bench/%s.so", build ? build : "build", name);
	if (!access(path, R_OK))
		return path;
	if (imports)
		put_tree(&tree, kind, imports);
	snprintf(source, sizeof(source), "%s/tests/bench/%s.c", build ? build : "build", name);
	if (write_source(source, &tree))
		return NULL;
	free(tree.data);
	snprintf(command, sizeof(command),
		 "%s -shared -fPIC -O1 -o '%s.part' '%s' && mv '%s.part' '%s'",
		 cc && *cc ? cc : "cc", path, source, path, path);
	return system(command) ? NULL : path;
}

const char *bench_module(const char *name)
{
	static char path[1024];
	const char *build = getenv("TENON_BUILD");

	snprintf(path, sizeof(path), "%s/tests/bench/%s", build ? build : "build", name);
	return path;
}
