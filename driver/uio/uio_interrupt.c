/* SPDX-License-Identifier: MIT */
/* Unmask, wait for and count the interrupts of a UIO device. */
#include <errno.h>
#include <poll.h>
#include <tenon/error.h>

#include "driver/uio/uio.h"
#include "driver/uio/uio_private.h"
#include "lib/brief_errors.h"

/* Write 1 to the node. */
static int unmask(struct uio *u)
{
	static const int32_t on = 1;
	ssize_t n;

	do
		n = u->calls->write(u->fd, &on, sizeof(on));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(on))
		return 0;
	if (n >= 0)
		return tenon_error(-TENON_E_TRUNCATED, "%s: %zd of 4 bytes written", u->path, n);
	/* a driver without a mask: its interrupt is never masked */
	if (errno == ENOSYS)
		return 0;
	return system_error(errno, u->path, "unmask its interrupt");
}

int uio_enable_interrupt(struct uio *u)
{
	/* uio_pci_generic takes no writes: it masks in configuration space */
	if (u->config >= 0)
		return uio_pci_enable_interrupt(u);
	return unmask(u);
}

/* The difference is correct beyond 2^32. It is 0 for an interrupt that was counted while the device was opened. */
static void account(struct uio *u, uint32_t counter, uint32_t *count)
{
	uint32_t passed = counter - u->seen;

	*count = passed ? passed : 1;
	u->seen = counter;
	u->interrupts += *count;
	u->missed += *count - 1;
}

/* Return: 1 when @counter was read; 0 when another reader was faster; the negative status. */
static int read_counter(struct uio *u, uint32_t *counter)
{
	ssize_t n;

	do
		n = u->calls->read(u->fd, counter, sizeof(*counter));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(*counter))
		return 1;
	if (n >= 0)
		return tenon_error(-TENON_E_TRUNCATED, "%s: %zd of 4 bytes read", u->path, n);
	if (errno == EAGAIN)
		return 0;
	return system_error(errno, u->path, "read its interrupts");
}

int uio_wait_interrupt(struct uio *u, uint64_t deadline, uint32_t *count)
{
	uint32_t counter;
	int found;

	*count = 0;
	do {
		found = system_wait(u->calls, u->fd, u->path, POLLIN, deadline);
		if (!found)
			return tenon_error(-TENON_E_TIMEOUT, "%s: no interrupt before the deadline",
					   u->path);
		if (found > 0)
			found = read_counter(u, &counter);
	} while (!found);
	if (found < 0)
		return found;
	account(u, counter, count);
	return 0;
}
