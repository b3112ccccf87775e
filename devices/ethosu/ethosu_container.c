/* SPDX-License-Identifier: MIT */
/* Read a file in any of the containers, and check that its parts agree. */
#include "devices/ethosu/ethosu_container.h"

#include <string.h>

#include "lib/brief_errors.h"

int ethosu_container_read(const struct tenon_cursor *c, struct ethosu_container *out)
{
	const struct tenon_slice bytes = { (const char *)c->at, tenon_cursor_left(c) };
	struct tenon_cursor all = *c;
	unsigned int i;

	memset(out, 0, sizeof(*out));
	out->given_region = ETHOSU_REGIONS;
	if (ethosu_container_is_zip(bytes))
		return ethosu_npz_read(c, out);
	if (ethosu_container_is_parts(bytes))
		return ethosu_parts_read(c, out);
	out->format = "cop";
	for (i = 0; i < ETHOSU_REGIONS; i++)
		out->sizes[i] = ETHOSU_UNLIMITED;
	return ethosu_payload_read(&all, &out->payload);
}

int ethosu_container_give(struct ethosu_container *c, const char *name,
			  struct tenon_slice constants)
{
	if (!c->complete || c->constants.data || !c->constants.size)
		return 0;
	if (constants.size != c->constants.size)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: the network has %zu bytes of constants, and the program "
				   "that hands it over gives %zu",
				   name, c->constants.size, constants.size);
	c->constants = constants;
	return 0;
}

static uint64_t number(struct tenon_slice numbers, uint64_t index)
{
	const uint8_t *at = (const uint8_t *)numbers.data + 8 * index;
	uint64_t value = 0;
	int i;

	for (i = 7; i >= 0; i--)
		value = value << 8 | at[i];
	return value;
}

struct ethosu_tensor ethosu_container_tensor(const struct ethosu_container *c,
					     enum ethosu_role role, uint64_t index)
{
	const struct tenon_slice *fields = c->fields[role];
	struct ethosu_tensor t = { .role = role };
	unsigned int i;

	t.element = number(fields[ETHOSU_TENSOR_ELEMENT], index);
	t.offset = number(fields[ETHOSU_TENSOR_OFFSET], index);
	t.region = number(fields[ETHOSU_TENSOR_REGION], index);
	t.bytes = t.element;
	for (i = 0; i < ETHOSU_DIMENSIONS; i++) {
		t.shape[i] = number(fields[ETHOSU_TENSOR_SHAPE], index * ETHOSU_DIMENSIONS + i);
		t.bytes *= t.shape[i];
	}
	return t;
}

int ethosu_container_check(const struct ethosu_container *c, const char *name,
			   struct ethosu_extents *out)
{
	return ethosu_check(tenon_cursor_of(c->payload.stream.data, c->payload.stream.size, name,
					    c->payload.stream_at),
			    &c->payload.target, c->sizes, out);
}
