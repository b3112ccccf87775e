/* SPDX-License-Identifier: MIT */
/* What the readers of parameter files share: the list that they fill, and access to the file. */
#ifndef RUNTIME_MODEL_PARAMS_LIST_H
#define RUNTIME_MODEL_PARAMS_LIST_H

#include "runtime/model/params.h"

struct block_type;
struct string_map;

/* a parameter of another list */
struct params_origin {
	struct tenon_params *params; /* referenced by the list */
	const struct tenon_param *param;
};

/* entries of metadata; none: @count is 0 */
struct params_metadata {
	uint64_t count;
	uint64_t offset; /* in the file */
	size_t size;
	const char *bytes; /* of parameters in memory */
};

struct tenon_params {
	struct tenon_object object;
	struct tenon_object *keep;
	/* for parameters opened from a file */
	char *path;		 /* for messages */
	struct tenon_slice head; /* names and headers at their file offsets, while reading */
	size_t fetched;		 /* end of the requested part of @head that was read */
	struct params_metadata metadata;
	struct tenon_slice map;
	int fd;
	/* file_read_at(), which a program with parameters in memory need not link; NULL without a file */
	int (*read_at)(int fd, const char *path, void *to, size_t size, uint64_t offset);
	struct tenon_slice owned; /* data in memory of its own: swapped, dequantised */
	char *names;
	struct tenon_param *items;
	size_t count;
	int64_t *shapes;
	const struct block_type **blocks; /* of each item of GGUF, NULL for numbers; or NULL */
	struct params_origin *origins;	  /* of each item of a joined list; NULL for others */
	struct string_map *places; /* items by name; NULL until one is looked up in a long list */
};

/** params_create - make an empty list, with one reference; @keep is referenced, NULL for none */
int params_create(struct tenon_object *keep, struct tenon_params **out) TO_PLUGINS(params_create);

/**
 * params_fetch - read the next @size bytes behind a cursor from the file, or up to its end
 *
 * A file's head is read in parts, without gaps. Does nothing for bytes in memory.
 */
int params_fetch(struct tenon_params *p, const struct tenon_cursor *c, uint64_t size)
	TO_PLUGINS(params_fetch);

/**
 * params_reserve - allocate the items of a list, the names and the shapes
 * @count: parameters at most
 * @names: bytes of all names at most; 0 if names are left where they are
 * @extents: extents of all shapes at most
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int params_reserve(struct tenon_params *p, uint64_t count, uint64_t names, uint64_t extents)
	TO_PLUGINS(params_reserve);

/** params_is_padding - test whether a tensor only aligns the next one */
bool params_is_padding(const struct tenon_param *p) TO_PLUGINS(params_is_padding);

/** params_own_data - copy the data, in the byte order of this machine; @name is for messages */
int params_own_data(struct tenon_params *p, const char *name);

/**
 * struct params_format - a format of files
 * @name: for messages
 * @is: test the first bytes of a file, 24 if it has them
 * @read: read names, types and places. The data of a file is mapped afterwards; that of bytes in
 *	memory is what tenon_param.offset says
 */
struct params_format {
	const char *name;
	bool (*is)(struct tenon_slice head);
	int (*read)(struct tenon_params *p, struct tenon_cursor *c);
};

extern const struct params_format params_tvm;

/** params_open_file - as tenon_params_open(), for one file */
int params_open_file(const char *path, struct tenon_params **out) TO_PLUGINS(params_open_file);

#endif /* RUNTIME_MODEL_PARAMS_LIST_H */
