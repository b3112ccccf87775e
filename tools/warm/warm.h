/* SPDX-License-Identifier: MIT */
/* What the files of tenon warm share: the build in several processes, and its result. */
#ifndef TOOLS_WARM_WARM_H
#define TOOLS_WARM_WARM_H

#include <stdint.h>

#include "tools/cli/verbs.h"

#define WARM_WORKERS_MOST 256
#define WARM_MESSAGE	  4096

/**
 * struct warm - data of `tenon warm`
 * @file: the module
 * @device: the device's name as given
 * @jobs: how many kernels to build at a time
 * @processes: how many processes built
 * @kernels: kernels of the module for the device
 * @failed: how many of them were not built
 * @nanoseconds: from the start to the end
 * @message: output of the first worker that failed, to be printed; "" if none did
 */
struct warm {
	const char *file;
	const char *device;
	unsigned int jobs;
	unsigned int processes;
	uint32_t kernels;
	uint32_t failed;
	uint64_t nanoseconds;
	char message[WARM_MESSAGE];
};

/**
 * warm_build - build the kernels of a module in several processes
 * @cli: this run; its command is named in messages
 * @w: @file, @device and @jobs; receives the rest
 *
 * No driver is opened in the calling process, and no other thread may exist in it. Only the first
 * process builds, with several threads, unless the device has TENON_DEVICE_SERIAL_BUILDS.
 *
 * Return: 0; an exit code, with @message.
 */
int warm_build(struct cli *cli, struct warm *w);

/** warm_json - write the result as JSON; 0 or -TENON_E_NOMEM */
int warm_json(const struct warm *w, FILE *out);

#endif /* TOOLS_WARM_WARM_H */
