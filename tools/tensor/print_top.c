/* SPDX-License-Identifier: MIT */
/* Print the largest elements with their labels. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/tensor.h>

#include "tools/tensor/element.h"
#include "tools/tensor/print.h"
#include "tools/text/text.h"

struct scored {
	uint64_t index;
	double score;
};

/* Convert an element to a double for sorting; false if it has no order. */
static bool score_of(const DLTensor *dl, uint64_t index, double *out)
{
	struct element e;

	tensor_element(dl, index, &e);
	switch (e.class) {
	case ELEMENT_SIGNED:
		*out = (double)e.integer;
		return true;
	case ELEMENT_BOOL:
	case ELEMENT_UNSIGNED:
		*out = (double)e.natural;
		return true;
	case ELEMENT_REAL:
		*out = e.real;
		return !isnan(e.real);
	default:
		return false;
	}
}

/* Insert into the sorted list of the largest; equal ones keep their order. */
static size_t keep(struct scored *best, size_t count, size_t most, struct scored s)
{
	size_t at = count < most ? count : most;

	if (at == most && (!most || s.score <= best[most - 1].score))
		return count;
	if (at == most)
		at--;
	for (; at > 0 && best[at - 1].score < s.score; at--)
		best[at] = best[at - 1];
	best[at] = s;
	return count < most ? count + 1 : count;
}

/* Line @number of a text, counted from 0; empty if there are fewer. */
static struct tenon_slice line_of(struct tenon_slice text, uint64_t number)
{
	while (text.size) {
		const char *newline = memchr(text.data, '\n', text.size);
		size_t line = newline ? (size_t)(newline - text.data) : text.size;

		if (!number--)
			return (struct tenon_slice){ text.data, line };
		line += newline != NULL;
		text.data += line;
		text.size -= line;
	}
	return (struct tenon_slice){ "", 0 };
}

uint64_t print_top_names(const DLTensor *dl)
{
	uint64_t elements;

	if (dl->ndim)
		return (uint64_t)dl->shape[dl->ndim - 1] * dl->dtype.lanes;
	if (!tenon_tensor_elements(dl, &elements))
		return elements * dl->dtype.lanes;
	tenon_error_clear();
	return 0;
}

void print_top(const DLTensor *dl, size_t most, struct tenon_slice names, FILE *out)
{
	struct scored best[PRINT_TOP_MOST], s;
	uint64_t elements, row;
	size_t count = 0, i;

	if (most > PRINT_TOP_MOST)
		most = PRINT_TOP_MOST;
	if (element_class_of(dl->dtype) < 0 || tenon_tensor_elements(dl, &elements))
		return;
	elements *= dl->dtype.lanes;
	for (s.index = 0; s.index < elements; s.index++)
		if (score_of(dl, s.index, &s.score))
			count = keep(best, count, most, s);
	row = print_top_names(dl);
	for (i = 0; i < count; i++) {
		struct tenon_slice name = line_of(names, best[i].index % row);

		fprintf(out,
			name.size ? "%4zu.  element %-6" PRIu64 " %-12.6g "
				  : "%4zu.  element %-6" PRIu64 " %.6g",
			i + 1, best[i].index, best[i].score);
		printable_cell(name, 0, out);
		fputc('\n', out);
	}
}
