/* SPDX-License-Identifier: MIT */
/* The chat template of a file in GGUF and the tokens that end a reply, written as an mlc-chat-config.json. */
#include <inttypes.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "llm/llm_gguf.h"
#include "llm/template_cut.h"

enum { TEMPLATE, TOKENS, BOS, EOS, EOT, ADD_BOS, VALUES };

static int check_token(const char *path, const struct gguf_value *v, uint64_t count)
{
	const int64_t number = v->found ? gguf_integer(v) : 0;

	/* a file with weights alone has no vocabulary to compare with */
	if (!v->found || (number >= 0 && (!count || (uint64_t)number < count)))
		return 0;
	return tenon_error(-TENON_E_FORMAT,
			   "%s: %s is %" PRIi64 ", of a vocabulary of %" PRIu64 " tokens", path,
			   v->key, number, count);
}

static struct tenon_slice name_of(const struct gguf_value *tokens, const struct gguf_value *number)
{
	struct tenon_slice rest = { tokens->bytes.data, tokens->bytes.size }, name = { "", 0 };
	int64_t i;

	for (i = 0; number->found && tokens->count && i <= gguf_integer(number); i++)
		name = gguf_next_string(&rest);
	return name;
}

static int write_template(const char *path, const struct gguf_value *v, struct tenon_buffer *out,
			  struct tenon_buffer *why)
{
	const struct tenon_slice program = { v[TEMPLATE].bytes.data, v[TEMPLATE].bytes.size };
	const int64_t bos = v[BOS].found ? gguf_integer(&v[BOS]) : -1;
	const int64_t prefix = v[ADD_BOS].found && *v[ADD_BOS].bytes.data ? bos : -1;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	if (!program.size) {
		tenon_buffer_printf(why, "%s has no chat template", path);
		return why->status;
	}
	err = template_cut(program, path, name_of(&v[TOKENS], &v[BOS]),
			   name_of(&v[TOKENS], &v[EOS]), prefix, bos, &text, why);
	if (!err && text.size) {
		tenon_buffer_printf(out, ",\"conv_template\":");
		err = tenon_buffer_append(out, text.data, text.size);
	}
	tenon_buffer_fini(&text);
	return err;
}

int gguf_chat_json(const char *path, struct tenon_buffer *out, struct tenon_buffer *why)
{
	struct gguf_value v[VALUES] = {
		[TEMPLATE] = { .key = "tokenizer.chat_template", .type = GGUF_STRING },
		[TOKENS] = { .key = "tokenizer.ggml.tokens", .type = GGUF_STRING, .array = true },
		[BOS] = { .key = "tokenizer.ggml.bos_token_id", .type = -1 },
		[EOS] = { .key = "tokenizer.ggml.eos_token_id", .type = -1 },
		[EOT] = { .key = "tokenizer.ggml.eot_token_id", .type = -1 },
		[ADD_BOS] = { .key = "tokenizer.ggml.add_bos_token", .type = GGUF_BOOL },
	};
	const char *comma = "";
	size_t i;
	int err = gguf_read_values(path, v, VALUES);

	for (i = BOS; i <= EOT && !err; i++)
		err = check_token(path, &v[i], v[TOKENS].count);
	/* as tenon-compile recommends */
	tenon_buffer_printf(out, "{\"temperature\":0.7,\"top_p\":0.9,\"eos_token_id\":[");
	for (i = EOS; i <= EOT && !err; i++)
		if (v[i].found) {
			tenon_buffer_printf(out, "%s%" PRIi64, comma, gguf_integer(&v[i]));
			comma = ",";
		}
	tenon_buffer_u8(out, ']');
	if (!err)
		err = write_template(path, v, out, why);
	tenon_buffer_u8(out, '}');
	gguf_free_values(v, VALUES);
	return err ? err : out->status;
}
