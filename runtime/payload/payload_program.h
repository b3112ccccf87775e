/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H
#define RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H

#include <tenon/executable.h>

#include "runtime/payload/payload_format.h"

/* As tenon_program_read(), of a payload that was read already. */
int device_program_make(struct tenon_slice kind, const struct payload_facts *facts,
			const char *label, struct tenon_program **out);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H */
