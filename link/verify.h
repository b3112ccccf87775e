/* SPDX-License-Identifier: MIT */
/* The state of tenon_link_verify(): the file that it checks, and its findings. */
#ifndef LINK_VERIFY_H
#define LINK_VERIFY_H

#include <tenon/link.h>

#include "link/module/link_host.h"

/**
 * struct verify_finding - a finding with its text
 * @finding: what programs read
 * @text: allocated
 */
struct verify_finding {
	struct tenon_link_finding finding;
	char *text;
};

/**
 * struct verify - a file being checked
 * @report: what programs read
 * @host: the file
 * @findings: @report.finding_count findings, each allocated
 * @failed: no memory for a finding
 */
struct verify {
	struct tenon_link_report report;
	struct link_host host;
	struct verify_finding **findings;
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

#endif /* LINK_VERIFY_H */
