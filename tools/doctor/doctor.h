/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_DOCTOR_DOCTOR_H
#define TOOLS_DOCTOR_DOCTOR_H

/** DOC: findings of tenon doctor */

#include <stdio.h>
#include <tenon/error.h>

#include "tools/cli/cli.h"

extern const struct cli_command doctor_command;

/** enum finding_level - severity */
enum finding_level {
	FINDING_OK,
	FINDING_WARN, /* works with limitations */
	FINDING_FAIL, /* a built-in feature cannot work */
};

/**
 * struct finding - outcome of one check
 * @name: subject of the check
 * @level: severity
 * @text: result
 * @remedy: what to do; empty if nothing is needed
 * @details: further facts, a line each; NULL for none
 */
struct finding {
	const char *name;
	enum finding_level level;
	char text[1024];
	char remedy[512];
	const char *details;
};

#define FINDINGS_MOST 64

/**
 * doctor_examine - run all checks
 * @findings: room for FINDINGS_MOST
 *
 * Return: number of findings.
 */
size_t doctor_examine(struct finding *findings);

#ifdef CONFIG_DEVICES
/** doctor_devices - check backends, plug-ins and nodes; returns the number of findings */
size_t doctor_devices(struct finding *findings, size_t most);
#endif

/** finding_word - "ok", "warn", "fail" */
const char *finding_word(enum finding_level level);

#ifdef CONFIG_JSON
/** doctor_json - print findings as JSON; 0 or -TENON_E_NOMEM */
int doctor_json(const struct finding *findings, size_t count, FILE *out);
#else
static inline int doctor_json(const struct finding *findings, size_t count, FILE *out)
{
	(void)findings;
	(void)count;
	(void)out;
	return -TENON_E_UNSUPPORTED; /* unreachable: --json was refused */
}
#endif

#endif /* TOOLS_DOCTOR_DOCTOR_H */
