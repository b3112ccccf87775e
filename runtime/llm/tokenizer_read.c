/* SPDX-License-Identifier: MIT */
/* Reading tokenizer.json, the format of Hugging Face's tokenizers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/llm/llm.h"
#include "runtime/llm/llm_json.h"
#include "runtime/llm/tokenizer_bpe.h"

/* how GPT-2 divides a text, which "ByteLevel" stands for */
#define GPT2_PATTERN                                                                               \
	"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

#define UNUSED UINT32_MAX

/* what is read at the moment */
struct reader {
	struct json_text t;
	struct tokenizer *to;
	char *room;
	uint32_t vocabulary; /* where it is in the text; 0 for nowhere */
	uint32_t merges;
	struct tenon_slice unknown;
	bool strip; /* the decoder removes a space at the beginning */
};

/* ---- tables */

static uint32_t table_size(uint32_t count)
{
	uint32_t size = 16;

	while (size / 2 < count)
		size *= 2;
	return size;
}

/* Largest number of a token in a list; an upper bound for the size of the tables. */
static int note_token(struct reader *r, uint32_t at, int64_t id, uint32_t entries)
{
	struct tokenizer *t = r->to;

	/* numbers may have gaps, but not such that a small file needs much memory */
	if (id > (int64_t)2 * entries + 65536)
		return json_error(&r->t, at, -TENON_E_FORMAT,
				  "token %" PRIi64 " of a vocabulary of %" PRIu32, id, entries);
	if (id >= t->count)
		t->count = (uint32_t)id + 1;
	return 0;
}

static void put_name(struct tokenizer *t, uint32_t id)
{
	uint64_t at = bpe_hash(t->names[id].data, t->names[id].size);

	while (t->by_name[at & t->name_mask] != UNUSED)
		at++;
	t->by_name[at & t->name_mask] = id;
}

static int count_vocabulary(struct reader *r)
{
	uint32_t at = r->vocabulary, count, i;
	struct tenon_slice key;
	int64_t id;
	int err;

	if (!at)
		return tenon_error(-TENON_E_FORMAT, "%s: the model has no \"vocab\"", r->t.name);
	err = json_enter(&r->t, &at, JSMN_OBJECT, "vocab", &count);
	for (i = 0; i < count && !err; i++) {
		err = json_key(&r->t, &at, &key);
		if (!err)
			err = json_integer(&r->t, &at, "a token", 0, INT32_MAX - 1, &id);
		if (!err)
			err = note_token(r, at - 1, id, count);
	}
	for (i = 0; i < r->to->added_count && !err; i++)
		err = note_token(r, 0, r->to->added[i].id, count + r->to->added_count);
	return err;
}

static int read_vocabulary(struct reader *r)
{
	struct tokenizer *t = r->to;
	uint32_t at = r->vocabulary, count, i, size;
	struct tenon_slice name;
	int64_t id;
	int err = count_vocabulary(r);

	if (err)
		return err;
	size = table_size(t->count);
	t->names = calloc((size_t)t->count + 1, sizeof(*t->names));
	t->decoded = calloc((size_t)t->count + 1, sizeof(*t->decoded));
	t->by_name = malloc(size * sizeof(*t->by_name));
	if (!t->names || !t->decoded || !t->by_name)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " tokens", t->count);
	memset(t->by_name, 0xff, size * sizeof(*t->by_name));
	t->name_mask = size - 1;
	err = json_enter(&r->t, &at, JSMN_OBJECT, "vocab", &count);
	for (i = 0; i < count && !err; i++) {
		err = json_key_string(&r->t, &at, &r->room, &name);
		if (!err)
			err = json_integer(&r->t, &at, "a token", 0, INT32_MAX - 1, &id);
		if (!err && t->names[id].data)
			err = json_error(&r->t, at - 1, -TENON_E_FORMAT,
					 "token %" PRIi64 " has two names", id);
		if (!err) {
			t->names[id] = name;
			put_name(t, (uint32_t)id);
		}
	}
	return err;
}

/* ---- merges: "a b", or ["a", "b"] */

static int read_pair(struct reader *r, uint32_t *at, struct tenon_slice *left,
		     struct tenon_slice *right)
{
	uint32_t count, start = *at;
	const char *space;
	int err;

	if (json_is(&r->t, *at, JSMN_ARRAY)) {
		err = json_enter(&r->t, at, JSMN_ARRAY, "a merge", &count);
		if (!err && count != 2)
			err = json_error(&r->t, start, -TENON_E_FORMAT,
					 "a merge of %" PRIu32 " tokens, want 2", count);
		if (!err)
			err = json_string(&r->t, at, "a merge", &r->room, left);
		return err ? err : json_string(&r->t, at, "a merge", &r->room, right);
	}
	err = json_string(&r->t, at, "a merge", &r->room, left);
	if (err)
		return err;
	space = memchr(left->data, ' ', left->size);
	if (!space)
		return json_error(&r->t, start, -TENON_E_FORMAT, "a merge without a space");
	right->data = space + 1;
	right->size = left->size - (size_t)(right->data - left->data);
	left->size = (size_t)(space - left->data);
	return 0;
}

static int read_merge(struct reader *r, uint32_t *at, uint32_t rank)
{
	struct tokenizer *t = r->to;
	struct tenon_slice left, right, whole;
	int32_t ids[3];
	uint32_t start = *at;
	uint64_t place;
	char *name;
	int err = read_pair(r, at, &left, &right);

	if (err)
		return err;
	whole.size = left.size + right.size;
	whole.data = name = malloc(whole.size + 1);
	if (!name)
		return tenon_error(-TENON_E_NOMEM, "no memory for a merge");
	memcpy(name, left.data, left.size);
	memcpy(name + left.size, right.data, right.size);
	ids[0] = bpe_find(t, left);
	ids[1] = bpe_find(t, right);
	ids[2] = bpe_find(t, whole);
	free(name);
	if (ids[0] < 0 || ids[1] < 0 || ids[2] < 0)
		return json_error(&r->t, start, -TENON_E_FORMAT,
				  "merge %" PRIu32 " has a token that the vocabulary lacks", rank);
	place = bpe_hash_pair((uint32_t)ids[0], (uint32_t)ids[1]);
	for (; t->merges[place & t->merge_mask].rank != UNUSED; place++)
		/* of equal pairs the first one counts */
		if (t->merges[place & t->merge_mask].left == (uint32_t)ids[0] &&
		    t->merges[place & t->merge_mask].right == (uint32_t)ids[1])
			return 0;
	t->merges[place & t->merge_mask] =
		(struct bpe_merge){ (uint32_t)ids[0], (uint32_t)ids[1], rank, (uint32_t)ids[2] };
	return 0;
}

static int read_merges(struct reader *r)
{
	struct tokenizer *t = r->to;
	uint32_t at = r->merges, count = 0, size, i;
	int err = 0;

	if (at)
		err = json_enter(&r->t, &at, JSMN_ARRAY, "merges", &count);
	size = table_size(count);
	t->merges = err ? NULL : malloc(size * sizeof(*t->merges));
	if (err)
		return err;
	if (!t->merges)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " merges", count);
	t->merge_mask = size - 1;
	for (i = 0; i < size; i++)
		t->merges[i].rank = UNUSED;
	for (i = 0; i < count && !err; i++)
		err = read_merge(r, &at, i);
	return err;
}

/* ---- the parts of the file */

static int read_type(struct reader *r, uint32_t at, const char *what, struct tenon_slice *type,
		     uint32_t *members)
{
	struct tenon_slice key;
	uint32_t count, i;
	int err = json_enter(&r->t, &at, JSMN_OBJECT, what, &count);

	*type = (struct tenon_slice){ "", 0 };
	*members = count;
	for (i = 0; i < count && !err; i++) {
		err = json_key(&r->t, &at, &key);
		if (err)
			break;
		if (llm_is(key, "type") && json_is(&r->t, at, JSMN_STRING))
			*type = json_raw(&r->t, at);
		json_skip(&r->t, &at);
	}
	return err;
}

/* Position of the value of a member; 0 for none. */
static uint32_t member(const struct reader *r, uint32_t at, const char *name)
{
	struct tenon_slice key;
	uint32_t count;

	if (json_enter(&r->t, &at, JSMN_OBJECT, name, &count))
		return 0;
	for (; count; count--) {
		if (json_key(&r->t, &at, &key))
			return 0;
		if (llm_is(key, name))
			return at;
		json_skip(&r->t, &at);
	}
	return 0;
}

static bool is_true(const struct reader *r, uint32_t at, const char *name, bool otherwise)
{
	uint32_t value = member(r, at, name);

	return value && json_is(&r->t, value, JSMN_PRIMITIVE)
		       ? llm_is(json_raw(&r->t, value), "true")
		       : otherwise;
}

static struct tenon_slice text_of(const struct reader *r, uint32_t at, const char *name)
{
	uint32_t value = member(r, at, name);

	return value && json_is(&r->t, value, JSMN_STRING) ? json_raw(&r->t, value)
							   : (struct tenon_slice){ "", 0 };
}

static int refuse(const struct reader *r, uint32_t at, const char *what, struct tenon_slice type)
{
	return json_error(&r->t, at, -TENON_E_UNSUPPORTED, "%s \"%.*s\" is not supported", what,
			  json_shown(type), type.data);
}

/* Read each item of a sequence, or the one that there is. */
static int each(struct reader *r, uint32_t at, const char *what, const char *list,
		int (*read)(struct reader *r, uint32_t at, struct tenon_slice type))
{
	struct tenon_slice type;
	uint32_t count, items;
	int err;

	if (!at || llm_json_word(&r->t, &at, "null"))
		return 0;
	err = read_type(r, at, what, &type, &count);
	if (err)
		return err;
	if (!llm_is(type, "Sequence"))
		return read(r, at, type);
	items = member(r, at, list);
	err = items ? json_enter(&r->t, &items, JSMN_ARRAY, what, &count)
		    : json_error(&r->t, at, -TENON_E_FORMAT, "a sequence without \"%s\"", list);
	for (; !err && count; count--) {
		err = read_type(r, items, what, &type, &at);
		if (!err)
			err = read(r, items, type);
		json_skip(&r->t, &items);
	}
	return err;
}

static bool is_space_mark(struct tenon_slice s)
{
	return llm_is(s, BPE_SPACE) || llm_is(s, "\\u2581");
}

static int read_normalizer(struct reader *r, uint32_t at, struct tenon_slice type)
{
	uint32_t pattern;

	if (llm_is(type, "Prepend") && is_space_mark(text_of(r, at, "prepend"))) {
		r->to->prepend = PREPEND_ALWAYS;
		return 0;
	}
	if (llm_is(type, "Replace")) {
		pattern = member(r, at, "pattern");
		if (pattern && llm_is(text_of(r, pattern, "String"), " ") &&
		    is_space_mark(text_of(r, at, "content"))) {
			r->to->metaspace = true;
			return 0;
		}
	}
	/* Most text is in this form already; other text gets other tokens for the same characters. */
	if (llm_is(type, "NFC"))
		return 0;
	return refuse(r, at, "normalizer", type);
}

static int read_byte_level(struct reader *r, uint32_t at)
{
	r->to->byte_level = true;
	if (is_true(r, at, "add_prefix_space", true))
		r->to->prepend = PREPEND_ALWAYS;
	if (is_true(r, at, "use_regex", true))
		return bpe_add_pattern(r->to, tenon_slice_of(GPT2_PATTERN), false);
	return 0;
}

static int read_split(struct reader *r, uint32_t at)
{
	struct tenon_slice behavior = text_of(r, at, "behavior"), text;
	uint32_t pattern = member(r, at, "pattern"), value;
	char *room = r->room;
	bool literal;
	int err;

	if (!llm_is(behavior, "Isolated") &&
	    !(llm_is(behavior, "Removed") && is_true(r, at, "invert", false)))
		return refuse(r, at, "Split with behavior", behavior);
	value = pattern ? member(r, pattern, "Regex") : 0;
	literal = !value;
	if (literal)
		value = pattern ? member(r, pattern, "String") : 0;
	err = json_string(&r->t, &value, "pattern", &room, &text);
	if (!err)
		err = bpe_add_pattern(r->to, text, literal);
	return err ? tenon_error_in(err, "%s", r->t.name) : 0;
}

static int read_pre_tokenizer(struct reader *r, uint32_t at, struct tenon_slice type)
{
	struct tenon_slice scheme;

	if (llm_is(type, "ByteLevel"))
		return read_byte_level(r, at);
	if (llm_is(type, "Split"))
		return read_split(r, at);
	if (llm_is(type, "Digits"))
		return bpe_add_pattern(r->to,
				       tenon_slice_of(is_true(r, at, "individual_digits", false)
							      ? "\\p{N}"
							      : "\\p{N}+"),
				       false);
	if (llm_is(type, "Metaspace")) {
		scheme = text_of(r, at, "prepend_scheme");
		r->to->metaspace = r->to->prepend_once = true;
		r->to->prepend = llm_is(scheme, "never")   ? PREPEND_NEVER
				 : llm_is(scheme, "first") ? PREPEND_FIRST
							   : PREPEND_ALWAYS;
		if (is_true(r, at, "split", true))
			return bpe_add_pattern(
				r->to, tenon_slice_of(BPE_SPACE "?[^" BPE_SPACE "]+|" BPE_SPACE),
				false);
		return 0;
	}
	return refuse(r, at, "pre_tokenizer", type);
}

static int read_decoder(struct reader *r, uint32_t at, struct tenon_slice type)
{
	static const char *const known[] = { "ByteLevel", "Replace", "ByteFallback",
					     "Fuse",	  "Strip",   "Metaspace" };
	size_t i;

	if (llm_is(type, "Strip") || llm_is(type, "Metaspace"))
		r->strip = true;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (llm_is(type, known[i]))
			return 0;
	return refuse(r, at, "decoder", type);
}

static int read_model(struct reader *r, uint32_t at)
{
	struct tenon_slice type, prefix;
	uint32_t count;
	int err = read_type(r, at, "model", &type, &count);

	if (err)
		return err;
	if (!llm_is(type, "BPE") && (type.size || !member(r, at, "merges")))
		return refuse(r, at, "model", type);
	prefix = text_of(r, at, "continuing_subword_prefix");
	if (!prefix.size)
		prefix = text_of(r, at, "end_of_word_suffix");
	if (prefix.size)
		return refuse(r, at, "BPE with a prefix or suffix", prefix);
	r->vocabulary = member(r, at, "vocab");
	r->merges = member(r, at, "merges");
	r->unknown = text_of(r, at, "unk_token");
	r->to->byte_fallback = is_true(r, at, "byte_fallback", false);
	r->to->ignore_merges = is_true(r, at, "ignore_merges", false);
	return 0;
}

static int read_added(struct reader *r, uint32_t at)
{
	struct tokenizer *t = r->to;
	uint32_t count, i, value;
	struct bpe_added *a;
	size_t invalid;
	int64_t id;
	int err;

	if (!at || llm_json_word(&r->t, &at, "null"))
		return 0;
	err = json_enter(&r->t, &at, JSMN_ARRAY, "added_tokens", &count);
	if (err)
		return err;
	t->added = calloc((size_t)count + 1, sizeof(*t->added));
	if (!t->added)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " tokens", count);
	for (i = 0; i < count && !err; i++) {
		a = &t->added[i];
		value = member(r, at, "id");
		err = json_integer(&r->t, &value, "the id of an added token", 0, INT32_MAX - 1,
				   &id);
		value = member(r, at, "content");
		if (!err)
			err = json_string(&r->t, &value, "the content of an added token", &r->room,
					  &a->name);
		/* else it could divide a character of a text */
		if (!err && !bpe_is_utf8(a->name, &invalid))
			err = json_error(&r->t, value - 1, -TENON_E_FORMAT,
					 "byte %zu of an added token is not UTF-8", invalid);
		if (err)
			break;
		a->id = (int32_t)id;
		a->special = is_true(r, at, "special", false);
		if (a->name.size)
			t->first_bytes[(unsigned char)*a->name.data] = true;
		t->added_count = i + 1;
		json_skip(&r->t, &at);
	}
	return err;
}

/* ---- bytes */

uint32_t bpe_byte_character(unsigned int byte)
{
	uint32_t c = 256, b;

	/* bytes that are printable in Latin-1 stand for themselves, the others follow from 256 on */
	for (b = 0; b <= byte; b++) {
		if ((b >= 33 && b <= 126) || (b >= 161 && b != 173)) {
			if (b == byte)
				return b;
			continue;
		}
		if (b == byte)
			return c;
		c++;
	}
	return c;
}

static struct tenon_slice name_of_byte(const struct tokenizer *t, unsigned int byte, char room[8])
{
	static const char digits[] = "0123456789ABCDEF";
	uint32_t c = bpe_byte_character(byte);

	if (!t->byte_level) {
		memcpy(room, "<0x", 3);
		room[3] = digits[byte >> 4];
		room[4] = digits[byte & 15];
		room[5] = '>';
		return (struct tenon_slice){ room, 6 };
	}
	room[0] = (char)(c < 0x80 ? c : 0xc0 | c >> 6);
	room[1] = (char)(0x80 | (c & 63));
	return (struct tenon_slice){ room, c < 0x80 ? 1 : 2 };
}

static void find_bytes(struct tokenizer *t)
{
	unsigned int b;
	char room[8];

	for (b = 0; b < 256; b++)
		t->byte_tokens[b] = t->byte_level || t->byte_fallback
					    ? bpe_find(t, name_of_byte(t, b, room))
					    : -1;
}

/* The bytes of a byte-level name; a name with another character stands for itself. */
static char *decode_bytes(const int16_t of_character[512], struct tenon_slice name, char *to)
{
	struct tenon_slice rest = name;
	char *start = to;
	unsigned int c;
	size_t n;

	for (; rest.size; rest.data += n, rest.size -= n) {
		n = bpe_character(rest);
		c = (unsigned char)rest.data[0];
		if (n == 2)
			c = (c & 31) << 6 | ((unsigned char)rest.data[1] & 63);
		if (n > 2 || c >= 512 || of_character[c] < 0) {
			memcpy(start, name.data, name.size);
			return start + name.size;
		}
		*to++ = (char)of_character[c];
	}
	return to;
}

static char *decode_spaces(struct tenon_slice name, char *to)
{
	size_t i = 0;

	while (i < name.size) {
		if (name.size - i >= 3 && !memcmp(name.data + i, BPE_SPACE, 3)) {
			*to++ = ' ';
			i += 3;
		} else {
			*to++ = name.data[i++];
		}
	}
	return to;
}

/* Find out what each token stands for. */
static int decode_names(struct tokenizer *t, size_t size)
{
	int16_t of_character[512];
	unsigned int b;
	uint32_t i;
	char *to;

	memset(of_character, 0xff, sizeof(of_character));
	for (b = 0; b < 256; b++)
		of_character[bpe_byte_character(b)] = (int16_t)b;
	t->bytes = to = malloc(size + 257);
	if (!to)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " tokens", t->count);
	for (i = 0; i < t->count; i++) {
		t->decoded[i].data = to;
		if (t->byte_level)
			to = decode_bytes(of_character, t->names[i], to);
		else
			to = decode_spaces(t->names[i], to);
		t->decoded[i].size = (size_t)(to - t->decoded[i].data);
	}
	for (b = 0; b < 256 && !t->byte_level; b++) {
		if (t->byte_tokens[b] < 0)
			continue;
		t->decoded[t->byte_tokens[b]] = (struct tenon_slice){ to, 1 };
		*to++ = (char)b;
	}
	for (i = 0; i < t->added_count; i++)
		t->decoded[t->added[i].id] =
			t->added[i].special ? (struct tenon_slice){ "", 0 } : t->added[i].name;
	return 0;
}

/* ---- all */

static int read_parts(struct reader *r)
{
	struct tokenizer *t = r->to;
	uint32_t model = member(r, 0, "model");
	int err = model ? read_model(r, model)
			: json_error(&r->t, 0, -TENON_E_FORMAT, "there is no \"model\"");

	if (!err)
		err = read_added(r, member(r, 0, "added_tokens"));
	if (!err)
		err = read_vocabulary(r);
	if (!err)
		err = read_merges(r);
	if (!err)
		err = each(r, member(r, 0, "normalizer"), "normalizer", "normalizers",
			   read_normalizer);
	if (!err)
		err = each(r, member(r, 0, "pre_tokenizer"), "pre_tokenizer", "pretokenizers",
			   read_pre_tokenizer);
	if (!err)
		err = each(r, member(r, 0, "decoder"), "decoder", "decoders", read_decoder);
	if (err)
		return err;
	t->unknown = r->unknown.size ? bpe_find(t, r->unknown) : -1;
	find_bytes(t);
	t->strip = r->strip;
	return decode_names(t, r->t.text.size);
}

static int read_text(struct reader *r, struct tenon_slice text, const char *name)
{
	int err = json_text_read(text, name, &r->t);

	if (err)
		return err;
	r->to->strings = r->room = llm_string_room(text);
	err = r->room ? read_parts(r) : -TENON_E_NOMEM;
	json_text_fini(&r->t);
	return err;
}

int bpe_read(struct tenon_slice text, const char *name, struct tokenizer **out)
{
	struct reader r = { .to = calloc(1, sizeof(*r.to)) };
	int err;

	*out = NULL;
	if (!r.to)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a tokenizer", name);
	err = read_text(&r, text, name);
	if (err)
		tokenizer_close(r.to);
	else
		*out = r.to;
	return err;
}

int tokenizer_open(const char *folder, struct tokenizer **out)
{
	struct tenon_slice text;
	char *path;
	int err = llm_read_file(folder, "tokenizer.json", &path, &text);

	*out = NULL;
	if (!err && text.data) {
		err = bpe_read(text, path, out);
		file_map_close(&text);
	}
	free(path);
	return err;
}

void tokenizer_close(struct tokenizer *t)
{
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i < t->pattern_count; i++)
		pcre2_code_free(t->patterns[i]);
	pcre2_match_data_free(t->match);
	pcre2_match_context_free(t->limits);
	free(t->symbols);
	free(t->heap);
	free(t->added);
	free(t->merges);
	free(t->by_name);
	free(t->decoded);
	free(t->names);
	free(t->bytes);
	free(t->strings);
	free(t);
}

struct tenon_slice tokenizer_decode(const struct tokenizer *t, int32_t token)
{
	return token >= 0 && (uint32_t)token < t->count ? t->decoded[token]
							: (struct tenon_slice){ "", 0 };
}

bool tokenizer_strips(const struct tokenizer *t)
{
	return t->strip;
}
