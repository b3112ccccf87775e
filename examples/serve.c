/* SPDX-License-Identifier: MIT */
/* Serve a language model by HTTP, until a signal: serve FOLDER 8080 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/serve.h>
#include <tenon/tenon.h>

static void print_line(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "%s\n", line);
}

int main(int argc, char **argv)
{
	struct tenon_llm_serve_options options;
	struct tenon_llm *llm = NULL;
	int err = tenon_llm_open(argc > 1 ? argv[1] : "model", NULL, &llm);

	tenon_llm_serve_options_init(&options, sizeof(options));
	options.port = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	options.say = print_line;
	if (!err)
		err = tenon_llm_serve(llm, &options);
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	tenon_llm_close(llm);
	return err ? 1 : 0;
}
