/* SPDX-License-Identifier: MIT */
/*
 * llm_bench [MODEL]: what a language model takes: time of opening, of a prompt and of each token, and
 * memory: of the process before, with an empty key-value cache, and with a full one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/llm.h>
#include <tenon/tenon.h>

#include "bench.h"

#define REPEATS 21

static void need(int err, const char *what)
{
	if (err >= 0)
		return;
	fprintf(stderr, "llm_bench: %s: %s\n", what, tenon_error_message());
	exit(1);
}

/* A line of /proc/self/status, in KiB: "RssAnon:" is memory of the process's own, "RssFile:" mapped files. */
static long status_of(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			kib = strtol(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

static void print_memory(const char *when)
{
	printf("memory, %-30s %8ld KiB anonymous, %8ld KiB of files\n", when, status_of("RssAnon:"),
	       status_of("RssFile:"));
}

/* Append tokens, and return nanoseconds. */
static double forward(struct tenon_llm *llm, int64_t id, size_t count)
{
	int32_t *tokens = calloc(count, sizeof(*tokens));
	const struct tenon_llm_part part = { id, tokens, count };
	double start = bench_now();
	const float *logits;

	if (!tokens)
		exit(1);
	need(tenon_llm_forward(llm, &part, 1, &logits), "forward");
	free(tokens);
	return bench_now() - start;
}

static int compare(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : 1;
}

static void print_times(struct tenon_llm *llm)
{
	const struct tenon_llm_info *info = tenon_llm_info(llm);
	size_t prompt = (size_t)(info->chunk < info->context / 2 ? info->chunk : info->context / 2);
	double read[REPEATS], step[REPEATS];
	int64_t id;
	int i;

	for (i = 0; i < REPEATS; i++) {
		need(tenon_llm_add(llm, &id), "add");
		read[i] = forward(llm, id, prompt);
		step[i] = forward(llm, id, 1);
		need(tenon_llm_remove(llm, id), "remove");
	}
	qsort(read, REPEATS, sizeof(*read), compare);
	qsort(step, REPEATS, sizeof(*step), compare);
	printf("prompt of %zu tokens %24.1f us, %.0f tokens/s\n", prompt, read[REPEATS / 2] / 1e3,
	       (double)prompt * 1e9 / read[REPEATS / 2]);
	printf("one token %32.1f us, %.0f tokens/s\n", step[REPEATS / 2] / 1e3,
	       1e9 / step[REPEATS / 2]);
}

/* Fill all pages of the cache with sequences. */
static void fill(struct tenon_llm *llm)
{
	const struct tenon_llm_info *info = tenon_llm_info(llm);
	int64_t id, pages, most = info->context < info->tokens ? info->context : info->tokens;
	int64_t count, sequences = 0;

	while ((pages = tenon_llm_free_pages(llm)) > 0 && sequences < info->sequences) {
		count = pages * 16 < most ? pages * 16 : most;
		need(tenon_llm_add(llm, &id), "add");
		forward(llm, id, (size_t)count);
		sequences++;
	}
	printf("full: %" PRIi64 " sequences, %" PRIi64 " pages free\n", sequences, pages);
}

int main(int argc, char **argv)
{
	const char *source = getenv("TENON_SOURCE");
	char path[4096];
	struct tenon_llm *llm;
	double start;

	snprintf(path, sizeof(path), "%s/tests/llm/data/bytes", source ? source : ".");
	print_memory("before");
	start = bench_now();
	if (tenon_llm_open(argc > 1 ? argv[1] : path, NULL, &llm)) {
		printf("llm_bench: %s\n", tenon_error_message());
		return argc > 1; /* the model of the tree is for x86-64 */
	}
	printf("opening %34.1f ms\n", (bench_now() - start) / 1e6);
	printf("weights %" PRIu64 " KiB, key-value cache %" PRIu64 " KiB\n",
	       tenon_llm_info(llm)->weight_bytes >> 10, tenon_llm_info(llm)->cache_bytes >> 10);
	print_memory("open, cache empty");
	print_times(llm);
	fill(llm);
	print_memory("cache full");
	tenon_llm_close(llm);
	print_memory("closed");
	return 0;
}
