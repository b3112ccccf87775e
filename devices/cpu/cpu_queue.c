/* SPDX-License-Identifier: MIT */
/* Queue that runs operations at submission. */
#include "devices/cpu/cpu.h"
#include "devices/inline/inline_queue.h"
#include "devices/inline/inline_work.h"

static int submit(struct tenon_queue *q, const struct tenon_operation *op)
{
	return inline_work(q, op, cpu_run);
}

const struct tenon_queue_ops cpu_inline_ops = {
	.size = sizeof(cpu_inline_ops),
	.create = inline_create,
	.destroy = inline_destroy,
	.submit = submit,
	INLINE_MARKS,
};
