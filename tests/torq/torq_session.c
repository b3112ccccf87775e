/* SPDX-License-Identifier: MIT */
/* Load a network of tests/torq/data, write its inputs, run it, and compare its output. */
#include "tests/torq/torq_session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tenon/module.h>

#include "tests/driver/faults.h"
#include "tests/torq/torq_kernel.h"
#include "tests/unit/suite.h"

const struct torq_network_data torq_networks[TORQ_NETWORKS] = {
	{ "add", { 256, 256, 256 }, 3 },
	{ "convolution", { 256, 512 }, 2 },
	{ "pool", { 256, 64 }, 2 },
	{ "slice", { 4, 256, 128 }, 3 },
	/* its code of the RISC-V core is a segment */
	{ "sine", { 64, 64, 64 }, 3 },
};

static void path_to(const struct torq_network_data *data, const char *suffix, char *path,
		    size_t room)
{
	const char *made = getenv("TORQ_DATA"), *source = getenv("TENON_SOURCE");

	if (made)
		snprintf(path, room, "%s/%s/%s", made, data->name, suffix);
	else
		snprintf(path, room, "%s/tests/torq/data/%s/%s", source ? source : ".", data->name,
			 suffix);
}

size_t torq_data(const struct torq_network_data *data, const char *suffix, uint8_t *bytes)
{
	char path[512];
	ssize_t size;
	int fd;

	/* not a stream, which allocates: allocations may fail here */
	path_to(data, suffix, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = read(fd, bytes, TORQ_FILE_MOST);
	if (size < 0)
		fail_msg("%s cannot be read", path);
	close(fd);
	return (size_t)size;
}

void torq_tensor(const struct torq_network_data *data, size_t index, uint8_t *bytes)
{
	static uint8_t file[TORQ_FILE_MOST];
	char name[16];
	size_t size;

	if (index + 1 == data->count)
		snprintf(name, sizeof(name), "out0.npy");
	else
		snprintf(name, sizeof(name), "in%zu.npy", index);
	size = torq_data(data, name, file);
	assert_true(size > data->sizes[index]);
	/* the elements are behind numpy's header */
	memcpy(bytes, file + size - data->sizes[index], data->sizes[index]);
}

void torq_begin(const struct torq_network_data *data)
{
	char path[512];

	torq_start();
	path_to(data, "record.txt", path, sizeof(path));
	torq_replay(path);
}

static int load(struct torq_session *s)
{
	static uint8_t file[TORQ_FILE_MOST];
	char name[64];
	size_t size;
	int err;

	snprintf(name, sizeof(name), "%s.vmfb", s->data->name);
	size = torq_data(s->data, name, file);
	err = tenon_device_open("torq:0", &s->device);
	err = err ? err : tenon_queue_create(s->device, &s->queue);
	err = err ? err
		  : tenon_program_read(tenon_slice_of("torq"), TENON_GENERATION_NONE,
				       (struct tenon_slice){ (const char *)file, size },
				       s->data->name, &s->program);
	err = err ? err : tenon_executable_create(s->device, s->program, NULL, &s->executable);
	return err ? err : tenon_executable_kernel(s->executable, 0, &s->kernel);
}

int torq_session_put(struct torq_session *s, size_t index, struct tenon_memory *memory)
{
	uint8_t bytes[TORQ_TENSOR_MOST];
	int err;

	tenon_object_unref(s->memory[index]);
	s->memory[index] = memory;
	s->arguments[index] = (uintptr_t)memory;
	if (index + 1 == s->data->count)
		return 0;
	torq_tensor(s->data, index, bytes);
	err = tenon_queue_write(s->queue, memory, 0, bytes, s->data->sizes[index], NULL);
	return err ? err : tenon_queue_sync(s->queue, UINT64_MAX);
}

int torq_session_try(struct torq_session *s, const struct torq_network_data *data)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.usage = TENON_MEMORY_DEFAULT };
	struct tenon_memory *m;
	size_t i;
	int err;

	memset(s, 0, sizeof(*s));
	s->data = data;
	err = load(s);
	for (i = 0; i < data->count && !err; i++) {
		request.bytes = data->sizes[i];
		err = tenon_memory_alloc(s->device, &request, &m);
		err = err ? err : torq_session_put(s, i, m);
	}
	return err;
}

void torq_session_start(struct torq_session *s, const struct torq_network_data *data)
{
	torq_begin(data);
	if (torq_session_try(s, data))
		fail_msg("%s", tenon_error_message());
}

int torq_session_run(struct torq_session *s)
{
	const struct tenon_dispatch d = { .kernel = s->kernel,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .arguments = s->arguments };
	int err = tenon_queue_dispatch(s->queue, &d, NULL);

	return err ? err : tenon_queue_sync(s->queue, UINT64_MAX);
}

void torq_session_assert_output(const struct torq_session *s)
{
	const size_t last = s->data->count - 1;
	uint8_t expected[TORQ_TENSOR_MOST], found[TORQ_TENSOR_MOST] = { 0 };

	torq_tensor(s->data, last, expected);
	assert_int_equal(
		tenon_queue_read(s->queue, found, s->memory[last], 0, s->data->sizes[last], NULL),
		0);
	assert_int_equal(tenon_queue_sync(s->queue, UINT64_MAX), 0);
	assert_memory_equal(found, expected, s->data->sizes[last]);
}

void torq_session_stop(struct torq_session *s)
{
	size_t i;

	for (i = 0; i < TORQ_TENSORS; i++)
		tenon_object_unref(s->memory[i]);
	tenon_object_unref(s->executable);
	tenon_program_free(s->program);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->device);
	tenon_device_close_all();
	memset(s, 0, sizeof(*s));
}
