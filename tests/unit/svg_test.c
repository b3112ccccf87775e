/* SPDX-License-Identifier: MIT */
/* Pictures: what comes into them of untrusted names, and where nodes of a graph go. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/svg/svg.h"
#include "tools/svg/svg_graph.h"
#include "tools/text/text.h"

static void assert_escaped(const char *text, const char *want)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	svg_escape(&b, tenon_slice_of(text), 100);
	assert_int_equal(b.status, 0);
	assert_string_equal(b.data, want);
	tenon_buffer_fini(&b);
}

static void markup_in_a_name_becomes_text(void **state)
{
	(void)state;
	assert_escaped("</title><script>", "&lt;/title&gt;&lt;script&gt;");
	assert_escaped("\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;");
	assert_escaped("]]>", "]]&gt;");
}

static void characters_that_no_document_may_contain_are_replaced(void **state)
{
	(void)state;
	assert_escaped("a\x01\x7f\xc2\x85z", "a???z");
	/* bytes that are no UTF-8, a surrogate, an override of direction, U+FFFE and U+FFFF */
	assert_escaped("\xff", "?");
	assert_escaped("\xed\xa0\x80", "???");
	assert_escaped("\xe2\x80\xae", "?");
	assert_escaped("\xef\xbf\xbe\xef\xbf\xbf", "??");
	assert_escaped("größe ×", "größe ×");
}

static void a_long_name_is_cut_between_characters(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	svg_escape(&b, tenon_slice_of("&&\xc3\xb6"), 3);
	assert_string_equal(b.data, "&amp;&amp;…");
	tenon_buffer_fini(&b);
}

/* ---- graphs */

static void edges_run_downwards_and_boxes_do_not_overlap(void **state)
{
	static const struct svg_edge edges[] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 4 },
						 { 2, 4 }, { 3, 4 }, { 0, 4 } };
	static const double widths[] = { 100, 120, 90, 200, 100 };
	struct svg_layers l;
	size_t i, k;

	(void)state;
	assert_int_equal(svg_layers_make(widths, 5, edges, 7, &l), 0);
	for (i = 0; i < 7; i++)
		assert_true(l.places[edges[i].from].layer < l.places[edges[i].to].layer);
	assert_int_equal(l.layers, 3);
	/* the edge from 0 to 4 passes one layer */
	assert_int_equal(l.routes[6].bends, 1);
	assert_int_equal(l.count, 6);
	for (i = 0; i < l.count; i++)
		for (k = 0; k < i; k++)
			if (l.places[i].layer == l.places[k].layer)
				assert_true(l.places[i].x - l.places[k].x >=
						    (l.places[i].width + l.places[k].width) / 2 ||
					    l.places[k].x - l.places[i].x >=
						    (l.places[i].width + l.places[k].width) / 2);
	svg_layers_fini(&l);
}

static void nodes_without_edges_do_not_make_a_line_wider_than_a_screen(void **state)
{
	static double widths[400];
	struct svg_layers l;
	size_t i;

	(void)state;
	for (i = 0; i < 400; i++)
		widths[i] = 100;
	assert_int_equal(svg_layers_make(widths, 400, NULL, 0, &l), 0);
	assert_true(l.width < 1200);
	assert_int_equal(l.layers, 50);
	svg_layers_fini(&l);
}

static void the_ends_of_an_edge_that_passes_many_nodes_name_each_other(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct svg_node nodes[40] = { 0 };
	struct svg_edge edges[40];
	char marks[40][8];
	uint32_t i, n = 0;

	(void)state;
	for (i = 0; i < 40; i++) {
		snprintf(marks[i], sizeof(marks[i]), "n%u", i);
		nodes[i].mark = tenon_slice_of(marks[i]);
		nodes[i].title = tenon_slice_of("add");
		if (i + 1 < 40)
			edges[n++] = (struct svg_edge){ i, i + 1 };
		if (!i)
			edges[n++] = (struct svg_edge){ 0, 39 };
	}
	assert_int_equal(svg_graph(&b, tenon_slice_of("t"), nodes, 40, edges, n, true), 0);
	assert_non_null(strstr(b.data, ">to n39<"));
	assert_non_null(strstr(b.data, ">from n0<"));
	tenon_buffer_fini(&b);
}

/* ---- others */

static void a_tree_of_many_items_says_how_many_it_does_not_draw(void **state)
{
	struct svg_tree_item *items = calloc(5000, sizeof(*items));
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	(void)state;
	assert_non_null(items);
	for (i = 0; i < 5000; i++) {
		items[i].parent = i ? i - 1 : SIZE_MAX;
		items[i].title = tenon_slice_of("<m>");
		items[i].text = tenon_slice_of("");
	}
	assert_int_equal(svg_tree(&b, tenon_slice_of("t"), items, 5000, true), 0);
	assert_non_null(strstr(b.data, "and 4600 more"));
	assert_null(strstr(b.data, "<m>"));
	assert_true(b.size < 200000);
	tenon_buffer_fini(&b);
	free(items);
}

static void steps_of_an_axis_are_round(void **state)
{
	(void)state;
	assert_true(svg_step(100, 5, false) == 20);
	assert_true(svg_step(7, 5, false) == 2);
	assert_true(svg_step(3000, 5, true) == 1024);
	assert_true(svg_step(0, 5, true) == 1);
}

static void a_series_of_many_values_keeps_its_peak(void **state)
{
	static uint64_t values[100000];
	const struct svg_series series = { values, 100000 };
	const struct svg_series_chart chart = { .title = tenon_slice_of("t"),
						.along = "operator",
						.series = &series,
						.series_count = 1,
						.steps = true,
						.binary = true,
						.label = size_text };
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	values[54321] = 1 << 20;
	assert_int_equal(svg_series(&b, &chart, false), 0);
	assert_true(b.size < 60000);
	/* the top of the picture: 1/1.04 of its height */
	assert_non_null(strstr(b.data, " 23.7H"));
	tenon_buffer_fini(&b);
}

static void a_series_that_has_no_value_for_a_thing_has_no_bar(void **state)
{
	const struct svg_bar bar = { .name = tenon_slice_of("a & b"),
				     .values = { 5, -1 },
				     .labels = { "5 ms", "none" } };
	struct tenon_buffer b = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(svg_bars(&b, tenon_slice_of("t"), &bar, 1, 2, true), 0);
	assert_non_null(strstr(b.data, "a &amp; b"));
	assert_non_null(strstr(b.data, "5 ms"));
	assert_null(strstr(b.data, "none</text>"));
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_in_a_name_becomes_text),
		cmocka_unit_test(characters_that_no_document_may_contain_are_replaced),
		cmocka_unit_test(a_long_name_is_cut_between_characters),
		cmocka_unit_test(edges_run_downwards_and_boxes_do_not_overlap),
		cmocka_unit_test(nodes_without_edges_do_not_make_a_line_wider_than_a_screen),
		cmocka_unit_test(the_ends_of_an_edge_that_passes_many_nodes_name_each_other),
		cmocka_unit_test(a_tree_of_many_items_says_how_many_it_does_not_draw),
		cmocka_unit_test(steps_of_an_axis_are_round),
		cmocka_unit_test(a_series_of_many_values_keeps_its_peak),
		cmocka_unit_test(a_series_that_has_no_value_for_a_thing_has_no_bar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
