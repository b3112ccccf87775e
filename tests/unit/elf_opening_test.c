/* SPDX-License-Identifier: MIT */
/* The check of a shared object before dlopen(): damaged headers, files cut at each length, and constructors are reported. */
#include "suite.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "lib/elf.h"

/* What is looked at before dlopen(): a library without constructors, which needs only what is loaded. */
struct library {
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[3];
	ElfW(Dyn) dynamic[6];
	char strings[64];
};

#define PLACE(member)  offsetof(struct library, member)
#define ADDRESS	       0x4000u /* of the file's first byte */
#define MEMBER(member) PLACE(member), sizeof(((struct library *)NULL)->member)

static const char strings[] = "\0libc.so.6\0no-such-library.so\0_ITM_registerTMCloneTable";
enum { LIBC = 1, ABSENT = 11 };

static struct library library(void)
{
	struct library l = {
		.header = { .e_ident = ELFMAG,
			    .e_phoff = PLACE(segments),
			    .e_phentsize = sizeof(ElfW(Phdr)),
			    .e_phnum = 3 },
		.segments = { { .p_type = PT_NULL },
			      { .p_type = PT_LOAD,
				.p_vaddr = ADDRESS,
				.p_filesz = sizeof(struct library) },
			      { .p_type = PT_DYNAMIC,
				.p_offset = PLACE(dynamic),
				.p_filesz = 6 * sizeof(ElfW(Dyn)) } },
		.dynamic = { { .d_tag = DT_STRTAB, .d_un.d_val = ADDRESS + PLACE(strings) },
			     { .d_tag = DT_STRSZ, .d_un.d_val = sizeof(strings) },
			     { .d_tag = DT_NEEDED, .d_un.d_val = LIBC },
			     { .d_tag = DT_SONAME, .d_un.d_val = LIBC } },
	};

	memcpy(l.strings, strings, sizeof(strings));
	return l;
}

static int look(const void *bytes, size_t size, bool *inert)
{
	const char *tmp = getenv("TMPDIR");
	char path[512];
	int fd, err;

	snprintf(path, sizeof(path), "%s/opening-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	err = elf_check_opening(path, inert);
	unlink(path);
	return err;
}

static void a_library_without_constructors_is_inert(void **state)
{
	struct library l = library();
	bool inert;

	(void)state;
	assert_int_equal(look(&l, sizeof(l), &inert), 0);
	assert_true(inert);
}

/* a field of the library above with another value, and what is to be expected then */
static const struct {
	const char *what;
	size_t place, size;
	uint64_t value;
	int status;
	bool inert;
} changes[] = {
	{ "no ELF", MEMBER(header.e_ident[0]), 'X', 0, false },
	{ "other program headers", MEMBER(header.e_phentsize), sizeof(ElfW(Phdr)) / 2, 0, false },
	{ "headers behind the end", MEMBER(header.e_phoff), 1 << 20, 0, false },
	{ "headers at no offset", MEMBER(header.e_phoff), UINT64_MAX - 8, 0, false },
	{ "more headers than the file has", MEMBER(header.e_phnum), 4000, 0, false },
	{ "no headers", MEMBER(header.e_phnum), 0, 0, false },
	{ "a segment that begins behind the end", MEMBER(segments[1].p_offset), 1 << 20,
	  -TENON_E_TRUNCATED, false },
	{ "a segment that ends behind the end", MEMBER(segments[1].p_filesz),
	  sizeof(struct library) + 1, -TENON_E_TRUNCATED, false },
	{ "a segment whose end overflows", MEMBER(segments[1].p_filesz), UINT64_MAX,
	  -TENON_E_TRUNCATED, false },
	{ "no dynamic section", MEMBER(segments[2].p_type), PT_NOTE, 0, false },
	{ "a dynamic section behind the end", MEMBER(segments[2].p_offset), 1 << 20, 0, false },
	{ "one that overflows", MEMBER(segments[2].p_offset), UINT64_MAX - 7, 0, false },
	{ "one without an end", MEMBER(segments[2].p_filesz), 4 * sizeof(ElfW(Dyn)), 0, false },
	{ "one longer than what is read", MEMBER(segments[2].p_filesz), 1 << 20, 0, false },
	{ "no strings", MEMBER(dynamic[1].d_un.d_val), 0, 0, false },
	{ "too many strings", MEMBER(dynamic[1].d_un.d_val), 1 << 20, 0, false },
	{ "strings that do not end", MEMBER(dynamic[1].d_un.d_val), 5, 0, false },
	{ "strings behind the end", MEMBER(dynamic[1].d_un.d_val), 4096, 0, false },
	{ "strings below all segments", MEMBER(dynamic[0].d_un.d_val), 8, 0, false },
	{ "strings above all segments", MEMBER(dynamic[0].d_un.d_val), 1 << 20, 0, false },
	{ "a name outside the strings", MEMBER(dynamic[2].d_un.d_val), sizeof(strings), 0, false },
	{ "a name far outside", MEMBER(dynamic[2].d_un.d_val), UINT64_MAX, 0, false },
	{ "a library that is not loaded", MEMBER(dynamic[2].d_un.d_val), ABSENT, 0, false },
	{ "a function to begin with", MEMBER(dynamic[3].d_tag), DT_INIT, 0, false },
	{ "another entry", MEMBER(dynamic[3].d_tag), DT_HASH, 0, true },
};

static void what_cannot_be_told_is_not_inert(void **state)
{
	struct library l;
	size_t i;
	bool inert;
	int err;

	(void)state;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		l = library();
		memcpy((char *)&l + changes[i].place, &changes[i].value, changes[i].size);
		err = look(&l, sizeof(l), &inert);
		if (err != changes[i].status || inert != changes[i].inert)
			fail_msg("%s: %d, %s: %s", changes[i].what, err,
				 inert ? "inert" : "not inert", tenon_error_message());
		if (err)
			assert_error_has("it is truncated");
	}
}

/* The compiler's start-up files have one constructor, beside _init(), which registers clones. */
static void constructors_are_those_beside_the_compilers(void **state)
{
	static const struct {
		uint64_t constructors;
		bool has_init, clones, inert;
	} cases[] = {
		{ 1, true, true, true },  { 1, true, false, false }, { 1, false, true, false },
		{ 2, true, true, false }, { 0, true, true, false },  { 0, false, false, true },
	};
	struct library l;
	size_t i;
	bool inert;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		l = library();
		l.dynamic[3].d_tag = DT_INIT_ARRAYSZ;
		l.dynamic[3].d_un.d_val = cases[i].constructors * sizeof(void *);
		l.dynamic[4].d_tag = cases[i].has_init ? DT_INIT : DT_SONAME;
		if (!cases[i].clones)
			*strstr(l.strings + ABSENT + 19, "_ITM") = '-';
		assert_int_equal(look(&l, sizeof(l), &inert), 0);
		if (inert != cases[i].inert)
			fail_msg("case %zu: %s", i, inert ? "inert" : "not inert");
	}
}

static void any_part_of_a_library_can_be_looked_at(void **state)
{
	const struct library l = library();
	size_t size;
	bool inert;
	int err;

	(void)state;
	for (size = 0; size < sizeof(l); size++) {
		err = look(&l, size, &inert);
		assert_true(!inert);
		assert_int_equal(err, size < PLACE(dynamic) ? 0 : -TENON_E_TRUNCATED);
		tenon_error_clear();
	}
}

static void what_is_no_file_is_left_to_the_linker(void **state)
{
	bool inert = true;

	(void)state;
	assert_int_equal(elf_check_opening("/no/such/library.so", &inert), 0);
	assert_false(inert);
	inert = true;
	assert_int_equal(elf_check_opening("/", &inert), 0);
	assert_false(inert);
	inert = true;
	assert_int_equal(elf_check_opening("/dev/zero", &inert), 0);
	assert_false(inert);
}

static char pipe_path[4096];

/* Open the pipe for writing and close it again: a dlopen() that was not prevented then reads an empty file and returns. */
static void end_the_wait(int signal)
{
	int fd = open(pipe_path, O_WRONLY | O_NONBLOCK);

	(void)signal;
	if (fd >= 0)
		close(fd);
}

static void a_named_pipe_is_refused(void **state)
{
	const struct sigaction action = { .sa_handler = end_the_wait };
	struct tenon_module *m;
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe-%d.so", tmp ? tmp : "/tmp", getpid());
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	alarm(2);
	assert_int_equal(tenon_module_load(pipe_path, &m), -TENON_E_IO);
	alarm(0);
	assert_error_has("is not a regular file");
	unlink(pipe_path);
}

/* more headers than are read at once */
static void many_segments_are_looked_at(void **state)
{
	static struct {
		ElfW(Ehdr) header;
		ElfW(Phdr) segments[100];
	} file;
	bool inert;

	(void)state;
	file.header = (ElfW(Ehdr)){ .e_ident = ELFMAG,
				    .e_phoff = sizeof(file.header),
				    .e_phentsize = sizeof(ElfW(Phdr)),
				    .e_phnum = 100 };
	assert_int_equal(look(&file, sizeof(file), &inert), 0);
	assert_false(inert);
	file.segments[3] = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_filesz = sizeof(file) + 1 };
	assert_int_equal(look(&file, sizeof(file), &inert), -TENON_E_TRUNCATED);
	assert_error_has("it is truncated");
	file.segments[3].p_filesz = 0;
	file.segments[99] = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_offset = sizeof(file) + 1 };
	assert_int_equal(look(&file, sizeof(file), &inert), -TENON_E_TRUNCATED);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_without_constructors_is_inert),
		cmocka_unit_test(what_cannot_be_told_is_not_inert),
		cmocka_unit_test(constructors_are_those_beside_the_compilers),
		cmocka_unit_test(any_part_of_a_library_can_be_looked_at),
		cmocka_unit_test(what_is_no_file_is_left_to_the_linker),
		cmocka_unit_test(a_named_pipe_is_refused),
		cmocka_unit_test(many_segments_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
