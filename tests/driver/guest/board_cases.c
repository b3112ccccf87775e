/* SPDX-License-Identifier: MIT */
/*
 * A board behind uio_pci_generic whose doorbell and interrupt are those of edu, in slot 4: writing the doorbell raises
 * INTx. Its memory is a named fake, a memfd in the place of a BAR that edu has not; no firmware runs in it.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <tenon/uapi/mortise.h>
#include <unistd.h>

#include "driver/board/board.h"
#include "driver/uio/uio.h"
#include "lib/clock.h"
#include "tests/driver/guest/edu.h"
#include "tests/driver/guest/guest.h"

#define WINDOW (1u << 20)

static int window = -1;
static struct board *board;
static struct uio u; /* to see what edu has */

static int memory_with(const void *bytes, size_t size, off_t at, off_t whole)
{
	int fd = memfd_create("board", MFD_CLOEXEC);

	if (fd >= 0 && (ftruncate(fd, whole) || pwrite(fd, bytes, size, at) != (ssize_t)size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcmp(path + n - m, end);
}

static int open_with_window(const char *path, int flags)
{
	static const char bars[] = "0x00000000fe000000 0x00000000fe0fffff 0x0000000000040200\n"
				   "0x00000000fd000000 0x00000000fd0fffff 0x0000000000040200\n";

	if (ends_with(path, "/device/resource1"))
		return fcntl(window, F_DUPFD_CLOEXEC, 3);
	if (ends_with(path, "/device/resource"))
		return memory_with(bars, sizeof(bars) - 1, 0, sizeof(bars) - 1);
	return system_calls_of_kernel.open(path, flags);
}

static void a_board_of_uio_opens(void)
{
	static const struct mortise_identity identity = { .magic = MORTISE_MAGIC,
							  .window_size = WINDOW };
	static struct system_calls calls;
	const struct board_place place = { .path = "/0",
					   .keys = { [BOARD_WINDOW] = "1",
						     [BOARD_DOORBELL] = "0:0x60:1",
						     [BOARD_ACKNOWLEDGE] = "0:0x64:1" },
					   .calls = &calls };

	calls = system_calls_of_kernel;
	calls.open = open_with_window;
	window = memory_with(&identity, sizeof(identity), MORTISE_CONTROL_OFFSET, WINDOW);
	expect(window >= 0);
	expect(!uio_open(NULL, "", 0, &u));
	expect(!uio_pci_map(&u, 0));
	expect(!board_attach(board_kind_find("uio"), &place, &board));
	expect(board_port(board)->doorbell && board_port(board)->sleep);
	expect(!board_alive(board));
}

static void two_hundred_interrupts_of_a_board_are_taken_back(void)
{
	const struct ring_port *port;
	volatile uint8_t *edu = u.bar[0].base;

	expect(board && edu);
	port = board_port(board);
	for (int i = 0; i < 200; i++) {
		uint64_t deadline = guest_deadline();

		port->doorbell(port->context);
		expect(edu_read(edu, EDU_IRQ_STATUS) == 1);
		port->sleep(port->context, deadline);
		/* it was the interrupt that ended the sleep */
		expect(clock_now() < deadline);
		expect(edu_read(edu, EDU_IRQ_STATUS) == 0);
	}
}

static void a_board_without_an_interrupt_sleeps_until_its_deadline(void)
{
	const struct ring_port *port;
	uint64_t deadline;

	expect(board);
	port = board_port(board);
	deadline = clock_now() + 10000000;
	port->sleep(port->context, deadline);
	expect(clock_now() >= deadline);
}

static void a_board_closes(void)
{
	expect(board);
	board_close(board);
	uio_close(&u);
	close(window);
}

const struct guest_case board_cases[] = {
	{ "board: one of uio opens", a_board_of_uio_opens },
	{ "board: two hundred interrupts are taken back",
	  two_hundred_interrupts_of_a_board_are_taken_back },
	{ "board: without an interrupt it sleeps until its deadline",
	  a_board_without_an_interrupt_sleeps_until_its_deadline },
	{ "board: it closes", a_board_closes },
	{ NULL, NULL },
};
