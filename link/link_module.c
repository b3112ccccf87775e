/* SPDX-License-Identifier: MIT */
/* tenon_link(): one module of several files. */
#include "link/link_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/file_map.h"
#include "link/mlf/mlf.h"

void link_say(const struct link_request *r, const char *doing, const char *what)
{
	char step[512];

	if (!r->progress)
		return;
	snprintf(step, sizeof(step), "%s %s", doing, what);
	r->progress(r->context, step);
}

static int write_module(struct link_work *w)
{
	struct link_output out = { 0 };
	int err;

	err = link_compile(w);
	if (!err)
		err = link_wanted(w);
	if (!err)
		err = link_imports(w);
	if (!err) {
		link_say(w->request, "linking", w->request->output);
		err = link_join(w, &out);
	}
	if (!err)
		err = file_write(w->request->output, out.parts, out.count);
	link_output_fini(&out);
	link_compile_fini(w);
	return err;
}

static int write_output(struct link_work *w)
{
	if (!w->request->archive)
		return write_module(w);
	return link_archive(w);
}

int link_files(const struct link_request *r)
{
	struct link_work w = { .request = r };
	int err;

	err = link_payloads(&w);
	if (!err)
		err = write_output(&w);
	tenon_buffer_fini(&w.blob);
	free(w.cuts);
	file_map_close(&w.params_file);
	artifact_set_fini(&w.set);
	return err;
}

static int link_archive_file(const struct link_request *r)
{
	struct tenon_slice bytes;
	int err;

	err = file_map_open(r->inputs[0].path, &bytes);
	if (err)
		return err;
	err = link_of_archive(r, bytes);
	file_map_close(&bytes);
	return err;
}

static int link_request(const struct link_request *r)
{
	int err = link_output_check_all(r);

	if (err)
		return err;
	if (r->shared)
		return link_of_shared(r);
	if (!r->generation) {
		link_say(r, "linking", r->inputs[0].path);
		return link_of_manifest(r);
	}
	if (mlf_is_archive(r->inputs[0].path))
		return link_archive_file(r);
	return link_files(r);
}

int tenon_link(const struct tenon_link_options *options, const char *output)
{
	struct link_request r = { 0 };
	int err;

	err = link_request_make(options, output, &r);
	if (!err)
		err = link_request(&r);
	link_request_fini(&r);
	return err;
}
