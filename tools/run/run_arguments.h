/* SPDX-License-Identifier: MIT */
/* Arguments of a function or model, and the tensors that it fills */
#ifndef TOOLS_RUN_RUN_ARGUMENTS_H
#define TOOLS_RUN_RUN_ARGUMENTS_H

#include <tenon/device.h>

#include "tools/cli/cli.h"
#include "tools/tensor/argument.h"

/**
 * struct arguments - inputs and outputs, in the order given
 * @at: arguments
 * @count: how many
 * @output_count: number of outputs among them
 */
struct arguments {
	struct argument *at;
	size_t count;
	size_t output_count;
};

/** arguments_make - make values for SPECs of --input, --output or --expect; 0 or an exit code */
int arguments_make(struct cli *cli, struct argument *list, size_t count);

/** arguments_write - write outputs to their files; 0 or an exit code */
int arguments_write(struct cli *cli, const struct arguments *a);

/** arguments_release - release values and tensors, and free the list */
void arguments_release(struct argument *list, size_t count);

#ifdef CONFIG_DEVICES
/**
 * arguments_put - copy the arguments to a device, and select it for the thread
 * @on: device; NULL for the processor: nothing to do
 * @name: name given to --device
 *
 * Return: 0, or an exit code, its message printed.
 */
int arguments_put(struct cli *cli, struct arguments *a, const struct tenon_device *on,
		  const char *name);

/** arguments_get - copy outputs and a returned tensor back to the host; as arguments_put() */
int arguments_get(struct cli *cli, const struct arguments *a, const struct tenon_device *on,
		  const char *name, struct tenon_value *returned);
#else
static inline int arguments_put(struct cli *cli, struct arguments *a, const struct tenon_device *on,
				const char *name)
{
	(void)cli;
	(void)a;
	(void)on;
	(void)name;
	return 0;
}

static inline int arguments_get(struct cli *cli, const struct arguments *a,
				const struct tenon_device *on, const char *name,
				struct tenon_value *returned)
{
	(void)cli;
	(void)a;
	(void)on;
	(void)name;
	(void)returned;
	return 0;
}
#endif

#endif /* TOOLS_RUN_RUN_ARGUMENTS_H */
