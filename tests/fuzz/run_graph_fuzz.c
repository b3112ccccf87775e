/* SPDX-License-Identifier: MIT */
/*
 * A graph.json and its parameters, for a library of compiled operators. The first byte chooses the library;
 * then come the size of the graph in four bytes, the graph, and the parameters. The library's code is
 * trusted, and is only run as it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/file_map.h"
#include "tests/fuzz/command.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

#define HEAD 5

/* the models' own inputs; a mutant may ask for another, which "bench" makes up */
static const struct {
	const char *folder, *input;
} libraries[] = {
	{ "tvm-0.8/graph_mlp", "x=1x32xfloat32=random:1" },
	{ "tvm-0.18/graph_mlp", "x=1x32xfloat32=random:1" },
	{ "tvm-0.8/graph_nop", "x=2x16xfloat32=random:1" },
	{ "tvm-0.18/graph_nop", "x=2x16xfloat32=random:1" },
	{ "tvm-0.18/graph_resnet_small", "data=1x3x32x32xfloat32=random:1" },
};

#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

const bool fuzz_may_ask_for_memory = true;
const bool fuzz_is_slow = true;

static const char *file_of(size_t library, const char *file)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", libraries[library].folder, file);
	return fixture_find(name);
}

/* ---- seeds */

static void append_file(const char *path, struct tenon_buffer *b)
{
	struct tenon_slice bytes;

	if (file_map_open(path, &bytes))
		abort();
	tenon_buffer_append(b, bytes.data, bytes.size);
	file_map_close(&bytes);
}

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	size_t i;

	for (i = 0; i < LIBRARIES; i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT, graph = TENON_BUFFER_INIT;

		if (!file_of(i, "graph.json"))
			continue;
		append_file(file_of(i, "graph.json"), &graph);
		tenon_buffer_u8(&b, (uint8_t)i);
		tenon_buffer_u32(&b, (uint32_t)graph.size);
		tenon_buffer_append(&b, graph.data, graph.size);
		append_file(file_of(i, "model.params"), &b);
		visit(context, (struct tenon_slice){ b.data, b.size });
		tenon_buffer_fini(&graph);
		tenon_buffer_fini(&b);
	}
}

/* ---- mutants */

static size_t graph_size(const struct mutant *m)
{
	size_t size = mutant_get(m, 1, 4), left = m->size < HEAD ? 0 : m->size - HEAD;

	return size < left ? size : left;
}

void fuzz_mutate(struct mutant *m)
{
	size_t graph = graph_size(m), offset = HEAD;
	struct mutant part = *m;

	if (m->size < HEAD)
		return;
	/* the graph is copied out, since it may grow into the parameters */
	if (random_below(&part.random, 4)) {
		part.data = malloc(graph + 4096);
		part.size = graph;
		part.room = graph + 4096;
		memcpy(part.data, m->data + HEAD, graph);
		mutate_json(&part);
		mutant_replace(m, HEAD, graph, part.data, part.size);
		mutant_put(m, 1, part.size, 4);
		free(part.data);
	} else {
		offset += graph;
		part.data = m->data + offset;
		part.size = m->size - offset;
		part.room = m->room - offset;
		mutate_params(&part);
		m->size = offset + part.size;
	}
	m->random = part.random;
}

/* ---- runs */

struct files {
	const char *library, *graph, *params, *input;
};

static void run_line(unsigned int line, const struct files *f)
{
	switch (line) {
	case 0:
		COMMAND("run", f->library, "--graph", f->graph, "--params", f->params, "--input",
			f->input, "--top", "3");
		return;
	case 1:
		COMMAND("run", f->library, "--graph", f->graph, "--params", f->params, "--input",
			f->input, "--json", "--profile");
		return;
	case 2:
		COMMAND("bench", f->library, "--graph", f->graph, "--params", f->params, "--runs",
			"1", "--warmup", "0", "--json");
		return;
	case 3:
		COMMAND("inspect", f->library, "--graph", f->graph, "--params", f->params,
			"--model");
		return;
	case 4:
		COMMAND("inspect", f->library, "--graph", f->graph, "--params", f->params,
			"--json");
		return;
	default:
		COMMAND("inspect", f->library, "--graph", f->graph, "--dot");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mutant input = { .data = (uint8_t *)(uintptr_t)data, .size = size };
	char library[1024];
	struct files f = { .library = library };
	struct command_choice c;
	const char *path;
	size_t graph;

	if (size < HEAD || data[0] >= LIBRARIES)
		return 0;
	path = file_of(data[0], "lib.so");
	if (!path)
		return 0;
	snprintf(library, sizeof(library), "%s", path);
	graph = graph_size(&input);
	f.input = libraries[data[0]].input;
	f.graph = scratch_write("graph.json", data + HEAD, graph);
	f.params = scratch_write("m.params", data + HEAD + graph, size - HEAD - graph);
	c = command_choose((struct tenon_slice){ (const char *)data, size }, 6);
	for (; c.from < c.to; c.from++)
		run_line(c.from, &f);
	return 0;
}
