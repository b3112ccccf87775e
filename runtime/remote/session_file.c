/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/string.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "runtime/remote/session_state.h"

/* a file under way; a client's file may not have this name */
#define TEMPORARY ".upload"

static bool goes_up(const char *path)
{
	const char *at, *end;

	for (at = path; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, '/');
		if (end - at == 2 && at[0] == '.' && at[1] == '.')
			return true;
	}
	return false;
}

int session_check_path(struct tenon_slice text, char *path, size_t size)
{
	if (!text.size || text.size >= size || memchr(text.data, '\0', text.size))
		return tenon_error(-TENON_E_VALUE,
				   "a file name of %zu bytes: 1 to %zu are accepted, and no NUL",
				   text.size, size - 1);
	memcpy(path, text.data, text.size);
	path[text.size] = '\0';
	if (*path == '/' || goes_up(path) || !strcmp(path, TEMPORARY))
		return tenon_error(
			-TENON_E_VALUE,
			"%s: a file of a session is in the session's own folder; name it "
			"without a leading \"/\" and without \"..\"",
			path);
	return 0;
}

static int path_argument(const struct tenon_value *args, int32_t count, int32_t expected,
			 char path[PATH_MAX])
{
	struct tenon_slice text;
	int err;

	if (count != expected)
		return tenon_error(-TENON_E_TYPE, "%d arguments, expected %d", (int)count,
				   (int)expected);
	err = tenon_value_text(&args[0], &text);
	return err ? err : session_check_path(text, path, PATH_MAX);
}

static int failed(const char *path)
{
	if (errno == ENOENT)
		return tenon_error(-TENON_E_IO, "cannot find file %s", path);
	return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
}

static uint64_t size_of(const struct session *s, const char *path)
{
	struct stat st;

	if (fstatat(s->folder_fd, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_size;
}

static int write_bytes(int fd, struct tenon_slice bytes)
{
	ssize_t n;

	while (bytes.size) {
		n = write(fd, bytes.data, bytes.size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes.data += n;
		bytes.size -= (size_t)n;
	}
	return 0;
}

/*
 * Write a new file and rename it: a library that this session has loaded is mapped, and must not
 * change under its code.
 */
static int replace_file(struct session *s, const char *path, struct tenon_slice bytes)
{
	int fd, err = 0;

	fd = openat(s->folder_fd, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0700);
	if (fd < 0)
		return failed(path);
	if (write_bytes(fd, bytes))
		err = failed(path);
	if (close(fd) && !err)
		err = failed(path);
	if (!err && renameat(s->folder_fd, TEMPORARY, s->folder_fd, path))
		err = failed(path);
	if (err)
		unlinkat(s->folder_fd, TEMPORARY, 0);
	return err;
}

int session_upload(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	struct session *s = self;
	char path[PATH_MAX];
	struct tenon_slice bytes;
	uint64_t used;
	int err = path_argument(args, count, 2, path);

	(void)ret;
	if (!err)
		err = tenon_value_text(&args[1], &bytes);
	if (err)
		return err;
	used = size_of(s, path);
	used = s->folder_used > used ? s->folder_used - used : 0;
	if (used > s->options->folder_most || bytes.size > s->options->folder_most - used)
		return tenon_error(-TENON_E_IO,
				   "%s: %zu bytes, and the folder has %" PRIu64
				   ": it may have %" PRIu64 " (tenon rpc serve --folder-size)",
				   path, bytes.size, used, s->options->folder_most);
	err = replace_file(s, path, bytes);
	if (!err)
		s->folder_used = used + bytes.size;
	return err;
}

static int read_bytes(int fd, const char *path, uint64_t most, struct tenon_buffer *out)
{
	char part[16384];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part)))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(path);
		if ((size_t)n > most - out->size)
			return tenon_error(-TENON_E_OVERFLOW,
					   "%s has more than %" PRIu64
					   " bytes, which a packet may have",
					   path, most);
		tenon_buffer_append(out, part, (size_t)n);
		if (out->status)
			return out->status;
	}
	return 0;
}

int session_download(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct session *s = self;
	char path[PATH_MAX];
	int fd, err = path_argument(args, count, 1, path);

	if (err)
		return err;
	/* O_NONBLOCK: opening a FIFO that uploaded code made must not wait */
	fd = openat(s->folder_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return failed(path);
	err = read_bytes(fd, path, s->options->packet_most, &bytes);
	close(fd);
	if (!err)
		err = tenon_bytes_value((struct tenon_slice){ bytes.data, bytes.size }, ret);
	tenon_buffer_fini(&bytes);
	return err;
}

static bool ends_in(const char *path, const char *end)
{
	size_t size = strlen(path), more = strlen(end);

	return size > more && !strcmp(path + size - more, end);
}

int session_download_linked(void *self, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret)
{
	char path[PATH_MAX];
	int err = path_argument(args, count, 1, path);

	if (err)
		return err;
	if (!ends_in(path, ".so"))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: this server links no modules; upload a .so file", path);
	return session_download(self, args, count, ret);
}

int session_remove(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	struct session *s = self;
	char path[PATH_MAX];
	uint64_t size;
	int err = path_argument(args, count, 1, path);

	(void)ret;
	if (err)
		return err;
	size = size_of(s, path);
	/* for TVM, a missing file is no error */
	if (unlinkat(s->folder_fd, path, 0) && errno != ENOENT)
		return failed(path);
	s->folder_used -= size < s->folder_used ? size : s->folder_used;
	return 0;
}

static int list(DIR *dir, struct tenon_buffer *out)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !strcmp(entry->d_name, TEMPORARY))
			continue;
		tenon_buffer_printf(out, "%s%s", out->size ? "," : "", entry->d_name);
	}
	return out->status;
}

int session_listdir(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	struct session *s = self;
	char path[PATH_MAX];
	DIR *dir;
	int fd, err = path_argument(args, count, 1, path);

	if (err)
		return err;
	fd = openat(s->folder_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = failed(path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	err = list(dir, &names);
	closedir(dir);
	if (!err)
		err = tenon_string_value((struct tenon_slice){ names.data, names.size }, ret);
	tenon_buffer_fini(&names);
	return err;
}
