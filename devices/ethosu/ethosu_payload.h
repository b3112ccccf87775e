/* SPDX-License-Identifier: MIT */
/* Driver payloads: a target and one command stream. */
#ifndef DEVICES_ETHOSU_ETHOSU_PAYLOAD_H
#define DEVICES_ETHOSU_ETHOSU_PAYLOAD_H

/*
 * What a compiler hands to a driver: the target and one command stream, in one of two containers,
 * "COP1" and "COP2". Neither has constants; these, and the sizes of regions, come from the file around.
 */

#include <tenon/backend/cursor.h>

#include "devices/ethosu/ethosu_target.h"

/* regions of memory that a stream addresses, each by an offset from a base of its own */
#define ETHOSU_REGIONS 8

/**
 * struct ethosu_payload - a driver payload
 * @target: what it was compiled for
 * @target_at: offset of the configuration word in the file
 * @stream: the command stream
 * @stream_at: offset of the stream in the file
 * @version: 1 or 2, of the container
 * @local: inputs are in region 3 and outputs in region 4, rather than in the scratch memory of region 1;
 *	only COP2 says so
 * @fast_scratch: bytes of fast scratch memory in use; 0 if the container does not say
 */
struct ethosu_payload {
	struct ethosu_target target;
	uint64_t target_at;
	struct tenon_slice stream;
	uint64_t stream_at;
	uint8_t version;
	bool local;
	uint64_t fast_scratch;
};

/** ethosu_payload_is - test for the magic number of a driver payload */
bool ethosu_payload_is(struct tenon_slice bytes);

/**
 * ethosu_payload_read - read a driver payload
 * @c: cursor over the whole payload; moved to its end on success
 * @out: receives the contents
 *
 * The commands of the stream are not read.
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED and -TENON_E_UNSUPPORTED with the offset.
 */
int ethosu_payload_read(struct tenon_cursor *c, struct ethosu_payload *out);

#endif /* DEVICES_ETHOSU_ETHOSU_PAYLOAD_H */
