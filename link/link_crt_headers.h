/* SPDX-License-Identifier: MIT */
/* Headers that C sources in archives include, which tenon link brings along. */
#ifndef LINK_LINK_CRT_HEADERS_H
#define LINK_LINK_CRT_HEADERS_H

/** struct link_crt_header - a header for the sources of an archive; the last has no path */
struct link_crt_header {
	const char *path;
	const char *text;
};

extern const struct link_crt_header link_crt_headers[];

/** folders of these headers, which are made in "include"; NULL ends the list */
extern const char *const link_crt_folders[];

#endif /* LINK_LINK_CRT_HEADERS_H */
