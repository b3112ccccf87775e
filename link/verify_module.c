/* SPDX-License-Identifier: MIT */
/* tenon_link_verify(): check all of a module's file without running any of it. */
#include "link/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/options.h"
#include "runtime/self_test/self_test.h"

/* ---- findings */

static struct tenon_slice kind_of(const struct verify *v, size_t module)
{
	if (module == SIZE_MAX)
		return (struct tenon_slice){ NULL, 0 };
	return module == v->host.tree.library ? tenon_slice_of("_lib")
					      : v->host.tree.entries[module].kind;
}

/* @text is allocated; NULL when there was no memory for it. */
static void add(struct verify *v, bool fault, size_t module, char *text)
{
	const size_t count = v->report.finding_count;
	struct verify_finding **bigger =
		reallocarray(v->findings, count + 1, sizeof(struct verify_finding *));
	struct verify_finding *f = calloc(1, sizeof(*f));

	v->report.faults += fault;
	if (bigger)
		v->findings = bigger;
	if (!bigger || !f || !text) {
		v->failed = true;
		free(f);
		free(text);
		return;
	}
	f->text = text;
	f->finding = (struct tenon_link_finding){ sizeof(f->finding), fault, module,
						  kind_of(v, module), text };
	v->findings[v->report.finding_count++] = f;
}

static char *print(const char *format, va_list args)
{
	char *text;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

void verify_note(struct verify *v, size_t module, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(v, false, module, print(format, args));
	va_end(args);
}

void verify_fault(struct verify *v, size_t module, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(v, true, module, print(format, args));
	va_end(args);
}

void verify_error(struct verify *v, size_t module)
{
	/* running out of memory is no fault of the file */
	if (tenon_error_status() == -TENON_E_NOMEM)
		v->failed = true;
	else
		add(v, true, module, strdup(tenon_error_message()));
	tenon_error_clear();
}

/* ---- the file */

/* Test whether the file has an import tree. The older form has an empty one for host code alone. */
static bool has_tree(const struct verify *v)
{
	return v->host.symbols.has_blob && v->host.tree.count;
}

/* Check that the record names only modules of the tree, with their kinds. */
static void check_record(struct verify *v)
{
	const struct import_blob *tree = &v->host.tree;
	const size_t count = v->report.modules;
	const struct artifact *a;
	size_t i;

	for (i = 0; i < v->host.names.count; i++) {
		a = &v->host.names.items[i];
		if (a->module >= count)
			verify_fault(v, SIZE_MAX, "%s is said to be module %llu; there are %zu",
				     a->file_name, (unsigned long long)a->module, count);
		else if (artifact_is_native(a)
				 ? has_tree(v) && a->module != tree->library
				 : a->module == tree->library ||
					   !tenon_slice_equal(tenon_slice_of(a->loader),
							      tree->entries[a->module].kind))
			verify_fault(v, (size_t)a->module, "%s is said to be of kind \"%s\"",
				     a->file_name, a->loader);
	}
}

static void check_host(struct verify *v)
{
	const struct library_symbols *s = &v->host.symbols;

	if (v->host.elf.lost_sections)
		verify_fault(v, SIZE_MAX,
			     "its section headers lie outside the file of %zu bytes: it is "
			     "truncated; copy it again",
			     v->host.bytes.size);
	if (!*s->version)
		verify_fault(v, SIZE_MAX, "no symbol of it is one that TVM or Tenon writes");
	else if (!s->function_count && !s->has_blob)
		verify_note(v, SIZE_MAX, "it has no functions that can be called");
	if (has_tree(v) && v->host.tree.library == SIZE_MAX && s->function_count)
		verify_note(v, SIZE_MAX, "its functions are not in its import tree");
}

static void add_hash_fault(void *context, size_t module)
{
	verify_error(context, module);
}

/* Files of TVM have no hashes, and neither has the host code of a module that was taken apart. */
static void check_hashes(struct verify *v)
{
	if (v->host.has_hashes && link_host_check_hashes(&v->host, add_hash_fault, v))
		verify_error(v, SIZE_MAX);
}

/* Cases for self-tests, which few files have. */
static void check_cases(struct verify *v)
{
	struct tenon_cases *cases;
	int err = self_test_read(v->host.path, v->host.bytes, &cases);

	if (err == -TENON_E_NOT_FOUND || err == -TENON_E_UNSUPPORTED)
		tenon_error_clear();
	else if (err)
		verify_error(v, SIZE_MAX);
	else
		verify_note(v, SIZE_MAX, "it has %zu cases for self-tests",
			    tenon_cases_count(cases));
	tenon_cases_close(cases);
}

static void check(struct verify *v, const char *file)
{
	size_t i;

	if (link_host_open(file, &v->host)) {
		verify_error(v, SIZE_MAX);
		return;
	}
	v->report.readable = true;
	v->report.machine = v->host.machine;
	v->report.tvm = v->host.symbols.version;
	v->report.modules = has_tree(v) ? v->host.tree.count : 1;
	check_host(v);
	check_record(v);
	check_hashes(v);
	check_cases(v);
	for (i = 0; v->host.symbols.has_blob && i < v->host.tree.count; i++)
		if (i != v->host.tree.library)
			verify_payload(v, i);
}

int tenon_link_verify(const char *file, const struct tenon_link_verify_options *options,
		      const struct tenon_link_report **out)
{
	struct tenon_link_verify_options o;
	struct verify *v;
	int err = options_read(options, &o, sizeof(o));

	*out = NULL;
	if (err)
		return err;
	v = calloc(1, sizeof(*v));
	if (!v)
		return tenon_error(-TENON_E_NOMEM, "no memory for a report");
	v->report.size = sizeof(v->report);
	v->report.machine = v->report.tvm = "";
	if (o.key)
		err = verify_signature(v, file, o.key, o.signature);
	if (!err)
		check(v, file);
	if (!err && v->failed)
		err = tenon_error(-TENON_E_NOMEM, "no memory for the findings in %s", file);
	v->report.findings = (const struct tenon_link_finding *const *)(const void *)v->findings;
	if (err)
		tenon_link_report_free(&v->report);
	else
		*out = &v->report;
	return err;
}

void tenon_link_report_free(const struct tenon_link_report *report)
{
	struct verify *v = (struct verify *)(uintptr_t)report;
	size_t i;

	if (!v)
		return;
	for (i = 0; i < v->report.finding_count; i++) {
		free(v->findings[i]->text);
		free(v->findings[i]);
	}
	free(v->findings);
	link_host_fini(&v->host);
	free(v);
}
