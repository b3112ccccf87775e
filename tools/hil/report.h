/* SPDX-License-Identifier: MIT */
/* The reports of a run: results.ktap, results.xml (JUnit) and results.json. */
#ifndef TOOLS_HIL_REPORT_H
#define TOOLS_HIL_REPORT_H

#include "tools/hil/session.h"

#define REPORT_KTAP "results.ktap"
#define REPORT_XML  "results.xml"
#define REPORT_JSON "results.json"

/**
 * report_write - write all reports
 *
 * Return: 0; -TENON_E_IO, -TENON_E_NOMEM. Where memory was missing for a fact, the reports are written without facts.
 */
int report_write(const struct session *session);

/** report_has_facts - whether there are facts, all of them */
bool report_has_facts(const struct session *session);

/** report_json - append the report in JSON; appends nothing in a build without JSON */
int report_json(const struct session *session, struct tenon_buffer *out);

#endif /* TOOLS_HIL_REPORT_H */
