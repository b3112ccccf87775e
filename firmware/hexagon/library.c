/* SPDX-License-Identifier: MIT */
/*
 * mortise on Hexagon, as a library that a process of FastRPC loads. The call of its method lasts as long as the firmware
 * runs. Doorbell, interrupt and timer are missing: both sides poll, and the process ends at a trap.
 */
#include <tenon/uapi/mortise_dsp.h>
#include <tenon/uapi/mortise_order.h>

#include "firmware/core/mortise.h"

/* how often an idle firmware looks for work: a host that comes back waits so long at most */
#define LOOK_US 1000

/* status of a method, as of the vendor's interfaces */
enum { DONE = 0, BAD_ARGUMENT = 14, UNSUPPORTED = 20 };

/* argument of a method, as the process passes it */
struct argument {
	void *data;
	uint32_t size;
};

__attribute__((visibility("default"))) int mortise_skel_invoke(uint32_t scalars,
							       const struct argument *arguments);

/*
 * What the process has for libraries; without it the firmware polls all the time, has no clock, and ends no packet that
 * takes too long.
 */
__attribute__((weak, visibility("default"))) int qurt_timer_sleep(uint64_t microseconds);
__attribute__((weak, visibility("default"))) uint64_t HAP_perf_get_time_us(void);

static struct mortise m;
static const struct mortise_dsp_end *end;
static bool shut_down;

static uint64_t ticks(struct mortise *unused)
{
	return HAP_perf_get_time_us();
}

static void sleep_once(struct mortise *unused)
{
	while (!mortise_has_work(&m))
		qurt_timer_sleep(LOOK_US);
}

static void fence_code(void)
{
	__asm__ volatile("syncht\n\tisync" ::: "memory");
}

/* Leave the core's cycles to its other threads. */
static void relax(struct mortise *unused)
{
	__asm__ volatile("pause(#63)");
}

static bool ended(struct mortise *unused)
{
	return shut_down || mortise_peek(&end->end);
}

static void stop(struct mortise *unused)
{
	shut_down = true;
}

static int run_firmware(const struct mortise_dsp_run *window)
{
	struct mortise_port port = {
		.machine = MORTISE_MACHINE_HEXAGON,
		.features = MORTISE_FEATURE_CALL,
		.idle_polls = 20000,
		.window_address = window->address,
		.window_size = window->size,
		.fence_code = fence_code,
		.relax = relax,
		.ended = ended,
		.stop = stop,
	};

	if (HAP_perf_get_time_us) {
		port.features |= MORTISE_FEATURE_TIMESTAMP;
		port.tick_hz = 1000000;
		port.ticks = ticks;
	}
	if (qurt_timer_sleep)
		port.sleep = sleep_once;
	end = (const void *)(uintptr_t)(window->address + window->size);
	shut_down = false;
	mortise_boot(&m, &port);
	mortise_loop(&m);
	return DONE;
}

/* @scalars: the method from bit 24 on, inputs from 16, outputs from 8; below are handles, of which there are none */
int mortise_skel_invoke(uint32_t scalars, const struct argument *arguments)
{
	const struct mortise_dsp_run *window;

	if (scalars >> 24 != MORTISE_DSP_RUN)
		return UNSUPPORTED;
	if ((scalars & 0xffffff) != 1U << 16 || arguments[0].size != sizeof(*window))
		return BAD_ARGUMENT;
	window = arguments[0].data;
	return window->size == MORTISE_DSP_WINDOW ? run_firmware(window) : BAD_ARGUMENT;
}
