/* SPDX-License-Identifier: MIT */
/*
 * Ethos-U behind the kernel's accel interface, on the kernel's model (a named fake), with memory in buffers of the driver.
 * Payloads are networks, with one kernel "main", so the suite's kernels cannot be had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "devices/ethosu/ethosu_device.h"
#include "tests/cts/cts.h"
#include "tests/driver/faults.h"
#include "tests/driver/tree.h"
#include "tests/npu/npu_kernel.h"

#define NETWORK "a payload is a network, whose one kernel computes it"

static int network(struct tenon_buffer *out)
{
	const char *source = getenv("TENON_SOURCE");
	char path[512], bytes[4096];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/tests/ethosu/data/u65_conv1x1/u65.npz",
		 source ? source : ".");
	file = fopen(path, "rb");
	if (!file)
		return -1;
	while ((size = fread(bytes, 1, sizeof(bytes), file)))
		tenon_buffer_append(out, bytes, size);
	fclose(file);
	return out->status;
}

/* The node is in the model alone, so its folder need not exist. */
static const char *setup(void)
{
	static struct system_calls calls;

	tree_pretend("/model-of-the-kernel");
	npu_start();
	npu.memory = UINT64_C(256) << 20;
	faults_over(&npu_calls);
	/* mappings are not counted: a child has none of its parent's */
	calls = faulty_calls;
	calls.mmap = npu_calls.mmap;
	calls.munmap = npu_calls.munmap;
	ethosu_accel_source.calls = &calls;
	ethosu_accel_source.root = tree;
	return NULL;
}

static const struct cts_note unsupported[] = {
	{ "a_module_of_the_kind_is_loaded_and_called", NETWORK },
	{ NULL, NULL },
};

const struct cts_backend cts_backend = {
	.uri = "ethosu://accel/0?memory=buffers",
	.kind = "ethos-u",
	.payload = network,
	.modern = true,
	.no_kernels = NETWORK,
	.setup = setup,
	.unsupported = unsupported,
};
