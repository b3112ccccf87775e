/* SPDX-License-Identifier: MIT */
/* tenon_link_processor(): which extensions of the processor host code uses, and whether this machine has them. */
#include "link/describe_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "link/code/code_scan.h"
#include "runtime/kind/file_kind.h"

/* bytes of a function's name that are kept */
#define NAME_MOST 128

/**
 * struct use - an extension with its text
 * @extension: what programs read
 * @function: the name in it
 */
struct use {
	struct tenon_link_extension extension;
	char function[NAME_MOST];
};

/**
 * struct description - what was found, as it is built
 * @result: what programs read
 * @uses: @result.extension_count of them, each allocated
 * @machine, @needs, @has: texts of @result
 */
struct description {
	struct tenon_link_processor result;
	struct use **uses;
	char machine[32];
	struct tenon_buffer needs, has;
};

/* "x86-64-v4+avx512vnni" */
static int name_processor(const struct code_machine *m, const struct code_level *level,
			  uint64_t more, struct tenon_buffer *out)
{
	unsigned int i;

	tenon_buffer_printf(out, "%s", level->name);
	for (i = 0; i < m->count; i++)
		if (more >> i & 1)
			tenon_buffer_printf(out, "+%s", m->names[i]);
	return out->status;
}

static int add(struct description *d, const struct code_scan *scan, unsigned int level,
	       unsigned int number, bool missing)
{
	const struct code_use *at = &scan->at[level][number];
	struct tenon_link_extension *e;
	struct use *u = calloc(1, sizeof(*u));

	if (!u)
		return tenon_error(-TENON_E_NOMEM, "no memory for an extension");
	d->uses[d->result.extension_count++] = u;
	e = &u->extension;
	e->size = sizeof(*e);
	e->name = scan->machine->names[number];
	e->level = level ? scan->machine->levels[level].name : "";
	e->functions = at->functions;
	snprintf(u->function, sizeof(u->function), "%.*s",
		 at->function.size < NAME_MOST ? (int)at->function.size : NAME_MOST,
		 at->function.data ? at->function.data : "");
	e->function = u->function;
	e->missing = missing;
	d->result.missing += missing;
	return 0;
}

/* Code of a level is run where the machine has all of it; code without one, by all machines. */
static int add_level(struct description *d, const struct code_scan *scan, unsigned int level)
{
	const struct code_machine *m = scan->machine;
	const uint64_t here = m->here ? m->here() : 0;
	const bool runs = m->here && !(m->levels[level].has & ~here);
	unsigned int i;
	int err = 0;

	for (i = 0; i < m->count && !err; i++)
		if (scan->uses[level] >> i & 1)
			err = add(d, scan, level, i, runs && !(here >> i & 1));
	return err;
}

static int describe_extensions(struct description *d, const struct code_scan *scan)
{
	const struct code_machine *m = scan->machine;
	const struct code_level *level;
	uint64_t more;
	unsigned int i;
	int err;

	d->result.known = m;
	d->result.code = scan->code;
	d->result.unknown = scan->unknown;
	d->result.chooses = scan->chooses;
	if (!m)
		return 0;
	d->uses = calloc((size_t)m->level_count * m->count, sizeof(struct use *));
	if (!d->uses)
		return tenon_error(-TENON_E_NOMEM, "no memory for extensions");
	level = code_machine_needed(m, scan->uses[0], &more);
	err = name_processor(m, level, more, &d->needs);
	if (!err && m->here) {
		level = code_machine_best(m, m->here());
		/* -march of compilers takes the name of one level, or, where there is only one, extensions */
		err = name_processor(m, level, m->level_count > 1 ? 0 : m->here(), &d->has);
	}
	for (i = 0; i < m->level_count && !err; i++)
		err = add_level(d, scan, i);
	return err;
}

static int read_code(const char *file, struct tenon_slice bytes, struct description *d)
{
	struct code_scan *scan = malloc(sizeof(*scan));
	struct elf_file elf;
	int err = scan ? 0 : tenon_error(-TENON_E_NOMEM, "no memory to read %s", file);

	if (!err)
		err = file_open_elf(&elf, bytes, file);
	if (!err) {
		snprintf(d->machine, sizeof(d->machine), "%s", elf_machine_name(&elf));
		err = code_scan(&elf, scan);
	}
	if (!err)
		err = describe_extensions(d, scan);
	free(scan);
	return err;
}

int describe_code(const char *file, struct tenon_slice bytes,
		  const struct tenon_link_processor **out)
{
	struct description *d = calloc(1, sizeof(*d));
	struct tenon_link_processor *r;
	int err;

	*out = NULL;
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory to describe %s", file);
	err = read_code(file, bytes, d);
	r = &d->result;
	r->size = sizeof(*r);
	r->machine = d->machine;
	r->needs = d->needs.data ? d->needs.data : "";
	r->has = d->has.data ? d->has.data : "";
	r->extensions = (const struct tenon_link_extension *const *)(const void *)d->uses;
	if (err)
		tenon_link_processor_free(r);
	else
		*out = r;
	return err;
}

int tenon_link_processor(const char *file, const struct tenon_link_processor **out)
{
	struct tenon_slice bytes;
	int err;

	*out = NULL;
	err = file_map_open(file, &bytes);
	if (err)
		return err;
	err = describe_code(file, bytes, out);
	file_map_close(&bytes);
	return err;
}

void tenon_link_processor_free(const struct tenon_link_processor *processor)
{
	struct description *d = (struct description *)(uintptr_t)processor;
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->result.extension_count; i++)
		free(d->uses[i]);
	free(d->uses);
	tenon_buffer_fini(&d->needs);
	tenon_buffer_fini(&d->has);
	free(d);
}
