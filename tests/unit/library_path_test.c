/* SPDX-License-Identifier: MIT */
/* Where the library lies, as the dynamic linker tells it; the linker's --wrap puts another one before it (Kbuild). */
#include "suite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/library_path.h"

static char name[2 * PATH_MAX]; /* of the library's file; "": none */
static bool is_known, is_secure, is_in_program, is_program_known;

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE ? is_secure : __real_getauxval(type);
}

int __wrap_dladdr(const void *address, Dl_info *info);
int __wrap_dladdr(const void *address, Dl_info *info)
{
	static char program, library;

	memset(info, 0, sizeof(*info));
	if ((uintptr_t)address == __real_getauxval(AT_PHDR)) {
		info->dli_fbase = &program;
		return is_program_known;
	}
	info->dli_fbase = is_in_program ? &program : &library;
	info->dli_fname = *name ? name : NULL;
	return is_known;
}

static bool no_proc;

ssize_t __real_readlink(const char *path, char *to, size_t room);
ssize_t __wrap_readlink(const char *path, char *to, size_t room);
ssize_t __wrap_readlink(const char *path, char *to, size_t room)
{
	return no_proc ? -1 : __real_readlink(path, to, room);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(name, "/lib/libtenon.so");
	is_known = is_program_known = true;
	is_secure = is_in_program = no_proc = false;
	return 0;
}

static void a_library_lies_where_it_was_opened(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_true(library_path(path));
	assert_string_equal(path, "/lib/libtenon.so");
	is_program_known = false;
	assert_true(library_path(path));
}

static void a_place_that_may_lead_elsewhere_is_none(void **state)
{
	char path[PATH_MAX];

	(void)state;
	strcpy(name, "./libtenon.so");
	assert_false(library_path(path));
	*name = 0;
	assert_false(library_path(path));
	memset(name, '/', sizeof(name) - 1);
	assert_false(library_path(path));
	is_known = false;
	assert_false(library_path(path));
}

static void a_program_with_other_rights_looks_for_none(void **state)
{
	char path[PATH_MAX];

	(void)state;
	is_secure = true;
	assert_false(library_path(path));
}

static void a_library_in_the_program_lies_with_it(void **state)
{
	char path[PATH_MAX], program[PATH_MAX] = "";

	(void)state;
	/* this program, or what was asked to run it: an emulator, the dynamic linker */
	assert_true(__real_readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	is_in_program = true;
	assert_true(library_path(path));
	assert_string_equal(path, program);
	no_proc = true;
	assert_false(library_path(path));
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(a_library_lies_where_it_was_opened),
		CASE(a_place_that_may_lead_elsewhere_is_none),
		CASE(a_program_with_other_rights_looks_for_none),
		CASE(a_library_in_the_program_lies_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
