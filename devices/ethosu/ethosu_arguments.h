/* SPDX-License-Identifier: MIT */
/* The arguments of a network as its kernel takes them. */
#ifndef DEVICES_ETHOSU_ETHOSU_ARGUMENTS_H
#define DEVICES_ETHOSU_ETHOSU_ARGUMENTS_H

#include "devices/ethosu/ethosu_container.h"

#define ETHOSU_ARGUMENTS 64

/**
 * struct ethosu_argument - a tensor of a call
 * @region: region
 * @offset: offset in it
 * @bytes: size
 * @reads: its bytes are in the region before the stream runs
 * @writes: and are taken from there afterwards
 */
struct ethosu_argument {
	uint32_t region;
	uint64_t offset;
	uint64_t bytes;
	bool reads;
	bool writes;
};

/**
 * struct ethosu_arguments - all of them
 * @items: inputs, then outputs; or the regions that the stream touches, in order
 * @count: how many
 * @extents: what the stream touches
 */
struct ethosu_arguments {
	struct ethosu_argument items[ETHOSU_ARGUMENTS];
	size_t count;
	struct ethosu_extents extents;
};

/**
 * ethosu_arguments_of - check a stream and list the arguments of a call
 * @name: name of the file for messages
 *
 * Return: 0; as ethosu_check(); -TENON_E_UNSUPPORTED for more than ETHOSU_ARGUMENTS; -TENON_E_FORMAT for a
 *	stream that writes to its constants, and for inputs and outputs in the region of these.
 */
int ethosu_arguments_of(const struct ethosu_container *c, const char *name,
			struct ethosu_arguments *out);

/**
 * ethosu_arguments_in_place - can a region be memory that a caller has?
 * @a: arguments
 * @region: a region of some of them
 *
 * A device gets one address for a region, so all arguments in it have to lie in one piece of memory at their offsets.
 * The stream may touch no other byte of it, and no input where it writes.
 *
 * Return: NULL; why not.
 */
const char *ethosu_arguments_in_place(const struct ethosu_arguments *a, unsigned int region);

#endif /* DEVICES_ETHOSU_ETHOSU_ARGUMENTS_H */
