/* SPDX-License-Identifier: MIT */
/* What the JSON of a model may not have: its tokenizer, its conversations, and what its library says of itself. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "llm/llm_engine.h"
#include "llm/tokenizer_bpe.h"
#include "tests/llm/refused.h"
#include "tests/llm/replaced_value.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check_reason(struct tenon_slice text)
{
	if (!*tenon_error_message())
		fail_msg("%.*s: refused without a reason", (int)text.size, text.data);
}

/* ---- tokenizer.json */

#define VOCABULARY	"\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"ab\":3,\" \":4,\"<0x61>\":5,\"\\u2581\":6}"
#define MODEL		"\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\"," VOCABULARY ",\"merges\":[\"a b\"]}"
#define FILE_OF(parts)	"{" parts "," MODEL "}"
#define MODEL_OF(parts) "{\"model\":{\"type\":\"BPE\"," parts "}}"
#define ADDED(parts)	FILE_OF("\"added_tokens\":[" parts "]")
#define NORMAL(step)	FILE_OF("\"normalizer\":" step)
#define SPLITS(steps)                                                                              \
	FILE_OF("\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" steps "]}")
#define DECODER(step) FILE_OF("\"decoder\":" step)
#define BYTES	      "{\"type\":\"ByteLevel\",\"use_regex\":false,\"add_prefix_space\":false}"
#define DIGIT	      "{\"type\":\"Digits\"}"
#define DIGITS	      DIGIT "," DIGIT "," DIGIT "," DIGIT

static const char whole_tokenizer[] =
	"{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[{\"id\":9,"
	"\"content\":\"<x>\",\"single_word\":true,\"lstrip\":true,\"rstrip\":true,\"normalized\":"
	"true,"
	"\"special\":false}],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"
	"\"NFC\"},"
	"{\"type\":\"Prepend\",\"prepend\":\"a\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"c+"
	"\"},"
	"\"content\":\"b\"}]},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{"
	"\"type\":"
	"\"Digits\",\"individual_digits\":true},{\"type\":\"Split\",\"pattern\":{\"String\":\"b\"},"
	"\"behavior\":\"Removed\",\"invert\":false},{\"type\":\"Metaspace\",\"replacement\":"
	"\"\\u2581\","
	"\"prepend_scheme\":\"always\",\"add_prefix_space\":true,\"split\":true,\"str_rep\":"
	"\"\\u2581\"}"
	"]},\"post_processor\":{\"type\":\"x\"},\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{"
	"\"type\":"
	"\"Replace\",\"pattern\":{\"String\":\"\\u2581\"},\"content\":\" "
	"\"},{\"type\":\"ByteFallback\"},"
	"{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" "
	"\",\"start\":1,\"stop\":0},{\"type\":"
	"\"Metaspace\",\"prepend_scheme\":\"never\",\"add_prefix_space\":false}]},\"model\":{"
	"\"type\":"
	"\"BPE\",\"dropout\":0.0,\"unk_token\":\"?\",\"continuing_subword_prefix\":\"\","
	"\"end_of_word_suffix\":\"\",\"fuse_unk\":false,\"byte_fallback\":true,\"ignore_merges\":"
	"true," VOCABULARY ",\"merges\":[\"a b\",[\"a\",\"b\"]]}}";

static const char whole_bytes[] =
	"{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":"
	"true,"
	"\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,"
	"\"trim_offsets\":true,\"use_regex\":true},\"model\":{\"vocab\":{\"a\":1,\"b\":2,"
	"\"\\u0120\":3,"
	"\"\\u20ac\":4},\"merges\":[]}}";

static int read_tokenizer(struct tenon_slice text)
{
	struct tenon_buffer tokens = TENON_BUFFER_INIT;
	struct tokenizer *t;
	int err = bpe_read(text, "tokenizer.json", &t);

	if (err) {
		assert_null(t);
		return err;
	}
	if (tokenizer_encode(t, tenon_slice_of("ab cc<x> 12\303\251"), NULL, 0, &tokens))
		check_reason(text);
	for (int32_t i = -1; i < 12; i++)
		assert_true(tokenizer_decode(t, i).size < 20);
	tenon_buffer_fini(&tokens);
	tokenizer_close(t);
	return 0;
}

static void check_tokenizer(struct tenon_slice text)
{
	if (read_tokenizer(text))
		check_reason(text);
}

static const struct refused refused_tokenizers[] = {
	{ -TENON_E_FORMAT, "there is no \"model\"", "{\"version\":\"1.0\"}" },
	{ -TENON_E_FORMAT, "the file has \"model\" twice", "{" MODEL "," MODEL "}" },
	{ -TENON_E_UNSUPPORTED, "model \"Unigram\"", "{\"model\":{\"type\":\"Unigram\"}}" },
	{ -TENON_E_UNSUPPORTED, "model \"\"", "{\"model\":{" VOCABULARY "}}" },
	{ -TENON_E_FORMAT, "the model has no \"vocab\"", MODEL_OF("\"merges\":[]") },
	{ -TENON_E_FORMAT, "token 2000000 of a vocabulary of 1",
	  MODEL_OF("\"vocab\":{\"a\":2000000}") },
	{ -TENON_E_VALUE, "a token", MODEL_OF("\"vocab\":{\"a\":2147483647}") },
	{ -TENON_E_FORMAT, "token 1 has two names", MODEL_OF("\"vocab\":{\"a\":1,\"b\":1}") },
	{ -TENON_E_FORMAT, "a merge of 3 tokens",
	  MODEL_OF(VOCABULARY ",\"merges\":[[\"a\",\"b\",\"c\"]]") },
	{ -TENON_E_FORMAT, "a merge without a space", MODEL_OF(VOCABULARY ",\"merges\":[\"ab\"]") },
	{ -TENON_E_FORMAT, "merge 0 has a token", MODEL_OF(VOCABULARY ",\"merges\":[\"x b\"]") },
	{ -TENON_E_FORMAT, "merge 0 has a token", MODEL_OF(VOCABULARY ",\"merges\":[\"a x\"]") },
	{ -TENON_E_FORMAT, "merge 1 has a token",
	  MODEL_OF(VOCABULARY ",\"merges\":[\"a b\",\"b a\"]") },
	{ -TENON_E_UNSUPPORTED, "a vocabulary without byte 0x00",
	  "{\"pre_tokenizer\":" BYTES
	  ",\"model\":{\"type\":\"BPE\",\"byte_fallback\":true," VOCABULARY "}}" },
	{ -TENON_E_FORMAT, "an added token", ADDED("{\"id\":9}") },
	{ -TENON_E_FORMAT, "an added token", ADDED("{\"content\":\"x\"}") },
	{ -TENON_E_FORMAT, "as \"a\" has", ADDED("{\"id\":1,\"content\":\"x\"}") },
	{ -TENON_E_FORMAT, "token 3000000", ADDED("{\"id\":3000000,\"content\":\"x\"}") },
	{ -TENON_E_UNSUPPORTED, "nothing is left of added token \"b\"",
	  FILE_OF("\"added_tokens\":[{\"id\":2,\"content\":\"b\",\"normalized\":true}],"
		  "\"normalizer\":{\"type\":"
		  "\"Replace\",\"pattern\":{\"String\":\"b\"},\"content\":\"\"}") },
	{ -TENON_E_FORMAT, "a sequence without \"normalizers\"",
	  NORMAL("{\"type\":\"Sequence\"}") },
	{ -TENON_E_FORMAT, "there is no \"pattern\"",
	  NORMAL("{\"type\":\"Replace\",\"content\":\"\"}") },
	{ -TENON_E_FORMAT, "either \"Regex\" or \"String\"",
	  NORMAL("{\"type\":\"Replace\",\"pattern\":{}}") },
	{ -TENON_E_FORMAT, "either \"Regex\" or \"String\"",
	  NORMAL("{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\",\"Regex\":\"a\"}}") },
	{ -TENON_E_FORMAT, "tokenizer.json",
	  NORMAL("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(\"}}") },
	{ -TENON_E_UNSUPPORTED, "behavior \"Other\"",
	  SPLITS("{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},\"behavior\":\"Other\"}") },
	{ -TENON_E_UNSUPPORTED, "\"x\" of Digits", SPLITS("{\"type\":\"Digits\",\"x\":1}") },
	{ -TENON_E_UNSUPPORTED, "\"x\" of ByteLevel", SPLITS("{\"type\":\"ByteLevel\",\"x\":1}") },
	{ -TENON_E_UNSUPPORTED, "behind ByteLevel, pre_tokenizer \"Digits\"",
	  SPLITS(BYTES "," DIGIT) },
	{ -TENON_E_UNSUPPORTED, "pre_tokenizer \"Other\"", SPLITS("{\"type\":\"Other\"}") },
	{ -TENON_E_FORMAT, "more than 16 steps",
	  SPLITS(DIGITS "," DIGITS "," DIGITS "," DIGITS "," DIGIT) },
	{ -TENON_E_FORMAT, "contradict each other",
	  SPLITS("{\"type\":\"Metaspace\",\"prepend_scheme\":\"first\",\"add_prefix_space\":"
		 "false}") },
	{ -TENON_E_UNSUPPORTED, "Metaspace with prepend_scheme first",
	  "{\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"a\"},\"pre_tokenizer\":{\"type\":"
	  "\"Sequence\","
	  "\"pretokenizers\":[" DIGIT
	  ",{\"type\":\"Metaspace\",\"prepend_scheme\":\"first\"}]}," MODEL "}" },
	{ -TENON_E_UNSUPPORTED, "decoder \"Other\"", DECODER("{\"type\":\"Other\"}") },
	{ -TENON_E_UNSUPPORTED, "with the pre_tokenizer ByteLevel, decoder \"Fuse\"",
	  "{\"pre_tokenizer\":" BYTES ",\"decoder\":{\"type\":\"Fuse\"}," MODEL "}" },
	{ -TENON_E_UNSUPPORTED, "\"Regex\" of the pattern of a decoder",
	  DECODER("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"},\"content\":\" \"}") },
	{ -TENON_E_UNSUPPORTED, "strips 0 characters in front and 1 behind",
	  DECODER("{\"type\":\"Strip\",\"content\":\" \",\"start\":0,\"stop\":1}") },
};

static void a_wrong_tokenizer_is_refused_with_the_reason(void **state)
{
	(void)state;
	assert_int_equal(read_tokenizer(tenon_slice_of(whole_tokenizer)), 0);
	assert_int_equal(count_wrong(refused_tokenizers, COUNT(refused_tokenizers), read_tokenizer),
			 0);
}

static void each_value_of_a_tokenizer_may_be_any_other(void **state)
{
	(void)state;
	assert_int_equal(read_tokenizer(tenon_slice_of(whole_bytes)), 0);
	each_replaced_value(whole_tokenizer, check_tokenizer);
	each_replaced_value(whole_bytes, check_tokenizer);
}

/* ---- mlc-chat-config.json */

#define TEMPLATE(parts) "{\"conv_template\":{" parts "}}"

static const char whole_template[] =
	"{\"model_type\":\"llama\",\"temperature\":0.7,\"top_p\":0.95,\"repetition_penalty\":1.5,"
	"\"presence_penalty\":-0.5,\"frequency_penalty\":12e-1,\"context_window_size\":64,"
	"\"eos_token_id\":[257,258],\"other\":null,\"conv_template\":{\"name\":\"bytes\","
	"\"system_template\":\"{system_message}|\",\"system_message\":\"Be brief.\","
	"\"system_prefix_token_ids\":[256],\"add_role_after_system_message\":true,\"roles\":{"
	"\"user\":"
	"\"U\",\"assistant\":\"A\",\"tool\":\"T\",\"more\":{}},\"role_templates\":{\"user\":"
	"\"{user_message}\"},\"seps\":[\"a\",\"b\"],\"role_content_sep\":\":\",\"role_empty_sep\":"
	"\":\","
	"\"stop_str\":[\"x\",\"\"],\"stop_token_ids\":259,\"use_function_calling\":false}}";

static char folder[4000], config[4100];

static int read_template(struct tenon_slice text)
{
	struct llm_template t;
	FILE *f = fopen(config, "w");
	int err;

	assert_non_null(f);
	assert_int_equal(fwrite(text.data, 1, text.size, f), text.size);
	assert_int_equal(fclose(f), 0);
	err = llm_template_read(folder, NULL, &t);
	if (!err)
		llm_template_fini(&t);
	assert_null(t.strings);
	assert_null(t.stops);
	assert_null(t.ends);
	return err;
}

static void check_template(struct tenon_slice text)
{
	if (read_template(text) && !message_has(config))
		fail_msg("%.*s: %s", (int)text.size, text.data, tenon_error_message());
}

static const struct refused refused_templates[] = {
	{ -TENON_E_FORMAT, "want an object", "[]" },
	{ -TENON_E_UNSUPPORTED, "\"other\" is not supported", "{\"other\":1}" },
	{ -TENON_E_UNSUPPORTED, "\"other\" is not supported", "{\"other\":\"x\"}" },
	{ -TENON_E_UNSUPPORTED, "\"other\" is not supported", "{\"other\":true}" },
	{ -TENON_E_UNSUPPORTED, "\"conv_template\" is not supported",
	  "{\"conv_template\":\"llama-2\"}" },
	{ -TENON_E_UNSUPPORTED, "\"other\" is not supported", TEMPLATE("\"other\":[1]") },
	{ -TENON_E_FORMAT, "0 seps, want 1 or 2", TEMPLATE("\"seps\":[]") },
	{ -TENON_E_FORMAT, "3 seps, want 1 or 2", TEMPLATE("\"seps\":[\"\",\"\",\"\"]") },
	{ -TENON_E_FORMAT, "roles", TEMPLATE("\"roles\":{\"user\":1}") },
	{ -TENON_E_VALUE, "temperature is 101", "{\"temperature\":101}" },
};

/* Read a list of so many of one item. */
static int read_list(const char *before, const char *item, size_t count, const char *behind)
{
	char *text = malloc(strlen(before) + count * (strlen(item) + 1) + strlen(behind) + 1);
	char *at;
	int err;

	assert_non_null(text);
	at = stpcpy(text, before);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(stpcpy(at, i ? "," : ""), item);
	strcpy(at, behind);
	err = read_template(tenon_slice_of(text));
	free(text);
	tenon_error_clear();
	return err;
}

static void lists_of_a_template_have_a_limit(void **state)
{
	static const char tokens[] = "{\"eos_token_id\":[",
			  stops[] = "{\"conv_template\":{\"stop_str\":[";

	(void)state;
	assert_int_equal(read_list(tokens, "7", 1024, "]}"), 0);
	assert_int_equal(read_list(tokens, "7", 1025, "]}"), -TENON_E_FORMAT);
	assert_int_equal(read_list(stops, "\"x\"", 1024, "]}}"), 0);
	assert_int_equal(read_list(stops, "\"x\"", 1025, "]}}"), -TENON_E_FORMAT);
}

static void a_wrong_template_is_refused_with_the_reason(void **state)
{
	(void)state;
	assert_int_equal(read_template(tenon_slice_of(whole_template)), 0);
	/* what is not known and asks for nothing */
	assert_int_equal(read_template(tenon_slice_of(
				 "{\"a\":null,\"b\":false,\"c\":[],\"d\":{},\"e\":\"\"}")),
			 0);
	/* the last one of a member counts */
	assert_int_equal(read_template(tenon_slice_of(
				 TEMPLATE("\"stop_str\":[\"a\"],\"stop_str\":[\"b\"]"))),
			 0);
	assert_int_equal(count_wrong(refused_templates, COUNT(refused_templates), read_template),
			 0);
}

static void each_value_of_a_template_may_be_any_other(void **state)
{
	(void)state;
	each_replaced_value(whole_template, check_template);
}

/* ---- what a library says of itself */

#define METADATA(parts) "{\"prefill_chunk_size\":8,\"context_window_size\":64," parts "}"
#define PARAM(parts)	METADATA("\"params\":[{" parts "}]")

static const char whole_metadata[] =
	"{\"model_type\":\"llama\",\"quantization\":\"q0f32\",\"context_window_size\":64,"
	"\"sliding_window_size\":-1,\"attention_sink_size\":null,\"prefill_chunk_size\":8,"
	"\"max_batch_size\":4,\"tensor_parallel_shards\":1,\"pipeline_parallel_stages\":1,"
	"\"kv_state_kind\":\"kv_cache\",\"kv_cache\":{\"num_hidden_layers\":2,\"num_key_value_"
	"heads\":2,"
	"\"head_dim\":16,\"other\":[]},\"params\":[{\"name\":\"w\",\"shape\":[2,\"n\"],\"dtype\":"
	"\"float32\","
	"\"preprocs\":[],\"other\":0}],\"memory_usage\":{}}";

static int read_metadata(struct tenon_slice text)
{
	struct llm_metadata m;
	int err = llm_metadata_read(text, &m);

	if (!err)
		llm_metadata_fini(&m);
	assert_null(m.strings);
	assert_null(m.weights);
	return err;
}

static void check_metadata(struct tenon_slice text)
{
	if (read_metadata(text))
		check_reason(text);
}

static const struct refused refused_metadata[] = {
	{ -TENON_E_TRUNCATED, "_metadata", "{" },
	{ -TENON_E_FORMAT, "the metadata is an array", "[]" },
	{ -TENON_E_FORMAT, "no \"params\"", METADATA("\"x\":1") },
	{ -TENON_E_UNSUPPORTED, "whose state is \"rnn_state\"",
	  METADATA("\"params\":[],\"kv_state_kind\":\"rnn_state\"") },
	{ -TENON_E_UNSUPPORTED, "compiled for 2 devices",
	  METADATA("\"params\":[],\"tensor_parallel_shards\":2") },
	{ -TENON_E_UNSUPPORTED, "compiled for 3 devices",
	  METADATA("\"params\":[],\"pipeline_parallel_stages\":3") },
	{ -TENON_E_FORMAT, "want at least 1", METADATA("\"params\":[],\"max_batch_size\":0") },
	{ -TENON_E_FORMAT, "want at least 1", METADATA("\"params\":[],\"context_window_size\":0") },
	{ -TENON_E_FORMAT, "want at least 1", METADATA("\"params\":[],\"prefill_chunk_size\":-1") },
	{ -TENON_E_FORMAT, "a parameter without a name", PARAM("\"dtype\":\"float32\"") },
	{ -TENON_E_UNSUPPORTED, "preprocs of a parameter",
	  PARAM("\"name\":\"w\",\"preprocs\":[[]]") },
	{ -TENON_E_FORMAT, "9 dimensions, 8 at most",
	  PARAM("\"name\":\"w\",\"shape\":[1,2,3,4,5,6,7,8,9]") },
	{ -TENON_E_VALUE, "an extent", PARAM("\"name\":\"w\",\"shape\":[-1]") },
};

static void wrong_metadata_are_refused_with_the_reason(void **state)
{
	(void)state;
	assert_int_equal(read_metadata(tenon_slice_of(whole_metadata)), 0);
	/* a window that slides has no end */
	assert_int_equal(
		read_metadata(tenon_slice_of(METADATA("\"params\":[],\"context_window_size\":-1,"
						      "\"sliding_window_size\":32"))),
		0);
	assert_int_equal(count_wrong(refused_metadata, COUNT(refused_metadata), read_metadata), 0);
}

static void each_value_of_the_metadata_may_be_any_other(void **state)
{
	(void)state;
	each_replaced_value(whole_metadata, check_metadata);
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "%s/llm.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(folder))
		return 1;
	snprintf(config, sizeof(config), "%s/mlc-chat-config.json", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(config);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_tokenizer_is_refused_with_the_reason),
		cmocka_unit_test(each_value_of_a_tokenizer_may_be_any_other),
		cmocka_unit_test(a_wrong_template_is_refused_with_the_reason),
		cmocka_unit_test(lists_of_a_template_have_a_limit),
		cmocka_unit_test(each_value_of_a_template_may_be_any_other),
		cmocka_unit_test(wrong_metadata_are_refused_with_the_reason),
		cmocka_unit_test(each_value_of_the_metadata_may_be_any_other),
	};

	return cmocka_run_group_tests_name("files of language models", tests, make_folder,
					   remove_folder);
}
