/* SPDX-License-Identifier: MIT */
/* Words, booleans and numbers of JSON with a default. */
#include "llm/llm_json.h"

#include <math.h>
#include <tenon/llm.h>

bool llm_json_word(const struct json_text *t, uint32_t *at, const char *word)
{
	if (!json_is(t, *at, JSMN_PRIMITIVE) || !slice_is(json_raw(t, *at), word))
		return false;
	++*at;
	return true;
}

int llm_json_bool(const struct json_text *t, uint32_t *at, const char *what, bool *out)
{
	*out = llm_json_word(t, at, "true");
	if (*out || llm_json_word(t, at, "false"))
		return 0;
	return json_error(t, *at, -TENON_E_FORMAT, "%s is neither true nor false", what);
}

/* digits, at most 19 of which count; @scale is the power of ten that they are to be multiplied by */
static bool read_digits(const char **at, const char *end, uint64_t *digits, int *scale, int step)
{
	const char *start = *at;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
		if (*digits < UINT64_MAX / 10 - 9) {
			*digits = *digits * 10 + (uint64_t)(**at - '0');
			*scale += step;
		} else if (!step) {
			++*scale;
		}
	}
	return *at > start;
}

static bool parse_number(struct tenon_slice s, double *out)
{
	const char *at = s.data, *end = s.data + s.size;
	bool negative = at < end && *at == '-', down;
	uint64_t digits = 0, exponent = 0;
	int scale = 0, unused = 0;

	at += negative;
	if (!read_digits(&at, end, &digits, &scale, 0))
		return false;
	if (at < end && *at == '.') {
		at++;
		if (!read_digits(&at, end, &digits, &scale, -1))
			return false;
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		down = at < end && *at == '-';
		at += at < end && (*at == '-' || *at == '+');
		if (!read_digits(&at, end, &exponent, &unused, 0))
			return false;
		if (exponent > 1000)
			exponent = 1000;
		scale += down ? -(int)exponent : (int)exponent;
	}
	*out = (double)digits * pow(10, scale);
	if (negative)
		*out = -*out;
	return at == end && isfinite(*out);
}

int llm_json_number(const struct json_text *t, uint32_t *at, const char *what, double least,
		    double most, double *out)
{
	struct tenon_slice raw;

	*out = 0;
	if (!json_is(t, *at, JSMN_PRIMITIVE))
		return json_error(t, *at, -TENON_E_FORMAT, "%s is no number", what);
	raw = json_raw(t, *at);
	if (!parse_number(raw, out))
		return json_error(t, *at, -TENON_E_FORMAT, "%s is %.*s, want a number", what,
				  json_shown(raw), raw.data);
	if (!(*out >= least && *out <= most))
		return json_error(t, *at, -TENON_E_VALUE, "%s is %g, want %g to %g", what, *out,
				  least, most);
	++*at;
	return 0;
}

int llm_json_optional(const struct json_text *t, uint32_t *at, const char *what, int64_t *out)
{
	if (llm_json_word(t, at, "null"))
		return 0;
	return json_integer(t, at, what, INT32_MIN, INT32_MAX, out);
}

bool llm_json_sampling(const struct json_text *t, uint32_t *at, struct tenon_slice key,
		       struct tenon_llm_sampling *to, int *err)
{
	const struct {
		const char *name;
		double least, most, *to;
	} numbers[] = {
		{ "temperature", 0, 100, &to->temperature },
		{ "top_p", 0, 1, &to->top_p },
		{ "repetition_penalty", 0.01, 100, &to->repetition_penalty },
		{ "presence_penalty", -100, 100, &to->presence_penalty },
		{ "frequency_penalty", -100, 100, &to->frequency_penalty },
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!slice_is(key, numbers[i].name))
			continue;
		*err = llm_json_word(t, at, "null")
			       ? 0
			       : llm_json_number(t, at, numbers[i].name, numbers[i].least,
						 numbers[i].most, numbers[i].to);
		return true;
	}
	return false;
}
