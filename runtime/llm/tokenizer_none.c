/* SPDX-License-Identifier: MIT */
/* A build without tokenizers. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "runtime/llm/tokenizer.h"

int tokenizer_open(const char *folder, struct tokenizer **out)
{
	char *path;
	int err = 0;

	*out = NULL;
	if (asprintf(&path, "%s/tokenizer.json", folder) < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for a path");
	if (!access(path, F_OK))
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: this build has no tokenizers; enable "
				  "CONFIG_LLM_TOKENIZER, or use bytes or numbers as tokens",
				  path);
	free(path);
	return err;
}

void tokenizer_close(struct tokenizer *t)
{
	(void)t;
}

int tokenizer_encode(struct tokenizer *t, struct tenon_slice text,
		     const struct tokenizer_span *plain, size_t count, struct tenon_buffer *tokens)
{
	(void)t;
	(void)text;
	(void)plain;
	(void)count;
	(void)tokens;
	return -TENON_E_UNSUPPORTED;
}

struct tenon_slice tokenizer_decode(const struct tokenizer *t, int32_t token)
{
	(void)t;
	(void)token;
	return (struct tenon_slice){ "", 0 };
}

bool tokenizer_strips(const struct tokenizer *t)
{
	(void)t;
	return false;
}
