/* SPDX-License-Identifier: MIT */
/* Open the line, log in, send lines and wait for answers. */
#include "tools/hil/console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"

#define SOCKET_PREFIX "unix:"
#define RECEIVED_MOST (64u << 20)

/* ---- open */

static int connect_socket(const char *path, int *out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return tenon_error(-TENON_E_IO, "%s: the path of a socket has at most %zu bytes",
				   path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		if (fd >= 0)
			close(fd);
		return tenon_error(-TENON_E_IO, "%s: cannot connect: %s", path, strerror(errno));
	}
	*out = fd;
	return 0;
}

static int speed_of(int64_t baud, speed_t *out)
{
	static const struct {
		int64_t baud;
		speed_t speed;
	} speeds[] = {
		{ 9600, B9600 },       { 19200, B19200 },     { 38400, B38400 },
		{ 57600, B57600 },     { 115200, B115200 },   { 230400, B230400 },
		{ 460800, B460800 },   { 921600, B921600 },   { 1000000, B1000000 },
		{ 1500000, B1500000 }, { 2000000, B2000000 }, { 3000000, B3000000 },
		{ 4000000, B4000000 },
	};

	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		if (speeds[i].baud == baud) {
			*out = speeds[i].speed;
			return 0;
		}
	}
	return tenon_error(-TENON_E_VALUE,
			   "%lld baud is no speed of a serial line; 115200 is usual",
			   (long long)baud);
}

static int open_device(const char *path, int64_t baud, int *out)
{
	struct termios mode;
	speed_t speed = B115200;
	int err = speed_of(baud, &speed), fd;

	if (err)
		return err;
	fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return tenon_error(-TENON_E_IO, "%s: cannot open: %s", path, strerror(errno));
	if (tcgetattr(fd, &mode)) {
		close(fd);
		return tenon_error(-TENON_E_IO, "%s: not a serial line", path);
	}
	cfmakeraw(&mode);
	mode.c_cflag |= CLOCAL | CREAD;
	cfsetspeed(&mode, speed);
	if (tcsetattr(fd, TCSANOW, &mode)) {
		close(fd);
		return tenon_error(-TENON_E_IO, "%s: cannot set %lld baud: %s", path,
				   (long long)baud, strerror(errno));
	}
	*out = fd;
	return 0;
}

int console_open(const char *where, int64_t speed, const char *log, struct console *console)
{
	size_t prefix = strlen(SOCKET_PREFIX);
	int err;

	*console = (struct console){ .fd = -1, .log = -1 };
	console->log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (console->log < 0)
		return tenon_error(-TENON_E_IO, "%s: cannot open: %s", log, strerror(errno));
	if (!strncmp(where, SOCKET_PREFIX, prefix))
		err = connect_socket(where + prefix, &console->fd);
	else
		err = open_device(where, speed, &console->fd);
	if (err)
		console_close(console);
	return err;
}

void console_close(struct console *console)
{
	if (console->fd >= 0)
		close(console->fd);
	if (console->log >= 0)
		close(console->log);
	tenon_buffer_fini(&console->received);
	console->fd = -1;
	console->log = -1;
}

/* ---- transfer */

int console_send(struct console *console, const char *text, uint64_t deadline,
		 const struct stop *stop)
{
	size_t left = strlen(text);

	while (left) {
		struct pollfd ready[2] = { { .fd = console->fd, .events = POLLOUT },
					   { .fd = stop->fd, .events = POLLIN } };
		ssize_t sent = write(console->fd, text, left);

		if (sent > 0) {
			text += sent;
			left -= (size_t)sent;
			continue;
		}
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return -TENON_E_LOST;
		if (stop_is_requested(stop))
			return -TENON_E_CALL;
		if (clock_now() >= deadline)
			return -TENON_E_TIMEOUT;
		poll(ready, 2, 20);
	}
	return 0;
}

static int read_some(struct console *console)
{
	char bytes[4096];
	ssize_t got = read(console->fd, bytes, sizeof(bytes)), written;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -TENON_E_LOST;
	if (!got)
		return -TENON_E_LOST;
	written = write(console->log, bytes, (size_t)got);
	(void)written;
	if (console->received.size + (size_t)got > RECEIVED_MOST)
		return -TENON_E_LOST;
	return tenon_buffer_append(&console->received, bytes, (size_t)got);
}

int console_receive(struct console *console, int milliseconds, const struct stop *stop)
{
	struct pollfd ready[2] = { { .fd = console->fd, .events = POLLIN },
				   { .fd = stop->fd, .events = POLLIN } };

	if (stop_is_requested(stop))
		return -TENON_E_CALL;
	poll(ready, 2, milliseconds);
	return ready[0].revents ? read_some(console) : 0;
}

/* The mark may follow other text in its line, since the kernel prints at any moment. */
static bool find_line(const struct tenon_buffer *text, const char *mark, size_t *found)
{
	const char *at = text->size ? memmem(text->data, text->size, mark, strlen(mark)) : NULL;

	if (!at || !memchr(at, '\n', text->size - (size_t)(at - text->data)))
		return false;
	*found = (size_t)(at - text->data);
	return true;
}

int console_wait(struct console *console, const char *mark, uint64_t deadline,
		 const struct stop *stop, size_t *found)
{
	while (!find_line(&console->received, mark, found)) {
		int err = console_receive(console, 100, stop);

		if (err)
			return err;
		if (clock_now() >= deadline)
			return -TENON_E_TIMEOUT;
	}
	return 0;
}
