/* SPDX-License-Identifier: MIT */
/* What a replay found, as text or JSON. */
#ifndef TOOLS_REPLAY_REPLAY_REPORT_H
#define TOOLS_REPLAY_REPLAY_REPORT_H

#include "tools/replay/replay_compare.h"
#include "tools/replay/replay_options.h"

/** replay_report - print what was found */
void replay_report(const struct replay_options *o, const struct replay_comparison *c, FILE *out);

/** replay_report_json - likewise, as JSON; 0; -TENON_E_NOMEM */
int replay_report_json(const struct replay_options *o, const struct replay_comparison *c,
		       FILE *out);

#endif /* TOOLS_REPLAY_REPLAY_REPORT_H */
