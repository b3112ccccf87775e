# SPDX-License-Identifier: MIT
#
# Read Kconfig, resolve a configuration, write what was asked for. POSIX awk, so that a build needs no other tool. It knows
# the part of the kernel's language that this tree uses:
#
#   file      = { "mainmenu" TEXT | "menu" TEXT | "endmenu" | "if" expr | "endif" | config }     a line each
#             | "source" TEXT                      the lines of another file, by its path in the tree
#   config    = "config" NAME { attribute }
#   attribute = "bool" | "tristate"                  a symbol that nobody is asked for
#             | "bool" TEXT [ "if" expr ] | "tristate" TEXT [ "if" expr ]
#             | "default" expr [ "if" expr ]         the first that applies is taken
#             | "depends" "on" expr                  several must hold together
#             | "select" NAME [ "if" expr ]
#             | "option" "modules"                   a tristate can be m while this symbol is y, else it is a bool
#             | "help" { line }                      the lines that begin with a tab and two spaces
#   expr      = and { "||" and }                     the highest; n < m < y
#   and       = not { "&&" not }                     the lowest
#   not       = "!" not | "(" expr ")" | NAME | "y" | "m" | "n"
#
# A line that begins with "#" is a comment.
#
# awk -f scripts/kconfig.awk -v mode=MODE -v kconfig=Kconfig [-v config=FILE] [-v strict=1] \
#     [-v out=FILE] [-v conf=FILE] [-v header=FILE] [-v lacking="SYMBOL..."]
#
#   mode=build    config -> conf (for make) and header (for C); config is not rewritten
#   mode=full     config -> out, a complete .config; without config: the defaults
#   mode=allyes   everything that can be y -> out; mode=allno: that can be n; both but for what config says
#   mode=minimal  config -> out, only what differs from the defaults
#
# Symbols in lacking are n, whatever config says. An unknown symbol in config, such as one of an older release, is left out
# with a message; with strict=1 it is an error.

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

# ---- reading Kconfig

function both(a, b)
{
	return a == "" ? b : b == "" ? a : "(" a ") && (" b ")"
}

# what follows "TEXT" at the start of s; the text is left in quoted
function after_text(s, where)
{
	if (!match(s, /^"[^"]*"/))
		die(where, "a text in double quotes was expected: " s)
	quoted = substr(s, 2, RLENGTH - 2)
	return substr(s, RLENGTH + 1)
}

# what stands before [if EXPR]; the condition is left in cond
function before_if(s, where,    i)
{
	i = match(s, /(^|[ \t])if[ \t(!]/)
	cond = i ? substr(s, i + RLENGTH - 1) : ""
	s = i ? substr(s, 1, i - 1) : s
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

function attribute(s, word, text, where)
{
	if (word == "bool" || word == "tristate") {
		type[s] = word
		if (text != "") {
			if (before_if(after_text(text, where)) != "")
				die(where, "'if' was expected after: \"" quoted "\"")
			prompted[s] = 1
			prompt_if[s] = cond
		}
	} else if (word == "default") {
		default_value[s, ++ndefault[s]] = before_if(text)
		default_if[s, ndefault[s]] = cond
	} else if (word == "depends" && sub(/^on[ \t]+/, "", text)) {
		depends[s] = both(depends[s], text)
	} else if (word == "select") {
		select_to[++nselect] = before_if(text)
		select_if[nselect] = cond
		select_by[nselect] = s
		select_at[nselect] = where
	} else if (word == "option" && text == "modules") {
		modules = s
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
	symbol[++nitem] = s
	depends[s] = scope[depth]
}

function open_level(kind, expr)
{
	level[++depth] = kind
	scope[depth] = both(scope[depth - 1], expr)
	current = ""
}

function read_line(line, where,    word, text)
{
	if (in_help && line ~ /^([ \t]*$|\t  )/)
		return
	in_help = 0
	gsub(/^[ \t]+|[ \t\r]+$/, "", line)
	if (line == "" || line ~ /^#/)
		return
	word = text = line
	sub(/[ \t(!].*/, "", word)
	text = substr(line, length(word) + 1)
	sub(/^[ \t]+/, "", text)
	if (word == "help") {
		in_help = 1
	} else if (word == "config") {
		new_symbol(current = text, where)
	} else if (word == "mainmenu") {
		after_text(text, where)
		title = quoted
	} else if (word == "source") {
		after_text(text, where)
		read_file(quoted)
		current = ""
	} else if (word == "menu") {
		after_text(text, where)
		menu[++nitem] = quoted
		open_level("menu", "")
	} else if (word == "if") {
		open_level("if", text)
	} else if (word == "endmenu" || word == "endif") {
		if (level[depth] != substr(word, 4))
			die(where, word " without " substr(word, 4))
		depth--
		current = ""
	} else if (current != "") {
		attribute(current, word, text, where)
	} else {
		die(where, "'" word "' is not known here")
	}
}

function read_file(file,    line, n, status)
{
	if (file in is_read)
		die(file, "is read twice")
	is_read[file] = 1
	while ((status = (getline line < file)) > 0)
		read_line(line, file ":" ++n)
	if (status < 0)
		die(file, "cannot be read")
	in_help = 0
}

function read_kconfig(    i)
{
	read_file(kconfig)
	if (depth)
		die(kconfig, level[depth] " is not closed")
	for (i = 1; i <= nitem; i++)
		if ((i in symbol) && type[symbol[i]] == "")
			die(known[symbol[i]], symbol[i] " has no type")
	for (i = 1; i <= nselect; i++)
		if (!(select_to[i] in known))
			die(select_at[i], "select of the unknown symbol " select_to[i])
}

# ---- values and expressions

function rank(v)
{
	return v == "y" ? 2 : v == "m" ? 1 : 0
}

function lower(a, b)
{
	return rank(a) < rank(b) ? a : b
}

function higher(a, b)
{
	return rank(a) > rank(b) ? a : b
}

# m where the symbol can be m, otherwise y in its place
function in_range(s, v)
{
	return v == "m" && (type[s] != "tristate" || modules == "" || resolve(modules) != "y") ? "y" : v
}

# Value of an expression; an empty one holds. Symbols become their values, then "!y", "y&&m", "(y||m" and "(y)" become one
# value each, until one is left. Before a "&&" no "||" is done.
function evaluate(expr,    e, i, n, word, v)
{
	if (expr == "")
		return "y"
	for (e = "("; match(expr, /[A-Za-z0-9_]+/); expr = substr(expr, i + n)) {
		i = RSTART
		n = RLENGTH
		word = substr(expr, i, n)
		if (word !~ /^[ymn]$/ && !(word in known))
			die(kconfig, "unknown symbol " word)
		e = e substr(expr, 1, i - 1) (word ~ /^[ymn]$/ ? word : resolve(word))
	}
	e = e expr ")"
	gsub(/[ \t]/, "", e)
	while (length(e) > 1) {
		if (match(e, /![ymn]/))
			v = substr("nmy", index("ymn", substr(e, RSTART + 1, 1)), 1)
		else if (match(e, /[ymn]&&[ymn]/))
			v = lower(substr(e, RSTART, 1), substr(e, RSTART + 3, 1))
		else if (match(e, /\([ymn]\|\|[ymn][|)]/))
			v = "(" higher(substr(e, RSTART + 1, 1), substr(e, RSTART + 4, 1)) substr(e, RSTART + 5, 1)
		else if (match(e, /\([ymn]\)/))
			v = substr(e, RSTART + 1, 1)
		else
			die(kconfig, "expression not understood: " e)
		e = substr(e, 1, RSTART - 1) v substr(e, RSTART + RLENGTH)
	}
	return e
}

# the highest value that a person can give: n where the question is not asked
function visible(s)
{
	return prompted[s] ? in_range(s, lower(evaluate(depends[s]), evaluate(prompt_if[s]))) : "n"
}

# the value where the person gave none; has_default tells whether a default applied
function unasked(s,    i, v, limit)
{
	v = limit = "n"
	for (i = 1; i <= ndefault[s] && !rank(limit); i++) {
		limit = lower(evaluate(depends[s]), evaluate(default_if[s, i]))
		v = lower(evaluate(default_value[s, i]), limit)
	}
	has_default = rank(limit)
	return v
}

# the highest value that a select asks for
function selected(s,    i, v)
{
	v = "n"
	for (i = 1; i <= nselect; i++)
		if (select_to[i] == s)
			v = higher(v, lower(resolve(select_by[i]), evaluate(select_if[i])))
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
	least = selected(s)
	v = unasked(s)
	written[s] = rank(see) || rank(least) || has_default
	if (rank(see) && (s in user))
		v = lower(user[s], see)
	if (rank(least) && !rank(evaluate(depends[s])))
		complain(known[s] ": " s " is selected although it depends on " depends[s])
	# what is selected to the full leaves no choice
	forced[s] = in_range(s, least) == "y"
	delete busy[s]
	return value[s] = in_range(s, higher(v, least))
}

# ---- reading a configuration

# "; did you mean CONFIG_X?": the symbol that begins most alike, if half of the name does
function nearest(s,    k, n, best, name)
{
	best = length(s) / 2
	for (k in known) {
		for (n = 0; n < length(s) && substr(s, n + 1, 1) == substr(k, n + 1, 1); n++)
			;
		if (n > best || (n == best && k < name)) {
			best = n
			name = k
		}
	}
	return name == "" ? "" : "; did you mean CONFIG_" name "?"
}

function mistake(where, text)
{
	complain(where ": " text)
	errors++
}

function set_user(s, v, where)
{
	if (!(s in known)) {
		complain(where ": unknown symbol CONFIG_" s (strict ? "" : " is left out") nearest(s))
		errors += strict
	} else if (type[s] == "bool" && v !~ /^[yn]$/)
		mistake(where, "CONFIG_" s " is y or n, not " v)
	else if (v !~ /^[ymn]$/)
		mistake(where, "CONFIG_" s " is y, m or n, not " v)
	user[s] = v
	user_at[s] = where
}

function read_config(    line, n, s, status)
{
	while ((status = (getline line < config)) > 0) {
		n++
		gsub(/^[ \t]+|[ \t\r]+$/, "", line)
		if (line ~ /^# CONFIG_[A-Za-z0-9_]+ is not set$/)
			line = substr(line, 3, length(line) - 13) "=n"
		s = line
		if (sub(/^CONFIG_/, "", s) && sub(/^[A-Za-z0-9_]+=/, "", s))
			set_user(substr(line, 8, length(line) - length(s) - 8), s, config ":" n)
		else if (line != "" && line !~ /^#/)
			mistake(config ":" n, "not understood: " line)
	}
	if (status < 0)
		die(config, "cannot be read")
	if (errors) {
		close("cat 1>&2")
		exit 1
	}
}

# ---- writing

function config_line(s)
{
	return rank(value[s]) ? "CONFIG_" s "=" value[s] : "# CONFIG_" s " is not set"
}

function write_full(    i)
{
	printf "#\n# Written by make; do not edit by hand lightly.\n# %s\n#\n", title > out
	for (i = 1; i <= nitem; i++)
		if (i in menu)
			printf "\n#\n# %s\n#\n", menu[i] > out
		else if (written[symbol[i]])
			print config_line(symbol[i]) > out
}

function write_minimal(    i, s)
{
	printf "" > out
	for (i = 1; i <= nitem; i++) {
		s = symbol[i]
		if (!(i in menu) && !forced[s] && rank(visible(s)) &&
		    value[s] != in_range(s, higher(unasked(s), selected(s))))
			print config_line(s) > out
	}
}

function write_build(    i, s, list)
{
	print "# made from the configuration by scripts/kconfig.awk" > conf
	print "/* made from the configuration by scripts/kconfig.awk; never installed */" > header
	for (i = 1; i <= nitem; i++) {
		s = symbol[i]
		if ((i in menu) || value[s] == "n")
			continue
		print config_line(s) > conf
		# as in the kernel: a plug-in is not part of what asks with #ifdef CONFIG_X,
		# but for libtenon.a, which holds them all
		if (value[s] == "m")
			printf "#ifdef TENON_PLUGINS_INSIDE\n#define CONFIG_%s 1\n#else\n#define CONFIG_%s_MODULE 1\n#endif\n", s, s > header
		else
			print "#define CONFIG_" s " 1" > header
		list = list (list == "" ? "" : " ") s (value[s] == "m" ? "=m" : "")
	}
	print "#define TENON_CONFIG_TEXT \"" list "\"" > header
}

# what the person asked for and did not get, with the reason
function tell_overruled(    i, s)
{
	for (i = 1; i <= nitem; i++) {
		s = symbol[i]
		if (!(s in user_at) || user[s] == value[s])
			continue
		if (forced[s])
			complain(user_at[s] ": CONFIG_" s "=n has no effect: another symbol selects it")
		else if (!rank(evaluate(depends[s])))
			complain(user_at[s] ": CONFIG_" s " has no effect: it depends on " depends[s])
		else if (!prompted[s])
			complain(user_at[s] ": CONFIG_" s " has no effect: it follows from others")
		else if (user[s] == "m")
			complain(user_at[s] ": CONFIG_" s "=m became y: plug-ins are switched off")
	}
}

BEGIN {
	read_kconfig()
	if (config != "")
		read_config()
	nlacking = split(lacking, without, " ")
	for (k = 1; k <= nlacking; k++)
		set_user(without[k], "n", "lacking")
	for (k = 1; k <= nitem; k++)
		if ((k in symbol) && mode ~ /^all/ && !(symbol[k] in user_at))
			user[symbol[k]] = mode == "allyes" ? "y" : "n"
	for (k = 1; k <= nitem; k++)
		if (k in symbol)
			resolve(symbol[k])
	if (mode == "build") {
		tell_overruled()
		write_build()
	} else if (mode == "minimal") {
		write_minimal()
	} else if (mode ~ /^(full|allyes|allno)$/) {
		write_full()
	} else {
		die("kconfig.awk", "unknown mode '" mode "'")
	}
	close("cat 1>&2")
}
