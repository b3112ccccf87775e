/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TENSOR_SPEC_H
#define TOOLS_TENSOR_SPEC_H

/**
 * DOC: SPEC, the words for one argument
 *
 *	SPEC    = [NAME=] (SCALAR | str:TEXT | shape:EXTENTS | @FILE.npy | TYPE=CONTENT | TYPE=>FILE | TYPE)
 *	SCALAR  = 3 | -0x1f | 2.5 | inf | nan | true | false | null
 *	EXTENTS = [NUMBER{,NUMBER}]                1,64; nothing for a shape without dimensions
 *	TYPE    = {EXTENT x} DTYPE                2x3xfloat32, float32
 *	CONTENT = NUMBER{,NUMBER} | @FILE | random:SEED | zeros | ones | arange
 *
 * Parsing opens no file and allocates nothing: what it finds are parts of the text.
 */

#include <tenon/tensor.h>

#define SPEC_DIMENSIONS 64

enum spec_role {
	SPEC_INPUT,
	SPEC_OUTPUT,
	SPEC_EXPECT,
};

enum spec_form {
	SPEC_NULL,
	SPEC_BOOL,
	SPEC_INT,
	SPEC_FLOAT,
	SPEC_TEXT,
	SPEC_SHAPE,
	SPEC_FILE,   /* @x.npy: the file says the type */
	SPEC_TENSOR, /* the text says the type */
};

enum spec_fill {
	SPEC_ZEROS,
	SPEC_ONES,
	SPEC_ARANGE,
	SPEC_RANDOM,
	SPEC_LIST,
	SPEC_LOAD, /* from @path, an array file or raw bytes */
};

/**
 * struct spec - one argument, as asked for
 * @role: what it is for
 * @text: the words it was parsed from; all other texts are parts of it
 * @name: name of a named input; empty for an argument by position
 * @form: which of the following count
 * @integer: of SPEC_INT and SPEC_BOOL
 * @real: of SPEC_FLOAT
 * @string: what follows "str:" of SPEC_TEXT
 * @dtype: element type of SPEC_TENSOR
 * @ndim: number of dimensions of SPEC_TENSOR and SPEC_SHAPE
 * @shape: their extents
 * @fill: what is in it
 * @seed: of SPEC_RANDOM
 * @list: the numbers of SPEC_LIST, with their commas
 * @path: file to read, of SPEC_FILE and SPEC_LOAD
 * @write: file that an output is written to; NULL when it is printed only
 */
struct spec {
	enum spec_role role;
	const char *text;
	struct tenon_slice name;
	enum spec_form form;
	int64_t integer;
	double real;
	const char *string;
	DLDataType dtype;
	int32_t ndim;
	int64_t shape[SPEC_DIMENSIONS];
	enum spec_fill fill;
	uint64_t seed;
	const char *list;
	const char *path;
	const char *write;
};

/**
 * spec_parse - read a SPEC
 * @role: what it is for
 * @text: the words; must outlive @out
 * @out: receives what they say
 *
 * Return: 0; -TENON_E_USAGE with a message that says what is wrong, without the text itself.
 */
int spec_parse(enum spec_role role, const char *text, struct spec *out);

/* bytes that hold a type's text, with its NUL */
#define TYPE_TEXT 320

/**
 * type_text - write shape and dtype as text, "2x3xfloat32"
 * @shape: extents
 * @ndim: how many
 * @dtype: element type
 * @text: receives it; cut with "…" when it is too long
 *
 * Return: @text.
 */
const char *type_text(const int64_t *shape, int32_t ndim, DLDataType dtype, char text[TYPE_TEXT]);

#endif /* TOOLS_TENSOR_SPEC_H */
