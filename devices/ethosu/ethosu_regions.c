/* SPDX-License-Identifier: MIT */
/* What a file says of regions and tensors must agree: numbers, sizes and places. */
#include <inttypes.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_container.h"
#include "lib/brief_errors.h"

const char *const ethosu_role_names[ETHOSU_ROLES] = { "input_", "output_", "variable_" };

/*
 * Note the size of a region. A file may name a region several times: the largest size counts, not
 * the sum.
 */
static int set_size(struct ethosu_container *c, const char *name, uint64_t region, uint64_t size)
{
	if (region >= ETHOSU_REGIONS)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: it names region %" PRIu64 "; there are 0 to %d", name,
				   region, ETHOSU_REGIONS - 1);
	if (size > c->sizes[region])
		c->sizes[region] = size;
	return 0;
}

static bool has_size(const struct ethosu_regions *r, uint64_t region)
{
	return region == r->constants || region == r->scratch || region == r->fast;
}

static int bad_tensor(const char *name, unsigned int role, const char *what)
{
	const char *of = ethosu_role_names[role];

	return tenon_error(-TENON_E_FORMAT, "%s: %sshape, %selem_size, %sregion and %soffset %s",
			   name, of, of, of, of, what);
}

static int check_tensor(struct ethosu_container *c, const char *name,
			const struct ethosu_regions *r, unsigned int role, uint64_t index)
{
	const struct ethosu_tensor t = ethosu_container_tensor(c, role, index);
	uint64_t bytes = t.element, end;
	unsigned int i;

	for (i = 0; i < ETHOSU_DIMENSIONS; i++)
		if (__builtin_mul_overflow(bytes, t.shape[i], &bytes))
			return bad_tensor(name, role, "make more bytes than 64 bits can count");
	if (t.region >= ETHOSU_REGIONS)
		return set_size(c, name, t.region, 0);
	if (__builtin_add_overflow(t.offset, bytes, &end) || end > INT64_MAX)
		return bad_tensor(name, role, "lie beyond 2^63 bytes");
	/* regions of inputs and outputs alone are as large as these need */
	if (!has_size(r, t.region))
		return set_size(c, name, t.region, end);
	return end > c->sizes[t.region] ? bad_tensor(name, role, "lie outside of their region") : 0;
}

static int check_tensors(struct ethosu_container *c, const char *name,
			 const struct ethosu_regions *r)
{
	const struct tenon_slice *f;
	unsigned int role;
	uint64_t i, count;
	int err;

	for (role = 0; role < ETHOSU_ROLES; role++) {
		f = c->fields[role];
		count = c->counts[role];
		if (f[ETHOSU_TENSOR_REGION].size != 8 * count ||
		    f[ETHOSU_TENSOR_ELEMENT].size != 8 * count ||
		    f[ETHOSU_TENSOR_OFFSET].size != 8 * count ||
		    f[ETHOSU_TENSOR_SHAPE].size != 8 * count * ETHOSU_DIMENSIONS)
			return bad_tensor(name, role, "are of different numbers of tensors");
		for (i = 0; i < count; i++) {
			err = check_tensor(c, name, r, role, i);
			if (err)
				return err;
		}
	}
	return 0;
}

int ethosu_regions_check(struct ethosu_container *c, const char *name,
			 const struct ethosu_regions *r)
{
	int err;

	err = set_size(c, name, r->constants, c->constants.size);
	if (!err)
		err = set_size(c, name, r->scratch, r->scratch_size);
	/* region 0 and size 0 stand for no fast scratch memory */
	if (!err)
		err = set_size(c, name, r->fast, r->fast_size);
	c->constant_region = (uint32_t)r->constants;
	return err ? err : check_tensors(c, name, r);
}
