/* SPDX-License-Identifier: MIT */
/* Choosing the next token. */
#include <math.h>

#include "lib/brief_errors.h"
#include "llm/llm_engine.h"

int llm_sampling_check(const struct tenon_llm_sampling *s)
{
	if (!(s->temperature >= 0 && s->temperature <= 100))
		return tenon_error(-TENON_E_VALUE, "temperature %g, want 0 to 100", s->temperature);
	if (!(s->top_p >= 0 && s->top_p <= 1))
		return tenon_error(-TENON_E_VALUE, "top_p %g, want 0 to 1", s->top_p);
	if (!(s->repetition_penalty >= 0.01 && s->repetition_penalty <= 100))
		return tenon_error(-TENON_E_VALUE, "repetition_penalty %g, want 0.01 to 100",
				   s->repetition_penalty);
	if (!(fabs(s->presence_penalty) <= 100 && fabs(s->frequency_penalty) <= 100))
		return tenon_error(-TENON_E_VALUE,
				   "presence_penalty %g, frequency_penalty %g; want -100 to 100",
				   s->presence_penalty, s->frequency_penalty);
	return 0;
}

static void apply_penalties(float *row, int64_t size, const struct tenon_llm_sampling *s,
			    const uint16_t *in_prompt, const uint16_t *in_reply)
{
	int64_t i;

	for (i = 0; i < size; i++) {
		if (in_prompt[i] || in_reply[i])
			row[i] = (float)(row[i] > 0 ? row[i] / s->repetition_penalty
						    : row[i] * s->repetition_penalty);
		if (in_reply[i])
			row[i] -= (float)(s->presence_penalty + s->frequency_penalty * in_reply[i]);
	}
}

int llm_sample(struct tenon_llm *llm, float *row, const struct tenon_llm_sampling *s,
	       const uint16_t *in_prompt, const uint16_t *in_reply, double u, int32_t *token)
{
	int64_t shape[2] = { 1, llm->info.vocabulary }, i, chosen = 0;
	DLTensor logits = tenon_dltensor(row, shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value args[] = { tenon_arg_none(), tenon_arg_float(s->temperature),
				      tenon_arg_float(s->top_p), tenon_arg_float(u) };
	struct tenon_value ret = tenon_arg_none();
	int err;

	if (s->repetition_penalty != 1 || s->presence_penalty != 0 || s->frequency_penalty != 0)
		apply_penalties(row, llm->info.vocabulary, s, in_prompt, in_reply);
	if (s->temperature < 1e-6) {
		/* the first of the largest; a NaN is never larger */
		for (i = 1; i < llm->info.vocabulary; i++)
			if (row[i] > row[chosen] || isnan(row[chosen]))
				chosen = i;
		if (isnan(row[chosen]))
			return tenon_error(-TENON_E_VALUE, "every logit is NaN");
		*token = (int32_t)chosen;
		return 0;
	}
	args[0] = tenon_arg_tensor(&logits);
	err = tenon_function_call(llm->cache_f.sample, args, 4, &ret);
	if (err)
		return tenon_error_in(-TENON_E_CALL, "sampling");
	err = tenon_value_int(&ret, &chosen);
	if (!err && (chosen < 0 || chosen >= llm->info.vocabulary))
		err = tenon_error(-TENON_E_VALUE, "sampling chose a token that does not exist");
	*token = (int32_t)chosen;
	return err;
}
