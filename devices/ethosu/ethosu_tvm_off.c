/* SPDX-License-Identifier: MIT */
/* TVMEthosULaunch of a build without the backend: it fails with the option's name. */
#include <tenon/ethosu.h>

#include "lib/switched_off.h"

#define OFF_REASON                                                                                 \
	(tenon_error(-TENON_E_UNSUPPORTED, "TVMEthosULaunch: this build has no Ethos-U "           \
					   "(CONFIG_DEVICE_ETHOSU)"),                              \
	 -1)
/* clang-format off */
OFF(TVMEthosULaunch, (void *resource, const void *payload, size_t size, const uint64_t *addresses,
	const size_t *sizes, int32_t count))
