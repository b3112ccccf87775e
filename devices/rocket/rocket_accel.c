/* SPDX-License-Identifier: MIT */
/* Open the node, and allocate buffers with addresses of the NPU. */
#include "devices/rocket/rocket_accel.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "devices/rocket/rocket_uapi.h"
#include "lib/brief_errors.h"

#define REACH (UINT64_C(1) << 32)

int rocket_accel_open(const struct system_calls *calls, const char *root, const char *path,
		      struct rocket_accel *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = drm_open(calls, root, path, &out->drm);
	if (err || !strcmp(out->drm.driver, "rocket"))
		return err;
	err = tenon_error(
		-TENON_E_UNSUPPORTED,
		"%s: its driver is \"%s\"; the NPUs of Rockchip have the driver \"rocket\"", path,
		out->drm.driver);
	rocket_accel_close(out);
	return err;
}

void rocket_accel_close(struct rocket_accel *a)
{
	drm_close(&a->drm);
}

/* ---- buffers */

static uint64_t whole_pages(uint64_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static int check_place(const struct rocket_accel *a, const struct rocket_uapi_create *c,
		       uint64_t size)
{
	if (c->address < REACH && size <= REACH - c->address)
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: the device has a buffer of %" PRIu64 " bytes at 0x%" PRIx64
			   ", and its registers reach 4 GiB; free other buffers",
			   a->drm.path, size, c->address);
}

int rocket_buffer_open(struct rocket_accel *a, uint64_t size, struct rocket_buffer *out)
{
	const uint64_t whole = size < REACH ? whole_pages(size) : REACH;
	struct rocket_uapi_create c = { .size = (uint32_t)whole };
	int err;

	memset(out, 0, sizeof(*out));
	if (!whole || whole >= REACH)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%s: a buffer of %" PRIu64 " bytes; the NPU reaches 4 GiB",
				   a->drm.path, size);
	err = drm_call(&a->drm, ROCKET_UAPI_CREATE, &c);
	if (err == -ENOMEM || err == -ENOSPC)
		return tenon_error(-TENON_E_NOMEM,
				   "%s: no memory for a buffer of %" PRIu64 " bytes", a->drm.path,
				   size);
	if (err)
		return system_error(-err, a->drm.path, "allocate a buffer");
	drm_adopt(c.handle, whole, &out->drm);
	err = check_place(a, &c, whole);
	if (!err)
		err = drm_map(&a->drm, &out->drm, c.offset);
	out->address = (uint32_t)c.address;
	if (err)
		rocket_buffer_close(a, out);
	return err;
}

void rocket_buffer_close(struct rocket_accel *a, struct rocket_buffer *b)
{
	drm_buffer_close(&a->drm, &b->drm);
}

int rocket_buffer_begin(const struct rocket_accel *a, const struct rocket_buffer *b,
			uint64_t deadline)
{
	struct rocket_uapi_prepare p = { .handle = b->drm.handle };
	int err;

	p.deadline = deadline > INT64_MAX ? INT64_MAX : (int64_t)deadline;
	err = drm_call(&a->drm, ROCKET_UAPI_PREPARE, &p);
	/* EBUSY is the answer to a deadline that has passed already */
	if (err == -EBUSY || err == -ETIMEDOUT)
		return tenon_error(-TENON_E_TIMEOUT, "%s: the job has not ended yet", a->drm.path);
	return err ? system_error(-err, a->drm.path, "wait for a buffer") : 0;
}

int rocket_buffer_end(const struct rocket_accel *a, const struct rocket_buffer *b)
{
	struct rocket_uapi_finish f = { .handle = b->drm.handle };
	int err = drm_call(&a->drm, ROCKET_UAPI_FINISH, &f);

	return err ? system_error(-err, a->drm.path, "give a buffer to the device") : 0;
}
