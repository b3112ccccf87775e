/* SPDX-License-Identifier: MIT */
/* Sequences of a language model beside those of TVM, and models that are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <tenon/backend/buffer.h>
#include <tenon/params.h>

#include "llm/llm_batch.h"
#include "llm/llm_engine.h"
#include "tests/llm/small_model.h"

/* ---- sequences */

static void logits_of_each_prompt_are_those_of_tvm(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	struct tenon_llm_part part;
	const float *logits;
	size_t i;

	(void)state;
	assert_int_equal(tenon_llm_info(llm)->vocabulary, 260);
	for (i = 0; i < case_count; i++) {
		part = (struct tenon_llm_part){ 0, cases[i].prompt, cases[i].count };
		assert_int_equal(tenon_llm_add(llm, &part.id), 0);
		assert_int_equal(tenon_llm_forward(llm, &part, 1, &logits), 0);
		assert_logits(logits, cases[i].logits, 260);
		assert_int_equal(tenon_llm_remove(llm, part.id), 0);
	}
	tenon_llm_close(llm);
}

static void prompts_in_one_batch_have_the_same_logits(void **state)
{
	struct tenon_llm *llm = open_with(&(struct tenon_llm_options){
		.size = sizeof(struct tenon_llm_options), .tokens = 512 });
	/* the last one takes several steps, and others are before and behind it */
	const size_t order[] = { 0, 7, 2, 6 };
	struct tenon_llm_part parts[4];
	const float *logits;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		parts[i].tokens = cases[order[i]].prompt;
		parts[i].count = cases[order[i]].count;
		assert_int_equal(tenon_llm_add(llm, &parts[i].id), 0);
	}
	assert_int_equal(tenon_llm_forward(llm, parts, 4, &logits), 0);
	for (i = 0; i < 4; i++)
		assert_logits(logits + 260 * i, cases[order[i]].logits, 260);
	tenon_llm_close(llm);
}

static void a_fork_continues_like_a_sequence_of_its_own(void **state)
{
	struct tenon_llm *llm = open_with(NULL);
	/* these two begin with the same 25 bytes */
	const struct expected *a = &cases[1], *b = &cases[2];
	struct tenon_llm_part part = { 0, a->prompt, a->count };
	const float *logits;
	int64_t fork;

	(void)state;
	assert_int_equal(tenon_llm_add(llm, &part.id), 0);
	assert_int_equal(tenon_llm_forward(llm, &part, 1, &logits), 0);
	assert_int_equal(tenon_llm_fork(llm, part.id, 25, &fork), 0);
	part = (struct tenon_llm_part){ fork, b->prompt + 25, b->count - 25 };
	assert_int_equal(tenon_llm_forward(llm, &part, 1, &logits), 0);
	assert_logits(logits, b->logits, 260);
	tenon_llm_close(llm);
}

static void a_refused_step_leaves_the_sequences_as_they_were(void **state)
{
	struct tenon_llm *llm = open_with(&(struct tenon_llm_options){
		.size = sizeof(struct tenon_llm_options), .tokens = 48 });
	const struct expected *e = &cases[2];
	struct tenon_llm_part parts[2] = { { 0, e->prompt, 20 }, { 0, cases[7].prompt, 57 } };
	const float *logits;
	int64_t pages;

	(void)state;
	assert_int_equal(tenon_llm_add(llm, &parts[0].id), 0);
	assert_int_equal(tenon_llm_add(llm, &parts[1].id), 0);
	pages = tenon_llm_free_pages(llm);
	/* the first prefill step fits, the second does not */
	assert_int_equal(tenon_llm_forward(llm, parts, 2, &logits), -TENON_E_OVERFLOW);
	assert_error_has("the key-value cache is full");
	assert_int_equal(tenon_llm_free_pages(llm), pages);
	parts[0].count = e->count;
	assert_int_equal(tenon_llm_forward(llm, parts, 1, &logits), 0);
	assert_logits(logits, e->logits, 260);
	tenon_llm_close(llm);
}

/* ---- conversations */

static void a_conversation_becomes_the_template_of_the_model(void **state)
{
	static const char want[] = "Be brief.|U:Hi\nA:Yes\nU:Why\nA:";
	struct tenon_llm *llm = open_with(NULL);
	const struct tenon_llm_message messages[] = {
		{ { "user", 4 }, { "Hi", 2 } },
		{ { "assistant", 9 }, { "Yes", 3 } },
		{ { "user", 4 }, { "Why", 3 } },
	};
	struct tenon_llm_message wrong = { { "robot", 5 }, { "Hi", 2 } };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	const int32_t *tokens;
	size_t i;

	(void)state;
	assert_int_equal(tenon_llm_prompt(llm, messages, 3, &b), 0);
	tokens = (const int32_t *)(const void *)b.data;
	assert_int_equal(b.size / sizeof(*tokens), sizeof(want));
	assert_int_equal(tokens[0], 256);
	for (i = 0; i < sizeof(want) - 1; i++)
		assert_int_equal(tokens[i + 1], want[i]);
	tenon_buffer_fini(&b);
	assert_int_equal(tenon_llm_prompt(llm, &wrong, 1, &b), -TENON_E_VALUE);
	assert_error_has("robot");
	tenon_buffer_fini(&b);
	tenon_llm_close(llm);
}

/* ---- models that are refused */

static void write_text(const char *path, const char *text, size_t size)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

/* Copy the files of the weights to @to, with one text replaced by another of any length. */
static void copy_with(const char *to, const char *file, const char *from_text, const char *to_text)
{
	char path[4300], target[600], *text, *at;
	struct tenon_buffer b = TENON_BUFFER_INIT;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	text = read_file(path);
	at = strstr(text, from_text);
	assert_non_null(at);
	tenon_buffer_append(&b, text, (size_t)(at - text));
	tenon_buffer_append(&b, to_text, strlen(to_text));
	tenon_buffer_append(&b, at + strlen(from_text), strlen(at + strlen(from_text)));
	snprintf(target, sizeof(target), "%s/%s", to, file);
	write_text(target, b.data, b.size);
	tenon_buffer_fini(&b);
	free(text);
}

/* Mappings of files whose names contain a word. */
static size_t mapped(const char *word)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4400];
	size_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, word) != NULL;
	fclose(f);
	return n;
}

static void weights_stay_in_their_files_until_the_model_is_closed(void **state)
{
	struct tenon_llm *llm = open_with(NULL);

	(void)state;
	assert_true(mapped("/params_shard_") >= 1);
	tenon_llm_close(llm);
	assert_int_equal(mapped("/params_shard_"), 0);
}

static void functions_that_change_weights_are_refused(void **state)
{
	static const char form[] =
		"{\"model_type\":\"llama\",\"quantization\":\"q0f32\",\"context_window_size\":256,"
		"\"sliding_window_size\":-1,\"prefill_chunk_size\":64,\"max_batch_size\":4,"
		"\"params\":"
		"[{\"name\":\"w\",\"shape\":[4],\"dtype\":\"float32\",\"preprocs\":[%s]}]}";
	struct llm_metadata m = { .strings = NULL };
	char text[400];

	(void)state;
	snprintf(text, sizeof(text), form, "");
	assert_int_equal(llm_metadata_read(tenon_slice_of(text), &m), 0);
	assert_int_equal(m.weight_count, 1);
	llm_metadata_fini(&m);
	snprintf(text, sizeof(text), form, "[\"shard\",[],\"float32\"]");
	assert_int_equal(llm_metadata_read(tenon_slice_of(text), &m), -TENON_E_UNSUPPORTED);
	assert_error_has("preprocs");
}

static void weights_that_do_not_fit_the_model_are_refused(void **state)
{
	static const struct {
		const char *file, *from, *to, *why;
	} changes[] = {
		{ "tensor-cache.json", "\"norm.weight\"", "\"no.weight\"", "norm.weight" },
		{ "tensor-cache.json", "\"nbytes\": 64", "\"nbytes\": 60", "60 bytes are stated" },
		{ "tensor-cache.json", "\"format\": \"raw\"", "\"format\": \"lz4\"", "lz4" },
		{ "tensor-cache.json", "params_shard_1.bin", "../params_shard_1.bin", "below" },
		{ "mlc-chat-config.json", "\"seps\": [", "\"seps\": 4, \"other\": [", "seps" },
		{ "mlc-chat-config.json", "0.7", "\"hot\"", "temperature" },
	};
	char made[512], from[4300], to[600], library[4200];
	struct tenon_llm_options o = { .size = sizeof(o), .weights = made };
	const char *files[] = { "params_shard_0.bin", "params_shard_1.bin", "tensor-cache.json",
				"mlc-chat-config.json" };
	struct tenon_llm *llm;
	size_t i, k;

	(void)state;
	snprintf(made, sizeof(made), "%s/llm.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	assert_non_null(mkdtemp(made));
	snprintf(library, sizeof(library), "%s/model.so", folder);
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		for (k = 0; k < 4; k++) {
			snprintf(from, sizeof(from), "%s/%s", folder, files[k]);
			snprintf(to, sizeof(to), "%s/%s", made, files[k]);
			unlink(to);
			assert_int_equal(symlink(from, to), 0);
		}
		snprintf(to, sizeof(to), "%s/%s", made, changes[i].file);
		unlink(to);
		copy_with(made, changes[i].file, changes[i].from, changes[i].to);
		assert_int_not_equal(tenon_llm_open(library, &o, &llm), 0);
		assert_error_has(changes[i].why);
	}
	for (k = 0; k < 4; k++) {
		snprintf(to, sizeof(to), "%s/%s", made, files[k]);
		unlink(to);
	}
	assert_int_not_equal(tenon_llm_open(library, &o, &llm), 0);
	assert_error_has(made);
	rmdir(made);
	o = (struct tenon_llm_options){ .size = sizeof(struct tenon_llm_options),
					.sequences = 1000 };
	assert_int_equal(tenon_llm_open(folder, &o, &llm), -TENON_E_VALUE);
	assert_error_has("sequences");
}

/* ---- weights in other files than TVM's */

/* The weights of the model, read by what tensor-cache.json says; names lie in @json. */
static size_t read_weights(struct tenon_param *list, size_t most, cJSON **json_out)
{
	const cJSON *file, *record, *item;
	char path[4300], *text;
	cJSON *json;
	size_t count = 0;

	snprintf(path, sizeof(path), "%s/tensor-cache.json", folder);
	text = read_file(path);
	json = cJSON_Parse(text);
	free(text);
	assert_non_null(json);
	*json_out = json;
	cJSON_ArrayForEach(file, cJSON_GetObjectItem(json, "records"))
	{
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", folder,
			 cJSON_GetObjectItem(file, "dataPath")->valuestring);
		f = fopen(path, "rb");
		assert_non_null(f);
		cJSON_ArrayForEach(record, cJSON_GetObjectItem(file, "records"))
		{
			struct tenon_param *p = &list[count++];
			int64_t *shape = calloc(8, sizeof(*shape));
			int32_t ndim = 0;

			assert_true(count <= most);
			p->name = tenon_slice_of(cJSON_GetObjectItem(record, "name")->valuestring);
			p->bytes = (size_t)cJSON_GetObjectItem(record, "nbytes")->valueint;
			cJSON_ArrayForEach(item, cJSON_GetObjectItem(record, "shape"))
				shape[ndim++] = item->valueint;
			p->tensor = tenon_dltensor(malloc(p->bytes), shape, ndim,
						   tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
			fseek(f, cJSON_GetObjectItem(record, "byteOffset")->valueint, SEEK_SET);
			assert_int_equal(fread(p->tensor.data, 1, p->bytes, f), p->bytes);
		}
		fclose(f);
	}
	return count;
}

static void free_weights(struct tenon_param *list, size_t count, cJSON *json)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(list[i].tensor.data);
		free(list[i].tensor.shape);
	}
	cJSON_Delete(json);
}

/* @tokenizer: name of its kind; NULL for none */
static void write_gguf(const char *path, const struct tenon_param *list, size_t count,
		       const char *tokenizer)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint64_t offset = 0;
	size_t i;
	int32_t k;

	tenon_buffer_append(&b, "GGUF\3\0\0\0", 8);
	tenon_buffer_u64(&b, count);
	tenon_buffer_u64(&b, tokenizer ? 2 : 1);
	if (tokenizer) {
		tenon_buffer_string(&b, tenon_slice_of("tokenizer.ggml.model"));
		tenon_buffer_u32(&b, 8);
		tenon_buffer_string(&b, tenon_slice_of(tokenizer));
	}
	tenon_buffer_string(&b, tenon_slice_of("tokenizer.chat_template"));
	tenon_buffer_u32(&b, 8);
	tenon_buffer_string(&b,
			    tenon_slice_of("{% for m in messages %}<{{ m.role }}>{{ m.content }}"
					   "{% endfor %}<assistant>"));
	for (i = 0; i < count; i++) {
		const DLTensor *t = &list[i].tensor;

		tenon_buffer_u64(&b, list[i].name.size);
		tenon_buffer_slice(&b, list[i].name);
		tenon_buffer_u32(&b, (uint32_t)t->ndim);
		for (k = t->ndim; k--;)
			tenon_buffer_u64(&b, (uint64_t)t->shape[k]);
		tenon_buffer_u32(&b, 0); /* F32 */
		tenon_buffer_u64(&b, offset);
		offset += (list[i].bytes + 31) / 32 * 32;
	}
	while (!b.status && b.size % 32)
		tenon_buffer_u8(&b, 0);
	for (i = 0; i < count; i++) {
		tenon_buffer_append(&b, list[i].tensor.data, list[i].bytes);
		while (!b.status && b.size % 32)
			tenon_buffer_u8(&b, 0);
	}
	assert_int_equal(b.status, 0);
	write_text(path, b.data, b.size);
	tenon_buffer_fini(&b);
}

static void assert_same_logits(const char *library, const char *weights)
{
	struct tenon_llm_options o = { .size = sizeof(o), .weights = weights };
	struct tenon_llm_part part = { 0, cases[0].prompt, cases[0].count };
	const float *logits;
	struct tenon_llm *llm;

	if (tenon_llm_open(library, &o, &llm))
		fail_msg("%s", tenon_error_message());
	assert_int_equal(tenon_llm_add(llm, &part.id), 0);
	assert_int_equal(tenon_llm_forward(llm, &part, 1, &logits), 0);
	assert_logits(logits, cases[0].logits, 260);
	tenon_llm_close(llm);
}

/* The folder has no mlc-chat-config.json. */
static void assert_template_of_file(const char *library, const char *weights)
{
	static const char want[] = "<user>Hi<assistant>";
	struct tenon_llm_options o = { .size = sizeof(o), .weights = weights };
	const struct tenon_llm_message message = { { "user", 4 }, { "Hi", 2 } };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_llm *llm;
	size_t i;

	assert_int_equal(tenon_llm_open(library, &o, &llm), 0);
	assert_true(tenon_llm_info(llm)->has_template);
	assert_null(tenon_llm_template_problem(llm));
	assert_int_equal(tenon_llm_prompt(llm, &message, 1, &b), 0);
	assert_int_equal(b.size, (sizeof(want) - 1) * sizeof(int32_t));
	for (i = 0; i < sizeof(want) - 1; i++)
		assert_int_equal(((const int32_t *)(const void *)b.data)[i], want[i]);
	tenon_buffer_fini(&b);
	tenon_llm_close(llm);
}

/* Only a build with tokenizers reads what kind the file has. */
static void assert_text_is_refused(const char *library, const char *weights, const char *why)
{
#ifdef CONFIG_LLM_TOKENIZER
	struct tenon_llm_options o = { .size = sizeof(o), .weights = weights };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_llm *llm;

	assert_int_equal(tenon_llm_open(library, &o, &llm), 0);
	assert_string_equal(tenon_llm_info(llm)->tokenizer, "none");
	assert_int_equal(tenon_llm_encode(llm, tenon_slice_of("a"), 0, &b), -TENON_E_UNSUPPORTED);
	assert_error_has(why);
	tenon_buffer_fini(&b);
	tenon_llm_close(llm);
#endif
}

static void weights_may_be_safetensors_or_gguf(void **state)
{
	static struct tenon_param list[64];
	cJSON *json;
	const size_t count = read_weights(list, 64, &json);
	char made[512], path[600], library[4200];
	struct tenon_llm_options o = { .size = sizeof(o), .weights = path };
	struct tenon_llm *llm;

	(void)state;
	snprintf(made, sizeof(made), "%s/llm.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	assert_non_null(mkdtemp(made));
	snprintf(library, sizeof(library), "%s/model.so", folder);

	/* found in the folder of the weights, and named */
	snprintf(path, sizeof(path), "%s/any.gguf", made);
	write_gguf(path, list, count, NULL);
	assert_same_logits(library, made);
	assert_same_logits(library, path);
	assert_template_of_file(library, made);
	write_gguf(path, list, count, "sentences");
	assert_same_logits(library, made);
	assert_text_is_refused(library, made, "sentences");
	unlink(path);
	snprintf(path, sizeof(path), "%s/model.safetensors", made);
	assert_int_equal(tenon_params_write_safetensors(path, list, count, 0), 0);
	assert_same_logits(library, made);
	assert_same_logits(library, path);

	/* names are strict */
	list[1].name = tenon_slice_of("norm.wieght");
	assert_int_equal(tenon_params_write_safetensors(path, list, count, 0), 0);
	assert_int_equal(tenon_llm_open(library, &o, &llm), -TENON_E_FORMAT);
	assert_error_has("\"norm.weight\". Nearest: \"norm.wieght\"");
	list[1].name = tenon_slice_of("norm.weight");
	list[1].tensor.shape[0] = 8;
	list[1].bytes = 32;
	assert_int_equal(tenon_params_write_safetensors(path, list, count, 0), 0);
	assert_int_equal(tenon_llm_open(library, &o, &llm), -TENON_E_FORMAT);
	assert_error_has("weight \"norm.weight\" has extent 8");
	free_weights(list, count, json);
	unlink(path);
	rmdir(made);
}

/* ---- text of replies */

static void reply_gives(struct reply *r, const char *bytes, const char *want, bool stops)
{
	bool stopped;

	assert_int_equal(reply_add(r, tenon_slice_of(bytes), &stopped), 0);
	assert_int_equal(stopped, stops);
	assert_int_equal(r->ready.size, strlen(want));
	if (*want)
		assert_memory_equal(r->ready.data, want, strlen(want));
	r->ready.size = 0;
}

static void a_reply_has_whole_characters_and_no_stop_string(void **state)
{
	const struct tenon_slice stops[] = { { "</s>", 4 }, { "\n\n", 2 } };
	struct reply r = { .stops = stops, .stop_count = 2 };

	(void)state;
	reply_gives(&r, "a<", "a", false);
	reply_gives(&r, "/x", "</x", false);
	reply_gives(&r, "\xe2\x82", "", false);
	reply_gives(&r, "\xac\n", "\xe2\x82\xac", false);
	reply_gives(&r, "b\xff", "\nb\xef\xbf\xbd", false);
	reply_gives(&r, "<</", "<", false);
	reply_gives(&r, "s>more", "", true);
	reply_fini(&r);
	r = (struct reply){ .stop_count = 0 };
	reply_gives(&r, "x\xf0\x9f", "x", false);
	assert_int_equal(reply_finish(&r), 0);
	assert_int_equal(r.ready.size, 6);
	reply_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__) && defined(__GLIBC__)
		cmocka_unit_test(logits_of_each_prompt_are_those_of_tvm),
		cmocka_unit_test(prompts_in_one_batch_have_the_same_logits),
		cmocka_unit_test(a_fork_continues_like_a_sequence_of_its_own),
		cmocka_unit_test(a_refused_step_leaves_the_sequences_as_they_were),
		cmocka_unit_test(a_conversation_becomes_the_template_of_the_model),
		cmocka_unit_test(weights_stay_in_their_files_until_the_model_is_closed),
		cmocka_unit_test(weights_that_do_not_fit_the_model_are_refused),
		cmocka_unit_test(weights_may_be_safetensors_or_gguf),
#endif
		cmocka_unit_test(a_reply_has_whole_characters_and_no_stop_string),
		cmocka_unit_test(functions_that_change_weights_are_refused),
	};

#if !defined(__x86_64__) || !defined(__GLIBC__)
	print_message("# the models are for x86-64 and glibc\n");
	(void)logits_of_each_prompt_are_those_of_tvm;
	(void)prompts_in_one_batch_have_the_same_logits;
	(void)a_fork_continues_like_a_sequence_of_its_own;
	(void)a_refused_step_leaves_the_sequences_as_they_were;
	(void)a_conversation_becomes_the_template_of_the_model;
	(void)weights_stay_in_their_files_until_the_model_is_closed;
	(void)weights_that_do_not_fit_the_model_are_refused;
	(void)weights_may_be_safetensors_or_gguf;
#endif
	return cmocka_run_group_tests(tests, read_record, free_record);
}
