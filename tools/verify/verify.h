/* SPDX-License-Identifier: MIT */
/* tenon verify: check all of a module's file without running any of it. */
#ifndef TOOLS_VERIFY_VERIFY_H
#define TOOLS_VERIFY_VERIFY_H

#include "link/link_host.h"
#include "tools/cli/cli.h"

extern const struct cli_command verify_command;

/**
 * struct verify_finding - something that was found in the file
 * @fault: the file is wrong; otherwise something to know
 * @module: number of the module; SIZE_MAX for the file
 * @text: allocated
 */
struct verify_finding {
	bool fault;
	size_t module;
	char *text;
};

/**
 * struct verify - a file being checked
 * @host: the file
 * @opened: @host was read
 * @findings: @count findings
 * @count: how many
 * @faults: how many of these are faults
 * @failed: no memory for a finding
 */
struct verify {
	struct link_host host;
	bool opened;
	struct verify_finding *findings;
	size_t count;
	size_t faults;
	bool failed;
};

/** verify_note - add something to know about a module; SIZE_MAX for the file */
void verify_note(struct verify *v, size_t module, const char *format, ...) TENON_PRINTF(3, 4);

/** verify_fault - add a fault */
void verify_fault(struct verify *v, size_t module, const char *format, ...) TENON_PRINTF(3, 4);

/** verify_error - add the thread's error as a fault, and clear it */
void verify_error(struct verify *v, size_t module);

/** verify_payload - check the payload of a module */
void verify_payload(struct verify *v, size_t module);

/**
 * verify_signature - check the detached signature of a file; one that is not valid is a fault
 * @file: the file
 * @key: file of the public key
 * @signature: file of the signature; NULL for that of @file with .sig behind its name
 *
 * Return: 0; negative when a file cannot be read, or this build has no signatures.
 */
int verify_signature(struct verify *v, const char *file, const char *key, const char *signature);

#endif /* TOOLS_VERIFY_VERIFY_H */
