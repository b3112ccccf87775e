/* SPDX-License-Identifier: MIT */
/* Run a model in static arrays, without malloc() from opening to closing: static_memory model.so */
#include <stdio.h>
#include <tenon/tenon.h>

#define MOST 65536 /* bytes of each sort; tenon run model.so --memory says how many a model needs */

static _Alignas(TENON_REGION_ALIGN) char own[MOST], tensors[MOST], work[MOST];

static const struct tenon_regions regions = {
	.size = sizeof(regions),
	.region = { { own, sizeof(own) }, { tensors, sizeof(tensors) }, { work, sizeof(work) } },
};

/* Set each input that is no parameter to ones. */
static int set_inputs(struct tenon_model *model)
{
	static _Alignas(TENON_TENSOR_ALIGN) float ones[MOST / sizeof(float)];
	struct tenon_port port;
	size_t i, bytes;
	int err = 0;

	for (i = 0; i < sizeof(ones) / sizeof(*ones); i++)
		ones[i] = 1;
	for (i = 0; !err && i < tenon_model_input_count(model); i++) {
		if (tenon_model_input_is_set(model, i))
			continue;
		tenon_model_input(model, i, &port);
		DLTensor t = tenon_dltensor(ones, (int64_t *)port.shape, port.ndim, port.dtype);
		struct tenon_value value = tenon_arg_tensor(&t);

		err = tenon_tensor_bytes(&t, &bytes);
		if (!err && bytes > sizeof(ones))
			err = tenon_error(-TENON_E_NOMEM, "an input of %zu bytes", bytes);
		if (!err)
			err = tenon_model_set_input(model, i, &value);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct tenon_value output = tenon_arg_none();
	struct tenon_module *module = NULL;
	struct tenon_model *model = NULL;
	DLTensor *t = NULL;
	int err;

	err = tenon_module_load(argc > 1 ? argv[1] : "model.so", &module);
	if (!err)
		err = tenon_model_open_in(module, NULL, &regions, &model);
	if (!err)
		err = set_inputs(model);
	if (!err)
		err = tenon_model_run(model);
	if (!err)
		err = tenon_model_output_value(model, 0, &output);
	if (!err)
		err = tenon_value_tensor(&output, &t);
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	else
		printf("%g ...\n", *(float *)t->data);
	tenon_value_release(&output);
	tenon_model_close(model);
	tenon_object_unref(module);
	return err ? 1 : 0;
}
