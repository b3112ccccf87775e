/* SPDX-License-Identifier: MIT */
/* Cases as a program has them, and the public functions whose work is in the plug-in: the first call opens it. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/elf.h"
#include "lib/file_map.h"
#include "lib/plugin.h"
#include "runtime/kind/file_kind.h"
#include "runtime/self_test/cases_format.h"
#include "runtime/self_test/self_test.h"

/* what has the tester */
extern struct plugin plugin_self_test;

static int open_tester(const struct self_tester **out)
{
	int err = plugin_open(&plugin_self_test, -TENON_E_UNSUPPORTED);

	*out = err ? NULL : plugin_self_test.offer->tester;
	return err;
}

/* A file without cases, as most are, opens no plug-in. */
int self_test_read(const char *file, struct tenon_slice bytes, struct tenon_cases **out)
{
	const struct self_tester *t;
	struct tenon_slice section;
	struct elf_file elf;
	int err;

	*out = NULL;
	err = file_open_elf(&elf, bytes, file);
	if (err)
		return err;
	if (!elf_find_section(&elf, CASES_SECTION, &section))
		return tenon_error(-TENON_E_NOT_FOUND,
				   "%s: has no cases; tenon link --case puts some into it", file);
	err = open_tester(&t);
	if (!err)
		err = t->read(section, (uint64_t)(section.data - bytes.data), out);
	return err ? tenon_error_in(err, "%s", file) : 0;
}

int tenon_self_test(struct tenon_model *model, const struct tenon_case *c,
		    struct tenon_model *reference, struct tenon_buffer *why)
{
	const struct self_tester *t;
	int err = open_tester(&t);

	return err ? err : t->test(model, c, reference, why);
}

int tenon_cases_open(const char *file, struct tenon_cases **out)
{
	struct tenon_slice bytes;
	int err;

	*out = NULL;
	err = file_map_open(file, &bytes);
	if (err)
		return err;
	err = self_test_read(file, bytes, out);
	if (err)
		file_map_close(&bytes);
	else
		(*out)->file = bytes;
	return err;
}

static void free_values(const struct tenon_case_value *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free((void *)(uintptr_t)values[i].shape);
	free((void *)(uintptr_t)values);
}

void tenon_cases_close(struct tenon_cases *cases)
{
	size_t i;

	if (!cases)
		return;
	for (i = 0; i < cases->count; i++) {
		free_values(cases->items[i].inputs, cases->items[i].input_count);
		free_values(cases->items[i].outputs, cases->items[i].output_count);
	}
	free(cases->items);
	file_map_close(&cases->file);
	free(cases);
}

size_t tenon_cases_count(const struct tenon_cases *cases)
{
	return cases->count;
}

const struct tenon_case *tenon_cases_at(const struct tenon_cases *cases, size_t index)
{
	return index < cases->count ? &cases->items[index] : NULL;
}
