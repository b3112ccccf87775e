/* SPDX-License-Identifier: MIT */
/* Begin and end the record of a run, and pass calls of operators to what writes it. */
#include "lib/record.h"

#include <tenon/error.h>

#include "lib/brief_errors.h"

const char *record_lack_text(enum record_lack why)
{
	static const char *const texts[RECORD_LACKS] = {
		[RECORD_LACK_LIMIT] = "the record is full",
		[RECORD_LACK_ARGUMENT] =
			"an argument is neither a tensor without gaps nor a number",
		[RECORD_LACK_COMMANDS] = "a list of commands that the device repeats",
		[RECORD_LACK_READING] = "a tensor could not be read",
		[RECORD_LACK_FAILED] = "the operation failed",
		[RECORD_LACK_FILE] = "a file of the module that cannot be kept",
	};

	return (unsigned int)why < RECORD_LACKS ? texts[why] : "unknown";
}

#if OPTION_ON(RECORD)
int record_begin(const struct record_options *o)
{
	const struct recorder *r;
	int err = plugin_open(&plugin_trace, -TENON_E_UNSUPPORTED);

	if (err)
		return err;
	r = plugin_trace.offer->tracer->recorder;
	if (!r)
		return plugin_lacks(&plugin_trace, "the writing of records (CONFIG_RECORD)");
	return trace_start(&r->tracer, r->begin, o, o->folder);
}

int record_end(struct record_report *out)
{
	const struct recorder *r = plugin_trace.offer ? plugin_trace.offer->tracer->recorder : NULL;

	*out = (struct record_report){ 0 };
	if (!r || !trace_stop(&r->tracer))
		return tenon_error(-TENON_E_USAGE, "no record of a run is being written");
	return r->end(out);
}

bool record_on(void)
{
	const struct tracer *t = trace_on();

	return t && t->before;
}

struct operator_begun *record_before(const struct operator_call *call)
{
	const struct tracer *t = trace_on();

	return t && t->before ? t->before(call) : NULL;
}
#else
int record_begin(const struct record_options *o)
{
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"%s: this build writes no records: they need CONFIG_TRACE and CONFIG_JSON",
		o->folder);
}

int record_end(struct record_report *out)
{
	*out = (struct record_report){ 0 };
	return tenon_error(-TENON_E_USAGE, "no record of a run is being written");
}
#endif
