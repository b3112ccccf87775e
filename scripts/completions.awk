# SPDX-License-Identifier: MIT
#
# Make a shell's completion of tenon(1) from its words; for bash, put them into its functions:
# awk -v shell=bash -f this tools/completion/words tools/completion/tenon.bash

function trim(text)
{
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

function die(text)
{
	print FILENAME ":" FNR ": " text | "cat 1>&2"
	close("cat 1>&2")
	failed = 1
	exit 1
}

# the first list in parentheses, or ""
function choices(text)
{
	return match(text, /\([^)]*\)/) ? substr(text, RSTART + 1, RLENGTH - 2) : ""
}

# what remains after it
function behind(text)
{
	return match(text, /\([^)]*\)/) ? trim(substr(text, RSTART + RLENGTH)) : text
}

function quote(text)
{
	gsub(/'/, "'\\''", text)
	return text
}

FNR == 1 { file++ }
file == 1 && (/^#/ || !NF) { next }
file == 1 {
	n = split($0, field, "|")
	for (i = 1; i <= n; i++)
		field[i] = trim(field[i])
	if (n == 3) {
		contexts[++context_count] = field[1]
		operands[field[1]] = field[2] == "-" ? "" : field[2]
		does[field[1]] = field[3]
		if (field[1] !~ /\./)
			commands = commands (commands == "" ? "" : " ") field[1]
	} else if (n == 4) {
		names[++option_count] = field[1]
		values[option_count] = field[2]
		wanted[option_count] = field[3]
		texts[option_count] = field[4]
		many = split(field[3], list, " ")
		for (i = 1; i <= many; i++)
			if (!(list[i] in options) && !(list[i] in operands) && list[i] !~ /\./)
				die("no command " list[i])
			else
				options[list[i]] = options[list[i]] " " last_of(field[1])
	} else {
		die("want a command of 3 fields, or an option of 4: " $0)
	}
	next
}
{ template[++template_lines] = $0 }

# the long one of "-o --output"
function last_of(text)
{
	sub(/.* /, "", text)
	return text
}

# commands of a list of contexts, each once
function commands_of(text,    list, n, i, seen, out)
{
	n = split(text, list, " ")
	for (i = 1; i <= n; i++) {
		sub(/\..*/, "", list[i])
		if (!(list[i] in seen))
			out = out (out == "" ? "" : " ") list[i]
		seen[list[i]] = 1
	}
	return out
}

function has_word(text, word)
{
	return index(" " text " ", " " word " ")
}

function fill(text)
{
	sub(/COMMANDS/, commands, text)
	return text
}

# ---- bash: a case for what may follow in each place, and one for the value of each option

function bash_words(    c, name, rest, action)
{
	for (c in options)
		if (!(c in operands)) {
			contexts[++context_count] = c
			operands[c] = ""
		}
	for (c = 1; c <= context_count; c++) {
		name = contexts[c]
		rest = fill(operands[name])
		action = choices(rest)
		rest = action == "" ? rest : behind(rest)
		rest = choices(rest) == "" ? rest : choices(rest)
		printf "\t%s) actions='%s' operands='%s' options='%s' ;;\n", name, action, rest, trim(options[name])
	}
}

function bash_values(    i, k, n, list, pattern, value, reply)
{
	for (i = 1; i <= option_count; i++) {
		value = values[i]
		sub(/[+]$/, "", value)
		if (value == "-")
			continue
		n = split(commands_of(wanted[i]), list, " ")
		pattern = ""
		for (k = 1; k <= n; k++)
			pattern = pattern (pattern == "" ? "" : "|") list[k] "," bash_names(names[i], list[k])
		reply = ""
		if (value == "FILE" || value == "FOLDER")
			reply = "_tenon_files '' \"$word\" "
		else if (value == "SPEC")
			reply = "_tenon_spec "
		else if (choices(value) != "")
			reply = "_tenon_reply '" choices(value) "' "
		printf "\t%s) %s;;\n", pattern, reply
	}
}

function bash_names(text, command)
{
	gsub(/ /, "|" command ",", text)
	return text
}

function bash(    i)
{
	for (i = 1; i <= template_lines; i++) {
		if (template[i] ~ /@contexts@/)
			bash_words()
		else if (template[i] ~ /@values@/)
			bash_values()
		else {
			sub(/@commands@/, commands, template[i])
			print template[i]
		}
	}
}

# ---- zsh: the arguments of each command

function zsh_action(value)
{
	if (choices(value) != "") {
		value = "(" choices(fill(value)) ")"
		gsub(/:/, "\\:", value)
		return value
	}
	return value in zsh_functions ? zsh_functions[value] : ""
}

function zsh_option(i,    value, several, message, name, text)
{
	value = values[i]
	several = sub(/[+]$/, "", value) ? "*" : ""
	message = choices(value) == "" ? tolower(value) : "choice"
	gsub(/:/, "\\:", message)
	text = "[" tolower(substr(texts[i], 1, 1)) substr(texts[i], 2) "]"
	if (value != "-")
		text = text ":" message ":" zsh_action(value)
	name = names[i]
	if (gsub(/ /, ",", name))
		return "'" several "'{" name "}'" quote(text) "'"
	return "'" several name quote(text) "'"
}

function zsh_operands(text,    out, place)
{
	for (place = 1; choices(text) != ""; place++) {
		out = out " '" place ":word:" zsh_action(text) "'"
		text = behind(text)
	}
	return text == "" ? out : out " '*:file:" zsh_action(text) "'"
}

function zsh(    i, c, n, list)
{
	zsh_functions["FILE"] = "_files"
	zsh_functions["FOLDER"] = "_files -/"
	zsh_functions["SPEC"] = "_tenon_spec"
	zsh_functions["USER"] = "_users"
	zsh_functions["GROUP"] = "_groups"
	print "#compdef tenon\n# zsh completion for tenon(1), made of tools/completion/words\n"
	print "_tenon_spec()\n{\n\tif compset -P '*@'; then\n\t\t_files\n\telse"
	print "\t\t_message 'SPEC: 3, 2.5, true, null, str:TEXT, shape:1,64, @x.npy, 2x3xfloat32=…'\n\tfi\n}\n"
	print "_tenon()\n{\n\tlocal context state state_descr line\n\tlocal -a commands\n\ttypeset -A opt_args\n"
	print "\t_arguments -C '--version[version and configuration]' '1:command:->command' '*::argument:->argument'"
	print "\tcase $state in\n\tcommand)\n\t\tcommands=("
	n = split(commands, list, " ")
	for (i = 1; i <= n; i++)
		printf "\t\t\t'%s:%s'\n", list[i], quote(tolower(substr(does[list[i]], 1, 1)) substr(does[list[i]], 2))
	print "\t\t)\n\t\t_describe command commands\n\t\t;;\n\targument)\n\t\tcase $line[1] in"
	for (c = 1; c <= n; c++) {
		printf "\t\t%s) _arguments%s", list[c], zsh_operands(operands[list[c]])
		for (i = 1; i <= option_count; i++)
			if (has_word(commands_of(wanted[i]), list[c]))
				printf " \\\n\t\t\t%s", zsh_option(i)
		print " ;;"
	}
	print "\t\tesac\n\t\t;;\n\tesac\n}\n\n_tenon \"$@\""
}

# ---- fish: a line for each command and option

function fish_quote(text)
{
	gsub(/'/, "\\'", text)
	return text
}

function fish(    i, c, n, list, value, line, text, part)
{
	print "# fish completion for tenon(1), made of tools/completion/words\n\ncomplete -c tenon -f"
	printf "set -l none 'not __fish_seen_subcommand_from %s'\n", commands
	n = split(commands, list, " ")
	for (c = 1; c <= n; c++) {
		printf "complete -c tenon -n $none -a %s -d '%s'\n", list[c], fish_quote(does[list[c]])
		line = "complete -c tenon -n '__fish_seen_subcommand_from " list[c] "'"
		for (text = fill(operands[list[c]]); choices(text) != ""; text = behind(text))
			printf "%s -a '%s'\n", line, choices(text)
		if (text != "")
			print line " -F"
	}
	print "complete -c tenon -n $none -l version -d 'Version and configuration'"
	for (i = 1; i <= option_count; i++) {
		value = values[i]
		sub(/[+]$/, "", value)
		line = "complete -c tenon -n '__fish_seen_subcommand_from " commands_of(wanted[i]) "'"
		n = split(names[i], part, " ")
		for (c = 1; c <= n; c++)
			line = line (part[c] ~ /^--/ ? " -l " substr(part[c], 3) : " -s " substr(part[c], 2))
		line = line (value == "-" ? "" : value ~ /^(FILE|FOLDER|SPEC)$/ ? " -rF" : " -x")
		if (choices(value) != "")
			line = line " -a '" choices(value) "'"
		print line " -d '" fish_quote(texts[i]) "'"
	}
}

END {
	if (failed)
		exit 1
	if (shell == "bash")
		bash()
	else if (shell == "zsh")
		zsh()
	else
		fish()
}
