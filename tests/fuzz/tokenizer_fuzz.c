/* SPDX-License-Identifier: MIT */
/* The bytes are a tokenizer.json, which encodes a text if it can be read. */
#include <stdlib.h>

#include "llm/tokenizer_bpe.h"
#include "tests/fuzz/fuzz.h"

/* a token of JSON takes 20 bytes, and a merge of two bytes up to four places of its table */
const size_t fuzz_memory_per_byte = 512;
/* numbers of tokens may have gaps, and an expression may take 16 MiB, in doubling steps */
const size_t fuzz_memory_at_all = UINT32_C(1) << 25;

void fuzz_mutate(struct mutant *m)
{
	mutate_json(m);
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char bytes[] =
		"{\"added_tokens\":[{\"id\":7,\"content\":\"<s>\",\"special\":true},{\"id\":8,"
		"\"content\":\"x\"}],\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":"
		"\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"'s| ?"
		"\\\\p{L}+|\\\\s+(?!\\\\S)\"},\"behavior\":\"Isolated\"},{\"type\":\"Digits\"},{"
		"\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}]},"
		"\"decoder\":"
		"{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"ignore_merges\":true,"
		"\"vocab\":{\"\\u0120\":0,\"a\":1,\"\\u00c3\":2,\"\\u00a9\":3,\"\\u0120a\":4,"
		"\"\\u00c3\\u00a9\":5,\"1\":6},\"merges\":[\"\\u0120 "
		"a\",[\"\\u00c3\",\"\\u00a9\"]]}}";
	static const char spaces[] =
		"{\"added_tokens\":null,\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{"
		"\"type\":\"Prepend\",\"prepend\":\"\\u2581\"},{\"type\":\"Replace\",\"pattern\":{"
		"\"String\":\" \"},\"content\":\"\\u2581\"}]},\"pre_tokenizer\":{\"type\":"
		"\"Metaspace\",\"prepend_scheme\":\"first\",\"split\":true},\"decoder\":{\"type\":"
		"\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Strip\"}]},"
		"\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"byte_fallback\":true,\"vocab\":{"
		"\"?\":0,\"\\u2581\":1,\"a\":2,\"\\u2581a\":3,\"<0xC3>\":4,\"<0xA9>\":5,\"12\":6},"
		"\"merges\":[\"\\u2581 a\"]}}";

	visit(context, "bytes", (struct tenon_slice){ bytes, sizeof(bytes) - 1 });
	visit(context, "spaces", (struct tenon_slice){ spaces, sizeof(spaces) - 1 });
}

static void check_tokens(const struct tokenizer *t, const struct tenon_buffer *tokens)
{
	int32_t token;
	size_t i;

	for (i = 0; i < tokens->size / sizeof(token); i++) {
		memcpy(&token, (const char *)tokens->data + i * sizeof(token), sizeof(token));
		/* one of the vocabulary, and what it stands for can be read */
		if (token < 0 || (uint32_t)token >= t->count)
			abort();
		if (tokenizer_decode(t, token).size)
			free(strndup(tokenizer_decode(t, token).data,
				     tokenizer_decode(t, token).size));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = " a\xc3\xa9 12's\t<s>x";
	const struct tokenizer_span plain = { sizeof(text) - 3, sizeof(text) - 1 };
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	struct tokenizer *t;
	int err = bpe_read((struct tenon_slice){ (const char *)data, size }, "fuzz", &t);

	fuzz_check(err);
	if (err)
		return 0;
	err = tokenizer_encode(t, tenon_slice_of(text), &plain, 1, &tokens);
	fuzz_check(err);
	check_tokens(t, &tokens);
	tenon_buffer_fini(&tokens);
	tokenizer_close(t);
	return 0;
}
