/* SPDX-License-Identifier: MIT */
/* A page of HTML that is one file: without scripts, and without references to others. */
#ifndef TOOLS_REPORT_PAGE_H
#define TOOLS_REPORT_PAGE_H

/*
 * The page is valid XML, too, so that any parser can read it. Bytes of a file come into it by
 * page_text() alone, which escapes them. A policy in its head forbids scripts and all loading, so
 * that a name that got through would do nothing.
 */

#include <tenon/buffer.h>

/** page_begin - begin a page; @title is untrusted */
void page_begin(struct tenon_buffer *b, struct tenon_slice title);

/** page_end - end a page; @version is that of the command. 0, or the first failure of the buffer */
int page_end(struct tenon_buffer *b, const char *version);

/** page_section - begin a section, after page_section_end() of the one before */
void page_section(struct tenon_buffer *b, const char *id, const char *title);

void page_section_end(struct tenon_buffer *b);

/** page_text - append untrusted text */
void page_text(struct tenon_buffer *b, struct tenon_slice text);

/** page_note - append a paragraph; what is formatted may be untrusted */
void page_note(struct tenon_buffer *b, const char *format, ...) TENON_PRINTF(2, 3);

/** page_picture - append a picture that scrolls if it is large */
void page_picture(struct tenon_buffer *b, struct tenon_slice svg);

/**
 * page_table - begin a table
 * @heads: titles of its columns, with "|" between them; one that begins with "#" is of numbers
 */
void page_table(struct tenon_buffer *b, const char *heads);

void page_table_end(struct tenon_buffer *b);

/** page_row - begin a row; ended by page_row_end() */
void page_row(struct tenon_buffer *b);

void page_row_end(struct tenon_buffer *b);

/** page_cell - append a cell of untrusted text */
void page_cell(struct tenon_buffer *b, struct tenon_slice text);

/** page_number - append a cell of a number with its unit */
void page_number(struct tenon_buffer *b, const char *text);

/** page_fold - begin a part that is hidden until the reader opens it; @title may be untrusted */
void page_fold(struct tenon_buffer *b, const char *format, ...) TENON_PRINTF(2, 3);

void page_fold_end(struct tenon_buffer *b);

#endif /* TOOLS_REPORT_PAGE_H */
