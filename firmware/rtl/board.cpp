/* SPDX-License-Identifier: MIT */
/*
 * The accelerator as a board, in a process of its own: descriptor 3 is the window, descriptor 4 a socket. A byte from it
 * is the doorbell, a byte to it the interrupt, as of the UART of a board that QEMU emulates. Its end ends the board.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "firmware/rtl/model.h"

enum { MEMORY = 3, SOCKET = 4 };

#define WINDOW	0x40000000U
#define LATENCY 8
/* cycles between two looks at the socket while the accelerator works */
#define LOOK 65536U

enum Heard { NOTHING, DOORBELL, CLOSED };

/* What the host says; waits for it where @wait says so. */
static Heard listen_to_host(bool wait)
{
	struct pollfd p = { SOCKET, POLLIN, 0 };
	char bytes[64];
	ssize_t n;

	if (poll(&p, 1, wait ? -1 : 0) <= 0)
		return NOTHING;
	n = recv(SOCKET, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n > 0)
		return DOORBELL;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? NOTHING : CLOSED;
}

static void interrupt_host(Model &model)
{
	model.write_register(REGISTER_INTERRUPT, 1);
	/* a socket that is full has interrupts enough */
	(void)!send(SOCKET, "i", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void run(Model &model)
{
	Heard heard;

	for (;;) {
		for (unsigned int i = 0; i < LOOK && !model.irq() && !model.asleep(); i++)
			model.tick();
		if (model.irq())
			interrupt_host(model);
		if (model.asleep() && model.read_register(REGISTER_STATUS) & STATUS_STOPPED)
			return;
		/* asleep, the clock stands still until the doorbell rings */
		heard = listen_to_host(model.asleep());
		if (heard == CLOSED)
			return;
		if (heard == DOORBELL)
			model.write_register(REGISTER_DOORBELL, 1);
		while (heard == DOORBELL && model.asleep())
			model.tick();
	}
}

int main()
{
	struct stat st;
	void *memory;

	if (fstat(MEMORY, &st) || st.st_size <= 0 || st.st_size > 1 << 30) {
		fprintf(stderr, "mortise-rtl: descriptor 3 is no memory of a board; mortise://rtl starts this program\n");
		return 2;
	}
	memory = mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
	if (memory == MAP_FAILED) {
		fprintf(stderr, "mortise-rtl: the window cannot be mapped: %s\n", strerror(errno));
		return 2;
	}
	Model model(static_cast<uint8_t *>(memory), static_cast<size_t>(st.st_size), WINDOW, LATENCY);

	model.write_register(REGISTER_WINDOW, WINDOW);
	model.write_register(REGISTER_WINDOW_SIZE, static_cast<uint32_t>(st.st_size));
	model.write_register(REGISTER_ENABLE, 1);
	model.write_register(REGISTER_CONTROL, 1);
	run(model);
	return 0;
}
