/* SPDX-License-Identifier: MIT */
/* tenon link: host code and programs of devices become one shared object. */
#ifndef TOOLS_LINK_VERB_LINK_H
#define TOOLS_LINK_VERB_LINK_H

#include "tools/cli/cli.h"

extern const struct cli_command link_command;

#endif /* TOOLS_LINK_VERB_LINK_H */
