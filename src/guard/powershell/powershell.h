/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PowerShell inside the guard: the tree that the parser builds and the parts of the reader.
 *
 *   chars.c skip.c lex.c word.c                characters, tokens, the meaning of quoted and bare words
 *   expr.c command.c parse.c                   the tree
 *   scope.c define.c run.c eval.c              variables, statements, expressions: partial evaluation
 *   invoke.c bind.c cmdlets.c dotnet.c com.c   the effects of commands and members
 *   starting.c deleting.c program.c            commands that start programs and delete files
 *   variables.c netfile.c                      commands that set variables, members on files
 *   fold_*.c                                   values, and the operators and methods on them
 */
#ifndef CORDON_GUARD_POWERSHELL_POWERSHELL_H
#define CORDON_GUARD_POWERSHELL_POWERSHELL_H

#include "guard/effects.h"

enum {
    PS_MAX_NESTING = 128,  /* brackets in brackets */
    PS_MAX_LINKS = 150,    /* .a.b[0].c() */
    PS_MAX_STRINGS = 6,    /* "$( "$( … )" )" */
    PS_MAX_NODES = 160000, /* of one tree */
    PS_MAX_SCANS = 5       /* times the text: only broken text is looked at that often */
};

/* ---- characters ---- */

enum {
    PS_BLANK = 1,     /* white space but newlines */
    PS_ENDS_WORD = 2, /* ends a bare word */
    PS_LETTER = 4,    /* may begin an identifier */
    PS_DIGIT = 8,
    PS_VARIABLE_START = 16,
    PS_AFTER_NUMBER = 32 /* ends a number in an expression */
};
extern const uint8_t ps_ascii[128];

uint32_t ps_char_beyond_ascii(struct str text, uint32_t *pos);
unsigned ps_class_beyond_ascii(uint32_t c);

/* Reads the character at pos and moves pos past it; 0 at the end. */
static inline uint32_t ps_char(struct str text, uint32_t *pos)
{
    if (*pos >= text.n)
        return 0;
    unsigned char byte = (unsigned char)text.p[*pos];
    if (byte >= 0x80)
        return ps_char_beyond_ascii(text, pos);
    ++*pos;
    return byte;
}

static inline unsigned ps_class(uint32_t c)
{
    return c < 128 ? ps_ascii[c] : ps_class_beyond_ascii(c);
}

static inline bool ps_is_single_quote(uint32_t c)
{
    return c == '\'' || (c >= 0x2018 && c <= 0x201B);
}

static inline bool ps_is_double_quote(uint32_t c)
{
    return c == '"' || (c >= 0x201C && c <= 0x201E);
}

static inline bool ps_is_dash(uint32_t c)
{
    return c == '-' || (c >= 0x2013 && c <= 0x2015);
}

/* ---- the tree ---- */

enum ps_kind {
    PS_ERROR = 0,
    /* expressions */
    PS_STRING,      /* text: value */
    PS_NUMBER,      /* text: as written */
    PS_EXPAND,      /* a: list of parts, which are strings, variables and subexpressions */
    PS_VARIABLE,    /* text: name with scope or drive */
    PS_SPLAT,       /* text: name */
    PS_SCRIPTBLOCK, /* a: list of PS_PARAM, b: list of statements */
    PS_HASH,        /* a: list of PS_PAIR */
    PS_ARRAY,       /* @(): a: list of statements */
    PS_SUBEXPR,     /* $(): a: list of statements */
    PS_PAREN,       /* a: statement */
    PS_LIST,        /* 1,2: a: list of expressions */
    PS_BINARY,      /* op, a, b */
    PS_UNARY,       /* op, a */
    PS_CAST,        /* text: type, a */
    PS_TYPE,        /* text: name without brackets */
    PS_MEMBER,      /* a: object, b: name; PS_STATIC */
    PS_CALL,        /* a: object, b: name, c: list of arguments; PS_STATIC */
    PS_INDEX,       /* a[b] */
    PS_TERNARY,     /* a ? b : c */
    PS_PAIR,        /* a: key or pattern, b: value or body */
    PS_PARAMETER,   /* of a command: text: name, a: value after a colon */
    PS_PARAM,       /* of a script block: text: name, a: default, b: attributes */
    /* statements */
    PS_PIPELINE, /* a: list of commands, the first may be an expression */
    PS_COMMAND,  /* a: list of name and arguments, b: redirections, op: '&', '.' or 0 */
    PS_ASSIGN,   /* op, a = b */
    PS_IF,       /* a: condition, b: body, c: else */
    PS_SWITCH,   /* a: condition, b: list of PS_PAIR */
    PS_FOR,      /* a; b; c { d } */
    PS_FOREACH,  /* a: variable, b: collection, d: body */
    PS_WHILE,    /* b: condition, d: body; PS_POST for do */
    PS_TRY,      /* a: body, b: list of catch bodies, c: finally */
    PS_TRAP,     /* a: body */
    PS_FUNCTION, /* text: name, a: PS_SCRIPTBLOCK */
    PS_FLOW,     /* return, throw, exit: a: pipeline; break, continue */
    PS_USING,    /* text: namespace, or "" */
    PS_CLASS,    /* a: list of PS_FUNCTION and expressions */
    PS_BODY      /* { … }: a: list of statements */
};

enum {
    PS_STATIC = 1,   /* member after :: */
    PS_QUOTED = 2,   /* string that began with a quote */
    PS_POST = 4,     /* do … while, $x++ */
    PS_SAFE = 8,     /* ?. and ?[ */
    PS_CHAINED = 16, /* pipeline after && or || */
    PS_BACKGROUND = 32,
    PS_APPEND = 1,       /* op of a redirection's target: >> */
    PS_OTHER_STREAM = 2, /* the same: not the output */
    PS_JUDGED = 64,      /* body already read as run */
    PS_REDIRECTED = 128
};

struct ps_node {
    uint8_t kind, op, flags;
    uint32_t start, end; /* in the text that is being read */
    struct str text;
    struct ps_node *a, *b, *c, *d;
    struct ps_node *next; /* in a list */
};

enum ps_op {
    OP_NONE = 0,
#define OPERATOR(name, spelling, precedence, case_sensitive) OP_##name,
#include "guard/tables/ps_operators.def"
#undef OPERATOR
};

/* ---- tokens ---- */

enum ps_token_kind {
    T_END,
    T_NEWLINE,
    T_SEMI,
    T_LPAREN,
    T_RPAREN,
    T_LCURLY,
    T_RCURLY,
    T_LBRACKET,
    T_RBRACKET,
    T_AT_PAREN,
    T_AT_CURLY,
    T_DOLLAR_PAREN,
    T_COMMA,
    T_PIPE,
    T_OR_OR,
    T_AND_AND,
    T_AMPERSAND,
    T_DOT,
    T_COLON,
    T_COLON_COLON,
    T_QUESTION,
    T_NOT,
    T_OPERATOR, /* op */
    T_ASSIGN,   /* op: OP_NONE for = */
    T_PLUS_PLUS,
    T_MINUS_MINUS,
    T_NUMBER,
    T_SINGLE, /* 'x' */
    T_DOUBLE, /* "x" */
    T_HERE_SINGLE,
    T_HERE_DOUBLE,
    T_VARIABLE,
    T_SPLAT,
    T_GENERIC, /* a bare word */
    T_IDENTIFIER,
    T_PARAMETER, /* colon: ends in ':' */
    T_REDIRECT,
    T_MERGE, /* 2>&1 */
    T_INPUT, /* < */
    T_LABEL,
    T_UNKNOWN
};

struct ps_token {
    uint8_t kind, op;
    bool colon;
    bool after_blank;
    uint32_t start, end;
};

enum ps_mode { PS_COMMAND_MODE = 0, PS_EXPRESSION_MODE };

struct ps_parser {
    struct guard *g;
    struct arena *arena;
    struct str text;
    size_t length; /* of the outermost text */
    uint32_t pos;
    enum ps_mode mode;
    int version;  /* 5 or 7 */
    bool differs; /* something that the other version reads differently */
    bool error;   /* a syntax error */
    bool stopped;
    bool no_comma; /* the comma separates arguments here */
    bool in_ternary;
    unsigned nesting, strings;
    size_t nodes, commands;
    size_t scanned; /* bytes, each as often as it was looked at */
    bool fixed;     /* text is a decoded copy: every span is fixed_start to fixed_end */
    uint32_t fixed_start, fixed_end;
    struct ps_token peeked; /* valid if peeked_at == pos and the mode fits */
    uint32_t peeked_at, peeked_behind;
    int peeked_mode;
};

/* Reads the token at pos into peeked; pos stays. */
void ps_read_token(struct ps_parser *p);
/* Most looks are at a token that was read before. */
static inline struct ps_token ps_peek(struct ps_parser *p)
{
    if (!p->peeked_behind || p->peeked_at != p->pos || p->peeked_mode != (int)p->mode)
        ps_read_token(p);
    return p->peeked;
}
struct ps_token ps_next(struct ps_parser *p);
void ps_skip_newlines(struct ps_parser *p);       /* and comments */
void ps_skip_separators(struct ps_parser *p);     /* newlines and semicolons */
void ps_skip_block_comments(struct ps_parser *p); /* that stand directly at pos */
uint32_t ps_verbatim_end(struct ps_parser *p);    /* after --% */

/* The value of a number as written. */
bool ps_number(struct str text, double *value, bool *real);

/* Positions after a construct whose opening was read; *closed tells if its end was there. */
uint32_t ps_skip_single(struct str text, uint32_t pos, bool *closed);
uint32_t ps_skip_double(struct str text, uint32_t pos, bool *closed);
uint32_t ps_skip_here(struct str text, uint32_t pos, bool expandable, bool *closed, uint32_t *body,
                      uint32_t *body_end);
uint32_t ps_skip_generic(struct str text, uint32_t pos);
uint32_t ps_skip_braced(struct str text, uint32_t pos, bool in_string, bool *closed);
uint32_t ps_skip_name(struct str text, uint32_t pos);
uint32_t ps_skip_dollar(struct str text, uint32_t pos, bool here, bool *closed);

/* ---- the parser ---- */

struct ps_node *ps_node(struct ps_parser *p, enum ps_kind kind, uint32_t start, uint32_t end);
bool ps_enter(struct ps_parser *p); /* one level deeper; false at the limit */
static inline void ps_leave(struct ps_parser *p)
{
    p->nesting--;
}
struct str ps_source(const struct ps_parser *p, struct ps_token t);

struct ps_list {
    struct ps_node *first, *last;
};
void ps_append(struct ps_list *list, struct ps_node *node);

struct ps_node *ps_parse_script(struct ps_parser *p);                  /* a PS_SCRIPTBLOCK */
struct ps_node *ps_parse_statements(struct ps_parser *p, uint8_t end); /* up to that token */
struct ps_node *ps_parse_statement(struct ps_parser *p);
struct ps_node *ps_parse_block(struct ps_parser *p, uint32_t start); /* after { */
struct ps_node *ps_parse_pipeline(struct ps_parser *p);
struct ps_node *ps_parse_expression(struct ps_parser *p); /* NULL if none begins here */
struct ps_node *ps_parse_unary(struct ps_parser *p);
struct ps_node *ps_parse_primary(struct ps_parser *p, bool members);
struct ps_node *ps_parse_attributes(struct ps_parser *p); /* [..] in front of a parameter */
struct ps_node *ps_parse_type(struct ps_parser *p);       /* after [ ; PS_TYPE */
struct ps_node *ps_parse_hash(struct ps_parser *p, uint32_t start);

/* The node of a string or word token. bare: a word as a command's name, never expanded. */
struct ps_node *ps_word(struct ps_parser *p, struct ps_token t, bool bare);
struct ps_node *ps_variable(struct ps_parser *p, struct ps_token t);

#endif
