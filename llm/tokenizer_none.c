/* SPDX-License-Identifier: MIT */
/* A build without tokenizers. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "llm/tokenizer.h"

/* a tokenizer.json that cannot be used: prompts and replies are numbers */
struct tokenizer {
	char *path;
};

int tokenizer_open(const char *folder, const char *gguf, struct tokenizer **out)
{
	struct tokenizer *t = calloc(1, sizeof(*t));

	*out = NULL;
	if (!t || asprintf(&t->path, "%s/tokenizer.json", folder ? folder : ".") < 0) {
		free(t);
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	}
	if (access(t->path, F_OK))
		tokenizer_close(t);
	else
		*out = t;
	return 0;
}

void tokenizer_close(struct tokenizer *t)
{
	if (t)
		free(t->path);
	free(t);
}

bool tokenizer_works(const struct tokenizer *t)
{
	return false;
}

int tokenizer_encode(struct tokenizer *t, struct tenon_slice text,
		     const struct tokenizer_span *plain, size_t count, struct tenon_buffer *tokens)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: this build has no tokenizers; enable CONFIG_LLM_TOKENIZER, or use "
			   "bytes or numbers as tokens (--bytes, --tokens)",
			   t->path);
}

struct tenon_slice tokenizer_decode(const struct tokenizer *t, int32_t token)
{
	return (struct tenon_slice){ "", 0 };
}

bool tokenizer_strips(const struct tokenizer *t)
{
	return false;
}
