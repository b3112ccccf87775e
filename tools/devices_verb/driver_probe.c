/* SPDX-License-Identifier: MIT */
/* Find the command that probes drivers, and be that command in the child. */
#include "tools/devices_verb/driver_probe.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/device.h>
#include <tenon/probe.h>

#include "runtime/device/backend_probe.h"
#include "tools/cli/cli.h"

const char *driver_probe_command;

static double seconds_most;

const char *driver_probe_find_command(void)
{
	static const char self[] = "/proc/self/exe";

	/*
	 * A container may have no /proc. The fallback is valid while the current folder does not
	 * change.
	 */
	return access(self, X_OK) ? (const char *)getauxval(AT_EXECFN) : self;
}

void driver_probe_seconds(double seconds)
{
	/* limit: fits in 64 bits of nanoseconds */
	seconds_most = seconds < 1e9 ? seconds : 1e9;
}

int driver_probe(const struct tenon_backend *backend, const struct tenon_probe **out)
{
	const struct tenon_probe_request request = {
		.size = sizeof(request),
		.command = driver_probe_command,
		.timeout = (uint64_t)(seconds_most * 1e9),
	};
	int err = -TENON_E_UNSUPPORTED;

	if (driver_probe_command)
		err = tenon_backend_probe(backend, &request, out);
	if (!err || err == -TENON_E_NOMEM)
		return err;
	tenon_error_clear();
	return probe_here(backend, out);
}

bool driver_probe_main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	struct stat st;

	if (argc != 3 || strcmp(argv[1], PROBE_OPTION))
		return false;
	if (fstat(PROBE_REPORT_FD, &st) || !S_ISFIFO(st.st_mode)) {
		fprintf(stderr, "tenon: %s is for tenon itself. Try: tenon doctor\n", PROBE_OPTION);
		_exit(CLI_USAGE);
	}
	/* End with the parent, which may be killed, and write no core file. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	/* Use _exit(): exit handlers of drivers are not tested here and may crash, too. */
	_exit(probe_report_write(argv[2], PROBE_REPORT_FD) ? CLI_FAILED : CLI_OK);
}
