/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "lib/cursor_fast.h"
#include "runtime/payload/payload_format.h"

#define SPIRV_MAGIC 0x07230203u

/* bytes of the smallest function of a table: key, name, types and tags, all empty */
#define KERNEL_LEAST 32

/* forms worth trying on a kind that nobody here has heard of, when its end is known */
#define USUAL_FORMS "fmd|fmb|fmz|mb|ntv|nt"

static bool is_word(struct tenon_slice s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if (s.data[i] <= ' ' || s.data[i] > '~')
			return false;
	return s.size > 0 && s.size <= 32;
}

int payload_take_word(struct tenon_cursor *c, struct tenon_slice *out, const char *what)
{
	const struct tenon_cursor from = *c;
	int err;

	err = take_string(c, out);
	if (!err && !is_word(*out))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "no name of a %s", what);
	return err;
}

int payload_take_strings(struct tenon_cursor *c, uint64_t *count)
{
	struct tenon_slice s;
	uint64_t i;
	int err;

	err = take_count(c, 8, count);
	for (i = 0; i < *count && !err; i++)
		err = take_string(c, &s);
	return err;
}

int payload_table_entry(struct tenon_cursor *c, enum payload_dialect dialect,
			struct payload_function *f)
{
	struct tenon_slice key, name, types, extra = { NULL, 0 };
	struct tenon_cursor tags;
	uint64_t count, tag_count;
	int err;

	err = take_string(c, &key);
	if (!err)
		err = take_string(c, &name);
	if (!err)
		err = take_count(c, 4, &count);
	if (err)
		return err;
	types.data = (const char *)c->at;
	types.size = 4 * (size_t)count;
	c->at += types.size;
	tags = *c;
	err = payload_take_strings(c, &tag_count);
	if (!err && dialect == PAYLOAD_EXTRA) {
		err = take_count(c, 4, &count);
		extra.data = (const char *)c->at;
		extra.size = 4 * (size_t)count;
		c->at += extra.size;
	}
	if (!err && f) {
		tags.at += 8;
		*f = (struct payload_function){ key, types, tags, tag_count, extra };
	}
	return err;
}

static int take_table(struct tenon_cursor *c, struct payload_facts *facts)
{
	uint64_t i;
	int err;

	err = take_count(c, KERNEL_LEAST, &facts->function_count);
	facts->functions = *c;
	facts->names = PAYLOAD_TABLE;
	for (i = 0; i < facts->function_count && !err; i++)
		err = payload_table_entry(c, facts->dialect, NULL);
	return err;
}

static int take_name(struct tenon_cursor *c, struct payload_facts *facts)
{
	int err;

	if (facts->names == PAYLOAD_NO_NAMES) {
		facts->names = PAYLOAD_ONE;
		facts->functions = *c;
		facts->function_count = 1;
	}
	err = take_string(c, &facts->name);
	if (!err && !facts->name.size)
		facts->function_count = 0;
	return err;
}

static int take_parts(struct tenon_cursor *c, struct payload_facts *facts)
{
	struct tenon_slice s;
	uint64_t i;
	int err;

	err = take_count(c, 16, &facts->part_count);
	facts->parts = *c;
	for (i = 0; i < facts->part_count && !err; i++) {
		err = take_string(c, &s);
		if (!err)
			err = take_string(c, &s);
	}
	return err;
}

/* u32 flag, and a list of words that begins with SPIR-V's own magic number */
static int take_spirv(struct tenon_cursor *c)
{
	const struct tenon_cursor from = *c;
	uint64_t words;
	uint32_t flag;
	int err;

	err = tenon_cursor_u32(c, &flag);
	if (!err)
		err = take_count(c, 4, &words);
	if (err)
		return err;
	if (flag > 1 || !words || load_u32(c->at) != SPIRV_MAGIC)
		return tenon_cursor_error(&from, -TENON_E_FORMAT, "no SPIR-V program");
	c->at += 4 * (size_t)words;
	return 0;
}

static int take_sized_spirv(struct tenon_cursor *c)
{
	const struct tenon_cursor from = *c;
	struct tenon_slice bytes;
	struct tenon_cursor inner;
	int err;

	err = take_string(c, &bytes);
	if (err)
		return err;
	inner = tenon_cursor_of(bytes.data, bytes.size, c->name, tenon_cursor_place(&from) + 8);
	err = take_spirv(&inner);
	if (!err && tenon_cursor_left(&inner))
		err = tenon_cursor_error(&inner, -TENON_E_FORMAT,
					 "%zu bytes left behind a SPIR-V program",
					 tenon_cursor_left(&inner));
	return err;
}

static int take_spirv_parts(struct tenon_cursor *c, struct payload_facts *facts, bool sized)
{
	struct tenon_slice name;
	uint64_t i;
	int err;

	err = take_count(c, sized ? 28 : 20, &facts->spirv_count);
	facts->spirv = *c;
	facts->spirv_sized = sized;
	for (i = 0; i < facts->spirv_count && !err; i++) {
		err = take_string(c, &name);
		if (!err)
			err = sized ? take_sized_spirv(c) : take_spirv(c);
	}
	return err;
}

static int take_field(char letter, struct tenon_cursor *c, struct payload_facts *facts)
{
	uint64_t count;

	switch (letter) {
	case 'f':
		return payload_take_word(c, &facts->format, "format");
	case 'm':
		return take_table(c, facts);
	case 'd':
		return take_string(c, &facts->code);
	case 't':
		return take_string(c, &facts->text);
	case 'n':
		return take_name(c, facts);
	case 'v':
		return payload_take_strings(c, &count);
	case 'b':
		return take_parts(c, facts);
	case 's':
	case 'z':
		return take_spirv_parts(c, facts, letter == 'z');
	default:
		return payload_take_rare(letter, c, facts);
	}
}

/* Read one form; @form is left at the '|' or the end behind it. */
static int take_form(const char *form, struct tenon_cursor *c, struct payload_facts *facts,
		     bool whole)
{
	enum payload_dialect dialect = facts->dialect;
	int err = 0;

	memset(facts, 0, sizeof(*facts));
	facts->dialect = dialect;
	for (; *form && *form != '|' && !err; form++)
		err = take_field(*form, c, facts);
	if (!err && whole && tenon_cursor_left(c))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%zu bytes left over",
					 tenon_cursor_left(c));
	return err;
}

/* Try the forms in order; when none fits, the error is that of the one that got furthest. */
static int take_forms(const char *forms, struct tenon_cursor *c, struct payload_facts *facts,
		      bool whole)
{
	const struct tenon_cursor from = *c;
	const char *form = forms, *furthest = forms;
	const uint8_t *reached = NULL;
	int err;

	for (;;) {
		*c = from;
		err = take_form(form, c, facts, whole);
		if (!err)
			return 0;
		if (!reached || c->at > reached) {
			reached = c->at;
			furthest = form;
		}
		form = strchr(form, '|');
		if (!form)
			break;
		form++;
	}
	*c = from;
	if (furthest != forms || strchr(forms, '|'))
		err = take_form(furthest, c, facts, whole);
	return err;
}

#ifdef CONFIG_PAYLOAD_FORMATS
/* past a string; NULL when it is not there whole */
static inline const uint8_t *skip_string(const uint8_t *at, const uint8_t *end)
{
	uint64_t size;

	if ((size_t)(end - at) < 8)
		return NULL;
	size = load_u64(at);
	at += 8;
	return size <= (size_t)(end - at) ? at + size : NULL;
}

/* past a function of a table */
static inline const uint8_t *skip_kernel(const uint8_t *at, const uint8_t *end, bool extra)
{
	uint64_t i, count;

	at = skip_string(at, end);
	at = at ? skip_string(at, end) : NULL;
	if (!at || (size_t)(end - at) < 16 || load_u64(at) > ((size_t)(end - at) - 16) / 4)
		return NULL;
	at += 8 + 4 * load_u64(at);
	count = load_u64(at);
	for (i = 0, at += 8; i < count && at; i++)
		at = skip_string(at, end);
	if (!at || !extra)
		return at;
	if ((size_t)(end - at) < 8 || load_u64(at) > ((size_t)(end - at) - 8) / 4)
		return NULL;
	return at + 8 + 4 * load_u64(at);
}

/*
 * Nearly all payloads of a blob with many are a format, a table and a program: they are passed over
 * without a look at what is in them. NULL: read it with care, to find out what it is instead.
 */
static const uint8_t *skip_kernels(const struct tenon_cursor *c, bool extra)
{
	const uint8_t *at = skip_string(c->at, c->end);
	struct tenon_slice word = { (const char *)c->at + 8, 0 };
	uint64_t i, count;

	if (!at || (size_t)(c->end - at) < 8)
		return NULL;
	word.size = (size_t)((const char *)at - word.data);
	count = load_u64(at);
	if (!is_word(word) || count > (size_t)(c->end - at) / KERNEL_LEAST)
		return NULL;
	for (i = 0, at += 8; i < count && at; i++)
		at = skip_kernel(at, c->end, extra);
	return at ? skip_string(at, c->end) : NULL;
}

bool payload_each_kernel(const struct payload_format *format, const struct tenon_cursor *c,
			 enum payload_dialect dialect,
			 int (*visit)(void *context, struct tenon_slice name), void *context,
			 int *result)
{
	bool extra = dialect == PAYLOAD_EXTRA;
	struct tenon_slice name;
	const uint8_t *at;
	uint64_t i, count;

	*result = 0;
	if (memcmp(format->legacy, "fmd", 3) || skip_kernels(c, extra) != c->end)
		return false;
	at = skip_string(c->at, c->end);
	count = load_u64(at);
	for (i = 0, at += 8; i < count && at && !*result; i++) {
		name.data = (const char *)at + 8;
		name.size = (size_t)load_u64(at);
		*result = visit(context, name);
		at = skip_kernel(at, c->end, extra);
	}
	return true;
}

int payload_measure(const struct payload_format *format, struct tenon_cursor *c,
		    enum payload_dialect dialect)
{
	struct payload_facts facts;
	const uint8_t *end = NULL;

	if (!memcmp(format->legacy, "fmd", 3))
		end = skip_kernels(c, dialect == PAYLOAD_EXTRA);
	if (end) {
		c->at = end;
		return 0;
	}
	facts.dialect = dialect;
	return take_forms(format->legacy, c, &facts, false);
}
#endif

int payload_read(const struct payload_format *format, enum tenon_generation generation,
		 const struct tenon_cursor *c, struct payload_facts *facts)
{
	struct tenon_cursor at = *c;
	const char *forms = USUAL_FORMS;

	if (format)
		forms = generation != TENON_GENERATION_LEGACY && *format->current ? format->current
										  : format->legacy;
	return take_forms(forms, &at, facts, true);
}
