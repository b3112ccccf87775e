/* SPDX-License-Identifier: MIT */
/*
 * Sleep until an event is complete. OpenCL cannot wait with a deadline, so the callback of an event
 * wakes the waiting threads, which check again. A callback may run after queue and device were
 * destroyed: the data it uses is static.
 */
#include <time.h>

#include "devices/opencl/opencl_device.h"

/*
 * Intervals of checks, in nanoseconds. NVIDIA's driver calls back late, or before the event says
 * that it is complete, so checks begin close together; their distance doubles up to the last one,
 * which is that for loss of the device, or for completion with OpenCL 1.0 (no callbacks).
 */
#define SLICE_FIRST   50000
#define SLICE_CALLED  20000000
#define SLICE_POLLING 200000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came;
static uint64_t count; /* of callbacks; protected by @lock */

void opencl_event_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&came, &attr);
	pthread_condattr_destroy(&attr);
}

static void wake(ocl_event event, int32_t status, void *context)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_cond_broadcast(&came);
	pthread_mutex_unlock(&lock);
}

static uint64_t counted(void)
{
	uint64_t now;

	pthread_mutex_lock(&lock);
	now = count;
	pthread_mutex_unlock(&lock);
	return now;
}

/* Sleep until @count differs from @seen, at most @slice; false if the deadline has passed. */
static bool sleep_until(uint64_t seen, uint64_t slice, uint64_t deadline)
{
	struct timespec t;
	uint64_t until = tenon_now();

	if (until >= deadline)
		return false;
	until = deadline - until > slice ? until + slice : deadline;
	t.tv_sec = (time_t)(until / 1000000000u);
	t.tv_nsec = (long)(until % 1000000000u);
	pthread_mutex_lock(&lock);
	while (count == seen && !pthread_cond_timedwait(&came, &lock, &t))
		;
	pthread_mutex_unlock(&lock);
	return true;
}

int opencl_event_status(ocl_event event)
{
	int32_t status = 0;
	int err = ocl.GetEventInfo(event, OCL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
				   &status, NULL);

	/*
	 * A query does not make writes visible. Waiting does, and returns at once here.
	 */
	if (!err && status == OCL_COMPLETE)
		err = ocl.WaitForEvents(1, &event);
	return err ? err : status;
}

int opencl_event_wait(struct opencl_device *d, ocl_event event, bool armed, uint64_t deadline)
{
	bool calls = d->version >= 110 && ocl.SetEventCallback;
	uint64_t seen, slice = SLICE_FIRST / 2, last;
	int status;

	if (calls && !armed)
		calls = !ocl.SetEventCallback(event, OCL_COMPLETE, wake, NULL);
	last = calls ? SLICE_CALLED : SLICE_POLLING;
	do {
		slice = 2 * slice < last ? 2 * slice : last;
		seen = counted();
		status = opencl_event_status(event);
		if (status > 0 && __atomic_load_n(&d->base.lost, __ATOMIC_ACQUIRE))
			status = OCL_DEVICE_NOT_AVAILABLE;
	} while (status > 0 && sleep_until(seen, slice, deadline));
	return status;
}
