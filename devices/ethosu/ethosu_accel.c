/* SPDX-License-Identifier: MIT */
/* Open a node of Linux's driver, ask for its NPU, and allocate its buffers. */
#include "devices/ethosu/ethosu_accel.h"

#include <errno.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/*
 * Query the NPU. Linux fills in the fields that it knows: its struct may be shorter or longer
 * than this one.
 */
static int ask(struct ethosu_accel *a)
{
	struct ethosu_uapi_info info = { 0 };
	struct ethosu_uapi_query q = { 0 };
	int err = drm_call(&a->drm, ETHOSU_UAPI_QUERY, &q);

	if (!err && q.size < ETHOSU_UAPI_INFO_OLD)
		return tenon_error(-TENON_E_DEVICE,
				   "%s: the driver describes the NPU in %u bytes, want at least %u",
				   a->drm.path, q.size, ETHOSU_UAPI_INFO_OLD);
	if (!err) {
		a->is_old = q.size < sizeof(info);
		q.size = sizeof(info);
		q.pointer = (uintptr_t)&info;
		err = drm_call(&a->drm, ETHOSU_UAPI_QUERY, &q);
	}
	if (err)
		return system_error(-err, a->drm.path, "ask what it is");
	a->target = (struct ethosu_target){ .config = info.config, .id = info.id };
	a->sram_size = info.sram_size;
	return ethosu_target_check(&a->target);
}

int ethosu_accel_open(const struct system_calls *calls, const char *root, const char *path,
		      struct ethosu_accel *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = drm_open(calls, root, path, &out->drm);
	if (err)
		return err;
	if (strcmp(out->drm.driver, "ethosu"))
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: its driver is \"%s\"; Ethos-U has the driver \"ethosu\"",
				  path, out->drm.driver);
	if (!err)
		err = ask(out);
	if (err)
		ethosu_accel_close(out);
	return err;
}

void ethosu_accel_close(struct ethosu_accel *a)
{
	drm_close(&a->drm);
}

int ethosu_accel_map(struct ethosu_accel *a, struct drm_buffer *b)
{
	struct ethosu_uapi_mmap m = { .handle = b->handle };
	int err = drm_call(&a->drm, ETHOSU_UAPI_BO_MMAP, &m);

	err = err ? system_error(-err, a->drm.path, "find a buffer to map")
		  : drm_map(&a->drm, b, m.offset);
	if (err)
		drm_buffer_close(&a->drm, b);
	return err;
}

int ethosu_accel_allocate(struct ethosu_accel *a, uint64_t size, struct drm_buffer *out)
{
	struct ethosu_uapi_buffer b = { .size = size };
	int err;

	drm_adopt(0, 0, out);
	err = drm_call(&a->drm, ETHOSU_UAPI_BO_CREATE, &b);
	if (err == -ENOMEM)
		return tenon_error(-TENON_E_NOMEM,
				   "%s: no contiguous memory for a buffer of %llu bytes; Linux has "
				   "as much as its option cma= says (see CmaFree in /proc/meminfo)",
				   a->drm.path, (unsigned long long)size);
	if (err)
		return system_error(-err, a->drm.path, "allocate a buffer");
	drm_adopt(b.handle, b.size, out);
	if (b.size < size) {
		drm_buffer_close(&a->drm, out);
		return tenon_error(-TENON_E_DEVICE,
				   "%s: Linux gives a buffer of %llu bytes for %llu", a->drm.path,
				   (unsigned long long)b.size, (unsigned long long)size);
	}
	return ethosu_accel_map(a, out);
}

int ethosu_accel_import(struct ethosu_accel *a, int fd, uint64_t size, struct drm_buffer *out)
{
	return drm_import(&a->drm, fd, size, out);
}
