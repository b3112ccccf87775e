/* SPDX-License-Identifier: MIT */
/* Go through the entries of a .vmfb, and find those that are executables of the NPU. */
#include "devices/torq/torq_file.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

#define LOCAL_ENTRY   0x04034b50
#define CENTRAL_ENTRY 0x02014b50
#define ENCRYPTED     1
#define STREAMED      8
#define ZIP64	      1
#define LONG_SIZE     UINT32_MAX

/**
 * struct entry - of an archive
 * @flags: of zip
 * @method: of its compression; 0 for none
 * @stored: bytes in the archive
 * @size: bytes of the contents
 */
struct entry {
	uint16_t flags;
	uint16_t method;
	uint64_t stored;
	uint64_t size;
};

void torq_file_begin(const struct tenon_cursor *c, struct torq_file *out)
{
	const struct tenon_slice bytes = { (const char *)c->at, tenon_cursor_left(c) };

	out->rest = *c;
	out->count = 0;
	out->is_archive = torq_file_is(bytes) && !torq_program_is(bytes);
}

/* ---- entries */

/* The sizes of an entry are in its extra field where they would not fit, and as IREE writes it, always. */
static int read_extra(struct tenon_cursor extra, struct entry *e)
{
	struct tenon_slice bytes;
	uint16_t id, size;
	int err = 0;

	while (!err && tenon_cursor_left(&extra)) {
		err = tenon_cursor_u16(&extra, &id);
		err = err ? err : tenon_cursor_u16(&extra, &size);
		if (!err && id == ZIP64 && e->size == LONG_SIZE && e->stored == LONG_SIZE) {
			if (size < 16)
				return tenon_cursor_error(&extra, -TENON_E_FORMAT,
							  "a ZIP64 field of %u bytes", size);
			err = tenon_cursor_u64(&extra, &e->size);
			err = err ? err : tenon_cursor_u64(&extra, &e->stored);
			size -= 16;
		}
		err = err ? err : tenon_cursor_bytes(&extra, size, &bytes);
	}
	return err;
}

static int read_sizes(struct tenon_cursor *c, struct entry *e)
{
	uint32_t stored, size;
	int err = tenon_cursor_u32(c, &stored);

	err = err ? err : tenon_cursor_u32(c, &size);
	e->stored = err ? 0 : stored;
	e->size = err ? 0 : size;
	return err;
}

/* Read the header behind its signature. */
static int read_entry(struct tenon_cursor *c, struct entry *e)
{
	const struct tenon_cursor first = *c;
	struct tenon_slice extra;
	uint16_t name_size, extra_size;
	int err = tenon_cursor_skip(c, 2);

	err = err ? err : tenon_cursor_u16(c, &e->flags);
	err = err ? err : tenon_cursor_u16(c, &e->method);
	/* time, date, checksum */
	err = err ? err : tenon_cursor_skip(c, 8);
	err = err ? err : read_sizes(c, e);
	err = err ? err : tenon_cursor_u16(c, &name_size);
	err = err ? err : tenon_cursor_u16(c, &extra_size);
	err = err ? err : tenon_cursor_skip(c, name_size);
	err = err ? err : tenon_cursor_bytes(c, extra_size, &extra);
	if (!err)
		err = read_extra(tenon_cursor_of(extra.data, extra.size, c->name,
						 tenon_cursor_place(c) - extra_size),
				 e);
	if (!err && (e->flags & (ENCRYPTED | STREAMED) || e->method || e->stored != e->size))
		err = tenon_cursor_error(&first, -TENON_E_UNSUPPORTED,
					 "an entry that is compressed, encrypted or of an unknown "
					 "size; torq-compile stores entries as they are");
	return err;
}

/* Take the contents of the next entry; empty for the table of contents. */
static int next_entry(struct torq_file *f, struct tenon_cursor *out)
{
	struct tenon_slice bytes = { NULL, 0 };
	struct tenon_cursor first;
	struct entry e;
	uint32_t signature = 0;
	int err;

	/* IREE aligns the contents of entries by zeroes in front of their headers */
	while (tenon_cursor_left(&f->rest) && !*f->rest.at)
		f->rest.at++;
	first = f->rest;
	err = tenon_cursor_u32(&f->rest, &signature);
	*out = tenon_cursor_of(NULL, 0, f->rest.name, 0);
	/* the table of contents follows the last entry */
	if (signature == CENTRAL_ENTRY)
		f->rest.at = f->rest.end;
	if (err || signature == CENTRAL_ENTRY)
		return err;
	if (signature != LOCAL_ENTRY)
		return tenon_cursor_error(&first, -TENON_E_FORMAT,
					  "0x%08x where an entry of the archive begins", signature);
	err = read_entry(&f->rest, &e);
	err = err ? err : tenon_cursor_bytes(&f->rest, e.size, &bytes);
	*out = tenon_cursor_of(bytes.data, bytes.size, f->rest.name,
			       tenon_cursor_place(&f->rest) - bytes.size);
	return err;
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
