/* SPDX-License-Identifier: MIT */
#include "tools/cli.h"
#include "tools/devices/driver_probe.h"
#include "tools/mapped_file.h"

int main(int argc, char **argv)
{
#ifdef CONFIG_DEVICES
	driver_probe_main(argc, argv);
	driver_probe_command = driver_probe_find_command();
#endif
	mapped_file_watch();
	return cli_main(argc, argv, stdout, stderr);
}
