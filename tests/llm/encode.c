/* SPDX-License-Identifier: MIT */
/*
 * encode FOLDER|FILE.gguf: print the tokens of texts, a line of numbers for each. Standard input has the texts, each with a NUL
 * behind it. The bytes of the tokens together must be the text, but for a space that the tokenizer adds in front.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/tenon.h>

#include "llm/llm_engine.h"
#include "llm/tokenizer.h"

static int check(struct tokenizer *t, struct tenon_slice text, const int32_t *tokens, size_t count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;
	int same;

	for (i = 0; i < count; i++)
		tenon_buffer_slice(&b, tokenizer_decode(t, tokens[i]));
	same = b.size >= text.size && !memcmp(b.data + b.size - text.size, text.data, text.size) &&
	       b.size - text.size <= 1;
	tenon_buffer_fini(&b);
	return same || !count;
}

int main(int argc, char **argv)
{
	struct tokenizer *t = NULL;
	struct tenon_buffer tokens;
	const int32_t *token;
	char *text = NULL;
	size_t room = 0, i, count;
	ssize_t n;
	int status = 0;

	if (argc < 2) {
		printf("no folder with a tokenizer.json is given\n");
		return 77;
	}
	if ((llm_is_folder(argv[1]) ? tokenizer_open(argv[1], NULL, &t)
				    : tokenizer_open(NULL, argv[1], &t)) ||
	    !t) {
		fprintf(stderr, "%s\n", t ? "" : tenon_error_message());
		return 2;
	}
	while ((n = getdelim(&text, &room, '\0', stdin)) > 0) {
		const struct tenon_slice s = { text, (size_t)n - (text[n - 1] == '\0') };

		tokens = (struct tenon_buffer)TENON_BUFFER_INIT;
		if (tokenizer_encode(t, s, NULL, 0, &tokens)) {
			printf("error: %s\n", tenon_error_message());
			tenon_error_clear();
		} else {
			token = (const int32_t *)(const void *)tokens.data;
			count = tokens.size / sizeof(*token);
			for (i = 0; i < count; i++)
				printf(i ? " %" PRIi32 : "%" PRIi32, token[i]);
			putchar('\n');
			if (argc < 3 && !check(t, s, token, count)) {
				fprintf(stderr, "the tokens of \"%s\" give another text\n", text);
				status = 1;
			}
		}
		tenon_buffer_fini(&tokens);
	}
	free(text);
	tokenizer_close(t);
	return status;
}
