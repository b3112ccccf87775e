/* SPDX-License-Identifier: MIT */
/* Reading tokenizer.json, the format of Hugging Face's tokenizers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "llm/llm_engine.h"
#include "llm/llm_gguf.h"
#include "llm/tokenizer_file.h"

#define UNUSED UINT32_MAX

/* ---- tables */

static uint32_t table_size(uint32_t count)
{
	uint32_t size = 16;

	while (size / 2 < count)
		size *= 2;
	return size;
}

/* Largest number of a token in a list; an upper bound for the size of the tables. */
static int note_token(struct tokenizer_file *r, uint32_t at, int64_t id, uint32_t entries)
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

static int count_vocabulary(struct tokenizer_file *r)
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

static int read_vocabulary(struct tokenizer_file *r)
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

static int read_pair(struct tokenizer_file *r, uint32_t *at, struct tenon_slice *left,
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

static int read_merge(struct tokenizer_file *r, uint32_t *at, uint32_t rank)
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
	/* of equal pairs the last one counts */
	while (t->merges[place & t->merge_mask].rank != UNUSED &&
	       (t->merges[place & t->merge_mask].left != (uint32_t)ids[0] ||
		t->merges[place & t->merge_mask].right != (uint32_t)ids[1]))
		place++;
	t->merges[place & t->merge_mask] =
		(struct bpe_merge){ (uint32_t)ids[0], (uint32_t)ids[1], rank, (uint32_t)ids[2] };
	return 0;
}

static int read_merges(struct tokenizer_file *r)
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
		t->byte_tokens[b] = bpe_find(t, name_of_byte(t, b, room));
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

static char *decode_spaces(struct tenon_slice name, bool marks, char *to)
{
	size_t i = 0;

	while (i < name.size) {
		if (marks && name.size - i >= 3 && !memcmp(name.data + i, BPE_SPACE, 3)) {
			*to++ = ' ';
			i += 3;
		} else {
			*to++ = name.data[i++];
		}
	}
	return to;
}

/* Find out what each token stands for. */
static int decode_names(struct tokenizer_file *r, size_t size)
{
	struct tokenizer *t = r->to;
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
			to = decode_spaces(t->names[i], r->marks_are_spaces, to);
		t->decoded[i].size = (size_t)(to - t->decoded[i].data);
	}
	for (b = 0; b < 256 && r->decodes_bytes; b++) {
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

/* ---- the model, and all */

static int read_model(struct tokenizer_file *r, uint32_t at)
{
	enum { TYPE, DROPOUT, UNKNOWN, PREFIX, SUFFIX, FUSE, FALLBACK, IGNORE, VOCAB, MERGES };
	struct tokenizer_field f[] = {
		[TYPE] = { "type", 0 },
		[DROPOUT] = { "dropout", 0 },
		[UNKNOWN] = { "unk_token", 0 },
		[PREFIX] = { "continuing_subword_prefix", 0 },
		[SUFFIX] = { "end_of_word_suffix", 0 },
		[FUSE] = { "fuse_unk", 0 },
		[FALLBACK] = { "byte_fallback", 0 },
		[IGNORE] = { "ignore_merges", 0 },
		[VOCAB] = { "vocab", 0 },
		[MERGES] = { "merges", 0 },
	};
	struct tenon_slice type, text;
	uint32_t dropout;
	double rate = 0;
	int err = tokenizer_type(r, at, "model", &type);

	/* files of the first years do not state the type */
	if (!err && type.size && !slice_is(type, "BPE"))
		return tokenizer_refuse(r, at, "model", type);
	if (!err)
		err = tokenizer_fields(r, at, "model BPE", f, sizeof(f) / sizeof(f[0]));
	if (!err && !type.size && !f[MERGES].at)
		return tokenizer_refuse(r, at, "model", type);
	dropout = f[DROPOUT].at;
	if (!err && dropout)
		err = llm_json_number(&r->t, &dropout, "dropout", 0, 1, &rate);
	if (!err && rate != 0)
		err = json_error(&r->t, f[DROPOUT].at, -TENON_E_UNSUPPORTED,
				 "dropout, which gives a text other tokens each time, is not "
				 "supported; set it to null");
	if (!err)
		err = tokenizer_text(r, &f[PREFIX], "", &text);
	if (!err && text.size)
		return tokenizer_refuse(r, at, "BPE with the prefix", text);
	if (!err)
		err = tokenizer_text(r, &f[SUFFIX], "", &text);
	if (!err && text.size)
		return tokenizer_refuse(r, at, "BPE with the suffix", text);
	if (!err)
		err = tokenizer_text(r, &f[UNKNOWN], "", &r->unknown);
	if (!err)
		err = tokenizer_flag(r, &f[FUSE], false, &r->to->fuse_unknown);
	if (!err)
		err = tokenizer_flag(r, &f[FALLBACK], false, &r->to->byte_fallback);
	if (!err)
		err = tokenizer_flag(r, &f[IGNORE], false, &r->to->ignore_merges);
	r->vocabulary = f[VOCAB].at;
	r->merges = f[MERGES].at;
	return err;
}

/* Find the tokens that the model needs, once all parts are read. */
static int finish(struct tokenizer_file *r)
{
	struct tokenizer *t = r->to;
	unsigned int b;

	t->unknown = r->unknown.size ? bpe_find(t, r->unknown) : -1;
	if (r->unknown.size && t->unknown < 0)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: unk_token \"%.*s\" is not in the vocabulary", r->t.name,
				   json_shown(r->unknown), r->unknown.data);
	find_bytes(t);
	for (b = 0; b < 256 && t->byte_level && t->byte_fallback; b++)
		if (t->byte_tokens[b] < 0)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "%s: byte_fallback is not supported with ByteLevel in "
					   "a vocabulary without byte 0x%02x",
					   r->t.name, b);
	return decode_names(r, r->t.text.size);
}

/* Refuse what would shorten or extend a text. */
static int check_limits(const struct tokenizer_file *r, uint32_t truncation, uint32_t padding)
{
	static const char message[] = "\"%s\" is not supported; set it to null";

	if (truncation)
		return json_error(&r->t, truncation, -TENON_E_UNSUPPORTED, message, "truncation");
	return padding ? json_error(&r->t, padding, -TENON_E_UNSUPPORTED, message, "padding") : 0;
}

static int read_parts(struct tokenizer_file *r)
{
	enum { VERSION, TRUNCATION, PADDING, ADDED, NORMALIZER, SPLIT, POST, DECODER, MODEL };
	/*
	 * A post-processor adds tokens at the ends of a text. Those of a prompt are in the template
	 * of conversations, so it is not applied, as in MLC-LLM.
	 */
	struct tokenizer_field f[] = {
		[VERSION] = { "version", 0 },	    [TRUNCATION] = { "truncation", 0 },
		[PADDING] = { "padding", 0 },	    [ADDED] = { "added_tokens", 0 },
		[NORMALIZER] = { "normalizer", 0 }, [SPLIT] = { "pre_tokenizer", 0 },
		[POST] = { "post_processor", 0 },   [DECODER] = { "decoder", 0 },
		[MODEL] = { "model", 0 },
	};
	struct tenon_slice version;
	int err = tokenizer_fields(r, 0, "the file", f, sizeof(f) / sizeof(f[0]));

	if (!err)
		err = tokenizer_text(r, &f[VERSION], "1.0", &version);
	if (!err && !slice_is(version, "1.0"))
		return tokenizer_refuse(r, f[VERSION].at, "version", version);
	if (!err)
		err = check_limits(r, f[TRUNCATION].at, f[PADDING].at);
	if (!err && !f[MODEL].at)
		err = json_error(&r->t, 0, -TENON_E_FORMAT, "there is no \"model\"");
	if (!err)
		err = read_model(r, f[MODEL].at);
	if (!err)
		err = tokenizer_read_added(r, f[ADDED].at);
	if (!err)
		err = read_vocabulary(r);
	if (!err)
		err = read_merges(r);
	if (!err)
		err = tokenizer_read_normalizer(r, f[NORMALIZER].at);
	if (!err)
		err = tokenizer_read_splits(r, f[SPLIT].at);
	if (!err)
		err = tokenizer_read_decoder(r, f[DECODER].at);
	if (!err)
		err = tokenizer_check_added(r);
	return err ? err : finish(r);
}

static int read_text(struct tokenizer_file *r, struct tenon_slice text, const char *name)
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
	struct tokenizer_file r = { .to = calloc(1, sizeof(*r.to)) };
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

/* Of two tokens with one name, a text would have either. */
static int check_names(const char *gguf, const struct tokenizer *t)
{
	uint32_t i;
	int32_t other;

	for (i = 0; i < t->count; i++) {
		other = bpe_find(t, t->names[i]);
		if (other >= 0 && (uint32_t)other != i)
			return tenon_error(
				-TENON_E_FORMAT,
				"%s: tokens %" PRIi32 " and %" PRIu32 " have one name, \"%.*s\"",
				gguf, other, i, json_shown(t->names[i]), t->names[i].data);
	}
	return 0;
}

/* Let a model have numbers as its prompts; the thread's error says why. */
static int open_unsupported(struct tokenizer **out)
{
	struct tokenizer *t = calloc(1, sizeof(*t));

	if (t)
		t->problem = strdup(tenon_error_message());
	if (!t || !t->problem) {
		tokenizer_close(t);
		return tenon_error(-TENON_E_NOMEM, "no memory for a message");
	}
	tenon_error_clear();
	*out = t;
	return 0;
}

static int open_gguf(const char *gguf, struct tokenizer **out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err = gguf_tokenizer_json(gguf, &text);

	if (err == -TENON_E_UNSUPPORTED) {
		tenon_buffer_fini(&text);
		return open_unsupported(out);
	}
	if (!err && text.size)
		err = bpe_read((struct tenon_slice){ text.data, text.size }, gguf, out);
	if (!err && *out)
		err = check_names(gguf, *out);
	if (err) {
		tokenizer_close(*out);
		*out = NULL;
	}
	tenon_buffer_fini(&text);
	return err;
}

int tokenizer_open(const char *folder, const char *gguf, struct tokenizer **out)
{
	struct tenon_slice text = { NULL, 0 };
	char *path = NULL;
	int err = folder ? llm_read_file(folder, "tokenizer.json", &path, &text) : 0;

	*out = NULL;
	if (!err && text.data) {
		err = bpe_read(text, path, out);
		file_map_close(&text);
	} else if (!err && gguf) {
		err = open_gguf(gguf, out);
	}
	free(path);
	return err;
}

void tokenizer_close(struct tokenizer *t)
{
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i < STEPS_MOST; i++) {
		pcre2_code_free(t->normal.step[i].code);
		pcre2_code_free(t->splits.step[i].code);
	}
	pcre2_code_free(t->word);
	for (i = 0; i < t->added_count; i++)
		tenon_buffer_fini(&t->added[i].normal);
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
	free(t->problem);
	free(t);
}

bool tokenizer_works(const struct tokenizer *t)
{
	return !t->problem;
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
