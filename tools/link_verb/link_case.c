/* SPDX-License-Identifier: MIT */
/* Arguments of --case become cases of arrays. */
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "tools/link_verb/link_options.h"
#include "tools/tensor/compare.h"
#include "tools/tensor/npz.h"

/**
 * struct link_cases - cases and what they point to
 * @cases: @count cases
 * @files: two files each: inputs and outputs
 * @words: the arguments, split at commas
 * @count: how many
 */
struct link_cases {
	struct tenon_link_case *cases;
	struct npz *files;
	char **words;
	size_t count;
};

static int wrong(const char *word, const char *why)
{
	return tenon_error(
		-TENON_E_USAGE,
		"--case %s: %s; want IN.npz,OUT.npz[,name=TEXT][,rtol=R][,atol=A][,steps=N]"
		"[,hash]",
		word, why);
}

static int take_number(const char *word, const char *text, double *out)
{
	const char *end = NULL;

	*out = number_read(text, &end);
	return end && end != text && !*end && *out >= 0 ? 0 : wrong(word, "no number of 0 or more");
}

static int take_steps(const char *word, const char *text, uint64_t *out)
{
	double v;
	int err = take_number(word, text, &v);

	if (!err && (v > UINT32_MAX || v != (double)(uint64_t)v))
		err = wrong(word, "steps are a number of integers");
	*out = err ? 0 : (uint64_t)v;
	return err;
}

static int take_key(const char *word, char *key, struct tenon_link_case *c)
{
	char *value = strchr(key, '=');

	if (!strcmp(key, "hash")) {
		c->hash = true;
		return 0;
	}
	if (!value)
		return wrong(word, "a word without a value");
	*value++ = 0;
	if (!strcmp(key, "rtol"))
		return take_number(word, value, &c->rtol);
	if (!strcmp(key, "atol"))
		return take_number(word, value, &c->atol);
	if (!strcmp(key, "steps"))
		return take_steps(word, value, &c->steps);
	if (strcmp(key, "name") != 0)
		return wrong(word, "an unknown key");
	c->name = value;
	return 0;
}

/* numpy.savez() names arrays that it got without a name arr_0, arr_1: they are known by their place. */
static void drop_numpy_names(struct npz *file)
{
	size_t i;

	for (i = 0; i < file->count; i++)
		if (!strncmp(file->names[i], "arr_", 4))
			file->params[i].name = tenon_slice_of("");
}

static int read_arrays(const char *path, struct npz *file)
{
	int err = npz_read(path, file);

	if (!err)
		drop_numpy_names(file);
	return err;
}

/* A case is named as the file of its inputs, without folders. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int read_case(const char *word, char *copy, struct npz files[2], struct tenon_link_case *c)
{
	char *rest = copy, *in = strsep(&rest, ","), *out = rest ? strsep(&rest, ",") : NULL, *key;
	int err = 0;

	if (!out || !*in || !*out)
		return wrong(word, "two files");
	c->name = name_of(in);
	c->rtol = COMPARE_RTOL;
	c->atol = COMPARE_ATOL;
	while (!err && (key = strsep(&rest, ",")))
		err = take_key(word, key, c);
	if (!err)
		err = read_arrays(in, &files[0]);
	if (!err)
		err = read_arrays(out, &files[1]);
	c->inputs = files[0].params;
	c->input_count = files[0].count;
	c->outputs = files[1].params;
	c->output_count = files[1].count;
	return err;
}

int link_cases_read(struct link_words *w, struct link_cases **out)
{
	struct link_cases *l = calloc(1, sizeof(*l));
	size_t i;
	int err = 0;

	*out = l;
	if (l) {
		l->cases = calloc(w->case_count + 1, sizeof(*l->cases));
		l->files = calloc(2 * w->case_count + 1, sizeof(*l->files));
		l->words = calloc(w->case_count + 1, sizeof(*l->words));
	}
	if (!l || !l->cases || !l->files || !l->words)
		return tenon_error(-TENON_E_NOMEM, "no memory for cases");
	for (i = 0; i < w->case_count && !err; i++) {
		l->words[i] = strdup(w->case_words[i]);
		l->count++;
		err = l->words[i] ? read_case(w->case_words[i], l->words[i], &l->files[2 * i],
					      &l->cases[i])
				  : tenon_error(-TENON_E_NOMEM, "no memory for cases");
	}
	w->options.cases = l->cases;
	w->options.case_count = l->count;
	return err;
}

void link_cases_close(struct link_cases *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->count; i++) {
		npz_fini(&l->files[2 * i]);
		npz_fini(&l->files[2 * i + 1]);
		free(l->words[i]);
	}
	free(l->words);
	free(l->files);
	free(l->cases);
	free(l);
}
