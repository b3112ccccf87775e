/* SPDX-License-Identifier: MIT */
/* Reading the normalizer, pre_tokenizer and decoder of a tokenizer.json. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "llm/tokenizer_file.h"

/* how GPT-2 divides a text, which "ByteLevel" stands for */
#define GPT2_PATTERN                                                                               \
	"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- members */

int tokenizer_refuse(const struct tokenizer_file *r, uint32_t at, const char *what,
		     struct tenon_slice type)
{
	return json_error(&r->t, at, -TENON_E_UNSUPPORTED, "%s \"%.*s\" is not supported", what,
			  json_shown(type), type.data);
}

int tokenizer_fields(const struct tokenizer_file *r, uint32_t at, const char *what,
		     struct tokenizer_field *fields, size_t count)
{
	struct tenon_slice key;
	uint32_t members, value;
	size_t i;
	int err = json_enter(&r->t, &at, JSMN_OBJECT, what, &members);

	while (json_next(&r->t, &at, &members, &key, &err)) {
		value = at;
		for (i = 0; i < count && !slice_is(key, fields[i].name); i++)
			;
		if (i == count)
			return json_error(&r->t, at, -TENON_E_UNSUPPORTED,
					  "\"%.*s\" of %s is not supported", json_shown(key),
					  key.data, what);
		if (llm_json_word(&r->t, &at, "null"))
			continue;
		if (fields[i].at)
			return json_error(&r->t, at, -TENON_E_FORMAT, "%s has \"%s\" twice", what,
					  fields[i].name);
		fields[i].at = value;
		json_skip(&r->t, &at);
	}
	return err;
}

int tokenizer_type(const struct tokenizer_file *r, uint32_t at, const char *what,
		   struct tenon_slice *type)
{
	struct tenon_slice key;
	uint32_t members;
	int err = json_enter(&r->t, &at, JSMN_OBJECT, what, &members);

	*type = (struct tenon_slice){ "", 0 };
	while (json_next(&r->t, &at, &members, &key, &err)) {
		if (slice_is(key, "type") && json_is(&r->t, at, JSMN_STRING))
			*type = json_raw(&r->t, at);
		json_skip(&r->t, &at);
	}
	return err;
}

int tokenizer_text(struct tokenizer_file *r, const struct tokenizer_field *f, const char *otherwise,
		   struct tenon_slice *out)
{
	uint32_t at = f->at;

	*out = tenon_slice_of(otherwise);
	return at ? json_string(&r->t, &at, f->name, &r->room, out) : 0;
}

int tokenizer_flag(const struct tokenizer_file *r, const struct tokenizer_field *f, bool otherwise,
		   bool *out)
{
	uint32_t at = f->at;

	*out = otherwise;
	return at ? llm_json_bool(&r->t, &at, f->name, out) : 0;
}

/* Read a string that has to be a given one. */
static int expect_text(struct tokenizer_file *r, const struct tokenizer_field *f,
		       const char *otherwise, const char *wanted)
{
	struct tenon_slice text;
	int err = tokenizer_text(r, f, otherwise, &text);

	return err || slice_is(text, wanted) ? err : tokenizer_refuse(r, f->at, f->name, text);
}

/* Read each step of a Sequence, or the single step. */
static int each(struct tokenizer_file *r, uint32_t at, const char *what, const char *list,
		int (*read)(struct tokenizer_file *r, uint32_t at, struct tenon_slice type))
{
	struct tokenizer_field f[] = { { "type", 0 }, { list, 0 } };
	struct tenon_slice type;
	uint32_t count, items;
	int err;

	if (!at)
		return 0;
	err = tokenizer_type(r, at, what, &type);
	if (err)
		return err;
	if (!slice_is(type, "Sequence"))
		return read(r, at, type);
	err = tokenizer_fields(r, at, what, f, COUNT(f));
	if (err)
		return err;
	items = f[1].at;
	err = items ? json_enter(&r->t, &items, JSMN_ARRAY, what, &count)
		    : json_error(&r->t, at, -TENON_E_FORMAT, "a sequence without \"%s\"", list);
	for (; !err && count; count--) {
		err = tokenizer_type(r, items, what, &type);
		if (!err)
			err = read(r, items, type);
		json_skip(&r->t, &items);
	}
	return err;
}

/* ---- steps */

static int add_step(struct tokenizer_file *r, struct bpe_steps *steps, enum bpe_step_kind kind,
		    struct bpe_step **out)
{
	*out = NULL;
	if (steps->count == STEPS_MOST)
		return tenon_error(-TENON_E_FORMAT, "%s: more than %d steps for a text", r->t.name,
				   STEPS_MOST);
	*out = &steps->step[steps->count++];
	(*out)->kind = kind;
	return 0;
}

/* Compile { "Regex": … } or { "String": … }. */
static int read_pattern(struct tokenizer_file *r, uint32_t at, struct bpe_step *step)
{
	struct tokenizer_field f[] = { { "Regex", 0 }, { "String", 0 } };
	struct tenon_slice text;
	bool literal;
	int err = at ? tokenizer_fields(r, at, "pattern", f, COUNT(f))
		     : tenon_error(-TENON_E_FORMAT, "%s: there is no \"pattern\"", r->t.name);

	if (!err && !f[0].at == !f[1].at)
		err = json_error(&r->t, at, -TENON_E_FORMAT,
				 "a pattern has either \"Regex\" or \"String\"");
	if (err)
		return err;
	literal = f[1].at;
	err = tokenizer_text(r, &f[literal], "", &text);
	if (!err)
		err = bpe_compile(r->to, text, literal, &step->code);
	return err ? tenon_error_in(err, "%s", r->t.name) : 0;
}

static int add_split(struct tokenizer_file *r, const char *pattern, bool literal,
		     enum bpe_behavior behavior)
{
	struct bpe_step *step;
	int err = add_step(r, &r->to->splits, STEP_SPLIT, &step);

	if (err)
		return err;
	step->behavior = behavior;
	return bpe_compile(r->to, tenon_slice_of(pattern), literal, &step->code);
}

static int read_normalizer(struct tokenizer_file *r, uint32_t at, struct tenon_slice type)
{
	struct tokenizer_field prepend[] = { { "type", 0 }, { "prepend", 0 } };
	struct tokenizer_field replace[] = { { "type", 0 }, { "pattern", 0 }, { "content", 0 } };
	struct bpe_step *step;
	uint32_t empty = 0;
	int err;

	if (slice_is(type, "Prepend")) {
		err = add_step(r, &r->to->normal, STEP_PREPEND, &step);
		if (!err)
			err = tokenizer_fields(r, at, "Prepend", prepend, COUNT(prepend));
		return err ? err : tokenizer_text(r, &prepend[1], "", &step->text);
	}
	if (slice_is(type, "Replace")) {
		err = add_step(r, &r->to->normal, STEP_REPLACE, &step);
		if (!err)
			err = tokenizer_fields(r, at, "Replace", replace, COUNT(replace));
		if (!err)
			err = tokenizer_text(r, &replace[2], "", &step->text);
		/*
		 * an empty replacement may remove the beginning of the text; PREPEND_FIRST needs
		 * its origin
		 */
		if (!err && !step->text.size)
			r->to->origins = true;
		if (!err)
			err = read_pattern(r, replace[1].at, step);
		if (!err)
			err = pcre2_pattern_info(step->code, PCRE2_INFO_MATCHEMPTY, &empty);
		return err || !empty ? err
				     : json_error(&r->t, replace[1].at, -TENON_E_UNSUPPORTED,
						  "Replace with an expression that matches no "
						  "characters is not supported");
	}
	/* Most text is in this form already; other text gets other tokens for the same characters. */
	if (slice_is(type, "NFC"))
		return tokenizer_fields(r, at, "NFC", prepend, 1);
	return tokenizer_refuse(r, at, "normalizer", type);
}

int tokenizer_read_normalizer(struct tokenizer_file *r, uint32_t at)
{
	return each(r, at, "normalizer", "normalizers", read_normalizer);
}

/* ---- pre-tokenizers */

static int read_byte_level(struct tokenizer_file *r, uint32_t at)
{
	/* trim_offsets does not concern the tokens */
	struct tokenizer_field f[] = {
		{ "type", 0 }, { "add_prefix_space", 0 }, { "use_regex", 0 }, { "trim_offsets", 0 }
	};
	struct bpe_step *step;
	bool prefix, regex;
	int err = tokenizer_fields(r, at, "ByteLevel", f, COUNT(f));

	if (!err)
		err = tokenizer_flag(r, &f[1], true, &prefix);
	if (!err)
		err = tokenizer_flag(r, &f[2], true, &regex);
	if (!err && prefix)
		err = add_step(r, &r->to->splits, STEP_PREFIX, &step);
	if (!err && regex)
		err = add_split(r, GPT2_PATTERN, false, ISOLATED);
	r->to->byte_level = true;
	return err;
}

static int read_split(struct tokenizer_file *r, uint32_t at)
{
	static const char *const behaviors[] = {
		[ISOLATED] = "Isolated",
		[REMOVED] = "Removed",
		[CONTIGUOUS] = "Contiguous",
		[MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
		[MERGED_WITH_NEXT] = "MergedWithNext",
	};
	struct tokenizer_field f[] = {
		{ "type", 0 }, { "pattern", 0 }, { "behavior", 0 }, { "invert", 0 }
	};
	struct tenon_slice behavior;
	struct bpe_step *step;
	size_t i;
	int err = add_step(r, &r->to->splits, STEP_SPLIT, &step);

	if (!err)
		err = tokenizer_fields(r, at, "Split", f, COUNT(f));
	if (!err)
		err = tokenizer_text(r, &f[2], "", &behavior);
	if (!err)
		err = tokenizer_flag(r, &f[3], false, &step->invert);
	if (err)
		return err;
	for (i = 0; i < COUNT(behaviors) && !slice_is(behavior, behaviors[i]); i++)
		;
	if (i == COUNT(behaviors))
		return tokenizer_refuse(r, at, "Split with behavior", behavior);
	step->behavior = (enum bpe_behavior)i;
	return read_pattern(r, f[1].at, step);
}

static int read_digits(struct tokenizer_file *r, uint32_t at)
{
	struct tokenizer_field f[] = { { "type", 0 }, { "individual_digits", 0 } };
	bool individual;
	int err = tokenizer_fields(r, at, "Digits", f, COUNT(f));

	if (!err)
		err = tokenizer_flag(r, &f[1], false, &individual);
	return err ? err : add_split(r, individual ? "\\p{N}" : "\\p{N}+", false, ISOLATED);
}

/* Read when Metaspace puts a mark in front. Older files have add_prefix_space alone. */
static int read_scheme(struct tokenizer_file *r, const struct tokenizer_field *scheme,
		       const struct tokenizer_field *old, enum bpe_prepend *out)
{
	static const char *const names[] = {
		[PREPEND_NEVER] = "never", [PREPEND_FIRST] = "first", [PREPEND_ALWAYS] = "always"
	};
	struct tenon_slice text;
	bool add;
	size_t i;
	int err = tokenizer_flag(r, old, true, &add);

	if (!err)
		err = tokenizer_text(r, scheme, add ? "always" : "never", &text);
	if (err)
		return err;
	for (i = 0; i < COUNT(names) && !slice_is(text, names[i]); i++)
		;
	if (i == COUNT(names))
		return tokenizer_refuse(r, scheme->at, "prepend_scheme", text);
	*out = (enum bpe_prepend)i;
	if (!add && *out != PREPEND_NEVER)
		return json_error(&r->t, old->at, -TENON_E_FORMAT,
				  "add_prefix_space and prepend_scheme contradict each other");
	return 0;
}

/* Read a Metaspace, as a pre-tokenizer or a decoder. */
static int read_metaspace(struct tokenizer_file *r, uint32_t at, enum bpe_prepend *prepend,
			  bool *split)
{
	struct tokenizer_field f[] = { { "type", 0 },		{ "replacement", 0 },
				       { "prepend_scheme", 0 }, { "add_prefix_space", 0 },
				       { "split", 0 },		{ "str_rep", 0 } };
	int err = tokenizer_fields(r, at, "Metaspace", f, COUNT(f));

	if (!err)
		err = expect_text(r, &f[1], BPE_SPACE, BPE_SPACE);
	if (!err)
		err = expect_text(r, &f[5], BPE_SPACE, BPE_SPACE);
	if (!err)
		err = tokenizer_flag(r, &f[4], true, split);
	return err ? err : read_scheme(r, &f[2], &f[3], prepend);
}

/* Test whether more than one part of a text may begin where the text does. */
static bool begins_twice(const struct tokenizer *t)
{
	uint32_t i;

	for (i = 0; i < t->normal.count; i++)
		if (t->normal.step[i].kind == STEP_PREPEND)
			return t->splits.count > 1;
	return false;
}

static int add_metaspace(struct tokenizer_file *r, uint32_t at)
{
	struct bpe_step *step;
	bool split;
	int err = add_step(r, &r->to->splits, STEP_METASPACE, &step);

	if (!err)
		err = read_metaspace(r, at, &step->prepend, &split);
	if (!err && step->prepend == PREPEND_FIRST && begins_twice(r->to))
		return json_error(&r->t, at, -TENON_E_UNSUPPORTED,
				  "Metaspace with prepend_scheme first, behind the normalizer "
				  "Prepend and another pre_tokenizer, is not supported");
	return err || !split ? err : add_split(r, BPE_SPACE, true, MERGED_WITH_NEXT);
}

static int read_pre_tokenizer(struct tokenizer_file *r, uint32_t at, struct tenon_slice type)
{
	/* The next step would see characters that stand for bytes. */
	if (r->to->byte_level)
		return tokenizer_refuse(r, at, "behind ByteLevel, pre_tokenizer", type);
	if (slice_is(type, "ByteLevel"))
		return read_byte_level(r, at);
	if (slice_is(type, "Split"))
		return read_split(r, at);
	if (slice_is(type, "Digits"))
		return read_digits(r, at);
	if (slice_is(type, "Metaspace"))
		return add_metaspace(r, at);
	return tokenizer_refuse(r, at, "pre_tokenizer", type);
}

int tokenizer_read_splits(struct tokenizer_file *r, uint32_t at)
{
	return each(r, at, "pre_tokenizer", "pretokenizers", read_pre_tokenizer);
}

/* ---- decoders */

/* U+2581 is replaced by a space. */
static int read_replace(struct tokenizer_file *r, uint32_t at)
{
	struct tokenizer_field f[] = { { "type", 0 }, { "pattern", 0 }, { "content", 0 } };
	struct tokenizer_field pattern = { "String", 0 };
	int err = tokenizer_fields(r, at, "Replace", f, COUNT(f));

	if (!err && f[1].at)
		err = tokenizer_fields(r, f[1].at, "the pattern of a decoder", &pattern, 1);
	if (!err)
		err = expect_text(r, &pattern, "", BPE_SPACE);
	if (!err)
		err = expect_text(r, &f[2], "", " ");
	r->marks_are_spaces = true;
	return err;
}

/* One space is removed at the beginning. */
static int read_strip(struct tokenizer_file *r, uint32_t at)
{
	struct tokenizer_field f[] = {
		{ "type", 0 }, { "content", 0 }, { "start", 0 }, { "stop", 0 }
	};
	int64_t start = 0, stop = 0;
	uint32_t value;
	int err = tokenizer_fields(r, at, "Strip", f, COUNT(f));

	if (!err)
		err = expect_text(r, &f[1], " ", " ");
	value = f[2].at;
	if (!err && value)
		err = json_integer(&r->t, &value, "start", 0, INT32_MAX, &start);
	value = f[3].at;
	if (!err && value)
		err = json_integer(&r->t, &value, "stop", 0, INT32_MAX, &stop);
	if (!err && (start > 1 || stop))
		err = json_error(&r->t, at, -TENON_E_UNSUPPORTED,
				 "a decoder that strips %" PRIi64
				 " characters in front and %" PRIi64 " behind is not supported",
				 start, stop);
	r->to->strip = start == 1;
	return err;
}

static int read_decoder(struct tokenizer_file *r, uint32_t at, struct tenon_slice type)
{
	/* of ByteLevel, all concern pre-tokenizers */
	struct tokenizer_field f[] = {
		{ "type", 0 }, { "add_prefix_space", 0 }, { "trim_offsets", 0 }, { "use_regex", 0 }
	};
	enum bpe_prepend prepend;
	bool split;
	int err;

	if (slice_is(type, "ByteLevel")) {
		if (!r->to->byte_level)
			return tokenizer_refuse(r, at, "without such a pre_tokenizer, decoder",
						type);
		return tokenizer_fields(r, at, "ByteLevel", f, COUNT(f));
	}
	if (r->to->byte_level)
		return tokenizer_refuse(r, at, "with the pre_tokenizer ByteLevel, decoder", type);
	if (slice_is(type, "Replace"))
		return read_replace(r, at);
	if (slice_is(type, "Strip"))
		return read_strip(r, at);
	if (slice_is(type, "Metaspace")) {
		err = read_metaspace(r, at, &prepend, &split);
		r->marks_are_spaces = true;
		r->to->strip = prepend != PREPEND_NEVER;
		return err;
	}
	if (slice_is(type, "ByteFallback"))
		r->decodes_bytes = true;
	else if (!slice_is(type, "Fuse"))
		return tokenizer_refuse(r, at, "decoder", type);
	return tokenizer_fields(r, at, "a decoder", f, 1);
}

int tokenizer_read_decoder(struct tokenizer_file *r, uint32_t at)
{
	/* without a decoder, names of tokens are read as the encoder writes them */
	r->marks_are_spaces = !at && !r->to->byte_level;
	r->decodes_bytes = !at && r->to->byte_fallback;
	return each(r, at, "decoder", "decoders", read_decoder);
}
