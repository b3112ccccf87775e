/* SPDX-License-Identifier: MIT */
/* The products of Ethos-U, and which payloads run on which. */
#ifndef DEVICES_ETHOSU_ETHOSU_TARGET_H
#define DEVICES_ETHOSU_ETHOSU_TARGET_H

/*
 * A payload has two words that say what it was compiled for: the contents that the registers CONFIG
 * and ID are expected to have.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ethosu_product {
	ETHOSU_PRODUCT_U55 = 0,
	ETHOSU_PRODUCT_U65 = 1,
	ETHOSU_PRODUCT_U85 = 2,
};

/* tables for activations: the last of the shared memory, or a memory of their own on U85 */
#define ETHOSU_TABLE_BYTES 2048

/* most streams of weights, and cores that read them */
#define ETHOSU_STREAMS 4

/**
 * struct ethosu_target - what a payload is for, or what a device is
 * @config: contents of CONFIG
 * @id: contents of ID
 */
struct ethosu_target {
	uint32_t config;
	uint32_t id;
};

static inline uint32_t ethosu_product_of(const struct ethosu_target *t)
{
	return t->config >> 28;
}

/** ethosu_product_name - "U65" */
const char *ethosu_product_name(enum ethosu_product product);

/** ethosu_macs - multiplications per cycle */
uint32_t ethosu_macs(const struct ethosu_target *t);

/** ethosu_streams - weight streams that run side by side: cores of a U65, decoders of a U85 */
unsigned int ethosu_streams(const struct ethosu_target *t);

/**
 * ethosu_table_memory - where the internal memory for tables is
 * @start: receives its first address
 *
 * Return: its size in bytes.
 */
uint64_t ethosu_table_memory(const struct ethosu_target *t, uint64_t *start);

/* longest name of a target with its NUL */
#define ETHOSU_TARGET_NAME 24

/** ethosu_target_name - "u65-256": product and MACs, as compilers call the target */
void ethosu_target_name(const struct ethosu_target *t, char name[ETHOSU_TARGET_NAME]);

/**
 * ethosu_target_check - test whether this is a known product
 *
 * Return: 0; -TENON_E_UNSUPPORTED for another product, command stream version or size.
 */
int ethosu_target_check(const struct ethosu_target *t);

/**
 * ethosu_target_find - find a target by its name, "u65-256" or "ethos-u65-256"
 *
 * Return: 0; -TENON_E_NOT_FOUND, naming those that are known.
 */
int ethosu_target_find(const char *name, struct ethosu_target *out);

/**
 * ethosu_target_runs - test whether a device runs what was compiled for a target
 * @device: the device
 * @t: the payload's target
 *
 * The rule is Arm's: product, MACs, stream version and major version of the architecture are equal;
 * the payload needs no DMA that the device lacks, and no later minor version.
 *
 * Return: NULL; or what differs.
 */
const char *ethosu_target_runs(const struct ethosu_target *device, const struct ethosu_target *t);

#endif /* DEVICES_ETHOSU_ETHOSU_TARGET_H */
