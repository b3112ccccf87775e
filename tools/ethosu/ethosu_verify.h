/* SPDX-License-Identifier: MIT */
/* tenon verify --kind ethos-u. */
#ifndef TOOLS_ETHOSU_ETHOSU_VERIFY_H
#define TOOLS_ETHOSU_ETHOSU_VERIFY_H

#include "devices/ethosu/ethosu_payload.h"
#include "tools/cli/cli.h"

/**
 * struct ethosu_verify - what to check a file against
 * @path: the file
 * @sizes: bytes of regions; ETHOSU_UNLIMITED where the command line says none
 * @target: name of the device that is to run it; NULL for any
 * @device: its configuration
 * @kernel: generation of Linux's rule, by which the file is checked too; 0 for none
 * @json: print JSON
 */
struct ethosu_verify {
	const char *path;
	uint64_t sizes[ETHOSU_REGIONS];
	const char *target;
	struct ethosu_target device;
	int kernel;
	bool json;
};

#ifdef CONFIG_PAYLOAD_ETHOS_U
/** ethosu_verify_init - no target and no sizes */
void ethosu_verify_init(struct ethosu_verify *v);

/** ethosu_verify_region - take an argument of --region, "1=4096"; CLI_OK, or CLI_USAGE with a message */
int ethosu_verify_region(struct cli *cli, const char *text, struct ethosu_verify *v);

/** ethosu_verify_target - take an argument of --target; CLI_OK, or CLI_USAGE with a message */
int ethosu_verify_target(struct cli *cli, const char *name, struct ethosu_verify *v);

/** ethosu_verify_kernel - take an argument of --kernel, "3"; CLI_OK, or CLI_USAGE with a message */
int ethosu_verify_kernel(struct cli *cli, const char *text, struct ethosu_verify *v);

/** ethosu_verify - check a file; returns an exit code, its message printed */
int ethosu_verify(struct cli *cli, const struct ethosu_verify *v);
#else
static inline void ethosu_verify_init(struct ethosu_verify *v)
{
	v->path = NULL;
}

static inline int ethosu_verify_region(struct cli *cli, const char *text, struct ethosu_verify *v)
{
	(void)cli;
	(void)text;
	(void)v;
	return CLI_OK; /* --kind is refused */
}

static inline int ethosu_verify_target(struct cli *cli, const char *name, struct ethosu_verify *v)
{
	return ethosu_verify_region(cli, name, v);
}

static inline int ethosu_verify_kernel(struct cli *cli, const char *text, struct ethosu_verify *v)
{
	return ethosu_verify_region(cli, text, v);
}
#endif

#endif /* TOOLS_ETHOSU_ETHOSU_VERIFY_H */
