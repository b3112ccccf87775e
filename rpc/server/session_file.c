/* SPDX-License-Identifier: MIT */
/* Requests for files: upload, download, list, remove, and take from the cache. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <time.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/sha256.h"
#include "lib/whole_io.h"
#include "rpc/server/file_cache.h"
#include "rpc/server/kernel_store.h"
#include "rpc/server/session_state.h"
#include "runtime/core/arguments.h"

/* a file under way; a client's file may not have this name */
#define TEMPORARY ".upload"

/* how often to look for what the server does, and how many times while it copies to the cache */
#define LOOK_MS	      10
#define KEEPING_TIMES 1000

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

/* @used: bytes of the other files */
static int check_quota(const struct session *s, const char *path, uint64_t size, uint64_t *used)
{
	*used = size_of(s, path);
	*used = s->folder_used > *used ? s->folder_used - *used : 0;
	if (*used <= s->options->folder_most && size <= s->options->folder_most - *used)
		return 0;
	return tenon_error(-TENON_E_IO,
			   "%s: %" PRIu64 " bytes, and the folder has %" PRIu64
			   ": it may have %" PRIu64 " (tenon rpc serve --folder-size)",
			   path, size, *used, s->options->folder_most);
}

/*
 * A file under way: it is written under another name and renamed, because a library that this session
 * has loaded is mapped, and must not change under its code.
 */
struct upload {
	char path[PATH_MAX];
	int fd;
	uint64_t size;
	uint64_t used; /* bytes of the other files */
};

static int begin_file(const struct session *s, uint64_t size, struct upload *u)
{
	int err = check_quota(s, u->path, size, &u->used);

	if (err)
		return err;
	u->size = size;
	u->fd = openat(s->folder_fd, TEMPORARY,
		       O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0700);
	return u->fd < 0 ? failed(u->path) : 0;
}

static int write_file(const struct upload *u, struct tenon_slice bytes)
{
	return write_whole(u->fd, bytes.data, bytes.size) ? 0 : failed(u->path);
}

/* @err: the failure to write it, or 0 */
static int end_file(struct session *s, struct upload *u, int err)
{
	if (close(u->fd) && !err)
		err = failed(u->path);
	if (!err && renameat(s->folder_fd, TEMPORARY, s->folder_fd, u->path))
		err = failed(u->path);
	if (err)
		unlinkat(s->folder_fd, TEMPORARY, 0);
	else
		s->folder_used = u->used + u->size;
	return err;
}

PACKED_CALL(session_upload)
{
	struct session *s = self;
	struct tenon_slice bytes;
	struct upload u;
	int err = path_argument(args, count, 2, u.path);

	if (!err)
		err = tenon_value_text(&args[1], &bytes);
	if (!err)
		err = begin_file(s, bytes.size, &u);
	return err ? err : end_file(s, &u, write_file(&u, bytes));
}

static bool is_text(const struct wire_value *v)
{
	return v->kind == WIRE_STRING || v->kind == WIRE_BYTES;
}

int session_receive_file(struct session *s)
{
	const struct wire_sequence *args = &s->packet.args;
	struct tenon_slice bytes;
	struct upload u;
	int err;

	if (args->count != 2 || !is_text(&args->values[0]) || !is_text(&args->values[1]))
		return tenon_error(-TENON_E_TYPE, "expected the name of a file and its bytes");
	err = session_check_path(args->values[0].as.text, u.path, sizeof(u.path));
	bytes = args->values[1].as.text;
	if (!err)
		err = begin_file(s, bytes.size + s->more, &u);
	if (err)
		return err;
	err = write_file(&u, bytes);
	while (s->more && !err) {
		err = stream_read_part(&s->stream, &s->more, &bytes);
		if (!err)
			err = write_file(&u, bytes);
	}
	err = end_file(s, &u, err);
	if (!err)
		session_reply_none(s);
	return err;
}

/* Calls of clients are answered by session_rest_of_file(). */
PACKED_CALL(session_download)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "for clients alone");
}

static bool ends_in(const char *path, const char *end)
{
	size_t size = strlen(path), more = strlen(end);

	return size > more && !strcmp(path + size - more, end);
}

int session_check_linked(const char *path)
{
	if (ends_in(path, ".so"))
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: a .so file is downloaded, or linked of a .o or .tar file", path);
}

PACKED_CALL(session_remove)
{
	struct session *s = self;
	char path[PATH_MAX];
	struct tenon_slice text;
	uint64_t size;
	int err;

	/* TVM's runner of candidates ends with "", for the whole folder; it goes with the session */
	if (count == 1 && !tenon_value_text(&args[0], &text) && !text.size)
		return 0;
	err = path_argument(args, count, 1, path);
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

PACKED_CALL(session_listdir)
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

/* ---- files that need not be sent again */

/* The hash of a file whose size is @size; false for another file. */
static bool hash_of(int folder, const char *path, uint64_t size, char text[SHA256_TEXT])
{
	int fd = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct sha256 hash;
	struct stat st;
	char part[8192];
	ssize_t n = -1;

	sha256_init(&hash);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size)
		while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
			if (n > 0)
				sha256_add(&hash, part, (size_t)n);
	close(fd);
	sha256_text(&hash, text);
	return !n && hash.size >= size;
}

/**
 * struct patience - how long a request waits for the server
 * @end: in milliseconds of clock_ms()
 * @times: how often to look while it copies to the cache, whatever that is
 */
struct patience {
	uint64_t end;
	unsigned int times;
};

/* Wait a little; false when the request has waited long enough. */
static bool wait_more(struct patience *p, bool copies)
{
	const struct timespec pause = { 0, LOOK_MS * 1000000 };

	if ((copies && !p->times) || clock_ms() >= p->end)
		return false;
	p->times -= copies;
	nanosleep(&pause, NULL);
	return true;
}

/* Find a file in the cache; wait while the server copies the files of a session that has ended. */
static int find_cached(const struct session *s, struct patience *p, const char *hash, uint64_t size)
{
	uint64_t keeping;
	int fd;

	do {
		/* first: the file is there when this ends */
		keeping = atomic_load(&s->watch->keeping);
		fd = file_cache_open(s->options->cache, hash, size);
	} while (fd < 0 && keeping == KEEPING && wait_more(p, true));
	return fd;
}

/* Wait while the server builds the kernels of a file, or copies them to the cache. */
static void await_kernels(const struct session *s, struct patience *p, const char *hash)
{
	const uint64_t file = kernel_store_number(hash);
	uint64_t keeping;

	do {
		/* first: the kernels are there when this ends */
		keeping = atomic_load(&s->watch->keeping);
		if (kernel_store_has(s->options->cache, hash))
			return;
	} while ((keeping == KEEPING || keeping == file) && wait_more(p, keeping == KEEPING));
}

/* Copy a file of the cache to @path, for reading alone. False when it is not what its name says. */
static bool take_copy(struct session *s, int from, const char *path, const char *hash,
		      uint64_t size)
{
	char text[SHA256_TEXT];
	bool ok;
	int fd;

	/* The sandbox refuses fchmod(): the mode is that of a new file. */
	unlinkat(s->folder_fd, TEMPORARY, 0);
	fd = openat(s->folder_fd, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
	if (fd < 0)
		return false;
	ok = !file_cache_copy(from, fd, size, text) && !strcmp(text, hash);
	ok = !close(fd) && ok && !renameat(s->folder_fd, TEMPORARY, s->folder_fd, path);
	if (!ok)
		unlinkat(s->folder_fd, TEMPORARY, 0);
	return ok;
}

static int use_cached(struct session *s, struct patience *p, const char *path, const char *hash,
		      uint64_t size, bool *has)
{
	uint64_t used;
	int fd = find_cached(s, p, hash, size), err = 0;

	*has = false;
	if (fd >= 0) {
		err = check_quota(s, path, size, &used);
		if (!err)
			*has = take_copy(s, fd, path, hash, size);
		close(fd);
	}
	if (*has)
		s->folder_used = used + size;
	else
		atomic_store(&s->watch->missed, 1);
	return err;
}

PACKED_CALL(session_use_file)
{
	char path[PATH_MAX], text[SHA256_TEXT];
	struct session *s = self;
	struct patience p = { clock_ms() + s->options->wait_ms, KEEPING_TIMES };
	struct tenon_slice wanted;
	int64_t size = 0;
	bool has;
	int err = path_argument(args, count, 3, path);

	if (!err)
		err = tenon_value_text(&args[1], &wanted);
	if (!err)
		err = tenon_value_int(&args[2], &size);
	if (err)
		return err;
	has = size >= 0 && hash_of(s->folder_fd, path, (uint64_t)size, text) &&
	      tenon_slice_equal(wanted, tenon_slice_of(text));
	if (!has && s->options->cache && size > 0 && wanted.size < sizeof(text)) {
		memcpy(text, wanted.data, wanted.size);
		text[wanted.size] = '\0';
		err = use_cached(s, &p, path, text, (uint64_t)size, &has);
	}
	if (has && s->options->kernels) {
		await_kernels(s, &p, text);
		kernel_store_take(s->options->cache, text, s->folder_fd);
	}
	*ret = tenon_arg_bool(has);
	return err;
}
