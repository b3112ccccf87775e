/* SPDX-License-Identifier: MIT */
/* Take options of parameters, open the files, and advise about inputs that got none. */
#include "tools/opened_model/model_params.h"

#include <string.h>
#include <unistd.h>

#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "tools/tensor/params_file.h"
#include "tools/text/text.h"

/* copies of fewer bytes take a few milliseconds, and are not worth a line */
#define COPIES_NOTED (16u << 20)

/* ---- options */

/* [SCOPE=]FILE; a file whose name has a "=" is found as it is. */
int model_params_add(struct cli *cli, void *params)
{
	struct model_params *p = params;
	const char *word = optarg, *equal = strchr(word, '='), *slash = strchr(word, '/');

	if (p->count == MODEL_PARAMS_MOST)
		return cli_usage(cli, "--params: %d files at most", MODEL_PARAMS_MOST);
	if (equal && (!slash || slash > equal) && access(word, F_OK)) {
		if (equal == word || !equal[1])
			return cli_usage(cli, "--params %s: want FILE or SCOPE=FILE", word);
		p->scopes[p->count] = (struct tenon_slice){ word, (size_t)(equal - word) };
		word = equal + 1;
	}
	p->paths[p->count++] = word;
	return 0;
}

int model_params_rename(struct cli *cli, void *params)
{
	struct model_params *p = params;
	const char *word = optarg, *equal = strchr(word, '=');

	if (!equal || equal == word || !equal[1])
		return cli_usage(cli, "--rename %s: want OLD=NEW", word);
	if (p->rename_count == MODEL_RENAMES_MOST)
		return cli_usage(cli, "--rename: %d names at most", MODEL_RENAMES_MOST);
	p->renames[p->rename_count++] =
		(struct tenon_params_rename){ { word, (size_t)(equal - word) },
					      tenon_slice_of(equal + 1) };
	return 0;
}

int model_params_dequantize(struct cli *cli, void *params)
{
	struct model_params *p = params;

	if (strcmp(optarg, "float16") && strcmp(optarg, "float32"))
		return cli_usage(cli, "--dequantize %s: float16 or float32", optarg);
	p->dequantize = tenon_dtype(TENON_DTYPE_FLOAT, optarg[5] == '1' ? 16 : 32, 1);
	return 0;
}

int model_params_check(struct cli *cli, const struct model_params *p)
{
	if (p->count || !(p->rename_count || p->partial || p->dequantize.bits))
		return 0;
	return cli_usage(cli, "--%s without --params: there are no parameters",
			 p->partial	   ? "params-partial"
			 : p->rename_count ? "rename"
					   : "dequantize");
}

/* ---- files */

int model_params_open(const struct model_params *p, struct tenon_params **out)
{
	struct tenon_params_part parts[MODEL_PARAMS_MOST] = { 0 };
	struct tenon_params *quantized;
	size_t i, n = 0;
	int err = 0;

	*out = NULL;
	for (i = 0; i < p->count && !err; i++) {
		parts[i].scope = p->scopes[i];
		err = params_file_open(p->paths[i], &parts[i].params);
		n += !err;
	}
	if (!err && n == 1 && !p->rename_count && !p->scopes[0].size) {
		*out = parts[0].params;
		n = 0;
	} else if (!err) {
		err = tenon_params_join(parts, n, p->renames, p->rename_count, out);
	}
	for (i = 0; i < n; i++)
		tenon_object_unref(parts[i].params);
	if (err || !p->dequantize.bits)
		return err;
	quantized = *out;
	err = tenon_params_dequantize(quantized, p->dequantize, out);
	tenon_object_unref(quantized);
	return err;
}

void model_params_note_copies(const char *path, struct tenon_params *list, FILE *out)
{
	const struct tenon_param *p;
	size_t i, copied = 0;
	uint64_t bytes = 0;
	char size[SIZE_TEXT];

	for (i = 0; (p = tenon_params_at(list, i)); i++)
		if ((uintptr_t)p->tensor.data % TENON_TENSOR_ALIGN) {
			bytes += p->bytes;
			copied++;
		}
	if (bytes < COPIES_NOTED)
		return;
	fprintf(out, "tenon: ");
	printable_print(path, out);
	fprintf(out,
		": %zu of %zu parameters are not aligned to %d bytes, so %s are copied; \"tenon "
		"params align\" makes a file that is used in place\n",
		copied, i, TENON_TENSOR_ALIGN, size_text(bytes, size));
}

/* ---- advice */

static bool same_type(const struct tenon_param *p, const struct tenon_port *port)
{
	int32_t i;

	if (p->tensor.ndim != port->ndim || !tenon_dtype_equal(p->tensor.dtype, port->dtype))
		return false;
	for (i = 0; i < port->ndim; i++)
		if (p->tensor.shape[i] != port->shape[i])
			return false;
	return true;
}

void model_params_advise(struct tenon_params *list, const struct tenon_port *input,
			 struct tenon_buffer *out)
{
	struct nearest_name nearest = { .wanted = input->name };
	const struct tenon_param *p, *alike = NULL;
	size_t i, types = 0;

	for (i = 0; (p = tenon_params_at(list, i)); i++) {
		nearest_name_offer(&nearest, p->name);
		if (input->ndim > 1 && same_type(p, input)) {
			alike = p;
			types++;
		}
	}
	if (nearest.count)
		tenon_buffer_printf(out, "; parameters of nearly this name:");
	for (i = 0; i < nearest.count; i++)
		tenon_buffer_printf(out, "%s \"%.*s\"", i ? "," : "", (int)nearest.name[i].size,
				    nearest.name[i].data);
	/* embedding and output of a language model, which its file holds once */
	if (types == 1)
		tenon_buffer_printf(
			out,
			"; \"%.*s\" alone has this type: if these weights are tied, and the file "
			"holds them once, --rename '%.*s=%.*s' --rename '%.*s=%.*s' uses them for "
			"both",
			(int)alike->name.size, alike->name.data, (int)alike->name.size,
			alike->name.data, (int)alike->name.size, alike->name.data,
			(int)alike->name.size, alike->name.data, (int)input->name.size,
			input->name.data);
}
