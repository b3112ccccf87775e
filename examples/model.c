/* SPDX-License-Identifier: MIT */
/* Run a whole model on numbers that are all alike, and print its first output: model mlp.so 0.5 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

/* Set an input to a tensor of its shape and type, here float32, that holds @number everywhere. */
static int fill_input(struct tenon_model *model, size_t index, float number)
{
	struct tenon_tensor *tensor = NULL;
	struct tenon_value value;
	struct tenon_port port;
	uint64_t count;
	int err = tenon_model_input(model, index, &port);

	if (!err)
		err = tenon_tensor_create(port.shape, port.ndim, port.dtype, &tensor);
	if (!err)
		err = tenon_tensor_elements(&tensor->dl, &count);
	if (!err && !tenon_dtype_equal(port.dtype, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1)))
		err = tenon_error(-TENON_E_TYPE, "input %zu is not float32", index);
	for (uint64_t i = 0; !err && i < count; i++)
		((float *)tensor->dl.data)[i] = number;
	value = tenon_arg_object(tensor);
	if (!err)
		err = tenon_model_set_input(model, index, &value);
	tenon_object_unref(tensor);
	return err;
}

static int print_output(struct tenon_model *model)
{
	struct tenon_value value = tenon_arg_none();
	DLTensor *tensor;
	uint64_t count;
	int err = tenon_model_output_value(model, 0, &value);

	if (!err)
		err = tenon_value_tensor(&value, &tensor);
	if (!err)
		err = tenon_tensor_elements(tensor, &count);
	for (uint64_t i = 0; !err && i < count; i++)
		printf("%g%c", ((const float *)tensor->data)[i], i + 1 < count ? ' ' : '\n');
	tenon_value_release(&value);
	return err;
}

int main(int argc, char **argv)
{
	float number = argc > 2 ? strtof(argv[2], NULL) : 0.5f;
	struct tenon_module *root = NULL;
	struct tenon_model *model = NULL;
	int err;

	err = tenon_module_load(argc > 1 ? argv[1] : "model.so", &root);
	if (!err)
		err = tenon_model_open(root, NULL, &model);
	/* parameters that came with the file are set already */
	for (size_t i = 0; !err && i < tenon_model_input_count(model); i++)
		if (!tenon_model_input_is_set(model, i))
			err = fill_input(model, i, number);
	if (!err)
		err = tenon_model_run(model);
	if (!err)
		err = print_output(model);
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	tenon_model_close(model);
	tenon_object_unref(root);
	return err ? 1 : 0;
}
