# SPDX-License-Identifier: MIT
#
# Read the Kconfig language, resolve a configuration, write what was asked for. POSIX awk, so that a
# build needs no other tool. Bool, tristate, int, hex and string symbols; no choice. A tristate can be m
# while the symbol with "option modules" is y; otherwise it is a bool.
#
# awk -f scripts/kconfig.awk -v mode=MODE -v kconfig=Kconfig [-v config=FILE] [-v drop=1] \
#     [-v out=FILE] [-v conf=FILE] [-v header=FILE] [-v lacking="SYMBOL..."]
#
#   mode=build    config -> conf (for make) and header (for C); config is not rewritten
#   mode=full     config -> out, a complete .config; without config: the defaults
#   mode=allyes   every bool and tristate that can be y -> out; mode=allno: that can be n
#   mode=minimal  config -> out, only what differs from the defaults
#
# Symbols in lacking are n, whatever config says. An unknown symbol in config is an error, unless drop=1 asks to leave such lines out.

function complain(text)
{
	print text | "cat 1>&2"
}

function die(where, text)
{
	complain(where ": " text)
	close("cat 1>&2")
	exit 1
}

function trim(s)
{
	sub(/^[ \t]+/, "", s)
	sub(/[ \t\r]+$/, "", s)
	return s
}

# columns of leading white space, a tab stands for eight
function indent(s,    i, n, c)
{
	n = 0
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == " ")
			n++
		else if (c == "\t")
			n += 8 - n % 8
		else
			break
	}
	return n
}

# ---- reading Kconfig

function both(a, b)
{
	if (a == "")
		return b
	return b == "" ? a : "(" a ") && (" b ")"
}

# the quoted text that s starts with; what follows it is left in rest
function quoted(s, where,    i, c, t)
{
	if (substr(s, 1, 1) != "\"")
		die(where, "a text in double quotes was expected: " s)
	t = ""
	for (i = 2; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "\\") {
			i++
			t = t substr(s, i, 1)
		} else if (c == "\"") {
			rest = trim(substr(s, i + 1))
			return t
		} else {
			t = t c
		}
	}
	die(where, "the text has no closing quote: " s)
}

# "if EXPR" at the end of an attribute
function condition(s, where)
{
	if (s == "")
		return ""
	if (s !~ /^if[ \t(!]/)
		die(where, "'if' was expected before: " s)
	return trim(substr(s, 3))
}

# VALUE [if EXPR]: the value is returned, the condition left in cond
function value_if(s, where,    i, v)
{
	if (substr(s, 1, 1) == "\"") {
		v = quoted(s, where)
		cond = condition(rest, where)
		return "\"" v "\""
	}
	i = match(s, /[ \t]if[ \t(!]/)
	if (!i) {
		cond = ""
		return s
	}
	cond = trim(substr(s, i + 3))
	return trim(substr(s, 1, i - 1))
}

function add_default(s, value, c)
{
	ndefault[s]++
	default_value[s, ndefault[s]] = value
	default_if[s, ndefault[s]] = c
}

function set_type(s, t, text, where)
{
	if (type[s] != "" && type[s] != t)
		die(where, s " is " type[s] " already")
	type[s] = t
	if (text != "") {
		prompt[s] = quoted(text, where)
		has_prompt[s] = 1
		prompt_if[s] = condition(rest, where)
	}
}

function attribute(s, word, text, where)
{
	if (word == "bool" || word == "tristate" || word == "int" || word == "hex" ||
	    word == "string") {
		set_type(s, word, text, where)
	} else if (word == "option" && text == "modules") {
		modules_symbol = s
	} else if (word == "def_bool" || word == "def_tristate") {
		set_type(s, substr(word, 5), "", where)
		text = value_if(text, where)
		add_default(s, text, cond)
	} else if (word == "prompt") {
		set_type(s, type[s], text, where)
	} else if (word == "default") {
		text = value_if(text, where)
		add_default(s, text, cond)
	} else if (word == "depends") {
		sub(/^on[ \t]+/, "", text)
		depends[s] = both(depends[s], text)
	} else if (word == "select" || word == "imply") {
		text = value_if(text, where)
		nselect++
		select_by[nselect] = s
		select_to[nselect] = text
		select_if[nselect] = cond
		select_weak[nselect] = (word == "imply")
		select_at[nselect] = where
	} else if (word == "range") {
		cond = text
		sub(/[ \t].*/, "", text)
		range_low[s] = text
		sub(/^[^ \t]+[ \t]+/, "", cond)
		range_high[s] = trim(cond)
	} else {
		die(where, "'" word "' is not known here")
	}
}

function new_symbol(s, where)
{
	if (s !~ /^[A-Z0-9_a-z]+$/)
		die(where, "'" s "' is not a symbol's name")
	if (s in known)
		die(where, s " is defined twice, first at " known[s])
	known[s] = where
	nitem++
	item[nitem] = "symbol"
	item_name[nitem] = s
	depends[s] = scope
}

# dependencies of the open menus and ifs, as one expression
function rescope(    i)
{
	scope = ""
	for (i = 1; i <= depth; i++)
		scope = both(scope, level_if[i])
}

function open_level(kind, expr)
{
	depth++
	level[depth] = kind
	level_if[depth] = expr
	rescope()
}

function close_level(kind, where)
{
	if (depth < 1 || level[depth] != kind)
		die(where, "end" kind " without " kind)
	depth--
	rescope()
}

function read_kconfig(file,    line, n, i, where, word, text, sym, state, col, status)
{
	n = 0
	while ((status = (getline line[n + 1] < file)) > 0)
		n++
	if (status < 0)
		die(file, "cannot be read")
	close(file)

	state = ""
	for (i = 1; i <= n; i++) {
		where = file ":" i
		text = line[i]
		while (text ~ /\\$/ && i < n)
			text = substr(text, 1, length(text) - 1) " " line[++i]
		text = trim(text)
		if (text == "" || text ~ /^#/)
			continue
		word = text
		sub(/[ \t(].*/, "", word)
		text = trim(substr(text, length(word) + 1))

		if (word == "help" || word == "---help---") {
			while (i < n && line[i + 1] ~ /^[ \t]*$/)
				i++
			col = i < n ? indent(line[i + 1]) : 0
			while (i < n && col > 0 &&
			       (line[i + 1] ~ /^[ \t]*$/ || indent(line[i + 1]) >= col))
				i++
		} else if (word == "config" || word == "menuconfig") {
			sym = text
			state = "symbol"
			new_symbol(sym, where)
		} else if (word == "mainmenu") {
			title = quoted(text, where)
		} else if (word == "menu" || word == "comment") {
			nitem++
			item[nitem] = word
			item_name[nitem] = quoted(text, where)
			item_if[nitem] = scope
			state = word
			if (word == "menu")
				open_level("menu", "")
		} else if (word == "endmenu") {
			close_level("menu", where)
			state = ""
		} else if (word == "if") {
			open_level("if", text)
			state = ""
		} else if (word == "endif") {
			close_level("if", where)
			state = ""
		} else if (word == "source") {
			text = quoted(text, where)
			read_kconfig(text)
			state = ""
		} else if (state == "symbol") {
			attribute(sym, word, text, where)
		} else if (state != "" && (word == "depends" || word == "visible")) {
			sub(/^(on|if)[ \t]+/, "", text)
			item_if[nitem] = both(item_if[nitem], text)
			if (state == "menu") {
				level_if[depth] = both(level_if[depth], text)
				rescope()
			}
		} else {
			die(where, "'" word "' is not known here")
		}
	}
}

function check_kconfig(    i, s)
{
	if (depth)
		die(kconfig, level[depth] " is not closed")
	for (i = 1; i <= nitem; i++) {
		s = item_name[i]
		if (item[i] == "symbol" && type[s] == "")
			die(known[s], s " has no type")
	}
	for (i = 1; i <= nselect; i++)
		if (!(select_to[i] in known))
			die(select_at[i], "select of the unknown symbol " select_to[i])
}

# ---- the three values: n < m < y; what is not one of them counts as n

function rank(v)
{
	return v == "y" ? 2 : v == "m" ? 1 : 0
}

function lower(a, b)
{
	return rank(a) < rank(b) ? a : rank(b) ? b : "n"
}

function higher(a, b)
{
	return rank(a) > rank(b) ? a : rank(b) ? b : "n"
}

function is_logic(s)
{
	return type[s] == "bool" || type[s] == "tristate"
}

# m where the symbol can be m, otherwise y in its place
function in_range(s, v)
{
	if (v != "m" || (type[s] == "tristate" && modules_symbol != "" && resolve(modules_symbol) == "y"))
		return v
	return "y"
}

# ---- expressions: or <- and <- not <- ( ... ) or operand [= or != operand]

function token(    c, n)
{
	sub(/^[ \t]+/, "", left)
	c = substr(left, 1, 1)
	if (c == "\"") {
		tok = "\"" quoted(left, "expression")
		left = rest
		return
	}
	n = 1
	if (substr(left, 1, 2) ~ /^(&&|\|\||!=)$/)
		n = 2
	else if (match(left, /^[A-Za-z0-9_.-]+/))
		n = RLENGTH
	tok = substr(left, 1, n)
	left = substr(left, n + 1)
}

function operand(    v)
{
	if (tok == "" || tok ~ /^[&|=)!]/)
		die(kconfig, "expression not understood: " whole)
	if (substr(tok, 1, 1) == "\"")
		v = substr(tok, 2)
	else if (tok in known)
		v = resolve(tok)
	else if (tok == "y" || tok == "m" || tok == "n" || tok ~ /^-?[0-9]/)
		v = tok
	else
		die(kconfig, "unknown symbol " tok " in: " whole)
	token()
	return v
}

function parse_not(    a, b, op)
{
	if (tok == "!") {
		token()
		a = rank(parse_not())
		return a == 2 ? "n" : a == 1 ? "m" : "y"
	}
	if (tok == "(") {
		token()
		a = parse_or()
		if (tok != ")")
			die(kconfig, "')' is missing in: " whole)
		token()
		return a
	}
	a = operand()
	if (tok == "=" || tok == "!=") {
		op = tok
		token()
		b = operand()
		return (a == b) == (op == "=") ? "y" : "n"
	}
	return a
}

function parse_and(    a, b)
{
	a = parse_not()
	while (tok == "&&") {
		token()
		b = parse_not()
		a = lower(a, b)
	}
	return a
}

function parse_or(    a, b)
{
	a = parse_and()
	while (tok == "||") {
		token()
		b = parse_and()
		a = higher(a, b)
	}
	return a
}

# value of an expression; an empty one holds. The scanner's state is kept, as operands resolve symbols.
function evaluate(expr,    tok0, left0, whole0, v)
{
	if (expr == "")
		return "y"
	tok0 = tok
	left0 = left
	whole0 = whole
	left = whole = expr
	token()
	v = parse_or()
	if (tok != "")
		die(kconfig, "expression not understood: " expr)
	tok = tok0
	left = left0
	whole = whole0
	return v
}

# ---- values

# the highest value that a person can give: n where the question is not asked
function visible(s)
{
	if (!has_prompt[s])
		return "n"
	return in_range(s, lower(evaluate(depends[s]), evaluate(prompt_if[s])))
}

# the value by the defaults alone; has_default tells whether one applied
function by_default(s,    i, v, limit)
{
	v = is_logic(s) ? "n" : ""
	has_default = 0
	for (i = 1; i <= ndefault[s]; i++) {
		limit = lower(evaluate(depends[s]), evaluate(default_if[s, i]))
		if (!rank(limit))
			continue
		v = default_value[s, i]
		if (is_logic(s))
			v = lower(evaluate(v), limit)
		else if (substr(v, 1, 1) == "\"")
			v = substr(v, 2, length(v) - 2)
		else if (v in known)
			v = resolve(v)
		has_default = 1
		break
	}
	return v
}

# the highest value that a select of s, or with weak an imply, asks for
function selected(s, weak,    i, v)
{
	v = "n"
	for (i = 1; i <= nselect; i++)
		if (select_to[i] == s && select_weak[i] == weak)
			v = higher(v, lower(resolve(select_by[i]), evaluate(select_if[i])))
	return v
}

# the value where the person gave none
function unasked(s,    v)
{
	v = by_default(s)
	if (is_logic(s) && rank(selected(s, 1)))
		v = lower(higher(v, selected(s, 1)), evaluate(depends[s]))
	return v
}

function resolve(s,    v, see, least)
{
	if (s in value)
		return value[s]
	if (s in busy)
		die(known[s], s " depends on itself")
	busy[s] = 1

	see = visible(s)
	if (rank(see) && (s in user)) {
		v = is_logic(s) ? lower(user[s], see) : user[s]
		written[s] = 1
	} else {
		v = unasked(s)
		written[s] = rank(see) || has_default
	}
	if (is_logic(s)) {
		least = selected(s, 0)
		if (rank(least)) {
			if (!rank(evaluate(depends[s])))
				complain(known[s] ": " s " is selected although it depends on " \
					depends[s])
			# what is selected to the full leaves no choice
			forced[s] = in_range(s, least) == "y"
			written[s] = 1
		}
		v = in_range(s, higher(v, least))
	}
	delete busy[s]
	value[s] = v
	return v
}

# ---- reading a configuration

function least(a, b, c)
{
	if (b < a)
		a = b
	return c < a ? c : a
}

function distance(a, b,    i, j, d)
{
	for (i = 0; i <= length(a); i++)
		d[i, 0] = i
	for (j = 0; j <= length(b); j++)
		d[0, j] = j
	for (i = 1; i <= length(a); i++)
		for (j = 1; j <= length(b); j++)
			d[i, j] = least(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + \
				(substr(a, i, 1) != substr(b, j, 1)))
	return d[length(a), length(b)]
}

function nearest(s,    k, n, best, name)
{
	best = length(s) / 2 + 1
	name = ""
	for (k in known) {
		n = distance(s, k)
		if (n < best || (n == best && name != "" && k < name)) {
			best = n
			name = k
		}
	}
	return name
}

function unknown_symbol(s, where,    name)
{
	if (drop) {
		complain(where ": unknown symbol CONFIG_" s " left out")
		return
	}
	name = nearest(s)
	complain(where ": unknown symbol CONFIG_" s (name == "" ? "" : "; did you mean CONFIG_" name "?"))
	errors++
}

function set_user(s, v, where)
{
	if (!(s in known)) {
		unknown_symbol(s, where)
		return
	}
	if (type[s] == "bool" && v != "y" && v != "n") {
		complain(where ": CONFIG_" s " is y or n, not " v)
		errors++
	} else if (type[s] == "tristate" && v !~ /^[ymn]$/) {
		complain(where ": CONFIG_" s " is y, m or n, not " v)
		errors++
	} else if (type[s] == "int" && v !~ /^-?[0-9]+$/) {
		complain(where ": CONFIG_" s " is a whole number, not " v)
		errors++
	} else if (type[s] == "hex" && v !~ /^(0[xX])?[0-9a-fA-F]+$/) {
		complain(where ": CONFIG_" s " is a hexadecimal number, not " v)
		errors++
	} else if (type[s] == "string") {
		v = quoted(v, where)
	}
	if ((type[s] == "int") && (s in range_low) &&
	    (v + 0 < range_low[s] + 0 || v + 0 > range_high[s] + 0)) {
		complain(where ": CONFIG_" s " is " v ", want " range_low[s] " to " range_high[s])
		errors++
	}
	user[s] = v
	user_at[s] = where
}

function read_config(file,    line, n, s, v, status)
{
	n = 0
	while ((status = (getline line < file)) > 0) {
		n++
		line = trim(line)
		if (line ~ /^# CONFIG_[A-Za-z0-9_]+ is not set$/) {
			s = line
			sub(/^# CONFIG_/, "", s)
			sub(/ is not set$/, "", s)
			set_user(s, "n", file ":" n)
		} else if (line ~ /^CONFIG_[A-Za-z0-9_]+=/) {
			s = v = line
			sub(/^CONFIG_/, "", s)
			sub(/=.*/, "", s)
			sub(/^[^=]*=/, "", v)
			set_user(s, v, file ":" n)
		} else if (line != "" && line !~ /^#/) {
			complain(file ":" n ": not understood: " line)
			errors++
		}
	}
	if (status < 0)
		die(file, "cannot be read")
	close(file)
	if (errors) {
		close("cat 1>&2")
		exit 1
	}
}

function take_all(answer,    i, s)
{
	for (i = 1; i <= nitem; i++) {
		s = item_name[i]
		if (item[i] == "symbol" && is_logic(s))
			user[s] = answer
	}
}

# ---- writing

# not by gsub: awks differ in what a backslash means in its replacement
function escaped(s,    i, c, t)
{
	t = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		t = t (c == "\\" || c == "\"" ? "\\" : "") c
	}
	return t
}

function text_of(s)
{
	if (type[s] == "string")
		return "\"" escaped(value[s]) "\""
	return value[s]
}

function config_line(s)
{
	if (is_logic(s) && !rank(value[s]))
		return "# CONFIG_" s " is not set"
	return "CONFIG_" s "=" text_of(s)
}

function write_full(    i, s)
{
	printf "#\n# Written by make; do not edit by hand lightly.\n# %s\n#\n", title > out
	for (i = 1; i <= nitem; i++) {
		s = item_name[i]
		if (item[i] == "symbol") {
			if (written[s])
				print config_line(s) > out
		} else if (evaluate(item_if[i]) == "y") {
			printf "\n#\n# %s\n#\n", s > out
		}
	}
	close(out)
}

function write_minimal(    i, s, usual)
{
	printf "" > out
	for (i = 1; i <= nitem; i++) {
		s = item_name[i]
		if (item[i] != "symbol" || !written[s] || forced[s] || !rank(visible(s)))
			continue
		usual = unasked(s)
		if (is_logic(s))
			usual = in_range(s, higher(usual, selected(s, 0)))
		if (usual != value[s])
			print config_line(s) > out
	}
	close(out)
}

function write_build(    i, s, list)
{
	print "# made from the configuration by scripts/kconfig.awk" > conf
	print "/* made from the configuration by scripts/kconfig.awk; never installed */" > header
	list = ""
	for (i = 1; i <= nitem; i++) {
		s = item_name[i]
		if (item[i] != "symbol" || value[s] == "" || value[s] == "n")
			continue
		print "CONFIG_" s "=" text_of(s) > conf
		if (is_logic(s)) {
			# as in the kernel: a plug-in is not part of what asks with #ifdef CONFIG_X,
			# but for libtenon.a, which holds them all
			if (value[s] == "m") {
				print "#ifdef TENON_PLUGINS_INSIDE" > header
				print "#define CONFIG_" s " 1" > header
				print "#else" > header
				print "#define CONFIG_" s "_MODULE 1" > header
				print "#endif" > header
			} else {
				print "#define CONFIG_" s " 1" > header
			}
			list = list (list == "" ? "" : " ") s (value[s] == "m" ? "=m" : "")
		} else {
			print "#define CONFIG_" s " " text_of(s) > header
		}
	}
	print "#define TENON_CONFIG_TEXT \"" list "\"" > header
	close(conf)
	close(header)
}

# what the person asked for and did not get, with the reason
function tell_overruled(    i, s)
{
	for (i = 1; i <= nitem; i++) {
		s = item_name[i]
		if (item[i] != "symbol" || !(s in user_at) || user[s] == value[s])
			continue
		if (forced[s])
			complain(user_at[s] ": CONFIG_" s "=n has no effect: another symbol selects it")
		else if (!rank(evaluate(depends[s])))
			complain(user_at[s] ": CONFIG_" s " has no effect: it depends on " depends[s])
		else if (user[s] == "m")
			complain(user_at[s] ": CONFIG_" s "=m became y: plug-ins are switched off")
	}
}

BEGIN {
	read_kconfig(kconfig)
	check_kconfig()
	if (config != "")
		read_config(config)
	nlacking = split(lacking, without, " ")
	for (k = 1; k <= nlacking; k++)
		set_user(without[k], "n", "lacking")
	if (mode == "allyes")
		take_all("y")
	else if (mode == "allno")
		take_all("n")
	for (k = 1; k <= nitem; k++)
		if (item[k] == "symbol")
			resolve(item_name[k])
	if (mode == "build") {
		tell_overruled()
		write_build()
	} else if (mode == "minimal") {
		write_minimal()
	} else if (mode == "full" || mode == "allyes" || mode == "allno") {
		write_full()
	} else {
		die("kconfig.awk", "unknown mode '" mode "'")
	}
	close("cat 1>&2")
}
