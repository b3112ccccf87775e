/* SPDX-License-Identifier: MIT */
/* Handle SIGILL: find the file and the function, read the instruction, name what the processor lacks. */
#include "tools/host_code/illegal_instruction.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/elf.h"
#include "link/code/code_machine.h"
#include "tools/cli/mapping.h"

/*
 * Everything here may run in a signal handler, so it neither allocates nor takes a lock: the file is mapped, and its
 * symbols are read there.
 */

/* extensions of this machine, read before the handler is installed */
static uint64_t here;

/* ---- text of a file: one line, and nothing that a terminal obeys */

static void say_name(struct tenon_slice name)
{
	char text[256];
	size_t i;

	for (i = 0; i < name.size && i < sizeof(text) - 1; i++)
		text[i] = name.data[i] > ' ' && name.data[i] < 127 ? name.data[i] : '?';
	text[i] = '\0';
	mapping_say(text);
}

static void say_path(char *path)
{
	char *c;

	for (c = path; *c; c++)
		if ((*c > 0 && *c < ' ') || *c == 127)
			*c = '?';
	mapping_say(path);
}

/* ---- the function */

/* Map a file; an empty slice where that fails. */
static struct tenon_slice map(const char *path)
{
	struct tenon_slice bytes = { NULL, 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *at;

	if (fd < 0)
		return bytes;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED)
			bytes = (struct tenon_slice){ at, (size_t)st.st_size };
	}
	close(fd);
	return bytes;
}

/* The address that the file has for a place in it; false if that is no code. */
static bool find_address(const struct elf_file *elf, uint64_t offset, uint64_t *address)
{
	struct elf_code code;
	uint64_t i = 0, from;

	while (elf_code(elf, &i, &code)) {
		from = (uint64_t)(code.bytes.data - elf->bytes.data);
		if (offset < from || offset - from >= code.bytes.size)
			continue;
		*address = code.address + (offset - from);
		return true;
	}
	return false;
}

static bool find_function(const struct elf_file *elf, uint64_t address, struct tenon_slice *name)
{
	struct elf_symbol s;
	uint64_t i;

	for (i = 0; i < elf->symbols.count; i++) {
		elf_symbol(elf, i, &s);
		if (s.defined && s.kind == ELF_SYMBOL_FUNCTION && address >= s.value &&
		    address - s.value < s.size) {
			*name = s.name;
			return true;
		}
	}
	return false;
}

static void say_function(const char *path, uint64_t offset)
{
	struct tenon_slice name, bytes = map(path);
	struct elf_file elf;
	uint64_t address;

	if (!bytes.size || elf_open(&elf, bytes, path))
		return;
	elf_all_symbols(&elf);
	if (!find_address(&elf, offset, &address) || !find_function(&elf, address, &name))
		return;
	mapping_say(": function ");
	say_name(name);
}

/* ---- the instruction */

static void say_extensions(const struct code_machine *m, uint64_t set)
{
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		if (!(set >> i & 1))
			continue;
		mapping_say(" ");
		mapping_say(m->names[i]);
	}
}

/* Print what this machine has in the form that -march of compilers takes. */
static void say_machine(const struct code_machine *m)
{
	const struct code_level *best = code_machine_best(m, here);
	unsigned int i;

	mapping_say(best->name);
	for (i = 0; m->level_count == 1 && i < m->count; i++) {
		if (!(here >> i & 1))
			continue;
		mapping_say("+");
		mapping_say(m->names[i]);
	}
}

static void say_missing(const struct code_machine *m, uint64_t missing)
{
	mapping_say(" (SIGILL): it needs");
	say_extensions(m, missing);
	mapping_say(", which this machine lacks. It has ");
	say_machine(m);
	mapping_say(": compile for that (tenon-compile --processor ");
	say_machine(m);
	mapping_say(
		"; for other compilers -march). tenon verify --cpu FILE lists what code needs\n");
}

static void say_reason(const struct code_machine *m, const struct code_instruction *i)
{
	if (i->uses & ~here) {
		say_missing(m, i->uses & ~here);
		return;
	}
	if (i->stops) {
		mapping_say(" (SIGILL): the code stops itself there: its compiler wrote an "
			    "instruction that "
			    "is illegal on purpose, for a place that must not be reached\n");
		return;
	}
	if (i->uses) {
		mapping_say(" (SIGILL): it needs");
		say_extensions(m, i->uses);
		mapping_say(", which the processor has, and the system does not let this process "
			    "use\n");
		return;
	}
	mapping_say(" (SIGILL). This machine has ");
	say_machine(m);
	mapping_say(": compile for that. tenon verify --cpu FILE lists what code needs\n");
}

/* ---- the handler */

static void say_place(uintptr_t address, struct mapping *m)
{
	if (!mapping_find(address, m) || !m->path) {
		mapping_say("code that is in no file");
		return;
	}
	say_path(strchr(m->line, '/'));
	say_function(m->path, address - m->start + m->offset);
}

#ifdef __x86_64__
/* qemu-x86_64, which boards are tested with, calls handlers with a stack that is not aligned */
__attribute__((force_align_arg_pointer))
#endif
static void
explain(int number, siginfo_t *info, void *context)
{
	const struct code_machine *machine = code_machine_here();
	const uint8_t *at = info->si_addr;
	struct code_instruction i = { 0 };
	static struct mapping mapping;
	static int busy;

	/* kill() sent it: there is no instruction to explain, and none to raise it again */
	if (info->si_code <= 0) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	/* one thread explains; others wait for the end */
	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQ_REL))
		for (;;)
			pause();
	mapping_say("tenon: ");
	say_place((uintptr_t)at, &mapping);
	mapping_say(": illegal instruction");
	if (machine && mapping.path)
		i = machine->read(at, mapping.end - (uintptr_t)at);
	if (machine)
		say_reason(machine, &i);
	else
		mapping_say(" (SIGILL): the code was compiled for a processor with more "
			    "instructions\n");
	/* the instruction runs again, and ends the process */
	signal(number, SIG_DFL);
}

void illegal_instruction_handle_sigill(void)
{
	struct sigaction action = { .sa_sigaction = explain, .sa_flags = SA_SIGINFO };
	const struct code_machine *machine = code_machine_here();

	here = machine ? machine->here() : 0;
	sigaction(SIGILL, &action, NULL);
}
