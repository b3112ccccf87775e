/* SPDX-License-Identifier: MIT */
/* Check a network against its target, the memory of each region and Linux's rule. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_device.h"
#include "devices/ethosu/ethosu_linux.h"
#include "lib/brief_errors.h"

/**
 * struct wanted - what a network is checked against
 * @sizes: bytes of regions; ETHOSU_UNLIMITED where no option says
 * @target: name of the device that is to run it; NULL for any
 * @device: its configuration
 * @rule: generation of Linux's rule; 0 for none
 */
struct wanted {
	uint64_t sizes[ETHOSU_REGIONS];
	const char *target;
	struct ethosu_target device;
	int rule;
};

/* ---- options */

static int take_region(const char *text, struct wanted *w)
{
	const char *digits = text + 2;
	uint64_t size;
	char *end;

	if (text[0] < '0' || text[0] >= '0' + ETHOSU_REGIONS || text[1] != '=' || text[2] < '0' ||
	    text[2] > '9')
		return tenon_error(-TENON_E_USAGE, "--region %s: want N=BYTES, with N from 0 to %d",
				   text, ETHOSU_REGIONS - 1);
	errno = 0;
	/* a leading zero does not make a number octal */
	size = strtoull(digits, &end, strncmp(digits, "0x", 2) ? 10 : 16);
	if (*end || errno || size == ETHOSU_UNLIMITED)
		return tenon_error(-TENON_E_USAGE, "--region %s: the size is no number of bytes",
				   text);
	w->sizes[text[0] - '0'] = size;
	return 0;
}

static int take_target(const char *name, struct wanted *w)
{
	w->target = name;
	return ethosu_target_find(name, &w->device) ? tenon_error_in(-TENON_E_USAGE, "--target")
						    : 0;
}

static int take_rule(const char *text, struct wanted *w)
{
	if (text[0] < '0' + ETHOSU_LINUX_FIRST || text[0] > '0' + ETHOSU_LINUX_LAST || text[1])
		return tenon_error(-TENON_E_USAGE,
				   "--kernel %s: want a generation of Linux's rule, %d to %d", text,
				   ETHOSU_LINUX_FIRST, ETHOSU_LINUX_LAST);
	w->rule = text[0] - '0';
	return 0;
}

static int take_option(const struct tenon_payload_option *o, struct wanted *w)
{
	if (!strcmp(o->name, "region"))
		return take_region(o->value, w);
	if (!strcmp(o->name, "target"))
		return take_target(o->value, w);
	if (!strcmp(o->name, "kernel"))
		return take_rule(o->value, w);
	return tenon_error(-TENON_E_USAGE, "--%s: programs for Ethos-U have no such option",
			   o->name);
}

static int take_options(const struct tenon_payload_request *r, struct wanted *w)
{
	size_t i;
	int err = 0;

	*w = (struct wanted){ .target = NULL };
	for (i = 0; i < ETHOSU_REGIONS; i++)
		w->sizes[i] = ETHOSU_UNLIMITED;
	for (i = 0; i < r->option_count && !err; i++)
		err = take_option(&r->options[i], w);
	return err;
}

/* ---- the check */

/* what was found */
struct extents {
	struct ethosu_extents exact;
	struct ethosu_linux_extents by_linux;
};

/* Compare the target of the payload with the device that is to run it. */
static int check_target(const struct wanted *w, const struct ethosu_payload *p, const char *name)
{
	char have[ETHOSU_TARGET_NAME];
	const char *differs;

	if (!w->target)
		return 0;
	differs = ethosu_target_runs(&w->device, &p->target);
	if (!differs)
		return 0;
	ethosu_target_name(&p->target, have);
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s at 0x%" PRIx64 ": compiled for %s (config 0x%08x, id 0x%08x), and "
			   "%s does not run it: %s; compile it for that target",
			   name, p->target_at, have, p->target.config, p->target.id, w->target,
			   differs);
}

/* What passes the exact check need not pass Linux's. */
static int check_linux(const struct wanted *w, const struct ethosu_payload *p, const char *name,
		       struct extents *e)
{
	const struct ethosu_target *t = w->target ? &w->device : &p->target;
	int err;

	if (!w->rule)
		return 0;
	if (ethosu_product_of(t) == ETHOSU_PRODUCT_U55)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s at 0x%" PRIx64 ": compiled for U55, which Linux does not "
				   "drive; it drives U65 and U85",
				   name, p->target_at);
	err = ethosu_linux_check(
		tenon_cursor_of(p->stream.data, p->stream.size, name, p->stream_at), t,
		(enum ethosu_linux)w->rule, &e->by_linux);
	return err ? err : ethosu_linux_sees(&e->exact, &e->by_linux, name);
}

static int check(const struct wanted *w, struct ethosu_container *c, const char *name,
		 struct extents *e)
{
	unsigned int i;
	int err = check_target(w, &c->payload, name);

	if (err)
		return err;
	for (i = 0; i < ETHOSU_REGIONS; i++)
		if (w->sizes[i] != ETHOSU_UNLIMITED)
			c->sizes[i] = w->sizes[i];
	err = ethosu_container_check(c, name, &e->exact);
	return err ? err : check_linux(w, &c->payload, name, e);
}

/* ---- the report */

static void report_region(const struct wanted *w, const struct ethosu_container *c,
			  const struct extents *e, unsigned int i, struct tenon_report *out)
{
	char has[40] = "", linux_requires[64] = "";

	if (!e->exact.read[i] && !e->exact.write[i] && !e->by_linux.size[i])
		return;
	if (c->sizes[i] != ETHOSU_UNLIMITED)
		snprintf(has, sizeof(has), ", has %" PRIu64, c->sizes[i]);
	if (w->rule)
		snprintf(linux_requires, sizeof(linux_requires), "; Linux requires %" PRIu64 "%s",
			 e->by_linux.size[i], e->by_linux.written[i] ? ", with a fence" : "");
	tenon_report_line(out, "region %u: reads %" PRIu64 ", writes %" PRIu64 "%s bytes%s", i,
			  e->exact.read[i], e->exact.write[i], has, linux_requires);
}

static void report_sizes(const char *name, const uint64_t sizes[ETHOSU_REGIONS],
			 struct tenon_report *out)
{
	unsigned int i;

	tenon_report_list(out, name);
	for (i = 0; i < ETHOSU_REGIONS; i++)
		tenon_report_number(out, NULL, (int64_t)sizes[i]);
	tenon_report_close(out);
}

static void report(const struct wanted *w, const struct ethosu_container *c,
		   const struct extents *e, struct tenon_report *out)
{
	char target[ETHOSU_TARGET_NAME];
	unsigned int i;

	ethosu_target_name(&c->payload.target, target);
	tenon_report_line(out, "no fault: for %s, %u commands", target, e->exact.commands);
	for (i = 0; i < ETHOSU_REGIONS; i++)
		report_region(w, c, e, i, out);
	tenon_report_number(out, "commands", e->exact.commands);
	report_sizes("reads", e->exact.read, out);
	report_sizes("writes", e->exact.write, out);
	if (w->rule)
		report_sizes("kernel", e->by_linux.size, out);
}

int ethosu_check_program(const struct tenon_payload_request *r, struct tenon_report *out)
{
	struct extents e = { .by_linux = { .written = { false } } };
	struct ethosu_container c;
	struct wanted w;
	int err;

	err = take_options(r, &w);
	err = err ? err : ethosu_container_read(&r->program, &c);
	err = err ? err : check(&w, &c, r->program.name, &e);
	if (!err)
		report(&w, &c, &e, out);
	return err;
}
