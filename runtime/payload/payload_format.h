/* SPDX-License-Identifier: MIT */
/* Formats describe how payloads are read: measured, parsed and listed. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H
#define RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H

/*
 * A payload of a legacy blob has no length: only reading it finds its end. So all kinds that TVM
 * wrote need a format, also those that this build cannot run. Formats are searched in this order:
 * registered by the program, the runtime's own kinds, those of backends (tenon_backend.formats),
 * those of backends that this build leaves out, and kinds that no backend runs
 * (devices/listed_payloads.c).
 */

#include <stddef.h>
#include <tenon/backend/module_kind.h>
#include <tenon/backend/payload_format.h>

#include "lib/plugin_api.h"

/* form of the function tables */
enum payload_dialect {
	PAYLOAD_NO_EXTRA_TAGS = 0, /* TVM 0.8 to 0.19 */
	PAYLOAD_EXTRA_TAGS = 1,	   /* 0.20 and later: more tags after the launch tags */
};

/* Read a slot of a format; NULL if its struct is shorter or @format is NULL. */
#define PAYLOAD_SLOT(format, slot)                                                                 \
	((format) && (format)->size > offsetof(struct tenon_payload_format, slot) ? (format)->slot \
										  : NULL)

/* A table of formats, terminated by NULL. */
typedef const struct tenon_payload_format *const payload_format_list[];

/* Define a format without slots: with .fields, and .legacy and .remedy where it has them. */
#define PAYLOAD_DEFINE(name, names, ...)                                                           \
	static const struct tenon_payload_format name = { .size = sizeof(name),                    \
							  .kinds = names,                          \
							  __VA_ARGS__ }
#define PAYLOAD_KINDS(...)                                                                         \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* payload_kinds.c: the runtime's own kinds */
extern payload_format_list payload_own_formats;

/* devices/listed_payloads.c: kinds that are described only */
#ifdef CONFIG_LISTED_PAYLOADS
extern payload_format_list payload_listed_formats;
#else
#define payload_listed_formats NULL
#endif

/* payload_relax.c: executables of the Relax virtual machine and of its predecessor, Relay's */
extern const struct tenon_payload_format payload_relax_format, payload_relay_format;

/**
 * payload_relax_each_called - visit the functions that an executable calls but does not define
 * @payload: of a Relax executable
 * @visit: called with each name; stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; -TENON_E_FORMAT; -TENON_E_TRUNCATED.
 */
int payload_relax_each_called(struct tenon_slice payload,
			      int (*visit)(void *context, struct tenon_slice name), void *context)
	TO_PLUGINS(payload_relax_each_called);

#ifdef CONFIG_PAYLOAD_FORMATS
/** payload_format_of - find the format of a kind; NULL if unknown */
const struct tenon_payload_format *payload_format_of(struct tenon_slice kind)
	TO_PLUGINS(payload_format_of);
#else
static inline const struct tenon_payload_format *payload_format_of(struct tenon_slice kind)
{
	return NULL;
}
#endif

/**
 * payload_format_each - visit all formats in search order
 * @plugins: visit those of plug-ins too, and open these
 * @visit: stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; 0.
 */
int payload_format_each(bool plugins,
			int (*visit)(void *context, const struct tenon_payload_format *format),
			void *context) TO_PLUGINS(payload_format_each);

/**
 * payload_measure - read past a payload of a legacy blob
 * @format: format of the payload's kind
 * @c: cursor at its first byte, up to the end of the blob; moved behind its last byte
 * @dialect: form of its function tables
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED with the place.
 */
#ifdef CONFIG_PAYLOAD_FORMATS
int payload_measure(const struct tenon_payload_format *format, struct tenon_cursor *c,
		    enum payload_dialect dialect);
#else
/* No kind has a format then. */
static inline int payload_measure(const struct tenon_payload_format *format, struct tenon_cursor *c,
				  enum payload_dialect dialect)
{
	(void)format;
	(void)c;
	(void)dialect;
	return -TENON_E_UNSUPPORTED;
}
#endif

/**
 * payload_read - read a payload whose end is known
 * @format: format of the payload's kind; NULL: try the usual forms
 * @c: cursor over just the payload
 * @info: the caller sets @kind, @generation and @extra_tags, and zeroes the rest; receives the
 * contents. Free it with payload_info_fini(), also on failure.
 *
 * Return: 0; negative, with the position, when no form fits.
 */
int payload_read(const struct tenon_payload_format *format, const struct tenon_cursor *c,
		 struct tenon_payload_info *info) TO_PLUGINS(payload_read);

/**
 * payload_names - visit the names of the functions of a payload whose end is known
 * @format: as payload_read()
 * @c: as payload_read()
 * @info: the caller sets @kind, @generation and @extra_tags; undefined afterwards
 * @visit: called with each name; stops when it returns non-zero
 * @context: handed to @visit
 * @result: what the last @visit returned
 *
 * Allocates nothing for a few functions: a blob may have a thousand modules, and an index lists the
 * names of all of them but needs one function.
 *
 * Return: as payload_read(); then no name was visited.
 */
int payload_names(const struct tenon_payload_format *format, const struct tenon_cursor *c,
		  struct tenon_payload_info *info,
		  int (*visit)(void *context, struct tenon_slice name), void *context, int *result);

/** payload_skip_table - move past a kernel table. Return: as payload_measure() */
int payload_skip_table(struct tenon_cursor *c, enum payload_dialect dialect)
	TO_PLUGINS(payload_skip_table);

/* Free the lists of functions and parts. */
void payload_info_fini(struct tenon_payload_info *info) TO_PLUGINS(payload_info_fini);

/**
 * payload_source - collect the readable text of a payload
 * @info: a parsed payload
 * @out: the text is appended: the graph, the source, or the parts one after another
 *
 * Return: 0; -TENON_E_UNSUPPORTED, without a message, when it holds none; -TENON_E_NOMEM.
 */
int payload_source(const struct tenon_payload_info *info, struct tenon_buffer *out);

/* Test whether a string is a short word, like names of formats. */
static inline bool payload_is_word(struct tenon_slice s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (s.data[i] <= ' ' || s.data[i] > '~')
			return false;
	return s.size > 0 && s.size <= 32;
}

/* smallest function of a table: key, name, types and tags, all empty */
#define PAYLOAD_FUNCTION_LEAST 32

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H */
