/* SPDX-License-Identifier: MIT */
/* Ask the dynamic linker which file the code of the library came from. */
#include "lib/library_path.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

static bool is_program(const Dl_info *info)
{
	Dl_info program;

	return dladdr((void *)(uintptr_t)getauxval(AT_PHDR), &program) &&
	       program.dli_fbase == info->dli_fbase;
}

bool library_path(char path[PATH_MAX])
{
	static char here;

	return library_path_of(&here, path);
}

bool library_path_of(const void *address, char path[PATH_MAX])
{
	Dl_info info;
	ssize_t n;

	if (getauxval(AT_SECURE) || !dladdr(address, &info) || !info.dli_fname)
		return false;
	if (is_program(&info)) {
		n = readlink("/proc/self/exe", path, PATH_MAX - 1);
		if (n > 0)
			path[n] = 0;
		return n > 0;
	}
	/*
	 * A relative path (LD_LIBRARY_PATH=.) leads elsewhere once the program has changed its
	 * folder.
	 */
	return *info.dli_fname == '/' && snprintf(path, PATH_MAX, "%s", info.dli_fname) < PATH_MAX;
}
