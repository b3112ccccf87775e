/* SPDX-License-Identifier: MIT */
/* Ask a language model, and print its reply while it comes: chat FOLDER "What is a tensor?" */
#include <stdio.h>
#include <tenon/llm.h>
#include <tenon/tenon.h>

static void print_text(void *context, struct tenon_slice text, const int32_t *tokens, size_t count)
{
	(void)context, (void)tokens, (void)count;
	fwrite(text.data, 1, text.size, stdout);
	fflush(stdout);
}

static void print_end(void *context, enum tenon_llm_end end, const char *message,
		      const struct tenon_llm_usage *usage)
{
	*(enum tenon_llm_end *)context = end;
	printf("\n%zu tokens of prompt, %zu of reply%s%s\n", usage->prompt_tokens, usage->tokens,
	       *message ? ": " : "", message);
}

int main(int argc, char **argv)
{
	const struct tenon_llm_message message = {
		.role = tenon_slice_of("user"),
		.content = tenon_slice_of(argc > 2 ? argv[2] : "Hello"),
	};
	struct tenon_buffer tokens = { 0 };
	enum tenon_llm_end end = TENON_LLM_ERROR;
	struct tenon_llm_request request = {
		.size = sizeof(request),
		.most = 100,
		.text = print_text,
		.end = print_end,
		.context = &end,
	};
	struct tenon_llm *llm = NULL;
	uint64_t job;
	int err = tenon_llm_open(argc > 1 ? argv[1] : "model", NULL, &llm);

	if (!err)
		err = tenon_llm_prompt(llm, &message, 1, &tokens);
	if (!err) {
		request.prompt = (const int32_t *)(const void *)tokens.data;
		request.prompt_count = tokens.size / sizeof(int32_t);
		request.sampling = tenon_llm_sampling(llm);
		err = tenon_llm_submit(llm, &request, &job);
	}
	while (!err && tenon_llm_step(llm) > 0)
		;
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	tenon_buffer_fini(&tokens);
	tenon_llm_close(llm);
	return err || end == TENON_LLM_ERROR ? 1 : 0;
}
