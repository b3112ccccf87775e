/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_ARGUMENTS_H
#define TOOLS_RUN_RUN_ARGUMENTS_H

/** DOC: what a function or model is given, and the tensors that it fills */

#include <tenon/device.h>

#include "tools/cli/cli.h"
#include "tools/tensor/argument.h"

/**
 * struct arguments - inputs and outputs, in the order given
 * @at: they
 * @count: how many
 * @output_count: how many of them are outputs
 */
struct arguments {
	struct argument *at;
	size_t count;
	size_t output_count;
};

/** arguments_make - make the values that SPECs of --input, --output or --expect ask for; 0 or an exit code */
int arguments_make(struct cli *cli, struct argument *list, size_t count);

/** arguments_write - write the outputs that go to files; 0 or an exit code */
int arguments_write(struct cli *cli, const struct arguments *a);

/** arguments_release - drop values and tensors, then the list itself */
void arguments_release(struct argument *list, size_t count);

#ifdef CONFIG_DEVICES
/**
 * arguments_put - make tensors of the arguments on a device, and choose it for the thread
 * @on: device; nothing is done for NULL, the processor
 * @name: what --device says
 *
 * Return: 0, or an exit code, its message printed.
 */
int arguments_put(struct cli *cli, struct arguments *a, const struct tenon_device *on,
		  const char *name);

/** arguments_get - copy outputs, and a tensor that was returned, back to the host; as above */
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
