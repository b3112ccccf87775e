/* SPDX-License-Identifier: MIT */
/* Read an archive whose bytes are not trusted: check each entry's name, kind and size. */
#include "driver/archive/archive.h"

#include <stdbool.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "driver/archive/archive_api.h"
#include "lib/brief_errors.h"

#define CHUNK 8192

struct reading {
	struct archive *a;
	const char *name;
	struct archive_files *files;
	uint64_t left; /* bytes that files may still have */
	size_t entries;
};

static int damaged(const struct reading *r)
{
	const char *why = archive_api.error_string(r->a);

	return tenon_error(-TENON_E_FORMAT, "%s: not a tar archive, or damaged: %s", r->name,
			   why ? why : "no reason known");
}

/* Test whether a path stays below the folder that it is relative to. */
static bool is_below(const char *path)
{
	const char *at = path;
	size_t n;

	if (!*path || strlen(path) > ARCHIVE_PATH_MOST)
		return false;
	for (;;) {
		n = strcspn(at, "/");
		if (!n || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		if (!at[n])
			return true;
		at += n + 1;
	}
}

static int check_kind(const struct reading *r, struct archive_entry *e, const char *path)
{
	const char *what;

	if (archive_api.entry_hardlink(e))
		what = "a hard link";
	else if (archive_api.entry_filetype(e) == S_IFLNK)
		what = "a symbolic link";
	else if (archive_api.entry_filetype(e) != S_IFREG)
		what = "no regular file";
	else
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: \"%s\" is %s; write the archive with files and folders alone",
			   r->name, path, what);
}

static int read_contents(struct reading *r, struct archive_file *file, int64_t size)
{
	char chunk[CHUNK];
	ssize_t n;

	while ((n = archive_api.read_data(r->a, chunk, sizeof(chunk))) > 0) {
		if ((uint64_t)n > r->left)
			return tenon_error(-TENON_E_OVERFLOW,
					   "%s: at \"%s\" the files are larger than %" PRIu64
					   " MiB and %d times the archive: unpack it with tar if "
					   "you trust it",
					   r->name, file->path, ARCHIVE_BYTES_MOST >> 20,
					   ARCHIVE_RATIO_MOST);
		r->left -= (uint64_t)n;
		if (tenon_buffer_append(&file->bytes, chunk, (size_t)n))
			return tenon_error(-TENON_E_NOMEM, "no memory for %s", r->name);
	}
	if (n < 0)
		return damaged(r);
	return (uint64_t)size == file->bytes.size
		       ? 0
		       : tenon_error(-TENON_E_FORMAT,
				     "%s: \"%s\" has %zu bytes of %" PRIi64
				     ": a sparse file? Write the archive without -S",
				     r->name, file->path, file->bytes.size, size);
}

static int read_entry(struct reading *r, struct archive_entry *e)
{
	const char *path = archive_api.entry_pathname(e);
	struct archive_file *file;
	int err;

	if (!path)
		path = archive_api.entry_pathname_utf8(e);
	if (++r->entries > ARCHIVE_FILES_MOST)
		return tenon_error(-TENON_E_OVERFLOW, "%s: more than %d files and folders", r->name,
				   ARCHIVE_FILES_MOST);
	while (path && !strncmp(path, "./", 2))
		path += 2;
	if (path && archive_api.entry_filetype(e) == S_IFDIR)
		return 0;
	if (!path || !is_below(path))
		return tenon_error(-TENON_E_VALUE,
				   "%s: member %zu is called \"%.100s\"; want a relative path "
				   "without \".\" and \"..\"",
				   r->name, r->entries, path ? path : "");
	err = check_kind(r, e, path);
	if (!err)
		err = archive_files_add(r->files, path, &file);
	if (err == -TENON_E_EXISTS)
		return tenon_error_in(err, "%s", r->name);
	return err ? err : read_contents(r, file, archive_api.entry_size(e));
}

static int read_all(struct reading *r)
{
	struct archive_entry *e;
	int got, err = 0;

	while (!err) {
		got = archive_api.read_next_header(r->a, &e);
		if (got == LIBARCHIVE_END)
			return 0;
		err = got == LIBARCHIVE_OK || got == LIBARCHIVE_WARN ? read_entry(r, e)
								     : damaged(r);
	}
	return err;
}

int archive_read(struct tenon_slice bytes, const char *name, struct archive_files *out)
{
	struct reading r = { .name = name, .files = out, .left = ARCHIVE_BYTES_MOST };
	int err;

	err = archive_library();
	if (err)
		return tenon_error_in(err, "%s", name);
	if (bytes.size > ARCHIVE_BYTES_MOST / ARCHIVE_RATIO_MOST)
		r.left = (uint64_t)bytes.size * ARCHIVE_RATIO_MOST;
	r.a = archive_api.read_new();
	if (!r.a)
		return tenon_error(-TENON_E_NOMEM, "no memory for %s", name);
	if (archive_api.read_support_format_tar(r.a) || archive_api.read_support_filter_gzip(r.a) ||
	    archive_api.read_open_memory(r.a, bytes.data, bytes.size))
		err = damaged(&r);
	if (!err)
		err = read_all(&r);
	archive_api.read_free(r.a);
	return err;
}
