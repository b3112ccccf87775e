/* SPDX-License-Identifier: MIT */
/* Texts that the command collects in memory, while an allocation fails: none loses a part and says nothing. */
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <tenon/array.h>

#include "lib/error_slot.h"
#include "tests/nomem/deeds.h"
#include "tools/json/json_value.h"
#include "tools/text/memory_stream.h"

#define LINES 2000

/* longer than the buffer of any stream */
static int a_text(uint64_t *facts)
{
	struct memory_stream s;
	int i, err = memory_stream_open(&s);

	if (err)
		return err;
	for (i = 0; i < LINES; i++)
		fprintf(s.out, "%d lines were written\n", i);
	err = memory_stream_close(&s);
	if (!err)
		deed_fact(facts, s.text.data, s.text.size + 1);
	tenon_buffer_fini(&s.text);
	return err;
}

static int an_empty_text(uint64_t *facts)
{
	struct memory_stream s;
	int err = memory_stream_open(&s);

	if (err)
		return err;
	err = memory_stream_close(&s);
	if (!err)
		deed_fact(facts, s.text.data, s.text.size + 1);
	tenon_buffer_fini(&s.text);
	return err;
}

/* of a map whose key is no string */
static int a_key(uint64_t *facts)
{
	int64_t extents[2000] = { 7 };
	struct tenon_value pair[2], value;
	struct tenon_shape *shape = NULL;
	struct tenon_map *map = NULL;
	struct memory_stream s;
	int lost, err;

	/* memory that ran out once is remembered until the command ends */
	error_set_ran_out(false);
	err = tenon_shape_create(extents, 2000, &shape);
	if (err)
		return err;
	pair[0] = tenon_arg_object(shape);
	pair[1] = tenon_arg_int(3);
	err = tenon_map_create(pair, 1, &map);
	if (!err)
		err = memory_stream_open(&s);
	if (err)
		goto unref;
	value = tenon_arg_object(map);
	err = json_print(json_of_value(&value), s.out);
	lost = memory_stream_close(&s);
	err = err ? err : lost;
	if (!err)
		deed_fact(facts, s.text.data, s.text.size + 1);
	tenon_buffer_fini(&s.text);
unref:
	tenon_object_unref(map);
	tenon_object_unref(shape);
	return err;
}

static int prepare(void **state)
{
	json_prepare();
	return deeds_prepare(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEED("a_text", a_text),
		DEED("an_empty_text", an_empty_text),
		DEED("a_key", a_key),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
