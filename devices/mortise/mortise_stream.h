/* SPDX-License-Identifier: MIT */
/* Command streams on a device: see devices/cmdstream/cmdstream_executable.h. */
#ifndef DEVICES_MORTISE_MORTISE_STREAM_H
#define DEVICES_MORTISE_MORTISE_STREAM_H

#include "devices/cmdstream/cmdstream_executable.h"
#include "devices/mortise/mortise_device.h"

extern const struct cmdstream_target mortise_target;

/** mortise_stream_job - make a job of a launch; @binding is from cmdstream_bind() */
int mortise_stream_job(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
		       const struct cmdstream_binding *binding, struct mortise_job *job);

/**
 * mortise_stream_issue - put what the ring has room for into it
 *
 * Return: 0 when all packets of the job are in the ring; -TENON_E_TIMEOUT when it is full;
 *	-TENON_E_DEVICE, -TENON_E_LOST.
 */
int mortise_stream_issue(struct mortise_device *d, struct mortise_job *job);

#endif /* DEVICES_MORTISE_MORTISE_STREAM_H */
