/* SPDX-License-Identifier: MIT */
/* Decode and compare the configuration words of products. */
#include "devices/ethosu/ethosu_target.h"

#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"

#define U55_U65_ID 0x10066001
#define U85_ID	   0x20007000

static const struct {
	const char *name;
	struct ethosu_target target;
} targets[] = {
	{ "u55-32", { 0x00001005, U55_U65_ID } },  { "u55-64", { 0x00001006, U55_U65_ID } },
	{ "u55-128", { 0x00001807, U55_U65_ID } }, { "u55-256", { 0x00003008, U55_U65_ID } },
	{ "u65-256", { 0x10003008, U55_U65_ID } }, { "u65-512", { 0x10006009, U55_U65_ID } },
	{ "u85-128", { 0x20000117, U85_ID } },	   { "u85-256", { 0x20000118, U85_ID } },
	{ "u85-512", { 0x20001119, U85_ID } },	   { "u85-1024", { 0x2000251a, U85_ID } },
	{ "u85-2048", { 0x2000261b, U85_ID } },
};

static uint32_t bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

const char *ethosu_product_name(enum ethosu_product product)
{
	static const char *const names[] = { "U55", "U65", "U85" };

	return product <= ETHOSU_PRODUCT_U85 ? names[product] : "U?";
}

uint32_t ethosu_macs(const struct ethosu_target *t)
{
	return 1u << bits(t->config, 3, 0);
}

unsigned int ethosu_streams(const struct ethosu_target *t)
{
	switch (ethosu_product_of(t)) {
	case ETHOSU_PRODUCT_U65:
		return ethosu_macs(t) > 256 ? 2 : 1;
	case ETHOSU_PRODUCT_U85:
		return 1u << bits(t->config, 13, 12);
	default:
		return 1;
	}
}

uint64_t ethosu_table_memory(const struct ethosu_target *t, uint64_t *start)
{
	const uint64_t shared = (uint64_t)bits(t->config, 15, 8) * 1024;

	*start = 0;
	if (ethosu_product_of(t) == ETHOSU_PRODUCT_U85)
		return ETHOSU_TABLE_BYTES;
	/* each core of a U65 has a part of the shared memory of its own, and the tables at its end */
	*start = shared / ethosu_streams(t);
	if (*start < ETHOSU_TABLE_BYTES)
		return 0;
	*start -= ETHOSU_TABLE_BYTES;
	return ETHOSU_TABLE_BYTES;
}

void ethosu_target_name(const struct ethosu_target *t, char name[ETHOSU_TARGET_NAME])
{
	static const char *const products[] = { "u55", "u65", "u85" };
	const uint32_t product = ethosu_product_of(t);

	if (product <= ETHOSU_PRODUCT_U85)
		snprintf(name, ETHOSU_TARGET_NAME, "%s-%u", products[product], ethosu_macs(t));
	else
		snprintf(name, ETHOSU_TARGET_NAME, "product %u", product);
}

int ethosu_target_check(const struct ethosu_target *t)
{
	const uint32_t product = ethosu_product_of(t), version = bits(t->config, 7, 4);

	if (product > ETHOSU_PRODUCT_U85)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "product %u in the configuration 0x%08x: 0 (U55), 1 (U65) and 2 "
				   "(U85) are known",
				   product, t->config);
	if (version != (product == ETHOSU_PRODUCT_U85))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"version %u of command streams in the configuration 0x%08x, which "
			"Ethos-%s does not have",
			version, t->config, ethosu_product_name(product));
	if (ethosu_streams(t) > ETHOSU_STREAMS)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%u weight decoders in the configuration 0x%08x, %d at most are "
				   "known",
				   ethosu_streams(t), t->config, ETHOSU_STREAMS);
	return 0;
}

int ethosu_target_find(const char *name, struct ethosu_target *out)
{
	const size_t count = sizeof(targets) / sizeof(*targets);
	struct tenon_buffer known = TENON_BUFFER_INIT;
	size_t i;
	int err;

	if (!strncmp(name, "ethos-", 6))
		name += 6;
	for (i = 0; i < count && strcmp(targets[i].name, name); i++)
		;
	if (i < count) {
		*out = targets[i].target;
		return 0;
	}
	for (i = 0; i < count; i++)
		tenon_buffer_printf(&known, "%s%s", i ? ", " : "", targets[i].name);
	err = tenon_error(-TENON_E_NOT_FOUND, "no Ethos-U is called \"%s\"; known: %s", name,
			  known.data ? known.data : "");
	tenon_buffer_fini(&known);
	return err;
}

const char *ethosu_target_runs(const struct ethosu_target *device, const struct ethosu_target *t)
{
	if (ethosu_product_of(device) != ethosu_product_of(t))
		return "another product";
	if (ethosu_macs(device) != ethosu_macs(t))
		return "another number of MACs";
	if (bits(device->config, 7, 4) != bits(t->config, 7, 4))
		return "another version of command streams";
	if (ethosu_product_of(t) != ETHOSU_PRODUCT_U85 &&
	    bits(t->config, 27, 27) > bits(device->config, 27, 27))
		return "a DMA unit that the device does not have";
	if (bits(device->id, 31, 28) != bits(t->id, 31, 28))
		return "another major version of the architecture";
	if (bits(device->id, 27, 20) < bits(t->id, 27, 20))
		return "a later minor version of the architecture";
	return NULL;
}
