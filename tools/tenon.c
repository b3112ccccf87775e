/* SPDX-License-Identifier: MIT */
/* main() of the command. */
#include "lib/option.h"
#include "lib/standard_streams.h"
#include "tools/cli/mapped_file.h"
#include "tools/commands.h"
#include "tools/devices_verb/driver_probe.h"
#include "tools/host_code/illegal_instruction.h"

int main(int argc, char **argv)
{
	standard_streams_open();
	if (OPTION_ON(DEVICES)) {
		driver_probe_main(argc, argv);
		driver_probe_command = driver_probe_find_command();
	}
	mapped_file_handle_sigbus();
	if (OPTION_ON(INSPECT))
		illegal_instruction_handle_sigill();
	return cli_main(argc, argv, stdout, stderr);
}
