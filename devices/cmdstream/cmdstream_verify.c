/* SPDX-License-Identifier: MIT */
/* Check a whole command stream without a device, and report what its kernels use. */
#include <inttypes.h>

#include "devices/cmdstream/cmdstream.h"
#include "devices/cmdstream/cmdstream_payload.h"
#include "lib/brief_errors.h"

int cmdstream_verify_read(const struct tenon_payload_request *r,
			  const struct cmdstream_target *target, struct cmdstream *out)
{
	struct tenon_cursor c = r->program;
	int err;

	if (r->option_count)
		return tenon_error(-TENON_E_USAGE,
				   "--%s: command streams for \"%s\" have no such option",
				   r->options[0].name, target->name);
	err = cmdstream_read(&c, out);
	if (!err && tenon_cursor_left(&c))
		err = tenon_cursor_error(&c, -TENON_E_FORMAT, "%zu bytes behind the command stream",
					 tenon_cursor_left(&c));
	if (err || tenon_slice_equal(out->target, tenon_slice_of(target->name)))
		return err;
	return tenon_error(-TENON_E_FORMAT,
			   "%s: a command stream for target \"%.*s\", not for \"%s\"", out->name,
			   (int)out->target.size, out->target.data, target->name);
}

static void report_kernel(const struct cmdstream *s, const struct cmdstream_kernel *k,
			  uint32_t word, uint64_t used, struct tenon_report *report)
{
	uint32_t i;

	tenon_report_object(report, NULL);
	tenon_report_line(report, "%.*s: %" PRIu64 " words, relocations: %zu", (int)k->name.size,
			  k->name.data, k->size / word, k->relocation_count);
	tenon_report_text(report, "name", k->name);
	tenon_report_number(report, "words", (int64_t)(k->size / word));
	tenon_report_list(report, "regions");
	for (i = 0; i < s->region_count; i++) {
		if (!(used >> i & 1))
			continue;
		tenon_report_line(report, "  region %u (%s): %" PRIu64 " bytes", i,
				  cmdstream_region_name(s->regions[i].kind), s->regions[i].size);
		tenon_report_number(report, NULL, i);
	}
	tenon_report_close(report);
	tenon_report_close(report);
}

/* Check all kernels; with a report also tell what each uses. */
static int each_kernel(const struct cmdstream *s, const struct cmdstream_target *target,
		       uint32_t word, struct tenon_report *report)
{
	struct tenon_cursor c = tenon_cursor_of(s->kernels.data, s->kernels.size, s->name, 0);
	struct cmdstream_kernel k;
	uint64_t used;
	size_t i;
	int err = 0;

	for (i = 0; i < s->kernel_count && !err; i++) {
		err = cmdstream_next_kernel(s, &c, &k);
		err = err ? err : cmdstream_check(s, target, &k, &used);
		if (!err && report)
			report_kernel(s, &k, word, used, report);
	}
	return err;
}

int cmdstream_verify_kernels(const struct cmdstream *s, const struct cmdstream_target *target,
			     uint32_t word, const char *device, struct tenon_report *report)
{
	int err = each_kernel(s, target, word, NULL);

	if (err)
		return err;
	tenon_report_line(report, "no fault: for %s, kernels: %zu", device, s->kernel_count);
	tenon_report_list(report, "kernels");
	err = each_kernel(s, target, word, report);
	tenon_report_close(report);
	return err;
}
