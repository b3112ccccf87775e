/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_DOCTOR_DOCTOR_H
#define TOOLS_DOCTOR_DOCTOR_H

/** DOC: tenon doctor, its findings */

#include <stdio.h>
#include <tenon/error.h>

#include "tools/cli/cli.h"

extern const struct cli_command doctor_command;

/** enum finding_level - how bad it is */
enum finding_level {
	FINDING_OK,
	FINDING_WARN, /* works, but less well, or not all of it */
	FINDING_FAIL, /* something that was built in cannot work */
};

/**
 * struct finding - outcome of one check
 * @name: what was looked at
 * @level: how bad it is
 * @text: what was found
 * @remedy: what to do; empty when nothing is to be done
 */
struct finding {
	const char *name;
	enum finding_level level;
	char text[1024];
	char remedy[512];
};

#define FINDINGS_MOST 64

/**
 * doctor_examine - look at everything
 * @findings: room for FINDINGS_MOST
 *
 * Return: how many there are.
 */
size_t doctor_examine(struct finding *findings);

#ifdef CONFIG_DEVICES
/** doctor_devices - look at backends, plug-ins and nodes; returns how many findings of @most */
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
	return -TENON_E_UNSUPPORTED; /* never asked for: --json was refused */
}
#endif

#endif /* TOOLS_DOCTOR_DOCTOR_H */
