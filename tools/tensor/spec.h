/* SPDX-License-Identifier: MIT */
/* The syntax of arguments on command lines. */
#ifndef TOOLS_TENSOR_SPEC_H
#define TOOLS_TENSOR_SPEC_H

#include <stdio.h>
#include <tenon/buffer.h>
#include <tenon/tensor.h>

/*
 *	SPEC    = [NAME=] (SCALAR | str:TEXT | shape:EXTENTS | @FILE.npy | TYPE=CONTENT | TYPE=>FILE | TYPE)
 *	SCALAR  = 3 | -0x1f | 2.5 | inf | nan | true | false | null
 *	EXTENTS = [NUMBER{,NUMBER}]                1,64; nothing for a shape without dimensions
 *	TYPE    = {EXTENT x} DTYPE                2x3xfloat32, float32
 *	CONTENT = NUMBER{,NUMBER} | @FILE | random[:SEED] | zeros | ones | arange
 *	NAME    = TEXT | "TEXT"                    in quotes if TEXT has "=", or begins as another form does
 *
 * Parsing opens no file and allocates nothing: the results are slices of the text. Only a text
 * that cannot be parsed is looked up as the name of a file, since its @ may be missing.
 */

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
	SPEC_FILE,   /* @x.npy: the file states the type */
	SPEC_TENSOR, /* the SPEC states the type */
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
 * struct spec - a parsed SPEC
 * @role: role of the argument
 * @text: the text it was parsed from; all other texts point into it
 * @name: name of a named input; empty for an argument by position
 * @form: form, which decides the valid fields below
 * @integer: value of SPEC_INT and SPEC_BOOL
 * @real: value of SPEC_FLOAT
 * @string: text after "str:" of SPEC_TEXT
 * @dtype: element type of SPEC_TENSOR
 * @ndim: number of dimensions of SPEC_TENSOR and SPEC_SHAPE
 * @shape: extents
 * @fill: source of the elements
 * @seed: seed of SPEC_RANDOM
 * @seed_chosen: the text has no seed, so parsing chose one
 * @list: comma-separated numbers of SPEC_LIST
 * @path: file to read, of SPEC_FILE and SPEC_LOAD
 * @write: file that an output is written to; NULL if it is only printed
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
	bool seed_chosen;
	const char *list;
	const char *path;
	const char *write;
};

/**
 * spec_parse - read a SPEC
 * @role: role of the argument
 * @text: the text; must outlive @out
 * @out: receives the parsed SPEC
 *
 * Return: 0; -TENON_E_USAGE with a message that does not quote the text.
 */
int spec_parse(enum spec_role role, const char *text, struct spec *out);

/**
 * spec_without_at - name the missing @ of a text that is the name of a file
 * @text: the text that is no SPEC, or no content of one
 *
 * Return: -TENON_E_USAGE with a message that replaces the thread's error; 0 if there is no such
 *	file.
 */
int spec_without_at(const char *text);

/** spec_print_name - append a name as it is written in front of "=": in quotes where needed */
void spec_print_name(struct tenon_slice name, struct tenon_buffer *out);

/** spec_print_seed - print the seed that parsing chose for @option, if it did */
void spec_print_seed(const struct spec *spec, const char *option, FILE *out);

/* size of a type as text, NUL included */
#define TYPE_TEXT 320

/**
 * type_text - write shape and dtype as text, "2x3xfloat32"
 * @shape: extents
 * @ndim: how many
 * @dtype: element type
 * @text: receives the text; truncated with "…" if too long
 *
 * Return: @text.
 */
const char *type_text(const int64_t *shape, int32_t ndim, DLDataType dtype, char text[TYPE_TEXT]);

/**
 * spec_tensor - make the tensor of a SPEC
 * @spec: a SPEC of the forms SPEC_FILE and SPEC_TENSOR
 * @out: receives the tensor with one reference
 *
 * Return: 0; -TENON_E_USAGE for numbers that do not fit; -TENON_E_VALUE for a file that does not;
 *	-TENON_E_IO, -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_UNSUPPORTED for one that cannot be
 *	read; -TENON_E_NOMEM.
 */
int spec_tensor(const struct spec *spec, struct tenon_tensor **out);

/**
 * spec_random - generate the numbers of random:SEED
 * @data: @count elements, counting lanes
 * @dtype: element type
 *
 * Element i is derived from splitmix64 of SEED + i, so it is the same on every machine. Real
 * numbers are uniform in [-1, 1), integers in [-128, 127], unsigned ones in [0, 255], or in the
 * dtype's own range where that is smaller.
 */
void spec_random(void *data, uint64_t count, DLDataType dtype, uint64_t seed);

#endif /* TOOLS_TENSOR_SPEC_H */
