/* SPDX-License-Identifier: MIT */
/* Handle SIGBUS: find the mapped file of the address and name it. */
#include "tools/cli/mapped_file.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/cli/mapping.h"

static void cut_off(int number, siginfo_t *info, void *context)
{
	static struct mapping mapping;

	if (info->si_code != BUS_ADRERR) {
		/* the instruction is run again, and ends the process */
		signal(number, SIG_DFL);
		return;
	}
	mapping_find((uintptr_t)info->si_addr, &mapping);
	mapping_say("tenon: ");
	mapping_say(mapping.path ? mapping.path : "a mapped file");
	mapping_say(
		": it became shorter while it was in use; replace files by renaming (mv), not by "
		"writing to them (cp)\n");
	_exit(CLI_NO_FILE);
}

void mapped_file_handle_sigbus(void)
{
	struct sigaction action = { .sa_sigaction = cut_off, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &action, NULL);
}
