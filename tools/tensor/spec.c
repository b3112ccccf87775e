/* SPDX-License-Identifier: MIT */
/* Parse a SPEC and say what is wrong with it. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/clock.h"
#include "lib/number.h"
#include "tools/tensor/element.h"
#include "tools/tensor/spec.h"

static int usage(const char *message)
{
	return tenon_error(-TENON_E_USAGE, "%s", message);
}

/* ---- scalars */

static bool looks_like_integer(const char *text)
{
	const char *digits = "0123456789";

	text += *text == '-' || *text == '+';
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		digits = "0123456789abcdefABCDEF";
		text += 2;
	}
	return *text && !text[strspn(text, digits)];
}

/* 0: a number; 1: not a number; negative: a number that does not fit */
static int parse_number(const char *text, struct spec *out)
{
	struct element element;
	const char *end;
	int err;

	if (looks_like_integer(text)) {
		err = element_parse(text, strlen(text), tenon_dtype(TENON_DTYPE_INT, 64, 1),
				    &element);
		out->form = SPEC_INT;
		out->integer = element.integer;
		return err;
	}
	if (!*text || isspace((unsigned char)*text))
		return 1;
	errno = 0;
	out->real = number_read(text, &end);
	if (end == text || *end)
		return 1;
	if (errno == ERANGE && isinf(out->real))
		return usage("the number does not fit float64; write inf for infinity");
	out->form = SPEC_FLOAT;
	return 0;
}

/* Parse the extents of a shape: "1,64". */
static int parse_extents(const char *text, struct spec *out)
{
	struct element extent;
	size_t size;
	int err;

	out->form = SPEC_SHAPE;
	for (out->ndim = 0; *text; out->ndim++) {
		if (out->ndim == SPEC_DIMENSIONS)
			return usage("more than 64 dimensions");
		size = strcspn(text, ",");
		err = element_parse(text, size, tenon_dtype(TENON_DTYPE_INT, 64, 1), &extent);
		if (err || extent.integer < 0)
			return usage("shape: is followed by extents, as in shape:1,64");
		out->shape[out->ndim] = extent.integer;
		text += size;
		if (text[0] == ',' && text[1])
			text++;
	}
	return 0;
}

/* Return 1 when the text is not a scalar. */
static int parse_scalar(const char *text, struct spec *out)
{
	if (!strcmp(text, "null")) {
		out->form = SPEC_NULL;
		return 0;
	}
	if (!strcmp(text, "true") || !strcmp(text, "false")) {
		out->form = SPEC_BOOL;
		out->integer = *text == 't';
		return 0;
	}
	if (!strncmp(text, "str:", 4)) {
		out->form = SPEC_TEXT;
		out->string = text + 4;
		return 0;
	}
	if (!strncmp(text, "shape:", 6))
		return parse_extents(text + 6, out);
	return parse_number(text, out);
}

/* ---- types */

static int parse_extent(const char **text, int64_t *extent)
{
	char *end;

	errno = 0;
	*extent = strtoll(*text, &end, 10);
	if (errno == ERANGE)
		return usage("an extent does not fit 64 bits");
	*text = end;
	return 0;
}

static int parse_dtype(const char *text, size_t size, DLDataType *out)
{
	struct tenon_slice name = { text, size };

	if (!size || !isalpha((unsigned char)*text) || tenon_dtype_parse(name, out) ||
	    element_class_of(*out) < 0)
		return tenon_error(
			-TENON_E_USAGE,
			"no elements of type \"%.*s\" are known; some are float32, "
			"float16, bfloat16, int8, uint4, bool, float8_e4m3fn; a file is @FILE",
			(int)size, text);
	/* bool is {6,8}, however it is written */
	*out = element_storage(*out);
	return 0;
}

/* Test whether a text starts like a type, extents followed by a letter: names of inputs do not. */
static bool begins_with_extent(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && text[digits] == 'x';
}

static int parse_type(const char *text, size_t size, struct spec *out)
{
	const char *end = text + size;
	uint64_t elements = 1;
	size_t bytes;
	int err;

	out->ndim = 0;
	while (begins_with_extent(text)) {
		if (out->ndim == SPEC_DIMENSIONS)
			return usage("more than 64 dimensions");
		err = parse_extent(&text, &out->shape[out->ndim]);
		if (err)
			return err;
		if (__builtin_mul_overflow(elements, (uint64_t)out->shape[out->ndim], &elements))
			return usage("more elements than 64 bits can count");
		out->ndim++;
		text++;
	}
	err = parse_dtype(text, (size_t)(end - text), &out->dtype);
	if (err)
		return err;
	if (element_bytes(elements, out->dtype, &bytes))
		return usage("more bytes than an address can count");
	out->form = SPEC_TENSOR;
	return 0;
}

/* ---- contents */

/* Few digits, so that a person can repeat it. */
static void choose_seed(struct spec *out)
{
	out->fill = SPEC_RANDOM;
	out->seed = clock_now() / 1000 % 1000000;
	out->seed_chosen = true;
}

static int parse_seed(const char *text, struct spec *out)
{
	struct element seed;
	int err;

	err = element_parse(text, strlen(text), tenon_dtype(TENON_DTYPE_UINT, 64, 1), &seed);
	if (err)
		return tenon_error_in(err, "seed of random");
	out->fill = SPEC_RANDOM;
	out->seed = seed.natural;
	return 0;
}

static int parse_content(const char *text, struct spec *out)
{
	if (*text == '>') {
		if (out->role != SPEC_OUTPUT)
			return usage("only an --output is written to a file; an input is read "
				     "with =@FILE");
		if (!text[1])
			return usage("a file name must follow =>");
		out->fill = SPEC_ZEROS;
		out->write = text + 1;
		return 0;
	}
	if (out->role == SPEC_OUTPUT)
		return usage("an output starts as zeros: give its type alone, or =>FILE to write "
			     "it; a tensor with contents is an --input");
	if (*text == '@') {
		out->fill = SPEC_LOAD;
		out->path = text + 1;
		return text[1] ? 0 : usage("a file name must follow @");
	}
	if (!strncmp(text, "random:", 7))
		return parse_seed(text + 7, out);
	if (!strcmp(text, "random") && out->role == SPEC_EXPECT)
		return usage("random needs the seed of what it is compared with, as in random:1");
	if (!strcmp(text, "random"))
		choose_seed(out);
	else if (!strcmp(text, "zeros"))
		out->fill = SPEC_ZEROS;
	else if (!strcmp(text, "ones"))
		out->fill = SPEC_ONES;
	else if (!strcmp(text, "arange"))
		out->fill = SPEC_ARANGE;
	else
		out->fill = SPEC_LIST;
	out->list = text;
	return 0;
}

/* ---- the whole SPEC */

/*
 * Find a name in front of "=": the text up to the first "=", or the text between double quotes that "=" follows.
 * Return the SPEC behind the name, NULL if the text has none.
 */
static const char *split_name(const char *text, struct tenon_slice *name)
{
	const char *end;

	if (*text == '"') {
		end = strstr(text + 1, "\"=");
		if (!end || end == text + 1)
			return NULL;
		*name = (struct tenon_slice){ text + 1, (size_t)(end - text) - 1 };
		return end + 2;
	}
	end = strchr(text, '=');
	if (!end || end == text || *text == '@' || !strncmp(text, "str:", 4) ||
	    begins_with_extent(text))
		return NULL;
	*name = (struct tenon_slice){ text, (size_t)(end - text) };
	return end + 1;
}

static int type_alone(const char *text, struct spec *out)
{
	int err = parse_type(text, strlen(text), out);

	if (err)
		return err;
	if (out->role == SPEC_OUTPUT)
		return 0;
	for (int32_t i = 0; i < out->ndim; i++) {
		if (!out->shape[i])
			return 0; /* no elements to parse */
	}
	return usage("a type without contents; write TYPE=1,2,3, TYPE=@FILE, TYPE=zeros, ones, "
		     "arange or random");
}

int spec_without_at(const char *text)
{
	struct stat st;

	if (stat(text, &st) || S_ISDIR(st.st_mode))
		return 0;
	tenon_error_clear();
	return tenon_error(-TENON_E_USAGE, "%s is a file; its content is @%s", text, text);
}

/* contents that need no numbers; without a type they look like one */
static bool is_content_word(const char *text)
{
	static const char *const words[] = { "zeros", "ones", "arange", "random" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i]))
			return true;
	return !strncmp(text, "random:", 7);
}

static int parse_unnamed(const char *text, struct spec *out)
{
	const char *equals = strchr(text, '=');
	int err;

	if (!*text)
		return usage("an empty SPEC");
	if (*text == '@' && out->role != SPEC_OUTPUT) {
		out->form = SPEC_FILE;
		out->path = text + 1;
		return text[1] ? 0 : usage("a file name must follow @");
	}
	err = parse_scalar(text, out);
	if (err < 0)
		return err;
	if (!err && out->role == SPEC_OUTPUT)
		return usage("an output is a tensor: give its type, as in 2x3xfloat32");
	if (!err)
		return 0;
	if (!equals)
		err = type_alone(text, out);
	else
		err = parse_type(text, (size_t)(equals - text), out);
	if (err && !equals && is_content_word(text)) {
		tenon_error_clear();
		return tenon_error(-TENON_E_USAGE,
				   "the type stands in front of \"%s\", as in 2x3xfloat32=%s", text,
				   text);
	}
	if (err)
		return spec_without_at(text) ? -TENON_E_USAGE : err;
	return equals ? parse_content(equals + 1, out) : 0;
}

int spec_parse(enum spec_role role, const char *text, struct spec *out)
{
	const char *behind;
	struct spec type;

	memset(out, 0, sizeof(*out));
	out->role = role;
	out->text = text;
	behind = split_name(text, &out->name);
	/* float32=1.5 is a tensor, x=1.5 an input named x */
	if (behind && *text != '"' && !parse_type(text, out->name.size, &type))
		behind = NULL;
	tenon_error_clear();
	if (behind)
		return parse_unnamed(behind, out);
	out->name = (struct tenon_slice){ 0 };
	return parse_unnamed(text, out);
}

void spec_print_name(struct tenon_slice name, struct tenon_buffer *out)
{
	struct tenon_buffer word = TENON_BUFFER_INIT;
	struct spec spec;
	bool plain;

	tenon_buffer_printf(&word, "%.*s=0", (int)name.size, name.data);
	plain = word.data && !spec_parse(SPEC_INPUT, word.data, &spec) &&
		tenon_slice_equal(spec.name, name);
	tenon_error_clear();
	tenon_buffer_fini(&word);
	tenon_buffer_printf(out, plain ? "%.*s" : "\"%.*s\"", (int)name.size, name.data);
}

void spec_print_seed(const struct spec *spec, const char *option, FILE *out)
{
	if (spec->seed_chosen)
		fprintf(out, "tenon: %s %s: these numbers are random:%" PRIu64 "\n", option,
			spec->text, spec->seed);
}

const char *type_text(const int64_t *shape, int32_t ndim, DLDataType dtype, char text[TYPE_TEXT])
{
	char name[TENON_DTYPE_NAME];
	int used = 0, most = TYPE_TEXT - TENON_DTYPE_NAME - 32;

	for (int32_t i = 0; i < ndim && used < most; i++)
		used += snprintf(text + used, (size_t)(TYPE_TEXT - used), "%" PRId64 "x", shape[i]);
	if (used >= most)
		used += snprintf(text + used, (size_t)(TYPE_TEXT - used), "…x");
	snprintf(text + used, (size_t)(TYPE_TEXT - used), "%s", tenon_dtype_name(dtype, name));
	return text;
}
