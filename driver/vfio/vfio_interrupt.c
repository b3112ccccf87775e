/* SPDX-License-Identifier: MIT */
/* Receive the interrupts of a VFIO device on eventfds. */
#include <errno.h>
#include <inttypes.h>
#include <sys/eventfd.h>
#include <tenon/error.h>

#include "driver/vfio/vfio.h"
#include "driver/vfio/vfio_uapi.h"
#include "lib/brief_errors.h"

struct set {
	struct vfio_uapi_irq_set head;
	int32_t fds[VFIO_VECTORS];
};

static int ask(struct vfio *v, uint32_t index, struct vfio_uapi_irq_info *info)
{
	int err;

	*info = (struct vfio_uapi_irq_info){ .size = sizeof(*info), .index = index };
	if (index >= v->irqs)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: no interrupts of kind %" PRIu32,
				   v->name, index);
	err = system_ioctl(v->calls, v->fd, VFIO_DEVICE_GET_IRQ, info);
	return err < 0 ? system_error(-err, v->name, "ask for its interrupts") : 0;
}

static int check(struct vfio *v, uint32_t index, uint32_t count)
{
	struct vfio_uapi_irq_info info;
	int err = ask(v, index, &info);

	if (err)
		return err;
	if (!info.count || !(info.flags & VFIO_IRQ_HAS_EVENTFD))
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: no interrupts of kind %" PRIu32,
				   v->name, index);
	if (!count || count > info.count || count > VFIO_VECTORS)
		return tenon_error(-TENON_E_VALUE,
				   "%s: %" PRIu32 " vectors wanted, the device has %" PRIu32
				   ", and %d can be used",
				   v->name, count, info.count, VFIO_VECTORS);
	return 0;
}

static int set(struct vfio *v, uint32_t flags, uint32_t index, uint32_t count, const int *fds)
{
	struct set s = { .head = { .flags = flags, .index = index, .count = count } };

	s.head.size = (uint32_t)(sizeof(s.head) + (fds ? count * sizeof(*s.fds) : 0));
	for (uint32_t i = 0; fds && i < count; i++)
		s.fds[i] = fds[i];
	return system_ioctl(v->calls, v->fd, VFIO_DEVICE_SET_IRQS, &s);
}

static void close_all(struct vfio *v, uint32_t count, int *fds)
{
	for (uint32_t i = 0; i < count; i++)
		system_close(v->calls, &fds[i]);
}

int vfio_interrupts_open(struct vfio *v, uint32_t index, uint32_t count, int *fds)
{
	int err;

	for (uint32_t i = 0; i < count; i++)
		fds[i] = -1;
	err = check(v, index, count);
	if (err)
		return err;
	for (uint32_t i = 0; i < count; i++) {
		fds[i] = v->calls->eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fds[i] < 0) {
			err = system_error(errno, v->name, "create an eventfd");
			goto close_all;
		}
	}
	err = set(v, VFIO_IRQ_DATA_EVENTFD | VFIO_IRQ_TRIGGER, index, count, fds);
	if (err >= 0)
		return 0;
	err = system_error(-err, v->name, "enable its interrupts");

close_all:
	close_all(v, count, fds);
	return err;
}

void vfio_interrupts_close(struct vfio *v, uint32_t index, uint32_t count, int *fds)
{
	/* Should this fail, the kernel disables the interrupts when the device is closed. */
	(void)set(v, VFIO_IRQ_DATA_NONE | VFIO_IRQ_TRIGGER, index, 0, NULL);
	close_all(v, count, fds);
}

/* Return: 1 when @count was read; 0 when another reader was faster; the negative status. */
static int read_counter(struct vfio *v, int fd, uint64_t *count)
{
	ssize_t n;

	do
		n = v->calls->read(fd, count, sizeof(*count));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(*count))
		return 1;
	*count = 0;
	if (n >= 0)
		return tenon_error(-TENON_E_TRUNCATED, "%s: %zd of 8 bytes read", v->name, n);
	if (errno == EAGAIN)
		return 0;
	return system_error(errno, v->name, "read its interrupts");
}

int vfio_interrupt_wait(struct vfio *v, int fd, uint64_t deadline, uint64_t *count)
{
	int found;

	*count = 0;
	do {
		found = system_wait(v->calls, fd, v->name, POLLIN, deadline);
		if (!found)
			return tenon_error(-TENON_E_TIMEOUT, "%s: no interrupt before the deadline",
					   v->name);
		if (found > 0)
			found = read_counter(v, fd, count);
	} while (!found);
	return found < 0 ? found : 0;
}

int vfio_interrupt_unmask(struct vfio *v, uint32_t index)
{
	struct vfio_uapi_irq_info info;
	int err = ask(v, index, &info);

	if (err)
		return err;
	if (!(info.flags & VFIO_IRQ_MASKABLE))
		return tenon_error(-TENON_E_VALUE,
				   "%s: interrupts of kind %" PRIu32 " are never masked", v->name,
				   index);
	err = set(v, VFIO_IRQ_DATA_NONE | VFIO_IRQ_UNMASK, index, 1, NULL);
	return err < 0 ? system_error(-err, v->name, "unmask its interrupt") : 0;
}
