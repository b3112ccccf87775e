/* SPDX-License-Identifier: MIT */
/* The vocabulary of a file in GGUF, written as a tokenizer.json: so there is one reader of tokenizers. */
#include <inttypes.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/json_quote.h"
#include "lib/slice_text.h"
#include "llm/llm_gguf.h"

#define BYTE_LEVEL(regex)                                                                          \
	"{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":" regex "}"
#define SPLIT(pattern)                                                                             \
	"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" pattern                                    \
	"\"},\"behavior\":\"Isolated\",\"invert\":false}"
/* the expression of Llama 3 and Qwen 2, which differ in how many digits stay together; escaped for JSON */
#define WORDS(digits)                                                                              \
	"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|" digits             \
	"| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define DIGITS "{\"type\":\"Digits\",\"individual_digits\":true}," BYTE_LEVEL("true")

/* How a text is divided, by the name in a file; and whether a whole word may be a token that no merges make. */
static const struct {
	const char *name;
	const char *steps;
	bool ignore_merges;
	bool composes;
} divisions[] = {
	{ "gpt-2", BYTE_LEVEL("true"), false, false },
	{ "smollm", DIGITS, false, false },
	{ "starcoder", DIGITS, false, false },
	{ "llama-bpe", SPLIT(WORDS("\\\\p{N}{1,3}")) "," BYTE_LEVEL("false"), true, false },
	{ "qwen2", SPLIT(WORDS("\\\\p{N}")) "," BYTE_LEVEL("false"), false, true },
};

enum { MODEL, PRE, TOKENS, KINDS, MERGES, VALUES };

/* kinds of tokens */
enum { CONTROL = 3, USER_DEFINED = 4, KIND_MOST = 6 };

static struct tenon_slice slice_of(const struct gguf_value *v)
{
	return (struct tenon_slice){ v->bytes.data, v->bytes.size };
}

static int32_t kind_of(const struct gguf_value *kinds, uint64_t token)
{
	const unsigned char *p = (const unsigned char *)kinds->bytes.data + 4 * token;

	if (!kinds->found)
		return 1;
	return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			 (uint32_t)p[3] << 24);
}

/* Find out how a text is divided. */
static int find_division(const char *path, const struct gguf_value *v, size_t *out)
{
	const struct tenon_slice name = v[PRE].found ? slice_of(&v[PRE]) : tenon_slice_of("gpt-2");
	size_t i;

	if (!tenon_slice_equal(slice_of(&v[MODEL]), tenon_slice_of("gpt2")))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s: the tokenizer \"%.*s\" is not supported, gpt2 (byte-level "
			"BPE) is; a tokenizer.json in the folder of the model is used instead",
			path, (int)(v[MODEL].bytes.size < 40 ? v[MODEL].bytes.size : 40),
			v[MODEL].bytes.data ? v[MODEL].bytes.data : "");
	for (i = 0; i < sizeof(divisions) / sizeof(divisions[0]); i++)
		if (tenon_slice_equal(name, tenon_slice_of(divisions[i].name))) {
			*out = i;
			return 0;
		}
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: tokenizer.ggml.pre is \"%.*s\": how that divides a text is not "
			   "known; known are gpt-2, llama-bpe, qwen2, smollm and starcoder. A "
			   "tokenizer.json in the folder of the model is used instead",
			   path, slice_shown(name, 40), name.data);
}

static int check(const char *path, const struct gguf_value *v)
{
	uint64_t i;
	int32_t kind;

	if (!v[TOKENS].count || !v[MERGES].found || v[TOKENS].count > INT32_MAX)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: %" PRIu64 " tokens and %" PRIu64
				   " merges are no vocabulary of byte-level BPE",
				   path, v[TOKENS].count, v[MERGES].count);
	if (v[KINDS].found && v[KINDS].count != v[TOKENS].count)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: kinds of %" PRIu64 " tokens, there are %" PRIu64, path,
				   v[KINDS].count, v[TOKENS].count);
	for (i = 0; i < v[TOKENS].count; i++) {
		kind = kind_of(&v[KINDS], i);
		if (kind < 1 || kind > KIND_MOST)
			return tenon_error(-TENON_E_FORMAT,
					   "%s: token %" PRIu64 " is of kind %" PRIi32
					   ", want 1 to %d",
					   path, i, kind, KIND_MOST);
	}
	return 0;
}

/* Tokens that are searched for in a text before it is divided. */
static void write_added(const struct gguf_value *v, struct tenon_buffer *out)
{
	struct tenon_slice rest = slice_of(&v[TOKENS]), name;
	const char *comma = "";
	uint64_t i;
	int32_t kind;

	for (i = 0; i < v[TOKENS].count; i++) {
		name = gguf_next_string(&rest);
		kind = kind_of(&v[KINDS], i);
		if (kind != CONTROL && kind != USER_DEFINED)
			continue;
		tenon_buffer_printf(out,
				    "%s{\"id\":%" PRIu64 ",\"normalized\":false,\"special\":%s,"
				    "\"content\":",
				    comma, i, kind == CONTROL ? "true" : "false");
		json_quote(out, name);
		tenon_buffer_u8(out, '}');
		comma = ",\n";
	}
}

/* The strings of a list, with their numbers or alone. */
static void write_list(const struct gguf_value *list, bool numbered, struct tenon_buffer *out)
{
	struct tenon_slice rest = slice_of(list);
	uint64_t i;

	for (i = 0; i < list->count; i++) {
		if (i)
			tenon_buffer_append(out, ",\n", 2);
		json_quote(out, gguf_next_string(&rest));
		if (numbered)
			tenon_buffer_printf(out, ":%" PRIu64, i);
	}
}

static int write_json(const struct gguf_value *v, size_t division, struct tenon_buffer *out)
{
	tenon_buffer_printf(out, "{\"added_tokens\":[");
	write_added(v, out);
	tenon_buffer_printf(
		out,
		"],\"normalizer\":%s,\"pre_tokenizer\":{\"type\":\"Sequence\","
		"\"pretokenizers\":[%s]},\"decoder\":" BYTE_LEVEL(
			"true") ","
				"\"model\":{\"type\":\"BPE\",\"ignore_merges\":%s,\"vocab\":{",
		divisions[division].composes ? "{\"type\":\"NFC\"}" : "null",
		divisions[division].steps, divisions[division].ignore_merges ? "true" : "false");
	write_list(&v[TOKENS], true, out);
	tenon_buffer_printf(out, "},\"merges\":[");
	write_list(&v[MERGES], false, out);
	return tenon_buffer_append(out, "]}}", 3);
}

int gguf_tokenizer_json(const char *path, struct tenon_buffer *out)
{
	struct gguf_value v[VALUES] = {
		[MODEL] = { .key = "tokenizer.ggml.model", .type = GGUF_STRING },
		[PRE] = { .key = "tokenizer.ggml.pre", .type = GGUF_STRING },
		[TOKENS] = { .key = "tokenizer.ggml.tokens", .type = GGUF_STRING, .array = true },
		[KINDS] = { .key = "tokenizer.ggml.token_type", .type = GGUF_INT32, .array = true },
		[MERGES] = { .key = "tokenizer.ggml.merges", .type = GGUF_STRING, .array = true },
	};
	size_t division = 0;
	int err = gguf_read_values(path, v, VALUES);

	if (!err && (v[MODEL].found || v[TOKENS].found)) {
		err = find_division(path, v, &division);
		if (!err)
			err = check(path, v);
		if (!err)
			err = write_json(v, division, out);
	}
	gguf_free_values(v, VALUES);
	return err;
}
