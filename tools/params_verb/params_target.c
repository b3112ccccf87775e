/* SPDX-License-Identifier: MIT */
/* Check the file or folder that parameters are written to. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/model/params.h"
#include "runtime/core/saved_tensor.h"
#include "tools/params_verb/params.h"

static bool ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), k = strlen(suffix);

	return n >= k && !strcmp(text + n - k, suffix);
}

/* first bytes that tell what a file is */
#define HEAD 9

static bool read_head(const char *path, uint8_t head[HEAD])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool whole = fd >= 0 && read(fd, head, HEAD) == HEAD;

	if (fd >= 0)
		close(fd);
	return whole;
}

static bool is_safetensors(const uint8_t head[HEAD])
{
	return head[8] == '{' && !head[7] && !head[6];
}

/* Test whether a file must not be overwritten; its first bytes identify a parameter file. */
static bool holds_something_else(const char *path)
{
	uint8_t head[HEAD];
	struct stat st;
	uint64_t magic = 0;
	size_t i;

	/* Pipes and devices can be written. */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	if (!read_head(path, head))
		return true;
	for (i = 0; i < 8; i++)
		magic |= (uint64_t)head[i] << 8 * i;
	return magic != PARAMS_MAGIC && magic != SAVED_TENSOR_MAGIC && !is_safetensors(head);
}

bool params_in_safetensors(const char *path)
{
	uint8_t head[HEAD];

	return ends(path, ".safetensors") || (read_head(path, head) && is_safetensors(head));
}

const char *params_target(const struct words *w)
{
	return w->output ? w->output : w->word[w->count - 1];
}

bool params_in_npz(const char *path)
{
	return ends(path, ".npz");
}

int params_check_target(struct cli *cli, const char *to)
{
	if (ends(to, ".npy") || ends(to, ".npz"))
		return cli_usage(cli,
				 "%s: this name is for NumPy files, not for parameters: name a "
				 "different file, as the last argument or with -o",
				 to);
	return params_check_contents(cli, to);
}

int params_check_contents(struct cli *cli, const char *to)
{
	if (holds_something_else(to))
		return cli_usage(cli,
				 "%s exists and is not a file of parameters: remove it, or name a "
				 "different file, as the last argument or with -o",
				 to);
	return 0;
}
