# SPDX-License-Identifier: MIT
#
# Print the topics of "tenon help TOPIC" as C, from sections of the manual page: awk -f this docs/tenon.1.scd

BEGIN {
	topic["## SPEC"] = "spec|Inputs and outputs of a function or model"
	topic["# JSON"] = "json|What --json prints"
	topic["# EXIT STATUS"] = "exit-status|What the exit status says"
	topic["# ENVIRONMENT"] = "environment|Variables that the command reads"
	topic["# FILES"] = "files|Files that are installed or read"
	topic["# EXAMPLES"] = "examples|Commands to start with"
	wanted = 6
}

# plain(S): S without the markup of scdoc
function plain(s,   out, i, c, before, after)
{
	out = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		before = i > 1 ? substr(s, i - 1, 1) : " "
		after = i < length(s) ? substr(s, i + 1, 1) : " "
		if (c == "\\" && i < length(s)) {
			out = out after
			i++
		} else if (c != "*" && !(c == "_" && !(before ~ /[A-Za-z0-9]/ && after ~ /[A-Za-z0-9]/))) {
			out = out c
		}
	}
	return out
}

function put(s)
{
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	lines = lines "\t\"" s "\",\n"
}

# flush(): print the words that were collected, in lines of at most 78 characters
function flush(   word, n, i, line)
{
	if (words == "")
		return
	n = split(words, word, " ")
	line = lead
	for (i = 1; i <= n; i++) {
		if (line ~ /[^ ]/ && length(line) + 1 + length(word[i]) > 78) {
			put(line)
			line = follow
		}
		line = line (line ~ /[^ ]$/ && length(line) > 0 ? " " : "") word[i]
	}
	put(line)
	words = ""
}

function finish()
{
	flush()
	sub(/(\t"",\n)+$/, "", lines)
	sub(/^(\t"",\n)+/, "", lines)
	if (name != "") {
		id = name
		gsub(/-/, "_", id)
		printf "static const char *const topic_%s[] = {\n%s\tNULL,\n};\n\n", id, lines
		rows = rows sprintf("\t{ \"%s\", \"%s\", topic_%s },\n", name, summary, id)
		found++
	}
	name = lines = words = ""
}

/^##? / {
	finish()
	if ($0 in topic) {
		split(topic[$0], field, "|")
		name = field[1]
		summary = field[2]
	}
	next
}
name == "" || /^;/ { next }
/^$/ { flush(); put(""); next }

# a row of a table: the form, and what it means
/^[|\]][ [\]]/ { flush(); form = plain(substr($0, 3)); sub(/^ */, "", form); sub(/^\[ */, "", form); next }
/^:[[|] / {
	if ($0 ~ /\*argument\*/)
		next
	lead = sprintf("  %-24s", form) " "
	follow = sprintf("%27s", "")
	words = plain(substr($0, 4))
	next
}
/^   [^ ]/ { words = words " " plain($0); next }

# examples are commands: do not break their lines
/^\t/ && name == "examples" { flush(); put("    " plain(substr($0, 2))); next }
/^\t/ { if (words == "" || lead !~ /^    $/) { flush(); lead = follow = "    " }; words = words " " plain($0); next }
{ if (words == "" || lead != "") { flush(); lead = follow = "" }; words = words " " plain($0) }

END {
	finish()
	if (found != wanted) {
		print "help-topics: " wanted - found " sections are missing in " FILENAME > "/dev/stderr"
		exit 1
	}
	printf "static const struct help_topic topics[] = {\n%s};\n", rows
}
