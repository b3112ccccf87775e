/* SPDX-License-Identifier: MIT */
/* Check the file or folder that parameters are written to */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/model/params.h"
#include "runtime/core/saved_tensor.h"
#include "tools/params/params.h"

static bool ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), k = strlen(suffix);

	return n >= k && !strcmp(text + n - k, suffix);
}

/* Test whether a file must not be overwritten; its first bytes identify a parameter file. */
static bool holds_something_else(const char *path)
{
	uint8_t head[8];
	struct stat st;
	uint64_t magic = 0;
	ssize_t got = 0;
	size_t i;
	int fd;

	/* Pipes and devices can be written. */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, head, sizeof(head));
		close(fd);
	}
	if (got < (ssize_t)sizeof(head))
		return true;
	for (i = 0; i < sizeof(head); i++)
		magic |= (uint64_t)head[i] << 8 * i;
	return magic != PARAMS_MAGIC && magic != SAVED_TENSOR_MAGIC;
}

const char *params_target(const struct words *w)
{
	return w->output ? w->output : w->word[w->count - 1];
}

int params_check_target(struct cli *cli, const char *to)
{
	if (ends(to, ".npy") || ends(to, ".npz"))
		return cli_usage(cli,
				 "%s: this name is for NumPy files, not for parameters: name a "
				 "different file, as the last argument or with -o",
				 to);
	if (holds_something_else(to))
		return cli_usage(cli,
				 "%s exists and is not a file of parameters: remove it, or name a "
				 "different file, as the last argument or with -o",
				 to);
	return 0;
}
