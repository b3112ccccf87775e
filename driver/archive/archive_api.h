/* SPDX-License-Identifier: MIT */
/* The functions of libarchive that are used; the library is opened at run time. */
#ifndef DRIVER_ARCHIVE_ARCHIVE_API_H
#define DRIVER_ARCHIVE_ARCHIVE_API_H

#include <stdint.h>
#include <sys/types.h>

struct archive;
struct archive_entry;

/* results of functions; other negative values are errors */
#define LIBARCHIVE_OK	0
#define LIBARCHIVE_END	1
#define LIBARCHIVE_WARN (-20)

/* callback of archive_write_open() */
typedef ssize_t (*archive_write_fn)(struct archive *a, void *context, const void *data,
				    size_t size);

/* X(result, name behind "archive_", parameters) */
#define ARCHIVE_FUNCTIONS(X)                                                                       \
	X(const char *, error_string, (struct archive *))                                          \
	X(struct archive *, read_new, (void))                                                      \
	X(int, read_support_format_tar, (struct archive *))                                        \
	X(int, read_support_filter_gzip, (struct archive *))                                       \
	X(int, read_open_memory, (struct archive *, const void *, size_t))                         \
	X(int, read_next_header, (struct archive *, struct archive_entry **))                      \
	X(ssize_t, read_data, (struct archive *, void *, size_t))                                  \
	X(int, read_free, (struct archive *))                                                      \
	X(const char *, entry_pathname, (struct archive_entry *))                                  \
	X(const char *, entry_pathname_utf8, (struct archive_entry *))                             \
	X(const char *, entry_hardlink, (struct archive_entry *))                                  \
	X(mode_t, entry_filetype, (struct archive_entry *))                                        \
	X(int64_t, entry_size, (struct archive_entry *))                                           \
	X(struct archive *, write_new, (void))                                                     \
	X(int, write_set_format_pax_restricted, (struct archive *))                                \
	X(int, write_open, (struct archive *, void *, void *, archive_write_fn, void *))           \
	X(int, write_header, (struct archive *, struct archive_entry *))                           \
	X(ssize_t, write_data, (struct archive *, const void *, size_t))                           \
	X(int, write_close, (struct archive *))                                                    \
	X(int, write_free, (struct archive *))                                                     \
	X(struct archive_entry *, entry_new, (void))                                               \
	X(void, entry_set_pathname, (struct archive_entry *, const char *))                        \
	X(void, entry_set_size, (struct archive_entry *, int64_t))                                 \
	X(void, entry_set_filetype, (struct archive_entry *, unsigned int))                        \
	X(void, entry_set_perm, (struct archive_entry *, mode_t))                                  \
	X(void, entry_free, (struct archive_entry *))

struct archive_api {
#define FUNCTION(result, name, parameters) result(*name) parameters;
	ARCHIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

extern struct archive_api archive_api;

/** archive_library - open libarchive; 0, -TENON_E_DEVICE with the remedy, or -TENON_E_NOMEM */
int archive_library(void);

#endif /* DRIVER_ARCHIVE_ARCHIVE_API_H */
