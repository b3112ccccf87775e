/* SPDX-License-Identifier: MIT */
/* Lay constants behind each other. */
#include "runtime/byoc/json_constants.h"

#include <stdlib.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/large_pages.h"
#include "runtime/byoc/json_buffers.h"

static int add_block(struct byoc_constants *c, size_t size)
{
	void **slot = byoc_append(&c->blocks, &c->count, sizeof(*slot));

	if (!slot)
		return -TENON_E_NOMEM;
	*slot = large_pages_take(size);
	if (!*slot)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes of constants", size);
	c->at = *slot;
	c->left = size;
	return 0;
}

void *byoc_constant_take(struct byoc_constants *c, size_t size)
{
	const size_t most = SIZE_MAX - BYOC_ALIGNMENT;
	const size_t wanted = size ? size : 1;
	const size_t bytes = size < most ? wanted + -wanted % BYOC_ALIGNMENT : size;
	/* layouts may be padded: what the first block lacks is little */
	const size_t block = c->count ? c->expected / 8 : c->expected;
	void *at;

	if (c->left < bytes && add_block(c, bytes > block ? bytes : block))
		return NULL;
	at = c->at;
	c->at += bytes;
	c->left -= bytes;
	return at;
}

void byoc_constants_free(struct byoc_constants *c)
{
	uint32_t i;

	for (i = 0; i < c->count; i++)
		free(c->blocks[i]);
	free(c->blocks);
}
