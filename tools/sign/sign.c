/* SPDX-License-Identifier: MIT */
/* Parse the words, make the signature, write it beside the file. */
#include "tools/cli/verbs.h"

#include <tenon/backend/buffer.h>
#include <tenon/link.h>

#include "tools/file/output.h"

static int sign_file(const char *file, const char *key, const char *output)
{
	struct tenon_buffer name = TENON_BUFFER_INIT, signature = TENON_BUFFER_INIT;
	struct tenon_slice part;
	int err;

	err = tenon_buffer_printf(&name, "%s" TENON_LINK_SIGNATURE_SUFFIX, file);
	if (!err)
		err = output_check(output ? output : name.data);
	if (!err)
		err = tenon_link_sign(file, key, &signature);
	part = (struct tenon_slice){ signature.data, signature.size };
	if (!err)
		err = output_write(output ? output : name.data, &part, 1);
	tenon_buffer_fini(&signature);
	tenon_buffer_fini(&name);
	return err;
}

static int sign_main(struct cli *cli, int argc, char **argv)
{
	const char *file, *key = NULL, *output = NULL;
	const struct cli_option options[] = { { "key", .text = &key },
					      { "output", .letter = 'o', .text = &output },
					      { 0 } };
	int err = cli_options(cli, argc, argv, options);

	if (err)
		return err;
	if (cli_file(cli, argc, argv, &file))
		return CLI_USAGE;
	if (!key)
		return cli_usage(cli, "--key FILE is missing: the private key to sign with");
	err = sign_file(file, key, output);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : CLI_OK;
}

const struct cli_command sign_command = {
	"sign",
	"Write the signature of a module",
	"Usage: tenon sign --key FILE [-o FILE] MODULE\n"
	"\n"
	"  --key FILE          the private key: RSA or ECDSA, without a passphrase\n"
	"  -o, --output FILE   the signature to write; MODULE.sig unless given\n"
	"\n"
	"The module itself stays as it is. \"tenon verify --key\" with the public key checks the\n"
	"signature, and so does \"openssl dgst -sha256 -verify\". A key is made by\n"
	"  openssl ecparam -name prime256v1 -genkey -noout -out private.pem\n"
	"  openssl ec -in private.pem -pubout -out public.pem\n",
	sign_main,
};
