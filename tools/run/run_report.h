/* SPDX-License-Identifier: MIT */
/* Report of the results, as text and JSON */
#ifndef TOOLS_RUN_RUN_REPORT_H
#define TOOLS_RUN_RUN_REPORT_H

#include "tools/run/run.h"

/** run_report - print the results as text */
void run_report(const struct run *run, FILE *out);

/** run_check_labels - warn of --labels that are not as many as the elements of any output */
void run_check_labels(const struct run *run, FILE *err);

#ifdef CONFIG_JSON
/** run_report_json - print the results as JSON; 0 or -TENON_E_NOMEM */
int run_report_json(const struct run *run, FILE *out);
#else
static inline int run_report_json(const struct run *run, FILE *out)
{
	(void)run;
	(void)out;
	return -TENON_E_UNSUPPORTED; /* unreachable: --json was refused */
}
#endif

#endif /* TOOLS_RUN_RUN_REPORT_H */
