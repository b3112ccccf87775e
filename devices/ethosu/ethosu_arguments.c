/* SPDX-License-Identifier: MIT */
/* List the inputs and outputs of a network and the region each lies in. */
#include "devices/ethosu/ethosu_arguments.h"

#include <inttypes.h>

#include "lib/brief_errors.h"

/* Variables keep their values between calls in hardware that has memory for them; none are arguments. */
static const enum ethosu_role roles[] = { ETHOSU_INPUT, ETHOSU_OUTPUT };

static int add_tensors(const struct ethosu_container *c, enum ethosu_role role, const char *name,
		       struct ethosu_arguments *out)
{
	struct ethosu_tensor t;
	uint64_t i;

	for (i = 0; i < c->counts[role]; i++) {
		t = ethosu_container_tensor(c, role, i);
		if (c->constants.size && t.region == c->constant_region)
			return tenon_error(
				-TENON_E_FORMAT,
				"%s: %s %" PRIu64 " is in region %u, which has the constants", name,
				role == ETHOSU_INPUT ? "input" : "output", i, c->constant_region);
		out->items[out->count++] =
			(struct ethosu_argument){ (uint32_t)t.region, t.offset, t.bytes,
						  role == ETHOSU_INPUT, role == ETHOSU_OUTPUT };
	}
	return 0;
}

/* Without a description of tensors, regions are what a caller can give. */
static void add_regions(struct ethosu_arguments *out)
{
	const struct ethosu_extents *e = &out->extents;
	uint32_t i;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		if (e->read[i] || e->write[i])
			out->items[out->count++] = (struct ethosu_argument){
				i, 0, e->read[i] > e->write[i] ? e->read[i] : e->write[i], true,
				e->write[i] != 0
			};
}

int ethosu_arguments_of(const struct ethosu_container *c, const char *name,
			struct ethosu_arguments *out)
{
	unsigned int i;
	int err;

	out->count = 0;
	err = ethosu_container_check(c, name, &out->extents);
	if (err)
		return err;
	if (c->counts[ETHOSU_INPUT] + c->counts[ETHOSU_OUTPUT] > ETHOSU_ARGUMENTS)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: more than %d inputs and outputs",
				   name, ETHOSU_ARGUMENTS);
	if (c->constants.size && out->extents.write[c->constant_region])
		return tenon_error(-TENON_E_FORMAT,
				   "%s: the command stream writes to region %u, which has the "
				   "constants",
				   name, c->constant_region);
	if (!c->complete)
		add_regions(out);
	for (i = 0; c->complete && i < sizeof(roles) / sizeof(*roles) && !err; i++)
		err = add_tensors(c, roles[i], name, out);
	return err;
}

/* How many bytes from the begin of a region arguments cover without a gap. */
static uint64_t covered(const struct ethosu_arguments *a, unsigned int region)
{
	uint64_t end = 0, before;
	size_t i;

	do {
		before = end;
		for (i = 0; i < a->count; i++)
			if (a->items[i].region == region && a->items[i].offset <= end &&
			    a->items[i].bytes > end - a->items[i].offset)
				end = a->items[i].offset + a->items[i].bytes;
	} while (end > before);
	return end;
}

const char *ethosu_arguments_in_place(const struct ethosu_arguments *a, unsigned int region)
{
	const uint64_t read = a->extents.read[region], write = a->extents.write[region];
	size_t i;

	for (i = 0; i < a->count; i++)
		if (write && a->items[i].region == region && !a->items[i].writes)
			return "an input is in it, and the stream writes to it";
	if (covered(a, region) < (read > write ? read : write))
		return "the stream uses bytes of it that are no argument";
	return NULL;
}
