/* SPDX-License-Identifier: MIT */
/*
 * A core behind a named fake of remoteproc: files stand for its attributes below ?root=, and a write to "state" boots or
 * ends the simulator, whose memory is a file. tests/driver/remoteproc_guest.sh has the kernel's, with fewer cases.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/cts/mortise_code.h"
#include "tests/cts/mortise_file_board.h"

static char uri[800], core[PATH_MAX];

static int put(const char *name, const char *text)
{
	char path[PATH_MAX + 16];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", core, name);
	f = fopen(path, "w");
	return !f || fputs(text, f) < 0 || fclose(f);
}

/* Is it the attribute of the fake that begins and ends the firmware? */
static int is_state(int fd)
{
	char link[40], target[PATH_MAX] = "", state[PATH_MAX + 8];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	snprintf(state, sizeof(state), "%s/state", core);
	return *core && readlink(link, target, sizeof(target) - 1) > 0 && !strcmp(target, state);
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t size)
{
	if (size == 5 && !memcmp(bytes, "start", 5) && is_state(fd))
		return file_board_start() || put("state", "running\n") ? -1 : (ssize_t)size;
	if (size == 4 && !memcmp(bytes, "stop", 4) && is_state(fd))
		return file_board_stop() || put("state", "offline\n") ? -1 : (ssize_t)size;
	return syscall(SYS_write, fd, bytes, size);
}

static int make_core(const char *root)
{
	static const char *const levels[] = { "sys", "class", "remoteproc", "remoteproc0" };
	size_t i;

	snprintf(core, sizeof(core), "%s", root);
	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		strcat(core, "/");
		strcat(core, levels[i]);
		if (mkdir(core, 0700))
			return -1;
	}
	return put("name", "fake.dsp\n") || put("state", "offline\n") || put("firmware", "none\n");
}

static const char *setup(void)
{
	const char *why = mortise_left_out(), *root;

	if (why)
		return why;
	root = file_board_create();
	if (!root || make_core(root))
		return "no folder for the fake";
	snprintf(uri, sizeof(uri),
		 "mortise://remoteproc/0" MORTISE_PATIENT
		 "&root=%s&memory=%s&firmware=tenon/mortise.elf",
		 root, file_board_path());
	return mortise_register();
}

const struct cts_backend cts_backend = {
	.uri = uri,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = setup,
};
