/* SPDX-License-Identifier: MIT */
/* Convert text to tokens and back. A model without a tokenizer has the bytes of the text as tokens. */
#include <inttypes.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "llm/llm_engine.h"
#include "llm/tokenizer.h"

/* A larger vocabulary has tokens of several bytes, which need a tokenizer.json. */
#define BYTES_VOCABULARY_MOST 1024

const char *llm_text_kind(const struct tenon_llm *llm)
{
	if (llm->tokenizer)
		return tokenizer_works(llm->tokenizer) ? "bpe" : "none";
	return llm->bytes || llm->info.vocabulary <= BYTES_VOCABULARY_MOST ? "bytes" : "none";
}

static int encode_bytes(const struct tenon_llm *llm, struct tenon_slice text,
			struct tenon_buffer *tokens)
{
	int32_t token;
	size_t i;
	int err = 0;

	if (!llm->bytes && llm->info.vocabulary > BYTES_VOCABULARY_MOST)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s has no tokenizer.json, and the %" PRIi64
			" tokens of the model are not bytes; copy the model's file there, "
			"or use bytes or numbers as tokens (--bytes, --tokens)",
			llm->folder, llm->info.vocabulary);
	for (i = 0; i < text.size && !err; i++) {
		token = (unsigned char)text.data[i];
		if (token >= llm->info.vocabulary)
			return tenon_error(
				-TENON_E_VALUE,
				"byte %zu of the text is 0x%02x, and the model has %" PRIi64
				" tokens; it needs its tokenizer.json, or numbers",
				i, (unsigned int)token, llm->info.vocabulary);
		err = tenon_buffer_append(tokens, &token, sizeof(token));
	}
	return err;
}

int llm_encode(struct tenon_llm *llm, struct tenon_slice text, const struct tokenizer_span *plain,
	       size_t count, struct tenon_buffer *tokens)
{
	if (!llm->tokenizer)
		return encode_bytes(llm, text, tokens);
	return tokenizer_encode(llm->tokenizer, text, plain, count, tokens);
}

int tenon_llm_encode(struct tenon_llm *llm, struct tenon_slice text, unsigned int flags,
		     struct tenon_buffer *tokens)
{
	const struct tokenizer_span all = { 0, text.size };

	return llm_encode(llm, text, &all, flags & TENON_LLM_SPECIAL ? 0 : 1, tokens);
}

struct tenon_slice tenon_llm_decode(struct tenon_llm *llm, int32_t token)
{
#define BYTES_4(n)  (char)(n), (char)((n) + 1), (char)((n) + 2), (char)((n) + 3)
#define BYTES_16(n) BYTES_4(n), BYTES_4((n) + 4), BYTES_4((n) + 8), BYTES_4((n) + 12)
#define BYTES_64(n) BYTES_16(n), BYTES_16((n) + 16), BYTES_16((n) + 32), BYTES_16((n) + 48)
	static const char bytes[256] = { BYTES_64(0), BYTES_64(64), BYTES_64(128), BYTES_64(192) };

	if (llm->tokenizer)
		return tokenizer_decode(llm->tokenizer, token);
	if (token < 0 || token > 255)
		return (struct tenon_slice){ "", 0 };
	return (struct tenon_slice){ &bytes[token], 1 };
}
