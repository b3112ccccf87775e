/* SPDX-License-Identifier: MIT */
/* Connect to the socket of an emulator's UART, write doorbells and wait for interrupts. */
#include "driver/board/uart.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/fence_fd.h"

int uart_connect(const char *path, int *fd)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	*fd = -1;
	if (strlen(path) >= sizeof(to.sun_path))
		return tenon_error(-TENON_E_VALUE, "%s: too long for the name of a socket", path);
	strcpy(to.sun_path, path);
	/* does not block: a socket whose queue of callers is full is an error */
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd >= 0 && !connect(*fd, (const struct sockaddr *)&to, sizeof(to)))
		return 0;
	tenon_error(-TENON_E_DEVICE, "%s: cannot connect to the doorbell: %s", path,
		    strerror(errno));
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return -TENON_E_DEVICE;
}

/* A full socket holds bytes that wake the core already. */
void uart_ring(int fd)
{
	while (send(fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

void uart_sleep(int fd, uint64_t deadline)
{
	char bytes[256];
	ssize_t n;

	if (!fence_fd_wait(fd, deadline))
		return;
	n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	/* an emulator that has ended sends nothing: do not spin until the caller notices */
	if (n == 0)
		poll(NULL, 0, 1);
}

int uart_check(const char *name, int fd)
{
	struct pollfd poll_for = { .fd = fd, .events = POLLIN };

	if (poll(&poll_for, 1, 0) < 0 || !(poll_for.revents & (POLLHUP | POLLERR)))
		return 0;
	return tenon_error(-TENON_E_LOST, "%s: the emulator has ended", name);
}
