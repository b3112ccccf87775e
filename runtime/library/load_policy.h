/* SPDX-License-Identifier: MIT */
/* The program's decision which files may be loaded. */
#ifndef RUNTIME_LIBRARY_LOAD_POLICY_H
#define RUNTIME_LIBRARY_LOAD_POLICY_H

#ifdef CONFIG_INSPECT
/** load_policy_check - ask the program's policy whether a file may be loaded; 0 without one */
int load_policy_check(const char *path);
#else
static inline int load_policy_check(const char *path)
{
	return 0;
}
#endif

#endif /* RUNTIME_LIBRARY_LOAD_POLICY_H */
