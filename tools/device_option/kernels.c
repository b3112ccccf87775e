/* SPDX-License-Identifier: MIT */
/* Begin to build kernels, show progress, wait. */
#include "tools/device_option/kernels.h"

#include "lib/clock.h"
#include "tools/cli/progress.h"

void kernels_progress(void *context, const struct tenon_prepare_progress *progress)
{
	progress_kernels(progress->done, progress->total);
}

static void note(void *context, const struct tenon_prepare_progress *progress)
{
	struct kernels_built *built = context;

	built->total = progress->total;
	built->ended = clock_now();
	kernels_progress(NULL, progress);
}

void kernels_build(struct kernels *k, struct tenon_module *m, const struct target_list *targets)
{
	struct tenon_prepare how = { .size = sizeof(how), .progress = note };
	size_t i;

	k->began = clock_now();
	for (i = 0; i < targets->count && !targets->remote; i++) {
		if (!targets->on[i])
			continue;
		how.context = &k->of[k->count];
		if (tenon_module_prepare_start(m, targets->on[i], &how, &k->building[k->count]))
			tenon_error_clear();
		else
			k->count++;
	}
}

void kernels_wait(struct kernels *k)
{
	uint64_t ended = k->began;
	size_t i;

	k->built = 0;
	for (i = 0; i < k->count; i++) {
		if (tenon_preparation_wait(k->building[i]))
			tenon_error_clear();
		k->built += k->of[i].total;
		if (k->of[i].ended > ended)
			ended = k->of[i].ended;
	}
	k->nanoseconds = ended - k->began;
}

void kernels_fini(struct kernels *k)
{
	while (k->count)
		tenon_object_unref(k->building[--k->count]);
	progress_kernels(0, 0);
}
