/* SPDX-License-Identifier: MIT */
/* What the checks of boards share. */
#ifndef TOOLS_DOCTOR_CHECKUP_H
#define TOOLS_DOCTOR_CHECKUP_H

#include <tenon/error.h>

#include "tools/doctor/doctor.h"

/**
 * struct checkup - findings, and where to look
 * @root: prefix of all paths
 * @list: findings
 * @count: their number
 * @most: room for them
 */
struct checkup {
	const char *root;
	struct finding *list;
	size_t count;
	size_t most;
};

/** checkup_next - begin a finding; without room, in place of the last */
struct finding *checkup_next(struct checkup *c, const char *name, enum finding_level level,
			     const char *format, ...) TENON_PRINTF(4, 5);
/** checkup_add - go on with the text of a finding */
void checkup_add(struct finding *f, const char *format, ...) TENON_PRINTF(2, 3);
/** checkup_remedy - set what to do */
void checkup_remedy(struct finding *f, const char *format, ...) TENON_PRINTF(2, 3);

/** checkup_config - configuration of the running kernel, to be freed; NULL if it is not known */
char *checkup_config(const struct checkup *c);
/** checkup_option - value of an option: 'y', 'm', 'n'; 0 when @config is NULL */
char checkup_option(const char *config, const char *option);

/** checkup_power - add the state of a device's power domain: "active", "suspended", "error" */
void checkup_power(struct checkup *c, struct finding *f, const char *device);

/** checkup_npus - check NPUs of the device tree, and their drivers in the kernel */
void checkup_npus(struct checkup *c);

/** checkup_dsps - check nodes of Hexagon DSPs, and what the vendor has to add */
void checkup_dsps(struct checkup *c);

#endif /* TOOLS_DOCTOR_CHECKUP_H */
