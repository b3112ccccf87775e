/* SPDX-License-Identifier: MIT */
/* TVMEthosULaunch of a build without the backend: it fails with the option's name. */
#include <tenon/error.h>
#include <tenon/ethosu.h>

#include "lib/brief_errors.h"

int32_t TVMEthosULaunch(void *resource, const void *payload, size_t size, const uint64_t *addresses,
			const size_t *sizes, int32_t count)
{
	(void)resource;
	(void)payload;
	(void)size;
	(void)addresses;
	(void)sizes;
	(void)count;
	tenon_error(-TENON_E_UNSUPPORTED, "TVMEthosULaunch: this build has no Ethos-U "
					  "(CONFIG_DEVICE_ETHOSU)");
	return -1;
}
