/* SPDX-License-Identifier: MIT */
/* What a file is, by its first bytes: all that the library needs until the plug-in is open. */
#include <string.h>
#include <tenon/uapi/ethosu_parts.h>

#include "devices/ethosu/ethosu_container.h"

static bool begins_with(struct tenon_slice bytes, const char *magic)
{
	return bytes.size >= ETHOSU_CONTAINER_MAGIC &&
	       !memcmp(bytes.data, magic, ETHOSU_CONTAINER_MAGIC);
}

bool ethosu_payload_is(struct tenon_slice bytes)
{
	return begins_with(bytes, "COP1") || begins_with(bytes, "COP2");
}

bool ethosu_container_is_zip(struct tenon_slice bytes)
{
	return begins_with(bytes, "PK\3\4");
}

bool ethosu_container_is_parts(struct tenon_slice bytes)
{
	const size_t size = sizeof(TENON_ETHOSU_PARTS) - 1;

	return bytes.size >= size && (!memcmp(bytes.data, TENON_ETHOSU_PARTS, size) ||
				      !memcmp(bytes.data, TENON_ETHOSU_PARTS_GIVEN, size));
}

bool ethosu_container_is(struct tenon_slice bytes)
{
	return ethosu_payload_is(bytes) || ethosu_container_is_zip(bytes) ||
	       ethosu_container_is_parts(bytes);
}
