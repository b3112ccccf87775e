/* SPDX-License-Identifier: MIT */
/*
 * A named model of a core of TI's PRU subsystem, for a guest whose kernel drives it by pru_rproc. The registers are RAM of the guest
 * (pruss.dts). When the driver enables the core, at the entry of the firmware that it loaded, this process runs mortise on the
 * simulator, in memory that the guest sees as a BAR of ivshmem-plain.
 *
 *	remoteproc_core GUEST-RAM WINDOW
 *
 * It ends when its standard input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tenon/uapi/mortise.h>
#include <unistd.h>

#include "firmware/sim/sim.h"
#include "tests/driver/remoteproc_core.h"

#define SUBSYSTEM   0x0f000000U /* in the guest's RAM, which begins at 0x40000000 */
#define CONTROL	    (SUBSYSTEM + 0x22000U)
#define CODE	    (SUBSYSTEM + 0x34000U)
#define ENABLE	    (1U << 1)
#define RUNS	    (1U << 15)
#define ENTRY_SHIFT 16
#define LOOK_NS	    UINT64_C(100000)

static struct sim *sim;

static void give_up(const char *what)
{
	fprintf(stderr, "remoteproc_core: %s: %s\n", what, strerror(errno));
	exit(1);
}

static volatile uint8_t *map(const char *path, int protection, size_t *size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat s;
	void *base;

	if (fd < 0 || fstat(fd, &s))
		give_up(path);
	*size = (size_t)s.st_size;
	base = mmap(NULL, *size, protection, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		give_up(path);
	close(fd);
	return base;
}

/* What the firmware left in its control block must not be seen by the next host. */
static void stop(volatile uint8_t *window)
{
	if (!sim)
		return;
	if (sim_stop(sim))
		give_up("stop");
	sim = NULL;
	memset((uint8_t *)window + MORTISE_CONTROL_OFFSET, 0, sizeof(struct mortise_control));
}

/* The first word of the code tells a new start from one that was seen. It is read before the enable, which comes after it. */
static void look(volatile uint8_t *ram, volatile uint8_t *window, size_t size)
{
	volatile uint32_t *control = (volatile uint32_t *)(ram + CONTROL);
	volatile uint32_t *code = (volatile uint32_t *)(ram + CODE);
	uint32_t loaded = __atomic_load_n(code, __ATOMIC_ACQUIRE);
	uint32_t word = __atomic_load_n(control, __ATOMIC_ACQUIRE);

	if (!(word & ENABLE)) {
		stop(window);
		__atomic_and_fetch(control, ~RUNS, __ATOMIC_ACQ_REL);
		return;
	}
	if (loaded != CORE_FIRMWARE_WORD || word >> ENTRY_SHIFT != CORE_FIRMWARE_ENTRY / 4)
		return;
	stop(window);
	*code = 0;
	if (sim_start((void *)window, size, LOOK_NS, &sim))
		give_up("start the firmware");
	__atomic_or_fetch(control, RUNS, __ATOMIC_ACQ_REL);
}

int main(int argc, char **argv)
{
	struct pollfd leash = { STDIN_FILENO, POLLIN, 0 };
	volatile uint8_t *ram, *window;
	size_t ram_size, size;

	if (argc != 3) {
		fprintf(stderr, "usage: remoteproc_core GUEST-RAM WINDOW\n");
		return 2;
	}
	ram = map(argv[1], PROT_READ | PROT_WRITE, &ram_size);
	window = map(argv[2], PROT_READ | PROT_WRITE, &size);
	if (ram_size < CODE + 4)
		give_up("the guest's RAM is too small");
	while (poll(&leash, 1, 1) <= 0)
		look(ram, window, size);
	return 0;
}
