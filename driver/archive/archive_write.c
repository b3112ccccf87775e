/* SPDX-License-Identifier: MIT */
/* Write a list of files as a tar archive in memory. */
#include "driver/archive/archive.h"

#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "driver/archive/archive_api.h"
#include "lib/brief_errors.h"

static ssize_t append(struct archive *a, void *context, const void *data, size_t size)
{
	return tenon_buffer_append(context, data, size) ? -1 : (ssize_t)size;
}

static int failed(struct archive *a, const char *what)
{
	const char *why = archive_api.error_string(a);

	return tenon_error(-TENON_E_VALUE, "%s: cannot be put into an archive: %s", what,
			   why ? why : "no reason known");
}

static int write_file(struct archive *a, const struct archive_file *file)
{
	struct archive_entry *e = archive_api.entry_new();
	int err = 0;

	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory for an archive");
	archive_api.entry_set_pathname(e, file->path);
	archive_api.entry_set_size(e, (int64_t)file->bytes.size);
	archive_api.entry_set_filetype(e, S_IFREG);
	archive_api.entry_set_perm(e, 0644);
	if (archive_api.write_header(a, e) < LIBARCHIVE_WARN)
		err = failed(a, file->path);
	else if (file->bytes.size &&
		 archive_api.write_data(a, file->bytes.data, file->bytes.size) !=
			 (ssize_t)file->bytes.size)
		err = failed(a, file->path);
	archive_api.entry_free(e);
	return err;
}

int archive_write(const struct archive_files *files, struct tenon_buffer *out)
{
	struct archive *a;
	size_t i;
	int err;

	err = archive_library();
	if (err)
		return err;
	a = archive_api.write_new();
	if (!a)
		return tenon_error(-TENON_E_NOMEM, "no memory for an archive");
	if (archive_api.write_set_format_pax_restricted(a) ||
	    archive_api.write_open(a, out, NULL, append, NULL))
		err = failed(a, "a file");
	for (i = 0; i < files->count && !err; i++)
		err = write_file(a, &files->items[i]);
	if (!err && archive_api.write_close(a))
		err = failed(a, "the end");
	archive_api.write_free(a);
	return out->status ? tenon_error(-TENON_E_NOMEM, "no memory for an archive") : err;
}
