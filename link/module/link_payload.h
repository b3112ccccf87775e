/* SPDX-License-Identifier: MIT */
/* Payloads made of files, and files made of payloads. */
#ifndef LINK_MODULE_LINK_PAYLOAD_H
#define LINK_MODULE_LINK_PAYLOAD_H

/*
 * A compiler writes the program of a device to a file, and the table of its kernels to a second
 * file with the same stem. Payload formats tell how the two become a payload. No backend, device or
 * driver is needed.
 */

#include "runtime/payload/payload_format.h"

/* A file with this suffix holds a payload as it is in a blob. */
#define LINK_PAYLOAD_SUFFIX "payload"

/**
 * struct link_program - the program of a device
 * @kind: kind of the module
 * @path: of the program, for messages and for its suffix
 * @bytes: contents of the file
 * @table_path: of the kernel table, for messages
 * @table: JSON; empty if there is none
 * @generation: form of the payload
 * @dialect: form of its kernel table
 */
struct link_program {
	struct tenon_slice kind;
	const char *path;
	struct tenon_slice bytes;
	const char *table_path;
	struct tenon_slice table;
	enum tenon_generation generation;
	enum payload_dialect dialect;
};

/**
 * link_payload_file - find how a file becomes a payload of a kind
 * @kind: kind of the module
 * @path: the file; its suffix decides
 * @bytes: contents of the file
 * @out: receives the entry of the kind's format; NULL if the file is the payload itself
 *
 * Return: 0; -TENON_E_VALUE for a suffix that the kind does not have, naming those that it has.
 */
int link_payload_file(struct tenon_slice kind, const char *path, struct tenon_slice bytes,
		      const struct tenon_payload_file **out);

/** link_payload_is_file - test whether link_payload_pack() takes the bytes of a file as they are */
bool link_payload_is_file(struct tenon_slice kind, const struct tenon_payload_file *file);

/**
 * link_payload_pack - append the payload of a program
 *
 * Return: 0; -TENON_E_VALUE; -TENON_E_FORMAT and -TENON_E_TRUNCATED with the place;
 *	-TENON_E_NOT_FOUND when the kernel table is missing; -TENON_E_NOMEM.
 */
int link_payload_pack(const struct link_program *p, struct tenon_buffer *out);

/**
 * link_payload_check - check a whole payload
 * @payload: the bytes
 * @name: of its file, for messages
 * @info: zeroed by the caller; receives the contents. Free it with payload_info_fini(), also on
 *	failure.
 *
 * A kind without a format is not checked.
 *
 * Return: 0; the error of its format.
 */
int link_payload_check(struct tenon_slice kind, struct tenon_slice payload, const char *name,
		       enum tenon_generation generation, enum payload_dialect dialect,
		       struct tenon_payload_info *info);

/**
 * link_payload_unpack - get the program of a payload
 * @kind: its kind
 * @payload: the bytes
 * @info: from link_payload_check()
 * @dialect: form of its kernel table
 * @out: the bytes of the program's file are appended
 * @file: receives the entry of the format; NULL when the payload is of no file
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int link_payload_unpack(struct tenon_slice kind, struct tenon_slice payload,
			const struct tenon_payload_info *info, enum payload_dialect dialect,
			struct tenon_buffer *out, const struct tenon_payload_file **file);

#endif /* LINK_MODULE_LINK_PAYLOAD_H */
