/* SPDX-License-Identifier: MIT */
/* tenon link: from words to a module that the library wrote. */
#include "tools/cli/verbs.h"

#include <string.h>

#include "lib/option.h"
#include "lib/tvm_versions.h"
#include "tools/link_verb/link_options.h"

static int link_words(struct cli *cli, struct link_words *w)
{
	const char *output = w->output && !strcmp(w->output, "-") ? "/dev/stdout" : w->output;
	struct link_cases *cases = NULL;
	int err;

	err = link_params_read(&w->options);
	if (!OPTION_ON(NPZ) && !err && w->case_count)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "--case: this build reads no .npz files: CONFIG_NPZ is off");
	if (OPTION_ON(NPZ) && !err)
		err = link_cases_read(w, &cases);
	if (!err)
		err = tenon_link(&w->options, output);
	if (OPTION_ON(NPZ))
		link_cases_close(cases);
	link_params_close(&w->options);
	if (err == -TENON_E_USAGE)
		return cli_usage(cli, "%s", tenon_error_message());
	if (err == -TENON_E_CALL)
		return cli_error(cli, CLI_FAILED);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : CLI_OK;
}

static int link_main(struct cli *cli, int argc, char **argv)
{
	struct link_words w;
	int code;

	code = link_read_options(cli, argc, argv, &w);
	if (!code)
		code = link_words(cli, &w);
	link_words_fini(&w);
	return code;
}

const struct cli_command link_command = {
	"link",
	"Make a module of host code and programs of devices",
	"Usage: tenon link -o FILE [OPTION]… HOST… [PROGRAM=KIND[@KEY]]…\n"
	"       tenon link -o FILE [--case CASE]… FOLDER/manifest.json\n"
	"       tenon link -o FILE --case CASE [--case CASE]… MODULE.so\n"
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
	"  --case IN.npz,OUT.npz[,KEY=VALUE]…  put a case into the module: inputs, and the\n"
	"                       outputs that are right for them, for tenon run --self-test. KEY\n"
	"                       is name, rtol (1e-5) and atol (1e-8), the tolerance, or steps\n"
	"                       (0), that of integers; \"hash\" keeps the outputs' hashes alone\n"
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
	"in Model Library Format becomes a module. A module that is linked already gets cases\n"
	"and stays as it is otherwise.\n",
	link_main,
};
