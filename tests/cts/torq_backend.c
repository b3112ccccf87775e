/* SPDX-License-Identifier: MIT */
/*
 * Synaptics' Torq on a named fake of its kernel driver. Payloads are networks of its compiler, with one kernel "main", so the
 * suite's kernels cannot be had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "devices/torq/torq_device.h"
#include "tests/cts/cts.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/torq/torq_kernel.h"
#include "tests/torq/torq_session.h"

#define NETWORK "a payload is a network, whose one kernel computes it"

static int network(struct tenon_buffer *out)
{
	static uint8_t bytes[TORQ_FILE_MOST];

	tenon_buffer_append(out, bytes, torq_data(&torq_networks[0], "add.vmfb", bytes));
	return out->status;
}

/* The node is in the model alone, so its folder need not exist. */
static const char *setup(void)
{
	static struct system_calls calls;

	tree_pretend("/model-of-the-kernel");
	torq_begin(&torq_networks[0]);
	faults_over(&torq_calls);
	/* mappings are not counted: a child has none of its parent's */
	calls = faulty_calls;
	calls.mmap = torq_calls.mmap;
	calls.munmap = torq_calls.munmap;
	torq_source.calls = &calls;
	torq_source.root = tree;
	return NULL;
}

static const struct cts_note unsupported[] = {
	{ "a_module_of_the_kind_is_loaded_and_called", NETWORK },
	{ NULL, NULL },
};

const struct cts_backend cts_backend = {
	.uri = "torq:0",
	.kind = "torq",
	.payload = network,
	.modern = true,
	.no_kernels = NETWORK,
	.setup = setup,
	.unsupported = unsupported,
};
