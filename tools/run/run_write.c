/* SPDX-License-Identifier: MIT */
/* Write an output as .npy or as raw bytes, by its suffix */
#include <string.h>

#include "tools/file/output.h"
#include "tools/run/run_write.h"
#include "tools/tensor/element.h"
#include "tools/tensor/npy.h"

static bool ends_in(const char *text, const char *end)
{
	size_t size = strlen(text), tail = strlen(end);

	return size >= tail && !strcmp(text + size - tail, end);
}

int run_write(const char *path, const DLTensor *dl)
{
	struct tenon_slice bytes = { (const char *)dl->data + dl->byte_offset, 0 };
	uint64_t elements;
	int err;

	if (ends_in(path, ".npy"))
		return npy_write(path, dl, false);
	err = tenon_tensor_elements(dl, &elements);
	if (!err)
		err = element_bytes(elements, dl->dtype, &bytes.size);
	return err ? err : output_write(path, &bytes, 1);
}
