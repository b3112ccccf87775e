/* SPDX-License-Identifier: MIT */
/* Make the folder and the file of a board whose memory is a file, and run its firmware on the simulator. */
#include "tests/cts/mortise_file_board.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "firmware/sim/sim.h"

#define WINDOW	(16U << 20)
#define LOOK_NS 1000000U

static char folder[300], path[320];
static pid_t owner;
static void *window;
static struct sim *sim;

static int drop(const char *name, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(name);
}

static void clean_up(void)
{
	if (getpid() == owner)
		nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

const char *file_board_create(void)
{
	const char *temporary = getenv("TMPDIR");
	int fd;

	snprintf(folder, sizeof(folder), "%.250s/board.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(folder))
		return NULL;
	owner = getpid();
	atexit(clean_up);
	snprintf(path, sizeof(path), "%s/memory", folder);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, WINDOW))
		return NULL;
	/* code that the host puts there is of this machine, and runs here */
	window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
	close(fd);
	return window == MAP_FAILED ? NULL : folder;
}

const char *file_board_path(void)
{
	return path;
}

int file_board_start(void)
{
	memset(window, 0, 0x12000);
	return sim_start(window, WINDOW, LOOK_NS, &sim);
}

int file_board_stop(void)
{
	int err = sim ? sim_stop(sim) : 0;

	sim = err ? sim : NULL;
	return err;
}
