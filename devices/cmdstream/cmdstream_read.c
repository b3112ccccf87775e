/* SPDX-License-Identifier: MIT */
/* Read the bytes of a command stream and check all that does not depend on the accelerator. */
#include <inttypes.h>
#include <string.h>

#include "devices/cmdstream/cmdstream.h"
#include "lib/brief_errors.h"

#define KERNEL_LEAST sizeof(struct tenon_cmdstream_kernel)

static int read_header(struct tenon_cursor *c, uint64_t *size)
{
	const struct tenon_cursor from = *c;
	uint64_t left = tenon_cursor_left(c);
	uint16_t major = 0, minor;
	uint32_t magic = 0;
	int err;

	err = tenon_cursor_u32(c, &magic);
	if (!err && magic != TENON_CMDSTREAM_MAGIC)
		return tenon_cursor_error(
			&from, -TENON_E_FORMAT,
			"no command stream: it begins with 0x%08x, not with 0x%08x", magic,
			TENON_CMDSTREAM_MAGIC);
	if (!err)
		err = tenon_cursor_u16(c, &major);
	if (!err)
		err = tenon_cursor_u16(c, &minor);
	if (!err && major != TENON_CMDSTREAM_MAJOR)
		return tenon_cursor_error(
			&from, -TENON_E_UNSUPPORTED,
			"a command stream of version %u; this build reads version "
			"%d. Use the compiler and the runtime of one release",
			major, TENON_CMDSTREAM_MAJOR);
	if (!err)
		err = tenon_cursor_u64(c, size);
	if (err)
		return err;
	if (*size < sizeof(struct tenon_cmdstream_header) || *size > left)
		return tenon_cursor_error(&from, -TENON_E_TRUNCATED,
					  "a command stream of %" PRIu64 " bytes; %" PRIu64
					  " are here. Copy or compile it again",
					  *size, left);
	return 0;
}

/* ---- sections */

static int read_target(struct tenon_cursor *c, struct cmdstream *s)
{
	const struct tenon_cursor from = *c;
	struct tenon_slice name = { NULL, 0 };
	uint32_t i;
	int err;

	err = tenon_cursor_bytes(c, TENON_CMDSTREAM_NAME, &name);
	if (err)
		return err;
	s->target.data = name.data;
	s->target.size = strnlen(name.data, name.size);
	for (i = (uint32_t)s->target.size; i < name.size; i++)
		if (name.data[i])
			s->target.size = 0;
	if (!s->target.size)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "no name of a target filled up with zero bytes");
	if (tenon_cursor_left(c) % 4 || tenon_cursor_left(c) / 4 > TENON_CMDSTREAM_WORDS)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "%zu bytes of configuration words; at most %d words of 4 "
					  "bytes are allowed",
					  tenon_cursor_left(c), TENON_CMDSTREAM_WORDS);
	s->config_count = (uint32_t)(tenon_cursor_left(c) / 4);
	for (i = 0; i < s->config_count && !err; i++)
		err = tenon_cursor_u32(c, &s->config[i]);
	return err;
}

const char *cmdstream_region_name(uint32_t kind)
{
	static const char *const names[] = { "?", "input", "output", "scratch", "constant" };

	return names[kind < sizeof(names) / sizeof(names[0]) ? kind : 0];
}

static bool access_suits(uint32_t kind, uint32_t access)
{
	switch (kind) {
	case TENON_REGION_INPUT:
		return (access & ~(uint32_t)TENON_REGION_WRITE) == TENON_REGION_READ;
	case TENON_REGION_OUTPUT:
		return (access & ~(uint32_t)TENON_REGION_READ) == TENON_REGION_WRITE;
	case TENON_REGION_SCRATCH:
		return access == (TENON_REGION_READ | TENON_REGION_WRITE);
	default:
		return access == TENON_REGION_READ;
	}
}

static int check_region(const struct tenon_cursor *at, uint32_t index,
			const struct tenon_cmdstream_region *r)
{
	if (r->kind < TENON_REGION_INPUT || r->kind > TENON_REGION_CONSTANT)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "region %u is of kind %u; kinds are 1 to %d", index,
					  r->kind, TENON_REGION_CONSTANT);
	if (!access_suits(r->kind, r->access))
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "region %u (%s) has access 0x%x, which that kind cannot "
					  "have: inputs are read, outputs written, scratch both, "
					  "constants only read",
					  index, cmdstream_region_name(r->kind), r->access);
	if (!r->size)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "region %u (%s) has no bytes; leave it out", index,
					  cmdstream_region_name(r->kind));
	if (!r->alignment || r->alignment & (r->alignment - 1) ||
	    r->alignment > TENON_CMDSTREAM_ALIGNMENT)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "region %u (%s) has alignment %u, want a power of two up "
					  "to %d",
					  index, cmdstream_region_name(r->kind), r->alignment,
					  TENON_CMDSTREAM_ALIGNMENT);
	if (r->reserved || (r->data && r->kind != TENON_REGION_CONSTANT))
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "region %u (%s) uses fields that must be 0", index,
					  cmdstream_region_name(r->kind));
	return 0;
}

static int read_regions(struct tenon_cursor *c, struct cmdstream *s)
{
	struct tenon_cmdstream_region *r;
	size_t size = tenon_cursor_left(c);
	struct tenon_cursor at;
	int err = 0;

	if (size % sizeof(*r) || size / sizeof(*r) > TENON_CMDSTREAM_REGIONS)
		return tenon_cursor_error(
			c, -TENON_E_FORMAT,
			"%zu bytes of regions; at most %d of %zu bytes are allowed", size,
			TENON_CMDSTREAM_REGIONS, sizeof(*r));
	while (tenon_cursor_left(c) && !err) {
		at = *c;
		r = &s->regions[s->region_count];
		err = tenon_cursor_u32(c, &r->kind);
		err = err ? err : tenon_cursor_u32(c, &r->access);
		err = err ? err : tenon_cursor_u64(c, &r->size);
		err = err ? err : tenon_cursor_u64(c, &r->data);
		err = err ? err : tenon_cursor_u32(c, &r->alignment);
		err = err ? err : tenon_cursor_u32(c, &r->reserved);
		err = err ? err : check_region(&at, s->region_count, r);
		s->region_count++;
	}
	return err;
}

/* Constants come behind the table of regions, and lie inside their section. */
static int check_constants(const struct tenon_cursor *c, const struct cmdstream *s)
{
	uint32_t i;

	for (i = 0; i < s->region_count; i++) {
		const struct tenon_cmdstream_region *r = &s->regions[i];

		if (r->kind != TENON_REGION_CONSTANT ||
		    (r->data <= s->constants.size && r->size <= s->constants.size - r->data))
			continue;
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "region %u (constant) takes %" PRIu64 " bytes at %" PRIu64
					  " of the constants, which have %zu",
					  i, r->size, r->data, s->constants.size);
	}
	return 0;
}

/* ---- relocations */

struct tenon_cmdstream_relocation cmdstream_relocation(const struct cmdstream *s, size_t index)
{
	struct tenon_cursor c =
		tenon_cursor_of(s->relocations.data, s->relocations.size, s->name, 0);
	struct tenon_cmdstream_relocation r = { 0, 0, 0, 0 };

	if (tenon_cursor_skip(&c, index * sizeof(r)) || tenon_cursor_u64(&c, &r.offset) ||
	    tenon_cursor_u64(&c, &r.addend) || tenon_cursor_u32(&c, &r.region) ||
	    tenon_cursor_u32(&c, &r.width))
		tenon_error_clear();
	return r;
}

static int check_relocation(const struct tenon_cursor *at, const struct cmdstream *s, size_t index,
			    uint64_t free_from)
{
	const struct tenon_cmdstream_relocation r = cmdstream_relocation(s, index);

	if (r.width != 4 && r.width != 8)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "relocation %zu writes %u bytes; 4 and 8 are possible",
					  index, r.width);
	if (r.offset > s->code.size || r.width > s->code.size - r.offset)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "relocation %zu writes %u bytes at %" PRIu64
					  " of the code, which has %zu",
					  index, r.width, r.offset, s->code.size);
	if (r.offset < free_from)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "relocation %zu at %" PRIu64
					  " of the code overlaps the one "
					  "before, which ends at %" PRIu64 "; order them by offset",
					  index, r.offset, free_from);
	if (r.region >= s->region_count)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "relocation %zu names region %u; there are %u", index,
					  r.region, s->region_count);
	if (r.addend > s->regions[r.region].size)
		return tenon_cursor_error(at, -TENON_E_FORMAT,
					  "relocation %zu names byte %" PRIu64
					  " of region %u (%s), which has %" PRIu64,
					  index, r.addend, r.region,
					  cmdstream_region_name(s->regions[r.region].kind),
					  s->regions[r.region].size);
	return 0;
}

static int read_relocations(struct tenon_cursor *c, struct cmdstream *s)
{
	const size_t entry = sizeof(struct tenon_cmdstream_relocation);
	struct tenon_cmdstream_relocation r;
	uint64_t free_from = 0;
	size_t i;
	int err;

	if (tenon_cursor_left(c) % entry)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "%zu bytes of relocations, which have %zu each",
					  tenon_cursor_left(c), entry);
	s->relocation_count = tenon_cursor_left(c) / entry;
	s->relocations = (struct tenon_slice){ (const char *)c->at, tenon_cursor_left(c) };
	for (i = 0; i < s->relocation_count; i++) {
		err = check_relocation(c, s, i, free_from);
		if (!err)
			err = tenon_cursor_skip(c, entry);
		if (err)
			return err;
		r = cmdstream_relocation(s, i);
		free_from = r.offset + r.width;
	}
	return 0;
}

/* Number of the first relocation that does not begin before @offset. */
static size_t find_relocation(const struct cmdstream *s, uint64_t offset)
{
	size_t low = 0, high = s->relocation_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (cmdstream_relocation(s, middle).offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool cmdstream_relocation_at(const struct cmdstream *s, const struct cmdstream_kernel *k,
			     uint64_t at, struct tenon_cmdstream_relocation *out)
{
	const size_t i = find_relocation(s, k->offset + at);

	if (i >= k->first + k->relocation_count)
		return false;
	*out = cmdstream_relocation(s, i);
	return out->offset == k->offset + at;
}

/* ---- kernels */

/* A relocation lies inside a kernel or outside. */
static int find_relocations(const struct tenon_cursor *at, const struct cmdstream *s,
			    struct cmdstream_kernel *k)
{
	const uint64_t ends[] = { k->offset, k->offset + k->size };
	struct tenon_cmdstream_relocation r;
	size_t i, found[2];

	for (i = 0; i < 2; i++) {
		found[i] = find_relocation(s, ends[i]);
		if (!found[i])
			continue;
		r = cmdstream_relocation(s, found[i] - 1);
		if (r.offset + r.width > ends[i])
			return tenon_cursor_error(
				at, -TENON_E_FORMAT,
				"kernel %.*s %s at %" PRIu64
				" of the code, inside the %u bytes that relocation %zu writes at "
				"%" PRIu64,
				(int)k->name.size, k->name.data, i ? "ends" : "begins", ends[i],
				r.width, found[i] - 1, r.offset);
	}
	k->first = found[0];
	k->relocation_count = found[1] - found[0];
	return 0;
}

static int read_argument(struct tenon_cursor *c, const struct cmdstream *s, uint32_t index,
			 struct cmdstream_kernel *k)
{
	const struct tenon_cursor at = *c;
	uint32_t region = 0, i;
	int err = tenon_cursor_u32(c, &region);

	if (err)
		return err;
	if (region >= s->region_count)
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "argument %u is region %u; there are %u", index, region,
					  s->region_count);
	if (s->regions[region].kind > TENON_REGION_OUTPUT)
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "argument %u is region %u (%s); only inputs and outputs "
					  "are arguments",
					  index, region,
					  cmdstream_region_name(s->regions[region].kind));
	for (i = 0; i < index; i++)
		if (k->arguments[i] == region)
			return tenon_cursor_error(&at, -TENON_E_FORMAT,
						  "arguments %u and %u are both region %u", i,
						  index, region);
	k->arguments[index] = region;
	return 0;
}

static int check_code(const struct tenon_cursor *at, const struct cmdstream *s,
		      const struct cmdstream_kernel *k)
{
	if (k->size && k->offset <= s->code.size && k->size <= s->code.size - k->offset)
		return 0;
	return tenon_cursor_error(at, -TENON_E_FORMAT,
				  "a kernel with %" PRIu64 " bytes at %" PRIu64
				  " of the code, which has %zu",
				  k->size, k->offset, s->code.size);
}

static int skip_zeros(struct tenon_cursor *c)
{
	uint8_t byte = 0;

	while ((c->at - c->start) % 8 && tenon_cursor_left(c)) {
		const struct tenon_cursor at = *c;

		if (tenon_cursor_u8(c, &byte) || byte)
			return tenon_cursor_error(&at, -TENON_E_FORMAT,
						  "0x%02x where zero bytes fill up to a multiple "
						  "of 8",
						  byte);
	}
	return 0;
}

int cmdstream_next_kernel(const struct cmdstream *s, struct tenon_cursor *c,
			  struct cmdstream_kernel *k)
{
	const struct tenon_cursor from = *c;
	uint32_t i, name_size = 0;
	int err;

	memset(k, 0, sizeof(*k));
	err = tenon_cursor_u64(c, &k->offset);
	err = err ? err : tenon_cursor_u64(c, &k->size);
	err = err ? err : tenon_cursor_u32(c, &k->argument_count);
	err = err ? err : tenon_cursor_u32(c, &name_size);
	err = err ? err : check_code(&from, s, k);
	if (!err && k->argument_count > TENON_CMDSTREAM_ARGUMENTS)
		err = tenon_cursor_error(&from, -TENON_E_UNSUPPORTED,
					 "a kernel with %u arguments; at most %d are passed",
					 k->argument_count, TENON_CMDSTREAM_ARGUMENTS);
	for (i = 0; i < k->argument_count && !err; i++)
		err = read_argument(c, s, i, k);
	err = err ? err : tenon_cursor_bytes(c, name_size, &k->name);
	if (!err && (!name_size || memchr(k->name.data, 0, name_size)))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "a kernel without a name");
	err = err ? err : skip_zeros(c);
	return err ? err : find_relocations(&from, s, k);
}

int cmdstream_kernel(const struct cmdstream *s, size_t index, struct cmdstream_kernel *out)
{
	struct tenon_cursor c = tenon_cursor_of(s->kernels.data, s->kernels.size, s->name, 0);
	int err = 0;
	size_t i;

	for (i = 0; i <= index && !err; i++)
		err = cmdstream_next_kernel(s, &c, out);
	return err;
}

/*
 * The kernels are checked one by one. If each had all of the code, the check would take the square
 * of the file's size.
 */
static int check_shared(const struct tenon_cursor *at, const struct cmdstream *s, uint64_t bytes)
{
	if (bytes / TENON_CMDSTREAM_SHARED <= s->code.size)
		return 0;
	return tenon_cursor_error(
		at, -TENON_E_UNSUPPORTED,
		"the kernels so far have %" PRIu64
		" bytes of code together, more than %d times the %zu that are here. Give "
		"each kernel its own code",
		bytes, TENON_CMDSTREAM_SHARED, s->code.size);
}

static int read_kernels(struct tenon_cursor *c, struct cmdstream *s)
{
	struct cmdstream_kernel k;
	uint64_t bytes = 0;
	int err = 0;

	s->kernels = (struct tenon_slice){ (const char *)c->at, tenon_cursor_left(c) };
	while (tenon_cursor_left(c) && !err) {
		if (s->kernel_count == TENON_CMDSTREAM_KERNELS)
			return tenon_cursor_error(c, -TENON_E_UNSUPPORTED, "more than %d kernels",
						  TENON_CMDSTREAM_KERNELS);
		err = cmdstream_next_kernel(s, c, &k);
		bytes += err ? 0 : k.size;
		err = err ? err : check_shared(c, s, bytes);
		s->kernel_count++;
	}
	return err;
}

/* ---- all sections */

static int read_section(struct tenon_cursor *c, uint32_t tag, struct cmdstream *s)
{
	struct tenon_slice rest = { (const char *)c->at, tenon_cursor_left(c) };

	switch (tag) {
	case TENON_CMDSTREAM_TARGET:
		return read_target(c, s);
	case TENON_CMDSTREAM_CODE:
		s->code = rest;
		s->place = tenon_cursor_place(c);
		break;
	case TENON_CMDSTREAM_REGION_TABLE:
		return read_regions(c, s);
	case TENON_CMDSTREAM_CONSTANTS:
		s->constants = rest;
		break;
	case TENON_CMDSTREAM_RELOCATIONS:
		return read_relocations(c, s);
	default:
		return read_kernels(c, s);
	}
	return 0;
}

static int next_section(struct tenon_cursor *c, uint32_t *last, struct cmdstream *s)
{
	const struct tenon_cursor from = *c;
	uint32_t tag = 0, reserved = 0;
	struct tenon_slice body;
	struct tenon_cursor inside;
	uint64_t size = 0;
	int err;

	err = tenon_cursor_u32(c, &tag);
	err = err ? err : tenon_cursor_u32(c, &reserved);
	err = err ? err : tenon_cursor_u64(c, &size);
	if (err)
		return err;
	if (tag < TENON_CMDSTREAM_TARGET || tag > TENON_CMDSTREAM_KERNEL_TABLE || reserved)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "a section with tag %u; this build knows 1 to %d", tag,
					  TENON_CMDSTREAM_KERNEL_TABLE);
	if (tag <= *last)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "a section with tag %u behind one with tag %u; want each "
					  "once, in order",
					  tag, *last);
	*last = tag;
	inside = *c;
	err = tenon_cursor_bytes(c, size, &body);
	if (err)
		return err;
	inside.end = c->at;
	err = tag == TENON_CMDSTREAM_RELOCATIONS || tag == TENON_CMDSTREAM_KERNEL_TABLE
		      ? check_constants(&from, s)
		      : 0;
	err = err ? err : read_section(&inside, tag, s);
	return err ? err : skip_zeros(c);
}

int cmdstream_read(struct tenon_cursor *c, struct cmdstream *s)
{
	struct tenon_cursor inside =
		tenon_cursor_of(c->at, tenon_cursor_left(c), c->name, tenon_cursor_place(c));
	uint32_t tag = 0, seen = 0;
	uint64_t size = 0;
	int err;

	memset(s, 0, sizeof(*s));
	s->name = c->name;
	err = read_header(&inside, &size);
	if (err)
		return err;
	inside.end = inside.start + size;
	while (tenon_cursor_left(&inside) && !err) {
		err = next_section(&inside, &tag, s);
		seen |= UINT32_C(1) << tag;
	}
	if (err)
		return err;
	for (tag = TENON_CMDSTREAM_TARGET; tag <= TENON_CMDSTREAM_KERNEL_TABLE; tag++)
		if (!(seen & UINT32_C(1) << tag) && tag != TENON_CMDSTREAM_CONSTANTS &&
		    tag != TENON_CMDSTREAM_RELOCATIONS)
			return tenon_cursor_error(&inside, -TENON_E_FORMAT,
						  "the command stream ends without a section with "
						  "tag %u",
						  tag);
	if (!s->kernel_count)
		return tenon_cursor_error(&inside, -TENON_E_FORMAT,
					  "a command stream without kernels");
	return tenon_cursor_skip(c, size);
}
