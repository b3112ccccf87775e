/* SPDX-License-Identifier: MIT */
/* Parse options, write files and manifest, and check that nothing was lost. */
#include "tools/unpack/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "link/link_tree.h"
#include "tools/text/printable.h"

static int make_folder(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode))
		return 0;
	return tenon_error(-TENON_E_IO, "%s: cannot make the folder: %s", path, strerror(errno));
}

/*
 * Test whether writing the tree again gives the same bytes. Blobs of old versions that list no tree
 * are written with one, which means the same.
 */
static int compare(const struct unpack *u, bool *same)
{
	const struct import_blob *tree = &u->host.tree;
	struct tenon_buffer blob = TENON_BUFFER_INIT;
	struct link_tree t = { 0 };
	uint64_t from, to, at;
	size_t i;
	int err;

	err = link_tree_create(&t, u->count);
	for (i = 0; i < u->count && !err; i++) {
		t.modules[i].library = i == tree->library;
		t.modules[i].kind =
			t.modules[i].library ? tenon_slice_of("_lib") : tree->entries[i].kind;
		t.modules[i].payload = tree->entries[i].bytes;
		link_blob_imports(tree, i, &from, &to);
		for (at = from; at < to && !err; at++)
			err = link_tree_import(&t, i, (size_t)link_blob_child(tree, at));
	}
	if (!err)
		err = link_tree_write_numbered(&t, u->host.source.generation, &blob);
	*same = !err && blob.size <= u->host.blob.size &&
		!memcmp(blob.data, u->host.blob.data, blob.size);
	tenon_buffer_fini(&blob);
	link_tree_fini(&t);
	return err;
}

static void print_parts(const struct cli *cli, const struct unpack *u)
{
	const struct unpack_part *p;
	size_t i;

	fprintf(cli->out, "%s/%s: host code, %s\n", u->folder, UNPACK_HOST,
		elf_machine_name(&u->host.elf));
	for (i = 0; i < u->count; i++) {
		p = &u->parts[i];
		if (unpack_is_library(u, i))
			continue;
		fprintf(cli->out, "%s/%s: ", u->folder, p->file);
		printable_cell(tenon_slice_of(p->names.loader), 0, cli->out);
		fprintf(cli->out, ", %zu bytes%s%s\n", u->host.tree.entries[i].bytes.size,
			*p->table ? ", kernels in " : "", p->table);
	}
	fprintf(cli->out, "%s/%s\n", u->folder, UNPACK_MANIFEST);
}

static int unpack_it(struct cli *cli, const char *file, struct unpack *u)
{
	bool same = true;
	int err;

	err = link_host_open(file, &u->host);
	if (!err)
		err = make_folder(u->folder);
	if (!err)
		err = unpack_files(u);
	if (!err && u->host.symbols.has_blob)
		err = compare(u, &same);
	if (!err)
		err = unpack_manifest(u);
	if (err)
		return err;
	if (!same)
		fprintf(cli->err,
			"tenon: %s: its import tree is in an unusual form; linked again, the file "
			"works alike but has other bytes\n",
			file);
	print_parts(cli, u);
	return 0;
}

static void unpack_fini(struct unpack *u)
{
	struct artifact *a;
	size_t i;

	for (i = 0; i < u->count; i++) {
		a = &u->parts[i].names;
		free(a->codegen_id);
		free(a->loader);
		free(a->target_key);
		free(a->file_name);
		free(a->device);
	}
	free(u->parts);
	link_host_fini(&u->host);
}

static int unpack_main(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { 0 } };
	struct unpack u = { 0 };
	int found, err;

	while ((found = cli_option(cli, argc, argv, options)) >= 0)
		;
	if (found == CLI_OPTIONS_DONE)
		return CLI_OK;
	if (found == CLI_OPTIONS_BAD)
		return CLI_USAGE;
	if (argc - optind != 2)
		return cli_usage(cli,
				 "which module, and into which folder? tenon unpack FILE FOLDER");
	u.folder = argv[optind + 1];
	err = unpack_it(cli, argv[optind], &u);
	unpack_fini(&u);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : CLI_OK;
}

const struct cli_command unpack_command = {
	"unpack",
	"Take a module apart, without running any of it",
	"Usage: tenon unpack FILE FOLDER\n"
	"\n"
	"Writes each part of a module to a file of its own: host.so, the code of the host without\n"
	"imports; the program of each device, such as vecadd.cl, with the table of its kernels in\n"
	"vecadd.tvm_meta.json; other payloads as they are. manifest.json tells how they fit.\n"
	"Exchange a program and put the module together again:\n"
	"  tenon link -o FILE FOLDER/manifest.json\n"
	"With no file changed, that gives the same bytes.\n",
	unpack_main,
};
