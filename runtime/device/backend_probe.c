/* SPDX-License-Identifier: MIT */
/* Probing drivers: the public functions, whose work is in runtime/probe/. The first call opens the plug-in. */
#include "runtime/device/backend_probe.h"

#include "lib/brief_errors.h"
#include "lib/plugin.h"

/* the row of runtime/probe/ in the table of plug-ins */
extern struct plugin plugin_probe;

static int open_prober(const struct prober **out)
{
	int err = plugin_open(&plugin_probe, -TENON_E_UNSUPPORTED);

	if (!err)
		*out = plugin_probe.offer->prober;
	return err;
}

/* NULL until one was asked for: no driver has a verdict then. */
static const struct prober *opened_prober(void)
{
	const struct plugin_offer *offer = __atomic_load_n(&plugin_probe.offer, __ATOMIC_ACQUIRE);

	return offer ? offer->prober : NULL;
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
	const struct prober *p = opened_prober();

	return p ? p->check(backend) : 0;
}

void probe_forked(void)
{
	const struct prober *p = opened_prober();

	if (p)
		p->forked();
}
