/* SPDX-License-Identifier: MIT */
/* Start a tracker, a proxy or a server, and read its log and what it answers. */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/remote/farm_process.h"

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
}

/* What the process has written so far. */
static const char *log_of(const struct farm_process *p)
{
	static char text[65536];
	int fd = open(p->log, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

void farm_wait_log(const struct farm_process *p, const char *text)
{
	const uint64_t end = clock_ms() + PATIENCE_S * 1000;

	while (!strstr(log_of(p), text)) {
		if (clock_ms() > end || waitpid(p->pid, NULL, WNOHANG) == p->pid)
			fail_msg("no \"%s\" in: %s", text, log_of(p));
		pause_briefly();
	}
}

void farm_start(struct farm_process *p, const char *const *words)
{
	static unsigned int serial;
	const char *argv[40] = { getenv("TENON_COMMAND"), "rpc" }, *base = getenv("TMPDIR"), *at;
	int i, fd, listens = 0;

	for (i = 0; words[i]; i++) {
		argv[2 + i] = words[i];
		listens |= !strcmp(words[i], "127.0.0.1:0");
	}
	assert_non_null(argv[0]);
	snprintf(p->log, sizeof(p->log), "%s/farm-%d-%u.log", base ? base : "/tmp", (int)getpid(),
		 serial++);
	fd = open(p->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	p->pid = fork();
	if (!p->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, 2);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(fd);
	p->port = 0;
	if (!listens)
		return;
	farm_wait_log(p, "listening on 127.0.0.1:");
	/* the line may be incomplete */
	do
		at = strchr(strstr(log_of(p), "listening on"), '\n');
	while (!at);
	p->port = atoi(strstr(log_of(p), "listening on 127.0.0.1:") + 23);
}

int farm_stop(struct farm_process *p)
{
	int status = -1;

	kill(p->pid, SIGTERM);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	unlink(p->log);
	return status;
}

int farm_connect(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct timeval patience = { PATIENCE_S, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

void farm_send(int fd, const void *data, size_t size)
{
	/* the peer may have closed the connection */
	if (send(fd, data, size, MSG_NOSIGNAL) < 0)
		errno = 0;
}

bool farm_read(int fd, void *data, size_t size)
{
	return recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

bool farm_closes(int fd)
{
	char bytes[256];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		;
	return !n || errno == ECONNRESET;
}

void farm_send_key(int fd, const char *key)
{
	char bytes[256] = { 0x71, (char)0xf2, 0x0f, 0, (char)strlen(key), 0, 0, 0 };

	strcpy(bytes + 8, key);
	farm_send(fd, bytes, 8 + strlen(key));
}

void farm_expect_key(int fd, const char *key)
{
	char bytes[256], want[256] = { 0x71, (char)0xf2, 0x0f, 0, (char)strlen(key), 0, 0, 0 };
	size_t size = 8 + strlen(key);

	strcpy(want + 8, key);
	assert_true(farm_read(fd, bytes, size));
	assert_memory_equal(bytes, want, size);
}

void farm_use_session(int fd)
{
	static const char init[] = "\x15\0\0\0\0\0\0\0\x02\0\0\0\x05\0\0\0\0\0\0\0"
				   "0.8.0\0\0\0\0";
	char reply[16];

	farm_send(fd, init, sizeof(init) - 1);
	assert_true(farm_read(fd, reply, sizeof(reply)));
	assert_memory_equal(reply, "\x08\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0", 16);
}

int tracker_connect(int port)
{
	int fd = farm_connect(port);
	char magic[4];

	farm_send(fd, "\x71\xf2\x02\0", 4);
	assert_true(farm_read(fd, magic, 4));
	assert_memory_equal(magic, "\x71\xf2\x02\0", 4);
	return fd;
}

void tracker_send(int fd, const char *json)
{
	char frame[4096] = { 0 };
	size_t size = strlen(json);

	assert_true(size < sizeof(frame) - 4);
	frame[0] = (char)size;
	frame[1] = (char)(size >> 8);
	memcpy(frame + 4, json, size);
	farm_send(fd, frame, 4 + size);
}

const char *tracker_receive(int fd)
{
	static char text[1 << 20];
	uint8_t b[4];
	uint32_t size;

	if (!farm_read(fd, b, 4))
		return "";
	size = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	assert_true(size < sizeof(text));
	assert_true(farm_read(fd, text, size));
	text[size] = '\0';
	return text;
}

const char *tracker_exchange(int fd, const char *json)
{
	tracker_send(fd, json);
	return tracker_receive(fd);
}
