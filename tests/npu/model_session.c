/* SPDX-License-Identifier: MIT */
/* Load a file of Vela on a device, run it, and compare its outputs. */
#include "tests/npu/model_session.h"

#include <tenon/device.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/module.h>
#include <tenon/queue.h>

#include "tests/unit/suite.h"

static int load(struct model_session *s, const char *device)
{
	static uint8_t file[FILE_MOST];
	const struct model *m = s->model;
	const size_t size = network_file(m->folder, m->file, file);
	int err = tenon_device_open(device, &s->device);

	if (!err)
		err = tenon_queue_create(s->device, &s->queue);
	if (!err)
		err = tenon_program_read(tenon_slice_of("ethos-u"), TENON_GENERATION_NONE,
					 (struct tenon_slice){ (const char *)file, size }, m->file,
					 &s->program);
	if (!err)
		err = tenon_executable_create(s->device, s->program, NULL, &s->executable);
	return err ? err : tenon_executable_kernel(s->executable, 0, &s->kernel);
}

static int fill(struct model_session *s, size_t i)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.usage = TENON_MEMORY_DEFAULT };
	const struct model *m = s->model;
	int err;

	s->bytes = network_file(m->folder, m->arguments[i], s->expected);
	request.bytes = s->bytes;
	err = tenon_memory_alloc(s->device, &request, &s->memory[i]);
	s->arguments[i] = (uintptr_t)s->memory[i];
	if (!err && i + 1 < m->count)
		err = tenon_queue_write(s->queue, s->memory[i], 0, s->expected, s->bytes, NULL);
	/* the next argument is read into the same bytes */
	return err ? err : tenon_queue_sync(s->queue, UINT64_MAX);
}

int model_session_try(struct model_session *s, const char *device, const struct model *m)
{
	size_t i;
	int err;

	memset(s, 0, sizeof(*s));
	s->model = m;
	err = load(s, device);
	for (i = 0; i < m->count && !err; i++)
		err = fill(s, i);
	return err;
}

void model_session_start(struct model_session *s, const char *device, const struct model *m)
{
	if (model_session_try(s, device, m))
		fail_msg("%s", tenon_error_message());
}

int model_session_dispatch(struct model_session *s)
{
	const struct tenon_dispatch d = { .kernel = s->kernel,
					  .grid = { 1, 1, 1 },
					  .block = { 1, 1, 1 },
					  .arguments = s->arguments };

	return tenon_queue_dispatch(s->queue, &d, NULL);
}

int model_session_run(struct model_session *s)
{
	int err = model_session_dispatch(s);

	return err ? err : tenon_queue_sync(s->queue, UINT64_MAX);
}

void model_session_assert_output(struct model_session *s)
{
	static uint8_t found[FILE_MOST];

	assert_int_equal(tenon_queue_read(s->queue, found, s->memory[s->model->count - 1], 0,
					  s->bytes, NULL),
			 0);
	assert_int_equal(tenon_queue_sync(s->queue, UINT64_MAX), 0);
	assert_memory_equal(found, s->expected, s->bytes);
}

void model_session_stop(struct model_session *s)
{
	size_t i;

	for (i = 0; i < s->model->count; i++)
		tenon_object_unref(s->memory[i]);
	tenon_object_unref(s->executable);
	tenon_program_free(s->program);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->device);
}
