/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the parser: keywords, and helpers for statements. */
#ifndef CORDON_GUARD_POWERSHELL_PARSE_H
#define CORDON_GUARD_POWERSHELL_PARSE_H

#include "guard/powershell/powershell.h"

enum keyword {
    K_NONE = 0,
    K_BEGIN,
    K_BREAK,
    K_CLASS,
    K_CLEAN,
    K_CONFIGURATION,
    K_CONTINUE,
    K_DATA,
    K_DEFINE,
    K_DO,
    K_DYNAMICPARAM,
    K_END,
    K_ENUM,
    K_EXIT,
    K_FILTER,
    K_FOR,
    K_FOREACH,
    K_FROM,
    K_FUNCTION,
    K_IF,
    K_PARAM,
    K_PROCESS,
    K_RETURN,
    K_SWITCH,
    K_THROW,
    K_TRAP,
    K_TRY,
    K_USING,
    K_VAR,
    K_WHILE,
    K_WORKFLOW
};

/* K_NONE if the word is none; without case. */
enum keyword ps_keyword(struct str word);

bool ps_is_word(struct ps_parser *p, struct ps_token t, struct str word);
void ps_expect(struct ps_parser *p, uint8_t kind);

/* The node ends where the parser stands. */
void ps_close_at(struct ps_parser *p, struct ps_node *node);

/* A block in braces as the body of a statement. */
struct ps_node *ps_parse_body(struct ps_parser *p);

/* define.c: statements that define something; t is the keyword. */
struct ps_node *ps_parse_params(struct ps_parser *p);
struct ps_node *ps_parse_function(struct ps_parser *p, struct ps_token t);
struct ps_node *ps_parse_class(struct ps_parser *p, struct ps_token t, bool enumeration);
struct ps_node *ps_parse_using(struct ps_parser *p, struct ps_token t);
struct ps_node *ps_parse_data(struct ps_parser *p, struct ps_token t);

#endif
