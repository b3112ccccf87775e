/* SPDX-License-Identifier: MIT */
/* tenon link: from options to a module that was written and read back. */
#include "tools/link/link.h"

#include <stdlib.h>

#include "lib/file_map.h"
#include "lib/tvm_versions.h"
#include "tools/file/output.h"

#ifdef CONFIG_MODEL_LIBRARY_FORMAT
#include "link/mlf/mlf.h"
#endif

static int write_module(struct link_work *w)
{
	struct link_output out = { 0 };
	int err;

	err = link_compile(w);
	if (!err)
		err = link_wanted(w);
	if (!err)
		err = link_imports(w);
	if (!err)
		err = link_join(w, &out);
	if (!err)
		err = output_write(w->request->output, out.parts, out.count);
	link_output_fini(&out);
	link_compile_fini(w);
	return err;
}

int link_files(const struct link_request *r)
{
	struct link_work w = { .request = r };
	int err;

	err = link_payloads(&w);
#ifdef CONFIG_MODEL_LIBRARY_FORMAT
	if (!err && r->archive)
		err = link_archive(&w);
#endif
	if (!err && !r->archive)
		err = write_module(&w);
	tenon_buffer_fini(&w.blob);
	free(w.cuts);
	file_map_close(&w.params);
	artifact_set_fini(&w.set);
	return err;
}

static int link_request(const struct link_request *r)
{
	int err = link_output_check_all(r);

	if (err)
		return err;
	if (!r->generation)
		return link_of_manifest(r->inputs[0].path, r->output);
#ifdef CONFIG_MODEL_LIBRARY_FORMAT
	if (r->input_count && mlf_is_archive(r->inputs[0].path))
		return link_of_archive(r);
#endif
	return link_files(r);
}

static int link_main(struct cli *cli, int argc, char **argv)
{
	struct link_request r = { 0 };
	int code, err;

	code = link_read_options(cli, argc, argv, &r);
	if (!code) {
		err = link_request(&r);
		if (err)
			code = cli_error(cli, err == -TENON_E_CALL ? CLI_FAILED
								   : cli_exit_of(err, CLI_NO_FILE));
	}
	link_request_fini(&r);
	return code == CLI_OPTIONS_DONE ? CLI_OK : code;
}

const struct cli_command link_command = {
	"link",
	"Make a module of host code and programs of devices",
	"Usage: tenon link -o FILE [OPTION]… HOST… [PROGRAM=KIND[@KEY]]…\n"
	"       tenon link -o FILE FOLDER/manifest.json\n"
	"       tenon link -o FILE [--model NAME] ARCHIVE.tar\n"
	"\n"
	"  -o, --output FILE    the module to write\n"
	"  --abi modern         for TVM " TVM_BLOB_MODERN
	", the default; or legacy, for " TVM_LINK_LEGACY "\n"
	"  --target-key KEY=URI the device that KEY stands for\n"
	"  --import PARENT:CHILD let a module import another; each is the name of a file, or\n"
	"                       _lib, the code of the host\n"
	"  --graph FILE         make it a model: its graph.json\n"
	"  --params FILE        and its parameters, a .params or .npz file; without --graph, "
	"those\n"
	"                       of launchers that name them\n"
	"  --model NAME         name of the model, \"default\" unless given; of an archive with\n"
	"                       several models, which one to link\n"
	"  --format mlf         write an archive in Model Library Format, with the sources and\n"
	"                       objects as they are; system-lib, an object file to be linked\n"
	"                       into a program; or so, a shared object, the default\n"
	"  --prefix PREFIX      of the names by which a program finds a system-lib\n"
	"  -I, --include FOLDER look for headers of launchers there\n"
	"  --allow weak         let weak symbols that several objects define be merged\n"
	"  --allow unknown      take payloads of kinds that this build does not know\n"
	"\n"
	"HOST is a source, an object file or an archive for the host; sources are compiled by\n"
	"$CC with $CFLAGS, and all is linked with $LDFLAGS. PROGRAM is a file for a device, as in\n"
	"kernel.cl=opencl; the table of its kernels is in the same folder, in "
	"kernel.tvm_meta.json.\n"
	"A file that ends in .payload is the payload itself. Host code imports all programs, but\n"
	"those that --import gives another place.\n"
	"With a manifest, which tenon unpack wrote, the module is put together again. An archive\n"
	"in Model Library Format becomes a module.\n",
	link_main,
};
