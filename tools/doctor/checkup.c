/* SPDX-License-Identifier: MIT */
/* Add findings with their remedies. */
#include "tools/doctor/checkup.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "tools/doctor/board_files.h"

struct finding *checkup_next(struct checkup *c, const char *name, enum finding_level level,
			     const char *format, ...)
{
	/* When the list is full, overwrite the last finding. */
	struct finding *f = &c->list[c->count < c->most ? c->count++ : c->most - 1];
	va_list args;

	memset(f, 0, sizeof(*f));
	f->name = name;
	f->level = level;
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
	return f;
}

void checkup_add(struct finding *f, const char *format, ...)
{
	size_t used = strlen(f->text);
	va_list args;

	va_start(args, format);
	vsnprintf(f->text + used, sizeof(f->text) - used, format, args);
	va_end(args);
}

void checkup_remedy(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->remedy, sizeof(f->remedy), format, args);
	va_end(args);
}

/* ---- the kernel */

char checkup_option(const char *config, const char *option)
{
	char line[64];
	const char *at;

	if (!config)
		return 0;
	snprintf(line, sizeof(line), "\nCONFIG_%s=", option);
	at = strstr(config, line);
	return at ? at[strlen(line)] : 'n';
}

char *checkup_config(const struct checkup *c)
{
	char *config = malloc(1 << 20);
	struct utsname name;
	char path[BOARD_PATH];

	if (!config || uname(&name)) {
		free(config);
		return NULL;
	}
	snprintf(path, sizeof(path), "/boot/config-%s", name.release);
	if (board_text(c->root, path, config, 1 << 20))
		return config;
	snprintf(path, sizeof(path), "/lib/modules/%s/config", name.release);
	if (board_text(c->root, path, config, 1 << 20))
		return config;
	free(config);
	return NULL;
}

void checkup_power(struct checkup *c, struct finding *f, const char *device)
{
	char path[BOARD_PATH], status[32];

	snprintf(path, sizeof(path), "%s/power/runtime_status", device);
	if (!board_text(c->root, path, status, sizeof(status)) || !strcmp(status, "unsupported"))
		return;
	checkup_add(f, ", power %s", status);
	if (strcmp(status, "error"))
		return;
	f->level = FINDING_FAIL;
	checkup_remedy(
		f,
		"the power domain does not come on: look at the kernel's log and at the device's "
		"supplies and clocks");
}
