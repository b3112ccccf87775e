/* SPDX-License-Identifier: MIT */
/* Go through the entries of a .vmfb, and find those that are executables of the NPU. */
#include "devices/torq/torq_file.h"

#include <inttypes.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/stored_zip.h"

void torq_file_begin(const struct tenon_cursor *c, struct torq_file *out)
{
	const struct tenon_slice bytes = { (const char *)c->at, tenon_cursor_left(c) };

	out->rest = *c;
	out->count = 0;
	out->is_archive = torq_file_is(bytes) && !torq_program_is(bytes);
}

/* ---- entries */

/* Take the contents of the next entry; empty for the table of contents. */
static int next_entry(struct torq_file *f, struct tenon_cursor *out)
{
	struct stored_entry e;
	int more;

	/* IREE aligns the contents of entries by zeroes in front of their headers */
	while (tenon_cursor_left(&f->rest) && !*f->rest.at)
		f->rest.at++;
	more = stored_entry_next(&f->rest, "torq-compile", &e);
	*out = more > 0 ? e.contents : tenon_cursor_of(NULL, 0, f->rest.name, 0);
	return more < 0 ? more : 0;
}

/* ---- executables */

/* What follows the last one, or why there was none. */
static int at_end(const struct torq_file *f, bool has_idle)
{
	if (f->count || has_idle)
		return 0;
	return tenon_cursor_error(&f->rest, -TENON_E_FORMAT,
				  f->is_archive
					  ? "no executable of Torq in the module: compile it with "
					    "torq-compile, for the target torq"
					  : "no executable of Torq, and no archive with some; "
					    "compile without --iree-vm-emit-polyglot-zip=false");
}

int torq_file_next(struct torq_file *f, struct torq_program *out)
{
	struct tenon_cursor entry;
	bool has_idle = false;
	int err = 0;

	while (!err && tenon_cursor_left(&f->rest)) {
		entry = f->rest;
		if (f->is_archive)
			err = next_entry(f, &entry);
		else
			f->rest.at = f->rest.end;
		if (err)
			return err;
		if (!torq_program_is((struct tenon_slice){ (const char *)entry.at,
							   tenon_cursor_left(&entry) }))
			continue;
		err = torq_program_read(&entry, out);
		if (!err && out->actions.count) {
			f->count++;
			return 1;
		}
		has_idle = true;
	}
	f->rest.at = f->rest.end;
	return err ? err : at_end(f, has_idle);
}

int torq_file_each(const struct tenon_cursor *c,
		   int (*visit)(void *context, const struct torq_program *p), void *context,
		   uint32_t *count)
{
	struct torq_program p;
	struct torq_file f;
	int more;

	torq_file_begin(c, &f);
	while ((more = torq_file_next(&f, &p)) > 0) {
		more = visit ? visit(context, &p) : 0;
		if (more)
			break;
	}
	*count = f.count;
	return more;
}

int torq_file_find(const struct tenon_cursor *c, struct tenon_slice function,
		   struct torq_program *out)
{
	struct torq_program p;
	struct torq_file f;
	bool found = false;
	int more;

	torq_file_begin(c, &f);
	while ((more = torq_file_next(&f, &p)) > 0)
		if (!found && (f.count == 1 || tenon_slice_equal(p.name, function))) {
			/* the only one is called "main" */
			found = tenon_slice_equal(p.name, function);
			*out = p;
		}
	if (more < 0)
		return more;
	if (found || (f.count == 1 && tenon_slice_equal(function, tenon_slice_of("main"))))
		return 0;
	return tenon_error(-TENON_E_NOT_FOUND, "%s: no executable \"%.*s\"",
			   c->name ? c->name : "program", (int)function.size, function.data);
}
