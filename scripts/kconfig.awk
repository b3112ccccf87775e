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

function complain(where, text)
{
	print where ": " text | "cat 1>&2"
}

function die(where, text)
{
	complain(where, text)
	exit 1
}

function trim(s)
{
	gsub(/^[ \t]+|[ \t\r]+$/, "", s)
	return s
}

# read a line of a file into line, without blanks around it, and its place into where; false at the end
function next_line(file,    status)
{
	status = (getline line < file)
	if (status < 0)
		die(file, "cannot be read")
	where = file ":" ++line_number[file]
	indented = line ~ /^\t  /
	line = trim(line)
	return status
}

# ---- reading Kconfig

function both(a, b)
{
	return a == "" ? b : b == "" ? a : "(" a ") && (" b ")"
}

# what follows "TEXT" at the start of s; the text is left in quoted
function after_text(s)
{
	if (!match(s, /^"[^"]*"/))
		die(where, "a text in double quotes was expected: " s)
	quoted = substr(s, 2, RLENGTH - 2)
	return substr(s, RLENGTH + 1)
}

# what stands before [if EXPR]; the condition is left in cond
function before_if(s,    i)
{
	i = match(s, /(^|[ \t])if[ \t(!]/)
	cond = i ? substr(s, i + RLENGTH - 1) : ""
	return trim(i ? substr(s, 1, i - 1) : s)
}

# take an attribute of the symbol s; false if it is none
function attribute(s, word, text)
{
	if (word == "bool" || word == "tristate") {
		type[s] = word
		prompted[s] = text != ""
		if (prompted[s] && before_if(after_text(text)) != "")
			die(where, "'if' was expected after: \"" quoted "\"")
		prompt_if[s] = cond
	} else if (word == "default") {
		default_value[s, ++ndefault[s]] = before_if(text)
		default_if[s, ndefault[s]] = cond
	} else if (word == "depends" && sub(/^on[ \t]+/, "", text)) {
		depends[s] = both(depends[s], text)
	} else if (word == "select") {
		text = before_if(text)
		selectors[text] = selectors[text] " || " both(s, cond)
		select_at[text] = where
	} else if (word == "option" && text == "modules") {
		modules = s
	} else {
		return 0
	}
	return 1
}

function new_symbol(s)
{
	if (s !~ /^[A-Z0-9_a-z]+$/)
		die(where, "'" s "' is not a symbol's name")
	if (s in known)
		die(where, s " is defined twice, first at " known[s])
	known[s] = where
	symbol[++nsymbol] = s
	depends[s] = scope[depth]
}

function read_line(    word, text)
{
	in_help = in_help && (indented || line == "")
	if (in_help || line == "" || line ~ /^#/)
		return
	word = line
	sub(/[ \t(!].*/, "", word)
	text = trim(substr(line, length(word) + 1))
	if (word ~ /^(mainmenu|menu|source)$/)
		after_text(text)
	if (word ~ /^(config|source|menu|if|endmenu|endif)$/)
		current = word == "config" ? text : ""
	if (word == "help") {
		in_help = 1
	} else if (word == "config") {
		new_symbol(text)
	} else if (word == "mainmenu") {
		title = quoted
	} else if (word == "source") {
		read_kconfig(quoted)
	} else if (word == "menu" || word == "if") {
		level[++depth] = word
		scope[depth] = both(scope[depth - 1], word == "if" ? text : "")
		if (word == "menu")
			heading[nsymbol + 1] = heading[nsymbol + 1] "\n#\n# " quoted "\n#\n"
	} else if (word == "endmenu" || word == "endif") {
		if (level[depth--] != substr(word, 4))
			die(where, word " without " substr(word, 4))
	} else if (current == "" || !attribute(current, word, text)) {
		die(where, "'" word "' is not known here")
	}
}

function read_kconfig(file)
{
	if (file in line_number)
		die(file, "is read twice")
	while (next_line(file))
		read_line()
	in_help = 0
}

function check_kconfig(    i, s)
{
	if (depth)
		die(kconfig, level[depth] " is not closed")
	for (i = 1; i <= nsymbol; i++)
		if (type[symbol[i]] == "")
			die(known[symbol[i]], symbol[i] " has no type")
	for (s in selectors)
		if (!(s in known))
			die(select_at[s], "select of the unknown symbol " s)
}

# ---- values and expressions

# the lowest and the highest of the values in text
function lowest(text)
{
	return text ~ /n/ ? "n" : text ~ /m/ ? "m" : "y"
}

function highest(text)
{
	return text ~ /y/ ? "y" : text ~ /m/ ? "m" : "n"
}

# m where the symbol can be m, otherwise y in its place
function in_range(s, v)
{
	return v == "m" && (type[s] != "tristate" || modules == "" || resolve(modules) != "y") ? "y" : v
}

# Value of an expression; an empty one holds. Symbols become their values, then "!y", "y&&m" and "(y||m)" become one value
# each, until one is left.
function evaluate(expr,    e, i, n, v, word)
{
	if (expr == "")
		return "y"
	e = "(" expr ")"
	gsub(/[!&|()]/, " & ", e)
	n = split(e, word, " ")
	e = ""
	for (i = 1; i <= n; i++)
		e = e (word[i] ~ /^[!&|()ymn]$/ ? word[i] : resolve(word[i]))
	while (length(e) > 1) {
		if (match(e, /![ymn]/))
			v = substr("nmy", index("ymn", substr(e, RSTART + 1, 1)), 1)
		else if (match(e, /[ymn]&&[ymn]/))
			v = lowest(substr(e, RSTART, RLENGTH))
		else if (match(e, /\([ymn](\|\|[ymn])*\)/))
			v = highest(substr(e, RSTART, RLENGTH))
		else
			die(kconfig, "expression not understood: " expr)
		e = substr(e, 1, RSTART - 1) v substr(e, RSTART + RLENGTH)
	}
	return e
}

function resolve(s,    v, i, limit, least, most, answer, by_default)
{
	if (s in value)
		return value[s]
	if (!(s in known))
		die(kconfig, "unknown symbol " s)
	if (s in busy)
		die(known[s], s " depends on itself")
	busy[s] = 1
	# the highest value that a person can give, n where the question is not asked; and what selects ask for
	most = prompted[s] ? in_range(s, lowest(evaluate(depends[s]) evaluate(prompt_if[s]))) : "n"
	least = evaluate("n" selectors[s])
	# the first default that applies
	v = limit = "n"
	for (i = 1; i <= ndefault[s] && limit == "n"; i++) {
		limit = lowest(evaluate(depends[s]) evaluate(default_if[s, i]))
		v = lowest(evaluate(default_value[s, i]) limit)
	}
	v = by_default = in_range(s, highest(v least))
	answer = s in user ? user[s] : unanswered
	if (most != "n" && answer != "")
		v = in_range(s, highest(lowest(answer most) least))
	if (least != "n" && evaluate(depends[s]) == "n")
		complain(known[s], s " is selected although it depends on " depends[s])
	written[s] = most != "n" || least != "n" || limit != "n"
	# what is selected to the full leaves no choice
	forced[s] = in_range(s, least) == "y"
	chosen[s] = most != "n" && !forced[s] && v != by_default
	return value[s] = v
}

# ---- reading a configuration

# "; did you mean CONFIG_X?": the symbol that begins most alike, if half of the name does
function nearest(s,    k, n, best, name)
{
	best = length(s) / 2
	for (k in known) {
		for (n = length(s); substr(s, 1, n) != substr(k, 1, n); n--)
			;
		if (n > best || (n == best && k < name)) {
			best = n
			name = k
		}
	}
	return name == "" ? "" : "; did you mean CONFIG_" name "?"
}

function set_user(s, v, where,    values)
{
	values = type[s] == "bool" ? "y or n" : "y, m or n"
	if (!(s in known)) {
		complain(where, "unknown symbol CONFIG_" s (strict ? "" : " is left out") nearest(s))
		errors += strict
	} else if (v !~ /^[ymn]$/ || !index(values, v)) {
		complain(where, "CONFIG_" s " is " values ", not " v)
		errors++
	}
	user[s] = v
	user_at[s] = where
}

function read_config()
{
	while (next_line(config)) {
		if (line ~ /^# CONFIG_[A-Za-z0-9_]+ is not set$/)
			line = substr(line, 3, length(line) - 13) "=n"
		if (match(line, /^CONFIG_[A-Za-z0-9_]+=/)) {
			set_user(substr(line, 8, RLENGTH - 8), substr(line, RLENGTH + 1), where)
		} else if (line != "" && line !~ /^#/) {
			complain(where, "not understood: " line)
			errors++
		}
	}
	if (errors)
		exit 1
}

# ---- writing

function config_line(s)
{
	return value[s] == "n" ? "# CONFIG_" s " is not set" : "CONFIG_" s "=" value[s]
}

function write_config(    i, s)
{
	printf mode == "minimal" ? "" : "#\n# Written by make; do not edit by hand lightly.\n# %s\n#\n", title > out
	for (i = 1; i <= nsymbol; i++) {
		s = symbol[i]
		if (mode != "minimal")
			printf "%s", heading[i] > out
		if (mode == "minimal" ? chosen[s] : written[s])
			print config_line(s) > out
	}
}

# what the person asked for and did not get, with the reason
function tell_overruled(s)
{
	if (!(s in user) || user[s] == value[s])
		return
	if (forced[s])
		complain(user_at[s], "CONFIG_" s "=n has no effect: another symbol selects it")
	else if (evaluate(depends[s]) == "n")
		complain(user_at[s], "CONFIG_" s " has no effect: it depends on " depends[s])
	else if (!prompted[s])
		complain(user_at[s], "CONFIG_" s " has no effect: it follows from others")
	else if (user[s] == "m")
		complain(user_at[s], "CONFIG_" s "=m became y: plug-ins are switched off")
}

function write_build(    i, s, list)
{
	print "# made from the configuration by scripts/kconfig.awk" > conf
	print "/* made from the configuration by scripts/kconfig.awk; never installed */" > header
	for (i = 1; i <= nsymbol; i++) {
		s = symbol[i]
		tell_overruled(s)
		if (value[s] == "n")
			continue
		print config_line(s) > conf
		# as in the kernel, a plug-in is off for #ifdef CONFIG_X; but not in libtenon.a, which holds them all
		if (value[s] == "m")
			printf "#ifdef TENON_PLUGINS_INSIDE\n#define CONFIG_%s 1\n#else\n#define CONFIG_%s_MODULE 1\n#endif\n", s, s > header
		else
			print "#define CONFIG_" s " 1" > header
		list = list " " s (value[s] == "m" ? "=m" : "")
	}
	print "#define TENON_CONFIG_TEXT \"" substr(list, 2) "\"" > header
}

BEGIN {
	if (mode !~ /^(build|full|allyes|allno|minimal)$/)
		die("kconfig.awk", "unknown mode '" mode "'")
	read_kconfig(kconfig)
	check_kconfig()
	if (config != "")
		read_config()
	for (k = split(lacking, without, " "); k > 0; k--)
		set_user(without[k], "n", "lacking")
	unanswered = mode == "allyes" ? "y" : mode == "allno" ? "n" : ""
	for (k = 1; k <= nsymbol; k++)
		resolve(symbol[k])
	if (mode == "build")
		write_build()
	else
		write_config()
	exit 0
}

END {
	close("cat 1>&2")
}
