/* SPDX-License-Identifier: MIT */
/* What sort of failure ended a session. */
#include "devices/mortise/mortise_device.h"

#include <tenon/error.h>

static const char *sort_of_fault(uint32_t code)
{
	switch (code) {
	case MORTISE_FAULT_HEADER:
	case MORTISE_FAULT_OPCODE:
	case MORTISE_FAULT_FIELD:
	case MORTISE_FAULT_ADDRESS:
		return "bad input";
	case MORTISE_FAULT_KERNEL:
	case MORTISE_FAULT_TRAP:
	case MORTISE_FAULT_SELFTEST:
		return "job fault";
	case MORTISE_FAULT_WATCHDOG:
		return "job timeout";
	default:
		return "context lost";
	}
}

static const char *sort_of_loss(const struct ring_report *report)
{
	switch (report->loss) {
	case RING_FAULTED:
		return sort_of_fault(report->fault.code);
	case RING_RESTARTED:
	case RING_STOPPED:
		return "context lost";
	default:
		return "device lost";
	}
}

/* Keep the first failure. An attached board is unlocked, so that another program can open a session. */
static int lose(struct mortise_device *d, int status)
{
	status = tenon_device_lose(&d->base, status);
	board_leave(d->board);
	return status;
}

int mortise_check_board(struct mortise_device *d)
{
	int err = board_alive(d->board);

	if (!err)
		return 0;
	return lose(d, tenon_error_in(ring_explain(d->ring, err), "remote crashed"));
}

int mortise_lose(struct mortise_device *d, int status)
{
	struct ring_report report;

	/* an emulator that has ended explains the rest */
	if (!__atomic_load_n(&d->base.lost, __ATOMIC_ACQUIRE) && mortise_check_board(d))
		return tenon_device_check(&d->base);
	ring_report(d->ring, &report);
	return lose(d, tenon_error_in(status, "%s", sort_of_loss(&report)));
}
