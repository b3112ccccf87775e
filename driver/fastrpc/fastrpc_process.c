/* SPDX-License-Identifier: MIT */
/* The process of a session: find the vendor's shell, and give it to the DSP. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "driver/fastrpc/fastrpc.h"
#include "driver/fastrpc/fastrpc_shell.h"
#include "driver/fastrpc/fastrpc_uapi.h"
#include "lib/brief_errors.h"

/* the kernel takes no larger program */
#define SHELL_MOST (UINT64_C(2) << 20)

/* ---- search */

struct search {
	const struct fastrpc *f;
	const char *root;
	char *path;
	size_t room;
	struct tenon_buffer tried;
};

static bool is_there(struct search *s, const char *folder, int size)
{
	int fd = -1, length = snprintf(s->path, s->room, "%s%.*s/" FASTRPC_SHELL "%u", s->root,
				       size, folder, s->f->domain);

	if (length < 0 || (size_t)length >= s->room)
		return false;
	do
		fd = s->f->calls->open(s->path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0) {
		tenon_buffer_printf(&s->tried, "%s%.*s (%s)", s->tried.size ? ", " : "", size,
				    folder, strerror(errno));
		return false;
	}
	system_close(s->f->calls, &fd);
	return true;
}

static bool search_folders(struct search *s, const char *folders)
{
	size_t size;

	for (; folders && *folders; folders += size + (folders[size] == ';')) {
		size = strcspn(folders, ";");
		if (size && is_there(s, folders, (int)size))
			return true;
	}
	return false;
}

int fastrpc_find_shell(const struct fastrpc *f, const char *root, char *path, size_t room)
{
	struct search s = { f, root, path, room, TENON_BUFFER_INIT };
	bool found = search_folders(&s, secure_getenv("ADSP_LIBRARY_PATH")) ||
		     search_folders(&s, FASTRPC_SHELL_FOLDERS);
	int err = 0;

	if (!found && s.tried.status)
		err = tenon_error(-TENON_E_NOMEM, "no memory to search the DSP's shell");
	else if (!found)
		err = tenon_error(-TENON_E_NOT_FOUND,
				  "%s: the vendor's shell " FASTRPC_SHELL
				  "%u is in none of %s; " FASTRPC_SHELL_REMEDY,
				  f->path, f->domain, s.tried.data ? s.tried.data : "no folder");
	if (err)
		*path = 0;
	tenon_buffer_fini(&s.tried);
	return err;
}

/* ---- the process */

static int check_shell(const char *name, uint64_t size, const char *begin)
{
	if (size > SHELL_MOST)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%s has more than %" PRIu64 " bytes, which the kernel takes",
				   name, SHELL_MOST);
	if (size < 52 || memcmp(begin, "\177ELF\1\1", 6))
		return tenon_error(-TENON_E_FORMAT,
				   "%s is no program of 32 bits (ELF), as a DSP's shell is", name);
	return 0;
}

/* Read the file to its end, or past the limit. */
static int read_shell(const struct fastrpc *f, const char *name, char *to, uint64_t *size)
{
	int fd = system_open(f->calls, name, O_RDONLY), err = 0;
	ssize_t n = 1;

	*size = 0;
	if (fd < 0)
		return fd;
	while (!err && n && *size <= SHELL_MOST) {
		n = f->calls->pread(fd, to + *size, (size_t)(SHELL_MOST + 1 - *size), (off_t)*size);
		if (n < 0 && errno != EINTR)
			err = system_error(errno, name, "read it");
		*size += n > 0 ? (uint64_t)n : 0;
	}
	system_close(f->calls, &fd);
	return err ? err : check_shell(name, *size, to);
}

/* The kernel wants the program in memory that the DSP reaches. */
static int create_of(const struct fastrpc *f, const char *program, uint64_t size)
{
	struct fastrpc_uapi_create create = { .size = (uint32_t)size,
					      .attributes = FASTRPC_UAPI_UNSIGNED };
	struct dmabuf buffer;
	int err = fastrpc_allocate(f, size, &buffer);

	if (err)
		return err;
	err = dmabuf_map(&buffer);
	if (!err)
		err = dmabuf_begin(&buffer, DMABUF_WRITE);
	if (!err) {
		memcpy(buffer.base, program, (size_t)size);
		err = dmabuf_end(&buffer, DMABUF_WRITE);
	}
	if (!err) {
		create.fd = buffer.fd;
		create.program = (uintptr_t)buffer.base;
		err = system_ioctl(f->calls, f->fd, FASTRPC_UAPI_CREATE, &create);
		err = err < 0 ? system_error(-err, f->path, "create an unsigned process") : 0;
	}
	/* the kernel keeps the memory as long as the process needs it */
	dmabuf_close(&buffer);
	return err;
}

int fastrpc_create(const struct fastrpc *f, const char *shell)
{
	char *program = malloc((size_t)SHELL_MOST + 1);
	uint64_t size;
	int err;

	if (!program)
		return tenon_error(-TENON_E_NOMEM, "no memory for %s", shell);
	err = read_shell(f, shell, program, &size);
	if (!err)
		err = create_of(f, program, size);
	free(program);
	return err;
}
