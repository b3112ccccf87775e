/* SPDX-License-Identifier: MIT */
/* Included by fake_cuda.c behind fake_ptx.h: instructions, kernels and whole texts. */

static int ptx_is_type(const char *s)
{
	return strchr("sufb", *s) && s[1] >= '1' && s[1] <= '9' && strlen(s) <= 3;
}

static int ptx_known(const char *base)
{
	static const char words[] =
		" ld st mov add sub mul mad fma cvt cvta setp selp and or xor not "
		"shl shr neg min max bra bar ret exit bfe rem div ";
	char word[24];

	snprintf(word, sizeof(word), " %s ", base);
	return strstr(words, word) != NULL;
}

/* Split "mul.wide.s32"; the types are at its end. */
static int ptx_opcode(struct ptx_reader *r, struct ptx_instruction *i)
{
	char parts[48], *part, *rest = NULL;

	snprintf(parts, sizeof(parts), "%s", i->op);
	for (part = strtok_r(parts, ".", &rest); part; part = strtok_r(NULL, ".", &rest)) {
		if (!*i->base) {
			snprintf(i->base, sizeof(i->base), "%s", part);
		} else if (ptx_is_type(part) || !strcmp(part, "pred")) {
			memcpy(i->first, i->type, sizeof(i->first));
			snprintf(i->type, sizeof(i->type), "%s", part);
		}
	}
	return ptx_known(i->base) && !strstr(i->op, ".hi")
		       ? 0
		       : ptx_complain(r, "Unknown instruction", i->op);
}

static int ptx_instruction(struct ptx_reader *r, const char *first)
{
	struct ptx_kernel *k = r->kernel;
	struct ptx_instruction *i;
	char word[128];

	k->code = realloc(k->code, (size_t)(k->code_count + 1) * sizeof(*k->code));
	i = &k->code[k->code_count++];
	memset(i, 0, sizeof(*i));
	i->predicate = -1;
	i->line = r->line;
	snprintf(word, sizeof(word), "%s", first);
	if (*word == '@') {
		if (ptx_peek(r) == '!') {
			r->at++;
			i->negated = 1;
		}
		ptx_word(r, word, sizeof(word));
		i->predicate = ptx_register(r, word);
		ptx_word(r, word, sizeof(word));
	}
	snprintf(i->op, sizeof(i->op), "%.47s", word);
	if (ptx_opcode(r, i))
		return -1;
	while (ptx_peek(r) != ';') {
		if (i->count == 5 || ptx_operand(r, &i->operand[i->count++]))
			return i->count == 5 ? ptx_complain(r, "too many operands", i->op) : -1;
		if (ptx_peek(r) == ',')
			r->at++;
		else if (*r->at != ';')
			return ptx_complain(r, "syntax error near", i->op);
	}
	r->at++;
	return 0;
}

/* ".shared .align 4 .b8 name[256];" in a kernel, or with nothing in the brackets outside */
static int ptx_shared(struct ptx_reader *r)
{
	uint64_t align = 4, element = 1, count = 0;
	struct ptx_names *n = r->names;
	char word[128];

	for (ptx_word(r, word, sizeof(word)); *word == '.'; ptx_word(r, word, sizeof(word))) {
		if (!strcmp(word, ".align")) {
			ptx_word(r, word, sizeof(word));
			align = strtoul(word, NULL, 10);
		} else {
			element = ptx_type_size(word + 1);
		}
	}
	if (!r->kernel) {
		snprintf(r->externs[r->extern_count++ % 8], 80, "%.79s", word);
	} else {
		snprintf(n->symbol[n->symbol_count].name, 80, "%.79s", word);
		r->kernel->shared = (r->kernel->shared + align - 1) / align * align;
		n->symbol[n->symbol_count % 32].offset = r->kernel->shared;
		n->symbol_count++;
	}
	if (ptx_expect(r, "["))
		return -1;
	ptx_word(r, word, sizeof(word));
	if (*word != ']') {
		count = strtoul(word, NULL, 10);
		if (ptx_expect(r, "]"))
			return -1;
	}
	if (r->kernel)
		r->kernel->shared += element * count;
	return ptx_expect(r, ";");
}

static int ptx_params(struct ptx_reader *r)
{
	struct ptx_kernel *k = r->kernel;
	size_t size = 0, align, count;
	struct ptx_param *p;
	char word[128];

	while (ptx_peek(r) != ')') {
		p = &k->param[k->param_count];
		if (k->param_count == 64 || ptx_expect(r, ".param"))
			return -1;
		align = 0;
		for (ptx_word(r, word, sizeof(word)); *word == '.';
		     ptx_word(r, word, sizeof(word))) {
			if (!strcmp(word, ".align")) {
				ptx_word(r, word, sizeof(word));
				align = strtoul(word, NULL, 10);
			} else if (ptx_is_type(word + 1)) {
				size = ptx_type_size(word + 1);
			}
		}
		snprintf(p->name, sizeof(p->name), "%.79s", word);
		if (!align)
			align = size;
		count = 1;
		if (ptx_peek(r) == '[') {
			r->at++;
			ptx_word(r, word, sizeof(word));
			count = strtoul(word, NULL, 10);
			if (ptx_expect(r, "]"))
				return -1;
		}
		p->size = size * count;
		p->offset = (k->param_size + align - 1) / align * align;
		k->param_size = p->offset + p->size;
		k->param_count++;
		if (ptx_peek(r) == ',')
			r->at++;
	}
	return ptx_expect(r, ")");
}

static int ptx_resolve(struct ptx_reader *r)
{
	struct ptx_kernel *k = r->kernel;
	int i, j, l;

	for (i = 0; i < k->code_count; i++)
		for (j = 0; j < k->code[i].count; j++) {
			struct ptx_operand *o = &k->code[i].operand[j];

			if (o->kind != PTX_LABEL)
				continue;
			for (l = 0; l < r->names->label_count; l++)
				if (!strcmp(r->names->label[l].name, o->label))
					break;
			if (l == r->names->label_count)
				return ptx_complain(r, "undefined label", o->label);
			o->number = (uint64_t)r->names->label[l].place;
		}
	k->registers = r->names->reg_count;
	return 0;
}

static int ptx_body(struct ptx_reader *r)
{
	struct ptx_names *n = r->names;
	char word[128];
	int depth = 1;

	while (depth) {
		ptx_word(r, word, sizeof(word));
		if (!*word)
			return ptx_complain(r, "unexpected end of", r->kernel->name);
		if (*word == '{') {
			depth++;
		} else if (*word == '}') {
			depth--;
		} else if (!strcmp(word, ".shared")) {
			if (ptx_shared(r))
				return -1;
		} else if (*word == '.') {
			/* registers are made as they are met; other directives are hints */
			while (*r->at && *r->at != ';' && *r->at != '\n')
				r->at++;
			r->at += *r->at == ';';
		} else if (ptx_peek(r) == ':') {
			r->at++;
			snprintf(n->label[n->label_count % 64].name, 64, "%.63s", word);
			n->label[n->label_count++ % 64].place = r->kernel->code_count;
		} else if (ptx_instruction(r, word)) {
			return -1;
		}
	}
	return ptx_resolve(r);
}

static void ptx_free(struct ptx_kernel *k)
{
	struct ptx_kernel *next;

	for (; k; k = next) {
		next = k->next;
		free(k->code);
		free(k);
	}
}

static int ptx_entry(struct ptx_reader *r, struct ptx_kernel **list)
{
	struct ptx_kernel *k = calloc(1, sizeof(*k));
	char word[128];
	int err;

	k->next = *list;
	*list = k;
	r->kernel = k;
	memset(r->names, 0, sizeof(*r->names));
	ptx_word(r, word, sizeof(word));
	snprintf(k->name, sizeof(k->name), "%.63s", word);
	err = ptx_expect(r, "(");
	if (!err)
		err = ptx_params(r);
	/* ".maxntid 64, 1, 1" and the like */
	while (!err && ptx_peek(r) != '{')
		ptx_word(r, word, sizeof(word));
	if (!err)
		err = ptx_expect(r, "{");
	if (!err)
		err = ptx_body(r);
	r->kernel = NULL;
	return err;
}

/* Read a text; NULL with the log filled when it is none. */
static struct ptx_kernel *ptx_read(const char *text, char *log, size_t room)
{
	struct ptx_reader r = { .at = text, .line = 1, .log = log, .room = room };
	struct ptx_kernel *list = NULL;
	char word[128];
	int err = 0;

	r.names = malloc(sizeof(*r.names));
	ptx_word(&r, word, sizeof(word));
	if (strcmp(word, ".version"))
		err = ptx_complain(&r, "Missing .version directive at start of file", word);
	while (!err && ptx_peek(&r)) {
		ptx_word(&r, word, sizeof(word));
		if (!strcmp(word, ".entry"))
			err = ptx_entry(&r, &list);
		else if (!strcmp(word, ".shared"))
			err = ptx_shared(&r);
	}
	free(r.names);
	if (!err)
		return list;
	ptx_free(list);
	return NULL;
}
