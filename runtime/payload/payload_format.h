/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H
#define RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H

/**
 * DOC: reading payloads by their format
 *
 * A payload of a legacy blob has no length: its end is found by reading it. So formats are needed
 * of all kinds that TVM wrote, whether this build runs them or not. They come from five places,
 * asked in this order: those that a program registered, those of the runtime's own kinds, those of
 * backends (tenon_backend.formats), those of backends that are left out of this build, and
 * descriptions of kinds that no backend here runs (devices/listed_payloads.c).
 */

#include <stddef.h>
#include <tenon/backend/module_kind.h>
#include <tenon/backend/payload_format.h>

/* which form the function tables have */
enum payload_dialect {
	PAYLOAD_PLAIN = 0, /* TVM 0.8 to 0.19 */
	PAYLOAD_EXTRA = 1, /* 0.20 and later: a list of extra tags behind the launch tags */
};

/* A slot of a format; NULL where its struct is shorter. @format may be NULL. */
#define PAYLOAD_SLOT(format, slot)                                                                 \
	((format) && (format)->size > offsetof(struct tenon_payload_format, slot) ? (format)->slot \
										  : NULL)

/* Formats of a table, ended by NULL. */
typedef const struct tenon_payload_format *const payload_format_list[];

/* payload_kinds.c: the runtime's own kinds */
extern payload_format_list payload_own_formats;

/* devices/listed_payloads.c: kinds that are listed only */
extern payload_format_list payload_listed_formats;

/* devices/backends.c: those of backends that this build leaves out, a list each, ended by NULL */
extern const struct tenon_payload_format *const *const payload_absent_formats[];

/* payload_relax.c: executables of the Relax machine, and of the Relay machine before it */
extern const struct tenon_payload_format payload_relax_format, payload_relay_format;

#ifdef CONFIG_PAYLOAD_FORMATS
/** payload_format_of - find the format of a kind; NULL when it is not known */
const struct tenon_payload_format *payload_format_of(struct tenon_slice kind);
#else
static inline const struct tenon_payload_format *payload_format_of(struct tenon_slice kind)
{
	(void)kind;
	return NULL;
}
#endif

/**
 * payload_format_each - visit all formats in search order
 * @plugins: those of plug-ins too, which are opened for that
 * @visit: stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; 0.
 */
int payload_format_each(bool plugins,
			int (*visit)(void *context, const struct tenon_payload_format *format),
			void *context);

/**
 * payload_measure - read past a payload of a legacy blob
 * @format: of its kind
 * @c: cursor at its first byte, up to the end of the blob; moved behind its last byte
 * @dialect: form of its function tables
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED with the place.
 */
int payload_measure(const struct tenon_payload_format *format, struct tenon_cursor *c,
		    enum payload_dialect dialect);

/**
 * payload_read - read a payload whose end is known
 * @format: of its kind; NULL for an unknown one, of which the usual forms are tried
 * @c: cursor over just the payload
 * @info: @kind, @generation and @extra_tags are given, all else is 0; receives what is found. Ended
 *	with payload_info_fini(), also on failure.
 *
 * Return: 0; negative with the place when the payload has none of the forms.
 */
int payload_read(const struct tenon_payload_format *format, const struct tenon_cursor *c,
		 struct tenon_payload_info *info);

/* Free the lists of functions and parts. */
void payload_info_fini(struct tenon_payload_info *info);

/**
 * payload_source - add up a payload's readable text
 * @info: what was read
 * @out: the text is appended: the graph, the source, or the parts one after another
 *
 * Return: 0; -TENON_E_UNSUPPORTED, without a message, when it holds none; -TENON_E_NOMEM.
 */
int payload_source(const struct tenon_payload_info *info, struct tenon_buffer *out);

/**
 * payload_scan - go over a payload of the commonest form (format, table, program), and of that
 * alone
 * @format: of its kind
 * @c: cursor at its first byte; moved behind its last byte when it has this form
 * @dialect: form of its function tables
 *
 * Return: true; false when the payload may have another form, and is to be read with care.
 */
bool payload_scan(const struct tenon_payload_format *format, struct tenon_cursor *c,
		  enum payload_dialect dialect);

/**
 * payload_scan_names - visit the names in the table of a payload of that form
 * @format: of its kind
 * @c: cursor over just the payload
 * @dialect: form of its function tables
 * @visit: called with each name; stops when it returns non-zero
 * @context: handed to @visit
 * @result: what the last @visit returned
 *
 * Allocates nothing: a blob may have a thousand modules, and looking up a function lists the names
 * of all of them but needs the function of only one.
 *
 * Return: as payload_scan().
 */
bool payload_scan_names(const struct tenon_payload_format *format, const struct tenon_cursor *c,
			enum payload_dialect dialect,
			int (*visit)(void *context, struct tenon_slice name), void *context,
			int *result);

/* Is a string a short word, as names of formats are. */
static inline bool payload_is_word(struct tenon_slice s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (s.data[i] <= ' ' || s.data[i] > '~')
			return false;
	return s.size > 0 && s.size <= 32;
}

/* bytes of the smallest function of a table: key, name, types and tags, all empty */
#define PAYLOAD_FUNCTION_LEAST 32

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H */
