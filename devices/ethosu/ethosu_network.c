/* SPDX-License-Identifier: MIT */
/* Hand a stream to Linux, make buffers for its regions, submit jobs and check results. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <tenon/error.h>

#include "devices/ethosu/ethosu_accel.h"
#include "driver/dmabuf/dmabuf.h"
#include "lib/brief_errors.h"

/* ---- checks, before anything is allocated */

static struct tenon_cursor stream_of(const struct ethosu_network_plan *plan)
{
	const struct ethosu_payload *p = plan->payload;

	return tenon_cursor_of(p->stream.data, p->stream.size, plan->name, p->stream_at);
}

static int check_target(const struct ethosu_accel *a, const struct ethosu_network_plan *plan)
{
	const struct ethosu_target *t = &plan->payload->target;
	const char *differs = ethosu_target_runs(&a->target, t);
	char want[ETHOSU_TARGET_NAME], have[ETHOSU_TARGET_NAME];

	if (!differs)
		return 0;
	ethosu_target_name(t, want);
	ethosu_target_name(&a->target, have);
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s at 0x%" PRIx64
			   ": compiled for %s (config 0x%08x, id 0x%08x), and %s is a "
			   "%s (config 0x%08x, id 0x%08x): %s; compile it for that target",
			   plan->name, plan->payload->target_at, want, t->config, t->id,
			   a->drm.path, have, a->target.config, a->target.id, differs);
}

static uint64_t touched(const struct ethosu_network *n, unsigned int region)
{
	const uint64_t read = n->extents.read[region], write = n->extents.write[region];

	return read > write ? read : write;
}

static int check_constants(const struct ethosu_network *n, const struct ethosu_network_plan *plan)
{
	if (!plan->constants.size)
		return 0;
	if (plan->constant_region >= ETHOSU_REGIONS)
		return tenon_error(-TENON_E_FORMAT, "%s: constants in region %u", plan->name,
				   plan->constant_region);
	if (n->extents.write[plan->constant_region])
		return tenon_error(-TENON_E_FORMAT,
				   "%s: the stream writes to region %u, which has the constants",
				   plan->name, plan->constant_region);
	return 0;
}

static int check(struct ethosu_network *n, const struct ethosu_network_plan *plan)
{
	int err = check_target(n->accel, plan);

	if (!err)
		err = ethosu_check(stream_of(plan), &plan->payload->target, plan->sizes,
				   &n->extents);
	/*
	 * sizes are equal in all generations; an older Linux that refuses the stream reports that
	 * itself
	 */
	if (!err)
		err = ethosu_linux_check(stream_of(plan), &n->accel->target, ETHOSU_LINUX_LAST,
					 &n->by_linux);
	if (!err)
		err = ethosu_linux_sees(&n->extents, &n->by_linux, plan->name);
	return err ? err : check_constants(n, plan);
}

/* ---- memory */

static bool is_in(const struct ethosu_range *ranges, size_t count, unsigned int region)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ranges[i].region == region)
			return true;
	return false;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Fast scratch memory is in SRAM when all of it fits there; the CPU cannot reach it, and runs leave nothing in it. */
static bool fits_sram(const struct ethosu_network *n, const struct ethosu_network_plan *plan,
		      unsigned int region, uint64_t size)
{
	return region == ETHOSU_UAPI_SRAM_REGION && size <= n->accel->sram_size &&
	       !(plan->constants.size && plan->constant_region == region) &&
	       !is_in(plan->inputs, plan->input_count, region) &&
	       !is_in(plan->outputs, plan->output_count, region);
}

static int make_region(struct ethosu_network *n, const struct ethosu_network_plan *plan,
		       unsigned int region)
{
	uint64_t size = larger(touched(n, region), n->by_linux.size[region]);
	int err;

	if (!n->by_linux.size[region])
		return 0;
	if (fits_sram(n, plan, region, size)) {
		n->job.sram_size = (uint32_t)size;
		return 0;
	}
	if (plan->sizes[region] != ETHOSU_UNLIMITED)
		size = larger(size, plan->sizes[region]);
	if (plan->constants.size && plan->constant_region == region)
		size = larger(size, plan->constants.size);
	err = ethosu_accel_allocate(n->accel, size, &n->regions[region]);
	if (err)
		return err;
	n->job.regions[region] = n->regions[region].handle;
	n->bound[region] = n->regions[region].base;
	return 0;
}

static int make_regions(struct ethosu_network *n, const struct ethosu_network_plan *plan)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ETHOSU_REGIONS && !err; i++)
		err = make_region(n, plan, i);
	if (!err && plan->constants.size && n->bound[plan->constant_region])
		memcpy(n->bound[plan->constant_region], plan->constants.data, plan->constants.size);
	return err;
}

/* ---- the stream */

/* Linux returns only EINVAL: name the generations of its rule that refuse the stream. */
static int explain(const struct ethosu_network *n, const struct ethosu_network_plan *plan)
{
	struct ethosu_linux_extents e;
	int generation;

	for (generation = ETHOSU_LINUX_LAST - 1; generation >= ETHOSU_LINUX_FIRST; generation--)
		if (ethosu_linux_check(stream_of(plan), &n->accel->target,
				       (enum ethosu_linux)generation, &e))
			return -TENON_E_UNSUPPORTED;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: %s refuses the stream, for a reason that is not known here",
			   plan->name, n->accel->drm.path);
}

static int make_stream(struct ethosu_network *n, const struct ethosu_network_plan *plan)
{
	const struct tenon_slice *s = &plan->payload->stream;
	struct ethosu_uapi_stream c = { .size = (uint32_t)s->size, .data = (uintptr_t)s->data };
	int err = drm_call(&n->accel->drm, ETHOSU_UAPI_STREAM, &c);

	if (err == -EINVAL)
		return explain(n, plan);
	if (err)
		return system_error(-err, n->accel->drm.path, "hand over a command stream");
	n->job.stream = c.handle;
	return 0;
}

/* ---- outputs */

static bool overlap(const struct ethosu_range *a, const struct ethosu_mark *m)
{
	return a->region == m->region && a->offset < m->offset + m->size &&
	       m->offset < a->offset + a->size;
}

static int check_range(const struct ethosu_network *n, const struct ethosu_network_plan *plan,
		       const struct ethosu_range *r, const char *what)
{
	uint64_t size = 0;

	if (r->region < ETHOSU_REGIONS && n->bound[r->region])
		size = plan->sizes[r->region] == ETHOSU_UNLIMITED ? touched(n, r->region)
								  : plan->sizes[r->region];
	if (r->size && r->size <= size && r->offset <= size - r->size)
		return 0;
	return tenon_error(-TENON_E_FORMAT,
			   "%s: an %s of %" PRIu64 " bytes at %" PRIu64
			   " of region %u, which has %" PRIu64,
			   plan->name, what, r->size, r->offset, r->region, size);
}

static int add_mark(struct ethosu_network *n, const struct ethosu_network_plan *plan,
		    const struct ethosu_range *r)
{
	struct ethosu_mark *m = &n->marks[n->mark_count];
	size_t i;
	int err = check_range(n, plan, r, "output");

	if (err)
		return err;
	m->region = r->region;
	m->size = (uint8_t)(r->size < ETHOSU_MARK ? r->size : ETHOSU_MARK);
	m->offset = r->offset + r->size - m->size;
	for (i = 0; i < plan->input_count; i++)
		m->is_input |= overlap(&plan->inputs[i], m);
	n->mark_count++;
	return 0;
}

/* Find a region whose buffer receives the job's fence; prefer one with an output. */
static int find_output(struct ethosu_network *n, const struct ethosu_network_plan *plan)
{
	unsigned int i, found = ETHOSU_REGIONS;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		if (n->by_linux.written[i] && n->job.regions[i] &&
		    (found == ETHOSU_REGIONS || is_in(plan->outputs, plan->output_count, i)))
			found = i;
	if (found == ETHOSU_REGIONS)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: the stream writes to no buffer, so its end is not known",
				   plan->name);
	n->output = found;
	n->shared = drm_export(&n->accel->drm, &n->regions[found]);
	return n->shared < 0 ? n->shared : 0;
}

static int make_outputs(struct ethosu_network *n, const struct ethosu_network_plan *plan)
{
	size_t i;
	int err = 0;

	if (plan->output_count > ETHOSU_RANGES)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: more than %d outputs", plan->name,
				   ETHOSU_RANGES);
	for (i = 0; i < plan->input_count && !err; i++)
		err = check_range(n, plan, &plan->inputs[i], "input");
	for (i = 0; i < plan->output_count && !err; i++)
		err = add_mark(n, plan, &plan->outputs[i]);
	return err ? err : find_output(n, plan);
}

/* ---- opening and closing */

int ethosu_network_open(struct ethosu_accel *a, const struct ethosu_network_plan *plan,
			struct ethosu_network *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->accel = a;
	out->shared = out->fence = -1;
	err = check(out, plan);
	if (!err)
		err = make_regions(out, plan);
	if (!err)
		err = make_outputs(out, plan);
	if (!err)
		err = make_stream(out, plan);
	if (err)
		ethosu_network_close(out);
	return err;
}

void ethosu_network_close(struct ethosu_network *n)
{
	struct drm_buffer stream;
	unsigned int i;

	if (!n->accel)
		return;
	system_close(n->accel->drm.calls, &n->fence);
	system_close(n->accel->drm.calls, &n->shared);
	drm_adopt(n->job.stream, 0, &stream);
	drm_buffer_close(&n->accel->drm, &stream);
	for (i = 0; i < ETHOSU_REGIONS; i++)
		drm_buffer_close(&n->accel->drm, &n->regions[i]);
	n->accel = NULL;
}

uint64_t ethosu_network_needs(const struct ethosu_network *n, unsigned int region)
{
	return larger(touched(n, region), n->by_linux.size[region]);
}

int ethosu_network_bind(struct ethosu_network *n, unsigned int region,
			const struct drm_buffer *buffer)
{
	unsigned int i;
	int shared;

	if (region >= ETHOSU_REGIONS || !n->job.regions[region])
		return tenon_error(-TENON_E_VALUE, "%s: region %u has no buffer in jobs",
				   n->accel->drm.path, region);
	if (buffer->size < ethosu_network_needs(n, region))
		return tenon_error(-TENON_E_VALUE,
				   "%s: the stream touches %" PRIu64
				   " bytes of region %u, and the buffer has %" PRIu64,
				   n->accel->drm.path, touched(n, region), region, buffer->size);
	for (i = 0; i < ETHOSU_REGIONS; i++)
		if (i != region && n->job.regions[i] == buffer->handle)
			return tenon_error(-TENON_E_VALUE,
					   "%s: the buffer is in use for region %u already",
					   n->accel->drm.path, i);
	if (region == n->output) {
		shared = drm_export(&n->accel->drm, buffer);
		if (shared < 0)
			return shared;
		system_close(n->accel->drm.calls, &n->shared);
		n->shared = shared;
	}
	n->job.regions[region] = buffer->handle;
	n->bound[region] = buffer->base;
	return 0;
}

/* ---- runs */

/* A pattern of each run: results are not likely to be equal to it. */
static void set_marks(struct ethosu_network *n)
{
	uint64_t state = ++n->runs;
	struct ethosu_mark *m;
	uint8_t *at;
	size_t i, k;

	for (i = 0; i < n->mark_count; i++) {
		m = &n->marks[i];
		at = n->bound[m->region] + m->offset;
		for (k = 0; k < m->size && !m->is_input; k++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			m->before[k] = (uint8_t)(state >> 56);
		}
		if (m->is_input)
			memcpy(m->before, at, m->size);
		else
			memcpy(at, m->before, m->size);
	}
}

/*
 * Export the fence of the output's buffer. A fence that is signalled at once says nothing: the job
 * may have ended before.
 */
static int take_fence(struct ethosu_network *n)
{
	const struct system_calls *calls = n->accel->drm.calls;
	struct dmabuf output;
	int ready;

	dmabuf_adopt(calls, n->shared, touched(n, n->output), &output);
	n->fence = dmabuf_export_fence(&output, DMABUF_READ);
	if (n->fence < 0)
		return n->fence;
	ready = system_wait(calls, n->fence, "sync_file", POLLIN, 0);
	n->was_done = ready > 0;
	return ready < 0 ? ready : 0;
}

static int wait_for_output(const struct ethosu_network *n, uint64_t deadline)
{
	struct ethosu_uapi_wait w = { .handle = n->job.regions[n->output] };
	int err;

	w.deadline = deadline > INT64_MAX ? INT64_MAX : (int64_t)deadline;
	err = drm_call(&n->accel->drm, ETHOSU_UAPI_BO_WAIT, &w);
	if (err == -ETIME)
		return tenon_error(-TENON_E_TIMEOUT, "%s: the job has not ended yet",
				   n->accel->drm.path);
	return err ? system_error(-err, n->accel->drm.path, "wait for a job") : 0;
}

int ethosu_network_start(struct ethosu_network *n)
{
	struct ethosu_uapi_submit s = { .jobs = (uintptr_t)&n->job, .count = 1 };
	const struct drm *d = &n->accel->drm;
	int err;

	if (n->fence >= 0)
		return tenon_error(-TENON_E_USAGE, "%s: the job before is not finished", d->path);
	set_marks(n);
	err = drm_call(d, ETHOSU_UAPI_SUBMIT, &s);
	if (err)
		return system_error(-err, d->path, "submit a job");
	err = take_fence(n);
	if (err) {
		/*
		 * the job runs and uses the memory: wait for its end before returning it to the
		 * caller
		 */
		struct ethosu_uapi_wait w = { .handle = n->job.regions[n->output],
					      .deadline = INT64_MAX };

		(void)drm_call(d, ETHOSU_UAPI_BO_WAIT, &w);
		system_close(d->calls, &n->fence);
	}
	return err;
}

static int check_marks(const struct ethosu_network *n)
{
	const struct ethosu_mark *m;
	size_t i;

	for (i = 0; i < n->mark_count; i++) {
		m = &n->marks[i];
		if (!memcmp(n->bound[m->region] + m->offset, m->before, m->size))
			return tenon_error(-TENON_E_DEVICE,
					   "%s: the job ended at once, and the end of output %zu "
					   "is as it was before: the device failed",
					   n->accel->drm.path, i);
	}
	return 0;
}

int ethosu_network_finish(struct ethosu_network *n, uint64_t deadline)
{
	const struct system_calls *calls;
	int err;

	if (n->fence < 0)
		return tenon_error(-TENON_E_USAGE, "%s: there is no job", n->accel->drm.path);
	err = wait_for_output(n, deadline);
	if (err == -TENON_E_TIMEOUT)
		return err;
	calls = n->accel->drm.calls;
	if (!err)
		err = n->was_done ? check_marks(n) : sync_file_wait(calls, n->fence, 0);
	system_close(calls, &n->fence);
	return err;
}
