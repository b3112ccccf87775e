/* SPDX-License-Identifier: MIT */
/* Reports: each fact reaches the slot that the receiver has for it. */
#include <stdio.h>
#include <tenon/backend/report.h>

#include "tests/unit/suite.h"

/* a receiver that writes what it gets */
struct written {
	struct tenon_report base;
	char text[200];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct tenon_report *report,
						      const char *format, ...)
{
	struct written *w = (struct written *)report;
	va_list args;

	va_start(args, format);
	w->size += (size_t)vsnprintf(w->text + w->size, sizeof(w->text) - w->size, format, args);
	va_end(args);
}

static void take_line(struct tenon_report *report, const char *text)
{
	add(report, "%s\n", text);
}

static void take_open(struct tenon_report *report, const char *name, bool is_list)
{
	add(report, "%s%c", name ? name : "", is_list ? '[' : '{');
}

static void take_close(struct tenon_report *report)
{
	add(report, "} ");
}

static void take_number(struct tenon_report *report, const char *name, int64_t number)
{
	add(report, "%s=%d ", name, (int)number);
}

static void take_text(struct tenon_report *report, const char *name, struct tenon_slice text)
{
	add(report, "%s=%.*s ", name, (int)text.size, text.data);
}

static void take_truth(struct tenon_report *report, const char *name, bool truth)
{
	add(report, "%s=%s ", name, truth ? "true" : "false");
}

static void take_real(struct tenon_report *report, const char *name, double real)
{
	add(report, "%s=%d/4 ", name, (int)(real * 4));
}

static const struct tenon_report all_slots = {
	.size = sizeof(struct tenon_report),
	.line = take_line,
	.open = take_open,
	.close = take_close,
	.number = take_number,
	.text = take_text,
	.truth = take_truth,
	.real = take_real,
};

static void report_all(struct tenon_report *report)
{
	tenon_report_line(report, "%d faults", 2);
	tenon_report_object(report, NULL);
	tenon_report_list(report, "list");
	tenon_report_close(report);
	tenon_report_number(report, "number", 3);
	tenon_report_text(report, "text", tenon_slice_of("word"));
	tenon_report_truth(report, "truth", true);
	tenon_report_real(report, "real", 0.75);
	tenon_report_close(report);
}

static void each_fact_reaches_its_slot(void **state)
{
	struct written w = { .base = all_slots };

	(void)state;
	report_all(&w.base);
	assert_string_equal(w.text, "2 faults\n{list[} number=3 text=word truth=true real=3/4 } ");
}

static void what_has_no_slot_is_left_out(void **state)
{
	struct written w = { .base = { .size = sizeof(struct tenon_report) } };

	(void)state;
	report_all(&w.base);
	assert_int_equal(w.size, 0);
	w.base.number = take_number;
	report_all(&w.base);
	assert_string_equal(w.text, "number=3 ");
}

static void a_receiver_whose_struct_ends_before_a_slot_is_not_read_behind_its_end(void **state)
{
	struct written w = { .base = all_slots };

	(void)state;
	w.base.size = offsetof(struct tenon_report, real);
	report_all(&w.base);
	assert_string_equal(w.text, "2 faults\n{list[} number=3 text=word truth=true } ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fact_reaches_its_slot),
		cmocka_unit_test(what_has_no_slot_is_left_out),
		cmocka_unit_test(
			a_receiver_whose_struct_ends_before_a_slot_is_not_read_behind_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
