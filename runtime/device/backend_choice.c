/* SPDX-License-Identifier: MIT */
/* Read the list of backends once, and report names in it that do not exist. */
#include "runtime/device/backend_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "generated/install_paths.h"
#include "lib/brief_errors.h"

#define BETWEEN ", \t\r\n"

static char list[BACKEND_LIST_MOST]; /* "" allows all backends */
static const char *source;	     /* origin of the list; NULL for none */
static const char *unused;	     /* why the list of @source is ignored; or NULL */

/* Take the next name off a list; 0 when there is none. */
static size_t next_name(const char **at, const char **name)
{
	*at += strspn(*at, BETWEEN);
	while (**at == '#') {
		*at += strcspn(*at, "\n");
		*at += strspn(*at, BETWEEN);
	}
	*name = *at;
	*at += strcspn(*at, BETWEEN "#");
	return (size_t)(*at - *name);
}

bool backend_list_leaves_out(const char *at, const char *name)
{
	bool some_only = false, named = false;
	size_t length = strlen(name), n;
	const char *word;

	while ((n = next_name(&at, &word))) {
		if (*word != '-') {
			some_only = true;
			named |= n == length && !memcmp(word, name, n);
		} else if (n - 1 == length && !memcmp(word + 1, name, length)) {
			return true;
		}
	}
	return some_only && !named;
}

int backend_list_read(const char *path, char to[BACKEND_LIST_MOST], const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), size = 0;
	ssize_t n;

	*to = 0;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -1;
	do {
		n = fd < 0 ? -1 : read(fd, to + size, (size_t)(BACKEND_LIST_MOST - size));
		if (n > 0)
			size += (int)n;
	} while (n > 0 && size < BACKEND_LIST_MOST);
	*why = n < 0			     ? strerror(errno)
	       : size == BACKEND_LIST_MOST   ? "longer than 4095 bytes"
	       : memchr(to, 0, (size_t)size) ? "it holds a NUL"
					     : NULL;
	if (fd >= 0)
		close(fd);
	to[*why ? 0 : size] = 0;
	return *why ? -2 : size;
}

static void read_list(void)
{
	const char *said = secure_getenv("TENON_BACKENDS");

	if (!said) {
		if (backend_list_read(TENON_BACKENDS_FILE, list, &unused) != -1)
			source = TENON_BACKENDS_FILE;
		return;
	}
	source = "TENON_BACKENDS";
	if (strlen(said) < sizeof(list))
		strcpy(list, said);
	else
		unused = "longer than 4095 bytes";
}

static void read_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_list);
}

int backend_check_choice(const struct tenon_backend *b)
{
	if (b->device_type == kDLCPU)
		return 0;
	read_once();
	if (!backend_list_leaves_out(list, b->name))
		return 0;
	return tenon_error(-TENON_E_DEVICE, "%s is left out by %s", b->name, source);
}

int backend_choice_problems(struct tenon_buffer *out)
{
	const char *at = list, *word;
	struct tenon_slice name;

	read_once();
	if (unused)
		tenon_buffer_printf(out, "%s is not used: %s\n", source, unused);
	while ((name.size = next_name(&at, &word))) {
		name.data = word + (*word == '-');
		name.size -= *word == '-';
		if (!tenon_backend_find(name))
			tenon_buffer_printf(out, "%s: no backend is called \"%.*s\"\n", source,
					    (int)name.size, name.data);
	}
	return out->status;
}
