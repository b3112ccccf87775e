/* SPDX-License-Identifier: MIT */
/* Hexagon DSPs behind the kernel's FastRPC: may their nodes be opened, and is the vendor's shell there. */
#include <stdlib.h>
#include <string.h>

#include "driver/fastrpc/fastrpc_shell.h"
#include "tools/doctor/board_files.h"
#include "tools/doctor/checkup.h"

#define PREFIX	   "fastrpc-"
#define NODES_MOST 8

/* Is the shell of a DSP in one of the folders, which semicolons part. */
static bool is_in(const struct checkup *c, const char *folders, size_t number)
{
	char path[BOARD_PATH];
	size_t size;

	for (; folders && *folders; folders += size + (folders[size] == ';')) {
		size = strcspn(folders, ";");
		snprintf(path, sizeof(path), "%.*s/" FASTRPC_SHELL "%zu", (int)size, folders,
			 number);
		if (board_exists(c->root, path))
			return true;
	}
	return false;
}

/* "fastrpc-cdsp", "fastrpc-cdsp-secure" */
static void check_shell(struct checkup *c, struct finding *f, const char *node)
{
	static const char *const dsps[] = FASTRPC_DSPS;
	const char *dsp = node + strlen(PREFIX);
	size_t i;

	for (i = 0; i < sizeof(dsps) / sizeof(dsps[0]); i++)
		if (!strncmp(dsp, dsps[i], strlen(dsps[i])))
			break;
	if (i == sizeof(dsps) / sizeof(dsps[0]) || is_in(c, getenv("ADSP_LIBRARY_PATH"), i) ||
	    is_in(c, FASTRPC_SHELL_FOLDERS, i))
		return;
	checkup_add(f, "; the vendor's shell " FASTRPC_SHELL "%zu is not there", i);
	if (f->level == FINDING_OK)
		checkup_remedy(f, FASTRPC_SHELL_REMEDY);
	f->level = FINDING_WARN;
}

void checkup_dsps(struct checkup *c)
{
	char nodes[NODES_MOST][BOARD_NAME], path[BOARD_PATH], why[512], what[512];
	size_t count = board_entries(c->root, "/dev", PREFIX, nodes, NODES_MOST), i;
	struct finding *f;
	bool usable;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/dev/%.63s", nodes[i]);
		usable = board_node(c->root, path, why, sizeof(why), what, sizeof(what));
		f = checkup_next(c, "DSP", usable ? FINDING_OK : FINDING_WARN, "%s", why);
		checkup_remedy(f, "%s", what);
		check_shell(c, f, nodes[i]);
	}
	if (count || !board_exists(c->root, "/sys/bus/rpmsg/drivers/qcom,fastrpc"))
		return;
	f = checkup_next(c, "DSP", FINDING_WARN, "fastrpc is loaded, and no DSP offers it");
	checkup_remedy(f, "start the DSP: /sys/class/remoteproc says its state and firmware");
}
