# SPDX-License-Identifier: MIT
#
# Write the manual page of a public header, in the form that scdoc reads, from its comments (kernel-doc):
#
#   awk -v header=tenon/model.h -f scripts/header-pages.awk include/tenon/model.h > tenon_model.h.3.scd
#
# The page has the text of "DOC:" as its description, and a section for each function, struct, enum and macro with a
# comment, with the declaration that follows it. A comment that is not in this form is an error.

function fail(text)
{
	print FILENAME ":" FNR ": " text > "/dev/stderr"
	failed = 1
	exit 1
}

# text(S): S with what scdoc would take for markup as it is, @name and name() in bold
function text(s,   out, word, before)
{
	gsub(/\\/, "\\\\", s)
	gsub(/[*_#~|`]/, "\\\\&", s)
	sub(/^[\[\]:.-]/, "\\\\&", s)
	out = ""
	while (match(s, /[@%][A-Za-z][A-Za-z0-9\\_]*/)) {
		before = substr(s, 1, RSTART - 1)
		word = substr(s, RSTART + 1, RLENGTH - 1)
		out = out before "*" word "*"
		s = substr(s, RSTART + RLENGTH)
	}
	return out s
}

function blank() { if (!was_blank) print ""; was_blank = 1 }
function line(s) { print s; was_blank = 0 }

# a block of code, as it is
function literal(code)
{
	blank()
	line("```")
	printf "%s", code
	line("```")
	blank()
}

# body(FROM): the lines of the comment from number FROM: parameters, paragraphs, code, what is returned
function body(from,   i, s, code, list, colon)
{
	list = 0
	for (i = from; i <= lines; i++) {
		s = comment[i]
		if (s ~ /^\t/ && !list) {
			for (code = ""; i <= lines && (comment[i] ~ /^\t/ || (comment[i] == "" && comment[i + 1] ~ /^\t/)); i++) {
				sub(/^\t/, "", comment[i])
				code = code comment[i] "\n"
			}
			i--
			literal(code)
		} else if (s ~ /^@[A-Za-z0-9_.]+(\[[^]]*\])?:/) {
			colon = index(s, ":")
			blank()
			line("*" text(substr(s, 2, colon - 2)) "*")
			line("\t" text(ltrim(substr(s, colon + 1))))
			list = 1
		} else if (s ~ /^(Return|Context|Errors):/) {
			colon = index(s, ":")
			blank()
			line("*" substr(s, 1, colon - 1) "*")
			line("\t" text(ltrim(substr(s, colon + 1))))
			list = 1
		} else if (s == "") {
			blank()
			list = 0
		} else {
			line((list ? "\t" : "") text(ltrim(s)))
		}
	}
	blank()
}

function ltrim(s) { sub(/^[ \t]+/, "", s); return s }

# finish the comment, when the declaration behind it is complete
function section(   title)
{
	title = comment[1]
	if (title !~ /^((struct|enum|union|typedef|define) )?[A-Za-z0-9_]+(\(\))?( - |$)/)
		fail("a comment of a declaration begins with NAME - what it is: " title)
	split(title, part, " - ")
	if (!any++) {
		blank()
		line("# DECLARATIONS")
	}
	blank()
	line("## " text(part[1]))
	if (declaration != "")
		literal(declaration)
	else
		blank()
	sub(/^[^-]* - /, "", title)
	if (index(comment[1], " - "))
		line(text(toupper(substr(title, 1, 1)) substr(title, 2) (title ~ /[.]$/ || lines > 1 && comment[2] != "" && comment[2] !~ /^@/ ? "" : ".")))
	body(2)
}

# take the text of a comment's line apart from its frame
function strip(s)
{
	sub(/^[ \t]*\/\*\*[ \t]?/, "", s)
	sub(/[ \t]*\*\/[ \t]*$/, "", s)
	sub(/^[ \t]*\*( |$)?/, "", s)
	return s
}

function end_of_comment()
{
	in_comment = 0
	while (lines > 0 && comment[lines] == "")
		lines--
	if (comment[1] ~ /^DOC: /) {
		if (described++)
			fail("there are two comments DOC:")
		summary = substr(comment[1], 6)
		page = header
		sub(/^.*include\//, "", page)
		name = page
		gsub(/\//, "_", name)
		line(name "(3)")
		blank()
		line("; made from include/" page " by scripts/header-pages.awk")
		blank()
		line("# NAME")
		blank()
		line(text(name) " - " text(summary))
		blank()
		line("# SYNOPSIS")
		blank()
		line("*#include <" text(page) ">*")
		blank()
		line("# DESCRIPTION")
		blank()
		body(2)
		return
	}
	if (!described)
		return
	declaration = ""
	wants_declaration = 1
	depth = 0
}

in_comment {
	comment[++lines] = strip($0)
	if ($0 ~ /\*\//)
		end_of_comment()
	next
}
/^[ \t]*\/\*\*( |$)/ {
	if (wants_declaration && declaration != "" && depth > 0) {
		# a comment within a struct stays in its declaration
		declaration = declaration $0 "\n"
		next
	}
	if (wants_declaration)
		section()
	wants_declaration = 0
	lines = 0
	if (strip($0) != "")
		comment[++lines] = strip($0)
	in_comment = 1
	if ($0 ~ /\*\//)
		end_of_comment()
	next
}
wants_declaration {
	if (declaration == "" && ($0 == "" || $0 ~ /^#(if|endif|ifdef|ifndef)/)) {
		section()
		wants_declaration = 0
		next
	}
	s = $0
	sub(/^TENON_API /, "", s)
	declaration = declaration s "\n"
	depth += gsub(/{/, "{", s) - gsub(/}/, "}", s)
	macro = declaration ~ /^#define/
	if (macro ? s !~ /\\$/ : depth <= 0 && (s ~ /;[ \t]*(\/\*.*)?$/ || s ~ /^}/)) {
		section()
		wants_declaration = 0
	}
}
END {
	if (failed)
		exit 1
	if (wants_declaration)
		section()
	if (!described)
		fail("there is no comment DOC:")
	blank()
	line("# SEE ALSO")
	blank()
	line("*tenon*(1), *tenon_tenon.h*(3)")
}
