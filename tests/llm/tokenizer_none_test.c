/* SPDX-License-Identifier: MIT */
/* A build without tokenizers: a model with a tokenizer.json takes numbers, and says so when it gets text. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <unistd.h>

/* the functions of that build, beside those of this one */
#define tokenizer	 none_tokenizer
#define tokenizer_span	 none_tokenizer_span
#define tokenizer_open	 none_open
#define tokenizer_close	 none_close
#define tokenizer_works	 none_works
#define tokenizer_encode none_encode
#define tokenizer_decode none_decode
#define tokenizer_strips none_strips
#include "llm/tokenizer_none.c"
#undef tokenizer
#undef tokenizer_span
#include "llm/llm_engine.h"

static void a_model_with_a_tokenizer_opens_and_refuses_text_alone(void **state)
{
	char folder[256], path[300];
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	struct none_tokenizer *t;
	FILE *f;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/none.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(none_open(folder, NULL, &t), 0);
	assert_null(t);
	snprintf(path, sizeof(path), "%s/tokenizer.json", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(none_open(folder, NULL, &t), 0);
	assert_non_null(t);
	assert_false(none_works(t));
	assert_int_equal(none_encode(t, tenon_slice_of("hello"), NULL, 0, &tokens),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("CONFIG_LLM_TOKENIZER");
	assert_int_equal(none_decode(t, 7).size, 0);
	assert_int_equal(tokens.size, 0);
	none_close(t);
	unlink(path);
	rmdir(folder);
}

/* 49 152 tokens are no bytes, and a reply of the lowest 256 of them would be nonsense. */
static void a_large_vocabulary_without_a_tokenizer_is_not_bytes(void **state)
{
	char folder[] = "weights";
	struct tenon_llm llm = { .folder = folder, .info = { .vocabulary = 49152 } };
	struct tenon_buffer tokens = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(llm_encode(&llm, tenon_slice_of("hi"), NULL, 0, &tokens),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("weights has no tokenizer.json");
	assert_int_equal(tokens.size, 0);
	assert_string_equal(llm_text_kind(&llm), "none");
	llm.bytes = true;
	assert_int_equal(llm_encode(&llm, tenon_slice_of("hi"), NULL, 0, &tokens), 0);
	assert_int_equal(tokens.size, 2 * sizeof(int32_t));
	assert_string_equal(llm_text_kind(&llm), "bytes");
	tenon_buffer_fini(&tokens);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_with_a_tokenizer_opens_and_refuses_text_alone),
		cmocka_unit_test(a_large_vocabulary_without_a_tokenizer_is_not_bytes),
	};

	return cmocka_run_group_tests_name("no tokenizers", tests, NULL, NULL);
}
