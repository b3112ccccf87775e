/* SPDX-License-Identifier: MIT */
/* What writes traces: built in, or a plug-in. */
#include "lib/trace.h"

#define OFFER_BUILT_IN(name) &name
#define OFFER_PLUGIN(name)   NULL

extern const struct tracer trace_tracer;
struct plugin trace_plugin = { "trace", "CONFIG_TRACE",
			       OPTION_CHOOSE(TRACE, OFFER_, trace_tracer) };
