/* SPDX-License-Identifier: MIT */
/* Format the lines of a report. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/report.h>

#include "lib/brief_errors.h"

void tenon_report_line(struct tenon_report *report, const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	if (!report->line)
		return;
	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		tenon_error(-TENON_E_NOMEM, "no memory for a line of a report");
		return;
	}
	report->line(report, text);
	free(text);
}
