/* SPDX-License-Identifier: MIT */
/* In a guest, which sees the board's memory as a BAR of ivshmem; the firmware runs outside of it. */
#include "tests/cts/mortise_code.h"

const struct cts_backend cts_backend = {
	.uri = "mortise://vfio/0000:00:08.0" MORTISE_PATIENT,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = mortise_setup_guest,
};
