/* SPDX-License-Identifier: MIT */
/* Link a module and show what is in it: link OUT.so host.c [kernels.cl=opencl]... */
#include <stdio.h>
#include <string.h>
#include <tenon/link.h>
#include <tenon/tenon.h>

static void print_step(void *context, const char *step)
{
	(void)context;
	fprintf(stderr, "%s\n", step);
}

/* "FILE" is code for this machine, "FILE=KIND" a program for devices of a kind. */
static struct tenon_link_file file_of(char *word)
{
	char *equal = strrchr(word, '=');

	if (equal)
		*equal = '\0';
	return (struct tenon_link_file){ .path = word, .kind = equal ? equal + 1 : NULL };
}

static void print_module(const struct tenon_link_module *m)
{
	printf("%*s%.*s", 2 * (int)m->depth, "", (int)m->kind.size, m->kind.data);
	if (*m->file_name)
		printf(" of %s", m->file_name);
	printf(": %lld functions, %s\n", (long long)m->function_count,
	       *m->machine  ? m->machine
	       : *m->loader ? m->loader
			    : "no loader");
}

int main(int argc, char **argv)
{
	const struct tenon_link_inspection *inspection = NULL;
	struct tenon_link_options options;
	struct tenon_link_file files[16];
	size_t i;
	int err;

	tenon_link_options_init(&options, sizeof(options));
	for (i = 0; i < 16 && (int)i + 2 < argc; i++)
		files[i] = file_of(argv[i + 2]);
	options.files = files;
	options.file_count = i;
	options.progress = print_step;
	err = tenon_link(&options, argc > 1 ? argv[1] : "out.so");
	if (!err)
		err = tenon_link_inspect(argv[1], &inspection);
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	for (i = 0; inspection && i < inspection->module_count; i++)
		print_module(inspection->modules[i]);
	tenon_link_inspection_free(inspection);
	return err ? 1 : 0;
}
