/* SPDX-License-Identifier: MIT */
/* The public functions that probe drivers; the first call opens the plug-in runtime/probe/, which does the work. */
#include "runtime/device/backend_probe.h"

#include "lib/brief_errors.h"
#include "lib/plugin.h"

/* the row of runtime/probe/ in the table of plug-ins */
extern struct plugin plugin_probe;

/*
 * NULL until one was asked for: no driver has a verdict then. What every program calls reads this in place of the row, so that
 * a static program which probes no driver holds nothing of the plug-in. Atomic.
 */
static const struct prober *opened_prober;

static int open_prober(const struct prober **out)
{
	int err = plugin_open(&plugin_probe, -TENON_E_UNSUPPORTED);

	if (err)
		return err;
	*out = plugin_probe.offer->prober;
	__atomic_store_n(&opened_prober, *out, __ATOMIC_RELEASE);
	return 0;
}

int tenon_backend_probe(const struct tenon_backend *backend,
			const struct tenon_probe_request *request, const struct tenon_probe **out)
{
	const struct prober *p;
	int err = open_prober(&p);

	*out = NULL;
	return err ? err : p->probe(backend, request, out);
}

int probe_here(const struct tenon_backend *backend, const struct tenon_probe **out)
{
	const struct prober *p;
	int err = open_prober(&p);

	*out = NULL;
	return err ? err : p->here(backend, out);
}

int probe_report_write(const char *name, int fd)
{
	const struct prober *p;

	return open_prober(&p) ? -1 : p->report(name, fd);
}

int probe_check_verdict(const struct tenon_backend *backend)
{
	const struct prober *p = __atomic_load_n(&opened_prober, __ATOMIC_ACQUIRE);

	return p ? p->check(backend) : 0;
}

void probe_forked(void)
{
	const struct prober *p = __atomic_load_n(&opened_prober, __ATOMIC_ACQUIRE);

	if (p)
		p->forked();
}
