/* SPDX-License-Identifier: MIT */
/* Command streams on a device: the configuration, and the packets of a launch. */
#include "devices/mortise/mortise_stream.h"

#include <string.h>
#include <tenon/error.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/mortise/mortise_payload.h"
#include "devices/mortise/mortise_walk.h"

static int mortise_check(struct tenon_device *device, const struct cmdstream *s)
{
	struct mortise_device *d = mortise_device_of(device);
	uint32_t abi, features;
	struct ring_report report;

	if (s->config_count != MORTISE_CONFIG_WORDS)
		return tenon_error(-TENON_E_FORMAT,
				   "%u configuration words; mortise has %d, an ABI and a mask of "
				   "features",
				   s->config_count, MORTISE_CONFIG_WORDS);
	ring_report(d->ring, &report);
	abi = report.identity.abi;
	features = report.identity.features;
	if (s->config[MORTISE_CONFIG_ABI] >> 16 != abi >> 16 ||
	    (s->config[MORTISE_CONFIG_ABI] & 0xffff) > (abi & 0xffff))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"a command stream for packets of ABI %u.%u; the firmware of %s has "
			"%u.%u. Update the firmware, or compile the stream for it",
			s->config[MORTISE_CONFIG_ABI] >> 16, s->config[MORTISE_CONFIG_ABI] & 0xffff,
			device->properties->name, abi >> 16, abi & 0xffff);
	if (s->config[MORTISE_CONFIG_FEATURES] & ~features)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a command stream that needs features 0x%x; %s has 0x%x",
				   s->config[MORTISE_CONFIG_FEATURES], device->properties->name,
				   features);
	return 0;
}

const struct cmdstream_target mortise_target = {
	.name = "mortise",
	.unit = MORTISE_WORD,
	.alignment = MORTISE_HEAP_GRAIN,
	.setter = mortise_setter,
	.check = mortise_check,
	.walk = mortise_walk,
	.show = mortise_show,
};

int mortise_show_stream(const struct tenon_payload_info *info, struct tenon_buffer *out)
{
	return cmdstream_show(info, &mortise_target, out);
}

int mortise_stream_job(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
		       const struct cmdstream_binding *binding, struct mortise_job *job)
{
	const struct mortise_device *d = mortise_device_of(queue->device);
	uint64_t addresses[TENON_CMDSTREAM_REGIONS];
	uint32_t i;
	int err;

	for (i = 0; i < TENON_CMDSTREAM_REGIONS; i++)
		if (binding->used >> i & 1)
			addresses[i] = d->address + mortise_offset(&binding->regions[i]);
	err = mortise_job_room(job, cmdstream_code_size(dispatch->kernel));
	if (err)
		return err;
	job->kind = MORTISE_JOB_STREAM;
	job->as.stream.issued = 0;
	return cmdstream_patch(dispatch->kernel, addresses, job->packet);
}

int mortise_stream_issue(struct mortise_device *d, struct mortise_job *job)
{
	const struct mortise_header *header;
	const uint8_t *from;
	size_t size;
	void *to;
	int err = 0;

	while (job->as.stream.issued < job->packet_size) {
		from = (const uint8_t *)job->packet + job->as.stream.issued;
		header = (const struct mortise_header *)(const void *)from;
		size = (size_t)header->words * MORTISE_WORD;
		err = ring_reserve(d->ring, header->opcode, size, RING_NOW, &to);
		if (err)
			break;
		memcpy((uint8_t *)to + sizeof(*header), from + sizeof(*header),
		       size - sizeof(*header));
		job->as.stream.issued += size;
	}
	/* publish the reserved packets even if the rest of the stream did not fit */
	job->sequence = ring_publish(d->ring);
	return err;
}
