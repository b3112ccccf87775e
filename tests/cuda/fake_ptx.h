/* SPDX-License-Identifier: MIT */
/*
 * The part of fake_cuda.c that reads PTX. What the fake does not know is an error with its line, as the
 * real compiler's are. fake_ptx_run.h runs what was read here.
 */

enum ptx_operand_kind { PTX_REGISTER, PTX_NUMBER, PTX_SPECIAL, PTX_ADDRESS, PTX_VECTOR, PTX_LABEL };

struct ptx_operand {
	int kind;
	int reg;       /* register; of an address -1 for none */
	int vector[4]; /* registers */
	int count;
	uint64_t number; /* bits, offset, place of a label, or which special register */
	char label[64];
};

struct ptx_instruction {
	char op[48];   /* "ld.global.nc.f32" */
	char base[12]; /* "ld" */
	char type[8];  /* "f32", the last part */
	char first[8]; /* "s32", the part before it where that is a type too */
	int predicate; /* register, -1 for none */
	int negated;
	int count;
	int line;
	struct ptx_operand operand[5];
};

struct ptx_param {
	char name[80];
	size_t offset, size;
};

struct ptx_kernel {
	struct ptx_kernel *next;
	char name[64];
	struct ptx_param param[64];
	int param_count;
	size_t param_size;
	size_t shared; /* static */
	struct ptx_instruction *code;
	int code_count;
	int registers;
};

/* names of one kernel while it is read */
struct ptx_names {
	char reg[512][24];
	int reg_count;
	struct {
		char name[80];
		uint64_t offset;
		int dynamic;
	} symbol[32];
	int symbol_count;
	struct {
		char name[64];
		int place;
	} label[64];
	int label_count;
};

struct ptx_reader {
	const char *at;
	int line;
	char *log;
	size_t room;
	struct ptx_names *names;
	struct ptx_kernel *kernel;
	char externs[8][80];
	int extern_count;
};

static int ptx_complain(struct ptx_reader *r, const char *what, const char *word)
{
	if (r->log && r->room)
		snprintf(r->log, r->room,
			 "ptxas application ptx input, line %d; error   : %s '%s'\n", r->line, what,
			 word);
	return -1;
}

static void ptx_space(struct ptx_reader *r)
{
	for (;;) {
		if (*r->at == '\n')
			r->line++;
		if (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') {
			r->at++;
		} else if (r->at[0] == '/' && r->at[1] == '/') {
			while (*r->at && *r->at != '\n')
				r->at++;
		} else if (r->at[0] == '/' && r->at[1] == '*') {
			while (*r->at && !(r->at[0] == '*' && r->at[1] == '/'))
				r->line += *r->at++ == '\n';
			r->at += *r->at ? 2 : 0;
		} else {
			return;
		}
	}
}

static int ptx_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '.' || c == '%' || c == '-';
}

/* "ld.param.u64", "%rd1", "-56", or one sign */
static void ptx_word(struct ptx_reader *r, char *out, size_t room)
{
	size_t n = 0;

	ptx_space(r);
	while (ptx_is_word(*r->at) && n + 1 < room)
		out[n++] = *r->at++;
	if (!n && *r->at)
		out[n++] = *r->at++;
	out[n] = '\0';
}

static int ptx_peek(struct ptx_reader *r)
{
	ptx_space(r);
	return *r->at;
}

static int ptx_expect(struct ptx_reader *r, const char *word)
{
	char got[128];

	ptx_word(r, got, sizeof(got));
	return strcmp(got, word) ? ptx_complain(r, "unexpected", got) : 0;
}

static size_t ptx_type_size(const char *type)
{
	const char *digits = type + strcspn(type, "0123456789");

	return strcmp(type, "pred") ? strtoul(digits, NULL, 10) / 8 : 1;
}

static int ptx_register(struct ptx_reader *r, const char *name)
{
	struct ptx_names *n = r->names;
	int i;

	for (i = 0; i < n->reg_count; i++)
		if (!strcmp(n->reg[i], name))
			return i;
	if (n->reg_count == 512 || strlen(name) >= sizeof(n->reg[0]))
		return -1;
	strcpy(n->reg[n->reg_count], name);
	return n->reg_count++;
}

static const char *const ptx_specials[] = { "%tid.x",	"%tid.y",    "%tid.z",	  "%ntid.x",
					    "%ntid.y",	"%ntid.z",   "%ctaid.x",  "%ctaid.y",
					    "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z" };

static int ptx_special(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(ptx_specials) / sizeof(*ptx_specials); i++)
		if (!strcmp(ptx_specials[i], word))
			return (int)i;
	return -1;
}

static int ptx_symbol(struct ptx_reader *r, const char *word, uint64_t *out)
{
	int i;

	for (i = 0; i < r->kernel->param_count; i++)
		if (!strcmp(r->kernel->param[i].name, word)) {
			*out = r->kernel->param[i].offset;
			return 1;
		}
	for (i = 0; i < r->names->symbol_count; i++)
		if (!strcmp(r->names->symbol[i].name, word)) {
			*out = r->names->symbol[i].offset;
			return 1;
		}
	/* all that is extern begins behind what is static */
	for (i = 0; i < r->extern_count; i++)
		if (!strcmp(r->externs[i], word)) {
			*out = UINT64_C(1) << 32;
			return 1;
		}
	return 0;
}

static int ptx_number(const char *word, uint64_t *out)
{
	const char *digits = word + (*word == '-');
	char *end;

	if (word[0] == '0' && (word[1] == 'f' || word[1] == 'd')) {
		*out = strtoull(word + 2, &end, 16);
		return !*end && end != word + 2;
	}
	if (*digits < '0' || *digits > '9')
		return 0;
	*out = strtoull(digits, &end, 0);
	if (*word == '-')
		*out = 0 - *out;
	return !*end || !strcmp(end, "U");
}

static int ptx_address(struct ptx_reader *r, struct ptx_operand *o)
{
	uint64_t more = 0;
	char word[128];

	o->kind = PTX_ADDRESS;
	o->reg = -1;
	ptx_word(r, word, sizeof(word));
	if (*word == '%')
		o->reg = ptx_register(r, word);
	else if (!ptx_symbol(r, word, &o->number))
		return ptx_complain(r, "unknown symbol", word);
	if (ptx_peek(r) == '+') {
		r->at++;
		ptx_word(r, word, sizeof(word));
		if (!ptx_number(word, &more))
			return ptx_complain(r, "no number", word);
		o->number += more;
	}
	return ptx_expect(r, "]");
}

static int ptx_vector(struct ptx_reader *r, struct ptx_operand *o)
{
	char word[128];

	o->kind = PTX_VECTOR;
	for (;;) {
		ptx_word(r, word, sizeof(word));
		if (*word != '%' || o->count == 4)
			return ptx_complain(r, "no register", word);
		o->vector[o->count++] = ptx_register(r, word);
		ptx_word(r, word, sizeof(word));
		if (*word == '}')
			return 0;
	}
}

static int ptx_operand(struct ptx_reader *r, struct ptx_operand *o)
{
	char word[128];
	int special;

	ptx_word(r, word, sizeof(word));
	if (*word == '[')
		return ptx_address(r, o);
	if (*word == '{')
		return ptx_vector(r, o);
	special = ptx_special(word);
	if (special >= 0) {
		o->kind = PTX_SPECIAL;
		o->number = (uint64_t)special;
	} else if (*word == '%') {
		o->kind = PTX_REGISTER;
		o->reg = ptx_register(r, word);
	} else if (ptx_number(word, &o->number) || ptx_symbol(r, word, &o->number)) {
		o->kind = PTX_NUMBER;
	} else if (*word == '$' || *word == '_' || (*word >= 'A' && *word <= 'z')) {
		o->kind = PTX_LABEL;
		snprintf(o->label, sizeof(o->label), "%s", word);
	} else {
		return ptx_complain(r, "unexpected", word);
	}
	return 0;
}
