/* SPDX-License-Identifier: MIT */
/* Write and read the report of the child process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>
#include <tenon/probe.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/whole_io.h"
#include "runtime/probe/probe.h"

static const char head_magic[] = { 'T', 'E', 'N', 'O', 'N', 'P', 'R', '1' };
static const char end_magic[] = { 't', 'h', 'e', ' ', 'e', 'n', 'd', '.' };

/* ---- the child */

/* Write what is in the buffer, and empty it. */
static int flush(int fd, struct tenon_buffer *b)
{
	int err = !b->status && write_whole(fd, b->data, b->size) ? 0 : -1;

	tenon_buffer_fini(b);
	return err;
}

static void add_text(struct tenon_buffer *b, const struct tenon_buffer *text)
{
	tenon_buffer_string(b, (struct tenon_slice){ text->data, text->size });
}

static int write_answer(const struct tenon_backend *backend, int fd)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct probe_answer a;
	int err;

	err = probe_ask(backend, &a);
	if (!err) {
		tenon_buffer_u32(&b, a.outcome);
		tenon_buffer_u32(&b, a.count);
		add_text(&b, &a.reason);
		add_text(&b, &a.doctor);
		tenon_buffer_append(&b, a.devices, a.count * sizeof(*a.devices));
		tenon_buffer_append(&b, end_magic, sizeof(end_magic));
		err = flush(fd, &b);
	}
	probe_answer_fini(&a);
	return err ? -1 : 0;
}

int probe_report(const char *name, int fd)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const struct tenon_backend *backend;

	tenon_buffer_append(&b, head_magic, sizeof(head_magic));
	tenon_buffer_u32(&b, TENON_PLUGIN_ABI);
	tenon_buffer_u32(&b, sizeof(struct tenon_device_properties));
	if (flush(fd, &b))
		return -1;
	backend = tenon_backend_find(tenon_slice_of(name));
	tenon_buffer_u32(&b, backend != NULL);
	if (flush(fd, &b))
		return -1;
	return backend ? write_answer(backend, fd) : 0;
}

/* ---- the parent */

static bool read_magic(struct tenon_cursor *c, const char magic[8])
{
	struct tenon_slice found;

	return !tenon_cursor_bytes(c, 8, &found) && !memcmp(found.data, magic, 8);
}

static bool read_head(struct tenon_cursor *c)
{
	uint32_t abi, size;

	return read_magic(c, head_magic) && !tenon_cursor_u32(c, &abi) &&
	       !tenon_cursor_u32(c, &size) && abi == TENON_PLUGIN_ABI &&
	       size == sizeof(struct tenon_device_properties);
}

static int read_text(struct tenon_cursor *c, struct tenon_buffer *out)
{
	struct tenon_slice text;
	int err = tenon_cursor_string(c, &text);

	return err ? err : tenon_buffer_slice(out, text);
}

#define END_TEXT(p, field) ((p)->field[sizeof((p)->field) - 1] = 0)

static int read_devices(struct tenon_cursor *c, struct probe_answer *a)
{
	struct tenon_slice bytes;
	uint32_t i;
	int err;

	if (a->count > PROBE_DEVICES)
		return -TENON_E_FORMAT;
	err = tenon_cursor_bytes(c, a->count * sizeof(*a->devices), &bytes);
	if (err)
		return err;
	a->devices = calloc(a->count + 1, sizeof(*a->devices));
	if (!a->devices)
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of devices");
	if (a->count)
		memcpy(a->devices, bytes.data, bytes.size);
	for (i = 0; i < a->count; i++) {
		struct tenon_device_properties *p = &a->devices[i];

		p->size = sizeof(*p);
		END_TEXT(p, name);
		END_TEXT(p, vendor);
		END_TEXT(p, driver);
		END_TEXT(p, compute_version);
		END_TEXT(p, architecture);
		if (p->heap_count > TENON_HEAPS_MOST)
			p->heap_count = TENON_HEAPS_MOST;
	}
	return 0;
}

static int read_answer(struct tenon_cursor *c, struct probe_answer *a)
{
	int err;

	err = tenon_cursor_u32(c, &a->outcome);
	if (!err)
		err = tenon_cursor_u32(c, &a->count);
	if (!err && a->outcome > TENON_PROBE_FAILED)
		err = -TENON_E_FORMAT;
	if (!err)
		err = read_text(c, &a->reason);
	if (!err)
		err = read_text(c, &a->doctor);
	if (!err)
		err = read_devices(c, a);
	return !err && (!read_magic(c, end_magic) || tenon_cursor_left(c)) ? -TENON_E_FORMAT : err;
}

int probe_report_read(struct tenon_slice bytes, struct probe_answer *a)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "report of a driver", 0);
	int state = PROBE_REPORT_NONE, err;
	uint32_t known;

	memset(a, 0, sizeof(*a));
	if (!read_head(&c))
		goto clear;
	state = PROBE_REPORT_BEGUN;
	if (tenon_cursor_u32(&c, &known))
		goto clear;
	if (!known) {
		state = PROBE_REPORT_UNKNOWN;
		goto clear;
	}
	err = read_answer(&c, a);
	if (!err)
		return PROBE_REPORT_WHOLE;
	probe_answer_fini(a);
	memset(a, 0, sizeof(*a));
	if (err == -TENON_E_NOMEM)
		return err;
clear:
	/* the caller reports a truncated report as a fault of the driver */
	tenon_error_clear();
	return state;
}
