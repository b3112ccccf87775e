/* SPDX-License-Identifier: MIT */
/*
 * The other machine: a process that has a board's memory and runs the firmware in it, on the simulator. A guest's QEMU
 * connects to its socket as to a server of ivshmem (docs/specs/ivshmem-spec.rst of QEMU) and finds the memory as a BAR,
 * the doorbell as a register, and one interrupt. Peer 0 is this process, peer 1 the guest.
 *
 *	ivshmem_peer SOCKET
 *
 * It takes one guest, and ends when the guest closes the connection or when its standard input ends.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "firmware/sim/sim.h"
#include "lib/fence_fd.h"

#define WINDOW	(16U << 20)
#define VERSION 0
#define US	0
#define GUEST	1
#define MEMORY	(-1)

static struct sim *sim;
static int our_doorbell, guest_interrupt;

static void give_up(const char *what)
{
	fprintf(stderr, "ivshmem_peer: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A message is a number of 64 bits, and perhaps a descriptor. */
static void say(int to, int64_t number, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec bytes = { &number, sizeof(number) };
	struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };

	memset(&control, 0, sizeof(control));
	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	if (sendmsg(to, &m, MSG_NOSIGNAL) != sizeof(number))
		give_up("send");
}

static void *forward_doorbell(void *unused)
{
	uint64_t count;

	/* QEMU makes the descriptor one that does not block, for both sides */
	while (fence_fd_wait(our_doorbell, UINT64_MAX) > 0)
		if (read(our_doorbell, &count, sizeof(count)) == sizeof(count))
			sim_doorbell(sim);
	return unused;
}

static void *forward_interrupt(void *unused)
{
	const uint64_t one = 1;

	/* an early return is an interrupt that the host did not ask for: it looks and sleeps again */
	for (;;) {
		sim_await_interrupt(sim, UINT64_MAX);
		if (write(guest_interrupt, &one, sizeof(one)) < 0 && errno != EAGAIN)
			return unused;
	}
}

static int boot(void)
{
	int memory = memfd_create("board", MFD_CLOEXEC);
	void *window;

	if (memory < 0 || ftruncate(memory, WINDOW))
		give_up("memory");
	/* functions that the guest puts there are of this machine, and run here */
	window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, memory, 0);
	if (window == MAP_FAILED)
		give_up("map the memory");
	our_doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	guest_interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (our_doorbell < 0 || guest_interrupt < 0 || sim_start(window, WINDOW, 0, &sim))
		give_up("start the firmware");
	return memory;
}

static int listen_at(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(at.sun_path))
		give_up(path);
	strcpy(at.sun_path, path);
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
		give_up(path);
	return fd;
}

/* Wait until a descriptor can be read; the end of standard input ends the process. */
static void await(int fd)
{
	struct pollfd polled[2] = { { fd, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };

	while (poll(polled, 2, -1) < 0)
		if (errno != EINTR)
			give_up("poll");
	if (!polled[0].revents)
		exit(0);
}

int main(int argc, char **argv)
{
	int memory, listener, guest;
	pthread_t thread;
	char byte;

	if (argc != 2) {
		fprintf(stderr, "usage: ivshmem_peer SOCKET\n");
		return 2;
	}
	memory = boot();
	listener = listen_at(argv[1]);
	await(listener);
	guest = accept(listener, NULL, NULL);
	if (guest < 0)
		give_up("accept");
	say(guest, VERSION, -1);
	say(guest, GUEST, -1);
	say(guest, MEMORY, memory);
	say(guest, US, our_doorbell);
	say(guest, GUEST, guest_interrupt);
	if (pthread_create(&thread, NULL, forward_doorbell, NULL) ||
	    pthread_create(&thread, NULL, forward_interrupt, NULL))
		give_up("threads");
	do
		await(guest);
	while (read(guest, &byte, 1) > 0);
	exit(0);
}
