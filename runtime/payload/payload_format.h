/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H
#define RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H

/**
 * DOC: what payloads look like
 *
 * A payload of a legacy blob has no length: its end is known by whoever knows its kind. This table
 * knows all kinds that TVM wrote, whether this build loads them or not, so that trees can be read
 * past them, listed and inspected. A format is a string of letters, a field each; kinds that were
 * written in several forms have several, tried in order.
 */

#include <tenon/cursor.h>
#include <tenon/loader.h>

/*
 * Letters of a form. Strings are a u64 length and bytes; lists a u64 count and elements.
 *	f  string: the format ("cl", "ptx", …)
 *	m  function table
 *	d  string: the program
 *	t  string: text (graph, source)
 *	n  string: symbol or module name, which is also a function
 *	x  string: a version ("0.1.0")
 *	y  string: something else
 *	k  list of function names
 *	v  list of strings
 *	w  list of lists of strings
 *	a  list of tensors
 *	p  list of names, then as many tensors
 *	b  list of named strings, each a program
 *	s  list of named SPIR-V programs, inline
 *	z  list of named SPIR-V programs, each with a length
 *	r  string that is an executable of the Relax or Relay machine
 *	R  the same, up to the end of the payload
 *	e  Ethos-N command streams
 *	i  32-bit number
 */

/* which form the function tables have */
enum payload_dialect {
	PAYLOAD_PLAIN = 0, /* TVM 0.8 to 0.19 */
	PAYLOAD_EXTRA = 1, /* 0.20 and later: a list of extra tags behind the launch tags */
};

/* what it takes to run modules of a kind */
enum payload_remedy {
	PAYLOAD_DEVICE,	  /* a device's backend */
	PAYLOAD_METADATA, /* CONFIG_METADATA */
	PAYLOAD_EXAMPLE,  /* CONFIG_EXAMPLE_JSON */
	PAYLOAD_EXECUTOR, /* an executor (tenon/model.h) */
	PAYLOAD_RELAY,	  /* the virtual machine of TVM up to 0.18, which nothing here is */
	PAYLOAD_PLUGIN,	  /* somebody else's loader */
};

/**
 * struct payload_format - a kind
 * @kind: its name
 * @legacy: forms in legacy blobs, separated by '|'
 * @current: forms in blobs of TVM 0.22 and later; empty when they are the same
 * @remedy: enum payload_remedy
 *
 * Arrays rather than pointers, so that the table needs no relocation.
 */
struct payload_format {
	char kind[24];
	char legacy[9];
	char current[14];
	uint8_t remedy;
};

/** enum payload_names - where a payload's function names stand */
enum payload_names {
	PAYLOAD_NO_NAMES,
	PAYLOAD_TABLE, /* a map of name to argument types and launch tags */
	PAYLOAD_LIST,  /* a list of strings */
	PAYLOAD_ONE,   /* one string */
	PAYLOAD_RELAX, /* the function table of a Relax executable */
};

/**
 * struct payload_facts - what a payload says of itself; slices of the payload
 * @dialect: given: the form of its function tables
 * @names: where function names stand
 * @functions: cursor at the first function
 * @function_count: how many
 * @format: "cl", "ptx", "cubin", …; empty when the kind has none
 * @name: symbol or module name, of kinds that have one
 * @text: graph or source text
 * @code: program bytes, of kinds that have one program
 * @parts: cursor at the first of several named programs
 * @part_count: how many
 * @spirv: cursor at the first of several named SPIR-V programs
 * @spirv_count: how many
 * @spirv_sized: each has a length in front
 * @array_count: tensors inside
 * @array_bytes: the bytes of their elements
 */
struct payload_facts {
	enum payload_dialect dialect;
	enum payload_names names;
	struct tenon_cursor functions;
	uint64_t function_count;
	struct tenon_slice format;
	struct tenon_slice name;
	struct tenon_slice text;
	struct tenon_slice code;
	struct tenon_cursor parts;
	uint64_t part_count;
	struct tenon_cursor spirv;
	uint64_t spirv_count;
	bool spirv_sized;
	uint64_t array_count;
	uint64_t array_bytes;
};

/**
 * struct payload_function - a function of a payload
 * @name: name by which the host calls it
 * @arg_types: DLDataType, 4 bytes each
 * @tags: cursor at the first launch tag, a string each; read with tenon_cursor_string()
 * @tag_count: how many
 * @extra: a u32 for each argument, 1 for a tensor map; empty where the table has none
 */
struct payload_function {
	struct tenon_slice name;
	struct tenon_slice arg_types;
	struct tenon_cursor tags;
	uint64_t tag_count;
	struct tenon_slice extra;
};

/** payload_format_of - find a kind; NULL when it is not in the table */
#ifdef CONFIG_PAYLOAD_FORMATS
const struct payload_format *payload_format_of(struct tenon_slice kind);
#else
static inline const struct payload_format *payload_format_of(struct tenon_slice kind)
{
	(void)kind;
	return NULL;
}
#endif

/**
 * payload_measure - read past a payload of a legacy blob
 * @format: its kind
 * @c: cursor at its first byte, up to the end of the blob; moved behind its last byte
 * @dialect: form of its function tables
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED with the place.
 */
int payload_measure(const struct payload_format *format, struct tenon_cursor *c,
		    enum payload_dialect dialect);

/**
 * payload_each_kernel - visit the names in a payload of the commonest form, and of that alone
 * @format: the payload's kind
 * @c: cursor over just the payload
 * @dialect: form of its function tables
 * @visit: called with each name; stops when it returns non-zero
 * @context: handed to @visit
 * @result: what the last @visit returned
 *
 * Return: true; false when the payload may have another form, and payload_read() is to be asked.
 */
bool payload_each_kernel(const struct payload_format *format, const struct tenon_cursor *c,
			 enum payload_dialect dialect,
			 int (*visit)(void *context, struct tenon_slice name), void *context,
			 int *result);

/**
 * payload_read - read a payload whose end is known
 * @format: its kind; NULL for an unknown one, of which the usual forms are tried
 * @generation: legacy or later; decides which forms are tried
 * @c: cursor over just the payload
 * @facts: @dialect is given; receives the rest
 *
 * Return: 0; negative with the place when the payload has none of the forms.
 */
int payload_read(const struct payload_format *format, enum tenon_generation generation,
		 const struct tenon_cursor *c, struct payload_facts *facts);

/**
 * payload_each_function - visit the functions of a payload that was read
 * @facts: what payload_read() filled
 * @visit: called for each; stops when it returns non-zero
 * @context: handed to @visit
 *
 * Return: what the last @visit returned; 0.
 */
int payload_each_function(const struct payload_facts *facts,
			  int (*visit)(void *context, const struct payload_function *f),
			  void *context);

/**
 * payload_source - add up a payload's readable text
 * @facts: what was read
 * @out: the text is appended: the graph, the source, or the parts one after another
 *
 * Return: 0; -TENON_E_UNSUPPORTED, without a message, when it holds none; -TENON_E_NOMEM.
 */
int payload_source(const struct payload_facts *facts, struct tenon_buffer *out);

/* Read one entry of a function table; @f may be NULL. */
int payload_table_entry(struct tenon_cursor *c, enum payload_dialect dialect,
			struct payload_function *f);
/* Read a list of strings, of which only the number is wanted. */
int payload_take_strings(struct tenon_cursor *c, uint64_t *count);
/* Read a string that is a short word; @what is for the error. */
int payload_take_word(struct tenon_cursor *c, struct tenon_slice *out, const char *what);

#ifdef CONFIG_PAYLOAD_FORMATS
/* Read a field that few kinds have. */
int payload_take_rare(char letter, struct tenon_cursor *c, struct payload_facts *facts);
/* Read one function of a Relax executable; the name's data is NULL for one that it only calls. */
int payload_relax_function(struct tenon_cursor *c, struct tenon_slice *name);
#else
static inline int payload_take_rare(char letter, struct tenon_cursor *c,
				    struct payload_facts *facts)
{
	(void)facts;
	return tenon_cursor_error(c, -TENON_E_UNSUPPORTED, "field %c", letter);
}

static inline int payload_relax_function(struct tenon_cursor *c, struct tenon_slice *name)
{
	(void)name;
	return tenon_cursor_error(c, -TENON_E_UNSUPPORTED, "no Relax executables in this build");
}
#endif

#endif /* RUNTIME_PAYLOAD_PAYLOAD_FORMAT_H */
