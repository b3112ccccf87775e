/* SPDX-License-Identifier: MIT */
/* Print elements, nested and shortened. */
#include <tenon/error.h>

#include "tools/tensor/element.h"
#include "tools/tensor/print.h"
#include "tools/tensor/spec.h"

static void print_element(const DLTensor *dl, uint64_t index, int digits, FILE *out)
{
	char text[ELEMENT_TEXT];
	struct element e;

	tensor_element(dl, index, &e);
	fputs(element_text(&e, dl->dtype, digits, text), out);
}

/* Print [a b c …]: nested lists per dimension, the innermost with numbers. */
static void print_nested(const DLTensor *dl, int32_t dimension, uint64_t *index, FILE *out)
{
	int64_t items = dimension < dl->ndim ? dl->shape[dimension] : dl->dtype.lanes;
	int32_t last = dl->dtype.lanes > 1 ? dl->ndim : dl->ndim - 1;

	fputc('[', out);
	for (int64_t i = 0; i < items; i++) {
		if (i)
			fputc(' ', out);
		if (dimension == last)
			print_element(dl, (*index)++, 0, out);
		else
			print_nested(dl, dimension + 1, index, out);
	}
	fputc(']', out);
}

void print_tensor(const DLTensor *dl, FILE *out)
{
	char type[TYPE_TEXT];
	uint64_t count, index = 0;

	fputs(type_text(dl->shape, dl->ndim, dl->dtype, type), out);
	if (dl->device.device_type != kDLCPU) {
		fprintf(out, " on %s:%d", tenon_device_name(dl->device.device_type),
			dl->device.device_id);
		return;
	}
	if (element_class_of(dl->dtype) < 0 || tenon_tensor_elements(dl, &count))
		return;
	count *= dl->dtype.lanes;
	fputs(" = ", out);
	if (!count) {
		fputs("[]", out);
	} else if (!dl->ndim && dl->dtype.lanes == 1) {
		print_element(dl, 0, 0, out);
	} else if (count <= PRINT_WHOLE) {
		print_nested(dl, 0, &index, out);
	} else {
		for (index = 0; index < 3; index++) {
			fputc(index ? ' ' : '[', out);
			print_element(dl, index, 3, out);
		}
		fputs(" … ", out);
		print_element(dl, count - 1, 3, out);
		fputc(']', out);
	}
}
