/* SPDX-License-Identifier: MIT */
/*
 * What TVMEthosULaunch() does for modules of TVM's old code generator for Ethos-U. Such a module is C code, which calls it
 * with a driver payload and with the addresses of the regions: weights, scratch twice, input and output.
 */
#include <inttypes.h>
#include <string.h>
#include <tenon/device.h>
#include <tenon/ethosu.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/module.h>
#include <tenon/queue.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_arguments.h"
#include "devices/ethosu/ethosu_device.h"
#include "lib/brief_errors.h"

/**
 * struct launch - what is made for a call
 * @memory: of the regions that the stream touches
 * @arguments: the same, as the queue takes them
 */
struct launch {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_program *program;
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
	struct tenon_memory *memory[ETHOSU_REGIONS];
	uint64_t arguments[ETHOSU_REGIONS];
};

/* What the module gives for a region; the stream needs all bytes of it that the argument has. */
static int bind(struct launch *l, size_t index, const struct ethosu_argument *a,
		const uint64_t *addresses, const size_t *sizes, int count)
{
	struct tenon_memory_import from = { .size = sizeof(from),
					    .type = TENON_HANDLE_HOST_POINTER,
					    .usage = TENON_MEMORY_DEFAULT,
					    .bytes = a->bytes };
	int err;

	if (a->region >= (uint32_t)count || !addresses[a->region] || sizes[a->region] < a->bytes)
		return tenon_error(-TENON_E_VALUE,
				   "TVMEthosULaunch: the stream needs %" PRIu64
				   " bytes of region %u, and the module gives %zu",
				   a->bytes, a->region,
				   a->region < (uint32_t)count ? sizes[a->region] : 0);
	from.pointer = (void *)(uintptr_t)addresses[a->region];
	err = tenon_memory_import(l->device, &from, &l->memory[index]);
	l->arguments[index] = (uintptr_t)l->memory[index];
	return err;
}

static int load(struct launch *l, struct tenon_slice payload)
{
	int err = tenon_device_get((DLDevice){ TENON_DL_ETHOSU, 0 }, &l->device);

	if (!err)
		err = tenon_queue_create(l->device, &l->queue);
	if (!err)
		err = tenon_program_read(tenon_slice_of("ethos-u"), TENON_GENERATION_NONE, payload,
					 "TVMEthosULaunch", &l->program);
	if (!err)
		err = tenon_executable_create(l->device, l->program, NULL, &l->executable);
	return err ? err : tenon_executable_kernel(l->executable, 0, &l->kernel);
}

static int run_payload(struct launch *l)
{
	const struct tenon_dispatch d = { .kernel = l->kernel,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .arguments = l->arguments };
	int err = tenon_queue_dispatch(l->queue, &d, NULL);

	return err ? err : tenon_queue_sync(l->queue, UINT64_MAX);
}

static void release(struct launch *l)
{
	size_t i;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		tenon_object_unref(l->memory[i]);
	tenon_object_unref(l->executable);
	tenon_program_free(l->program);
	tenon_object_unref(l->queue);
	tenon_object_unref(l->device);
}

static int launch(struct tenon_slice payload, const uint64_t *addresses, const size_t *sizes,
		  int32_t count)
{
	struct tenon_cursor c = tenon_cursor_of(payload.data, payload.size, "TVMEthosULaunch", 0);
	struct ethosu_container contents;
	struct ethosu_arguments arguments;
	struct launch l = { 0 };
	size_t i;
	int err;

	err = ethosu_container_read(&c, &contents);
	if (!err && contents.complete)
		err = tenon_error(-TENON_E_FORMAT, "TVMEthosULaunch: expected a driver payload");
	if (!err)
		err = ethosu_arguments_of(&contents, "TVMEthosULaunch", &arguments);
	if (!err)
		err = load(&l, payload);
	for (i = 0; !err && i < arguments.count; i++)
		err = bind(&l, i, &arguments.items[i], addresses, sizes, count);
	if (!err)
		err = run_payload(&l);
	release(&l);
	return err;
}

const struct ethosu_launcher ethosu_launcher = { launch };
