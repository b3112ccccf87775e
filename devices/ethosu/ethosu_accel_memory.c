/* SPDX-License-Identifier: MIT */
/* Allocate, import and map memory that Linux's driver hands to the NPU. */
#include "devices/ethosu/ethosu_accel_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/brief_errors.h"

static struct ethosu_accel_buffer *buffer_of(const struct ethosu_store *m)
{
	return m->own;
}

static struct ethosu_accel_buffer *new_buffer(void)
{
	struct ethosu_accel_buffer *b = calloc(1, sizeof(*b));

	if (!b)
		tenon_error(-TENON_E_NOMEM, "no memory for a buffer");
	else
		b->foreign.fd = -1;
	return b;
}

/* With the lock. */
static void add(struct ethosu_accel_state *s, struct ethosu_accel_buffer *b,
		struct ethosu_store *out)
{
	b->references = 1;
	b->serial = ++s->serials;
	b->next = s->buffers;
	s->buffers = b;
	out->own = b;
	out->base.host = b->drm.handle ? b->drm.base : b->foreign.base;
}

static int allocate(struct ethosu_device *d, uint64_t size, struct ethosu_store *out)
{
	struct ethosu_accel_state *s = d->state;
	struct ethosu_accel_buffer *b = new_buffer();
	int err;

	if (!b)
		return -TENON_E_NOMEM;
	err = ethosu_accel_allocate(&s->accel, size, &b->drm);
	if (err) {
		free(b);
		return err;
	}
	pthread_mutex_lock(&s->lock);
	add(s, b, out);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* ---- dma-bufs */

/* The descriptor is our duplicate of the caller's, made without the table of system calls. */
static void unmap_foreign(struct dmabuf *b)
{
	system_unmap(b->calls, &b->base, b->size);
	close(b->fd);
	b->fd = -1;
}

/* The caller keeps @fd and may close it. */
static int map_foreign(struct ethosu_accel_state *s, int fd, uint64_t size,
		       struct ethosu_accel_buffer *b)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3), err;

	if (own < 0)
		return tenon_error(-TENON_E_IO, "%s: cannot keep a dma-buf", s->accel.drm.path);
	dmabuf_adopt(s->accel.drm.calls, own, size, &b->foreign);
	err = dmabuf_map(&b->foreign);
	if (err)
		unmap_foreign(&b->foreign);
	return err;
}

static struct ethosu_accel_buffer *find(const struct ethosu_accel_state *s, uint32_t handle)
{
	struct ethosu_accel_buffer *b = s->buffers;

	while (b && b->drm.handle != handle)
		b = b->next;
	return b;
}

/*
 * Called with the lock held: for a buffer that this device has already, Linux returns the same
 * handle.
 */
static int import_buffer(struct ethosu_accel_state *s, int fd, uint64_t size,
			 struct ethosu_store *out)
{
	struct ethosu_accel_buffer *b = new_buffer(), *known = NULL;
	int err;

	if (!b)
		return -TENON_E_NOMEM;
	err = ethosu_accel_import(&s->accel, fd, size, &b->drm);
	if (!err)
		known = find(s, b->drm.handle);
	if (known && size > known->drm.size)
		err = tenon_error(-TENON_E_VALUE, "%s: the dma-buf has %llu bytes, and not %llu",
				  s->accel.drm.path, (unsigned long long)known->drm.size,
				  (unsigned long long)size);
	else if (known)
		known->references++;
	else if (!err)
		err = ethosu_accel_map(&s->accel, &b->drm);
	else if (err == -TENON_E_UNSUPPORTED && !(out->base.usage & TENON_MEMORY_IN_PLACE))
		err = map_foreign(s, fd, size, b);
	if (err || known) {
		free(b);
		out->own = known;
		out->base.host = known ? known->drm.base : NULL;
		return err;
	}
	add(s, b, out);
	return 0;
}

static int adopt(struct ethosu_device *d, int fd, uint64_t size, struct ethosu_store *out)
{
	struct ethosu_accel_state *s = d->state;
	int err;

	pthread_mutex_lock(&s->lock);
	err = import_buffer(s, fd, size, out);
	pthread_mutex_unlock(&s->lock);
	/* Linux's refusal is no error: networks copy this memory */
	if (!err)
		tenon_error_clear();
	return err;
}

static int share(struct ethosu_device *d, const struct ethosu_store *m, int *fd)
{
	struct ethosu_accel_state *s = d->state;

	*fd = drm_export(&s->accel.drm, &buffer_of(m)->drm);
	return *fd < 0 ? *fd : 0;
}

/* The driver's own buffers are coherent. */
static int begin(const struct ethosu_store *m)
{
	const struct ethosu_accel_buffer *b = buffer_of(m);

	return b->drm.handle ? 0 : dmabuf_begin(&b->foreign, DMABUF_BOTH);
}

static int end(const struct ethosu_store *m)
{
	const struct ethosu_accel_buffer *b = buffer_of(m);

	return b->drm.handle ? 0 : dmabuf_end(&b->foreign, DMABUF_BOTH);
}

static void release(struct ethosu_device *d, struct ethosu_store *m)
{
	struct ethosu_accel_buffer *b = buffer_of(m), **link;
	struct ethosu_accel_state *s = d->state;

	pthread_mutex_lock(&s->lock);
	if (!--b->references) {
		for (link = &s->buffers; *link != b; link = &(*link)->next)
			;
		*link = b->next;
		/* inside of the lock: an import may get the same handle meanwhile */
		if (b->drm.handle)
			drm_buffer_close(&s->accel.drm, &b->drm);
		else
			unmap_foreign(&b->foreign);
		free(b);
	}
	pthread_mutex_unlock(&s->lock);
}

const struct ethosu_memory_kind ethosu_accel_memory = {
	.allocate = allocate,
	.adopt = adopt,
	.share = share,
	.begin = begin,
	.end = end,
	.release = release,
};
