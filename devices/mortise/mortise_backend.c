/* SPDX-License-Identifier: MIT */
/* The backend's table: kinds of boards, and what each needs to be opened. */
#include <tenon/error.h>
#include <tenon/uapi/mortise.h>

#include "devices/mortise/mortise_device.h"
#include "devices/mortise/mortise_payload.h"

static bool is_ready(const struct board_kind *kind)
{
	bool ready = kind->ready(kind) == 0;

	if (!ready)
		tenon_error_clear();
	return ready;
}

const struct board_kind *mortise_board_kind(uint32_t index)
{
	const struct board_kind *kind;

	for (kind = board_kinds; kind->name; kind++)
		if (is_ready(kind) && !index--)
			return kind;
	return NULL;
}

static int mortise_count(uint32_t *count)
{
	*count = 0;
	while (mortise_board_kind(*count))
		++*count;
	return 0;
}

static int mortise_doctor(struct tenon_buffer *out)
{
	const struct board_kind *kind;
	int err = 0;

	for (kind = board_kinds; kind->name && !err; kind++)
		err = board_describe(kind, out);
	return err;
}

const struct tenon_backend mortise_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(mortise_backend),
	.name = "mortise",
	.device_type = TENON_DL_MORTISE,
	.flags = TENON_BACKEND_PLACES,
	.kinds = mortise_payload_kinds,
	.count = mortise_count,
	.describe = mortise_describe,
	.open = mortise_open,
	.doctor = mortise_doctor,
	.formats = mortise_payload_formats,
};
