/* SPDX-License-Identifier: MIT */
/* Tar archives as lists of files in memory, read and written by libarchive. */
#ifndef DRIVER_ARCHIVE_ARCHIVE_H
#define DRIVER_ARCHIVE_ARCHIVE_H

/*
 * An archive is read as a whole, before any of it is used. Names are relative paths without "." and
 * ".."; an archive with another name, a name that occurs twice, a link or a special file is refused.
 * What it holds is limited, because a compressed or sparse archive can name far more bytes than it has.
 */

#include <tenon/buffer.h>

/* limits of what an archive holds; the bytes are those of a small archive, see archive_read() */
#define ARCHIVE_FILES_MOST 4096
#define ARCHIVE_BYTES_MOST (UINT64_C(16) << 20)
#define ARCHIVE_RATIO_MOST 20
#define ARCHIVE_PATH_MOST  1024

/**
 * struct archive_file - a file in an archive
 * @path: relative, without a leading "./"; allocated
 * @bytes: its contents
 */
struct archive_file {
	char *path;
	struct tenon_buffer bytes;
};

/**
 * struct archive_files - the files of an archive, in its order
 * @items: @count files
 * @count: how many
 */
struct archive_files {
	struct archive_file *items;
	size_t count;
};

/**
 * archive_read - read a tar archive, or one compressed with gzip
 * @bytes: the archive
 * @name: for messages
 * @out: zeroed by the caller; receives the files, without folders. Free it with
 *	archive_files_fini(), also on failure.
 *
 * Return: 0; -TENON_E_FORMAT for a damaged archive; -TENON_E_VALUE for a name or kind of file that
 *	is not allowed; -TENON_E_EXISTS for a name that occurs twice; -TENON_E_OVERFLOW for more than
 *	ARCHIVE_FILES_MOST files, or more bytes than ARCHIVE_BYTES_MOST and ARCHIVE_RATIO_MOST times
 *	the archive's; -TENON_E_DEVICE without libarchive; -TENON_E_NOMEM.
 */
int archive_read(struct tenon_slice bytes, const char *name, struct archive_files *out);

/**
 * archive_write - append a tar archive
 *
 * The bytes depend on the files alone: members have no time and belong to root.
 *
 * Return: 0; -TENON_E_DEVICE without libarchive; -TENON_E_VALUE; -TENON_E_NOMEM.
 */
int archive_write(const struct archive_files *files, struct tenon_buffer *out);

/** archive_files_add - add an empty file; 0; -TENON_E_EXISTS; -TENON_E_NOMEM */
int archive_files_add(struct archive_files *files, const char *path, struct archive_file **out);

/** archive_files_find - find a file by its path; NULL if there is none */
struct archive_file *archive_files_find(const struct archive_files *files, const char *path);

void archive_files_fini(struct archive_files *files);

#endif /* DRIVER_ARCHIVE_ARCHIVE_H */
