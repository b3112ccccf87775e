/* SPDX-License-Identifier: MIT */
/* Command streams whose target is "rocket", as executables. */
#include <stdio.h>
#include <tenon/string.h>
#include <tenon/uapi/rocket.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/rocket/rocket_device.h"
#include "devices/rocket/rocket_walk.h"
#include "lib/brief_errors.h"

static int check_config(struct tenon_device *device, const struct cmdstream *s)
{
	const struct rocket_chip *here = ((struct rocket_device *)device)->chip;
	int err = rocket_check_config(s);

	if (err || s->config[0] == here->soc)
		return err;
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"%s: register commands for RK%u, and this is an RK%u. Compile it for that", s->name,
		s->config[0], here->soc);
}

const struct cmdstream_target rocket_target = {
	.name = "rocket",
	.unit = ROCKET_TASK_ALIGNMENT,
	.alignment = TENON_CMDSTREAM_ALIGNMENT,
	.setter = rocket_setter,
	.check = check_config,
	.walk = rocket_walk,
	.show = rocket_show,
};

int rocket_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	int err = cmdstream_field(letter, c, info);

	/* files of such payloads are called so */
	info->format = tenon_slice_of("rocket");
	return err;
}

int rocket_show_stream(const struct tenon_payload_info *info, struct tenon_buffer *out)
{
	return cmdstream_show(info, &rocket_target, out);
}

int rocket_check_program(const struct tenon_payload_request *r, struct tenon_report *report)
{
	struct cmdstream s;
	char device[16];
	int err = cmdstream_verify_read(r, &rocket_target, &s);

	err = err ? err : rocket_check_config(&s);
	if (err)
		return err;
	snprintf(device, sizeof(device), "RK%u", s.config[0]);
	return cmdstream_verify_kernels(&s, &rocket_target, ROCKET_WORD, device, report);
}

static int create(struct tenon_device *device, const struct tenon_program *program,
		  struct tenon_executable **out)
{
	if (!tenon_slice_equal(program->format, tenon_slice_of("rocket")))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "rocket runs command streams, and not programs of format "
				   "\"%.*s\"",
				   (int)program->format.size, program->format.data);
	return cmdstream_executable_create(device, program, &rocket_target, out);
}

const struct tenon_executable_ops rocket_executable_ops = {
	.size = sizeof(rocket_executable_ops),
	.create = create,
	.destroy = cmdstream_executable_destroy,
	.kernel = cmdstream_executable_kernel,
	.argument = cmdstream_executable_argument,
};
