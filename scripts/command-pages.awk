# SPDX-License-Identifier: MIT
#
# Print the manual page of one command as scdoc, from its part of tenon(1):
# awk -v command=run -f this tools/completion/words docs/tenon.1.scd

BEGIN {
	section = "# TENON " toupper(command)
}

# what the command does, in a line
FILENAME ~ /words$/ {
	if (split($0, field, / *[|] */) == 3 && field[1] == command)
		does = field[3]
	next
}

/^# / {
	inside = $0 == section
	synopsis = $0 == "# SYNOPSIS"
	next
}

synopsis && ($0 ~ "^\\*tenon " command "[ *]" || (command == "device" && /^\*tenon device\*/)) {
	usage = usage $0 "\n\n"
}

inside {
	body = body $0 "\n"
}

END {
	if (does == "" || usage == "" || body == "") {
		print "tenon " command ": no description, synopsis or section" > "/dev/stderr"
		exit 1
	}
	print "tenon-" command "(1)\n\n; SPDX-License" "-Identifier: MIT\n"
	print "# NAME\n\ntenon-" command " - " tolower(substr(does, 1, 1)) substr(does, 2) "\n"
	printf "# SYNOPSIS\n\n%s# DESCRIPTION\n%s", usage, body
	print "# SEE ALSO\n\n*tenon*(1): other commands, output of *--json*, exit status, environment, files"
}
