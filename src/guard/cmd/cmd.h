/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cmd reader's own types. expand.c replaces variables, parse.c makes the tree of one unit (a
 * line, or several where a parenthesis stays open), run.c walks it, builtins.c holds the commands
 * of cmd itself, for.c its loops, batch.c labels, subroutines and setlocal, cmd.c the arguments of
 * cmd.exe.
 */
#ifndef CORDON_GUARD_CMD_CMD_H
#define CORDON_GUARD_CMD_CMD_H

#include "guard/effects.h"
#include "guard/vars.h"

enum {
    CMD_MAX_NESTING = 64,      /* parentheses, if and for in each other */
    CMD_MAX_ITERATIONS = 2048, /* of all loops in one text */
    CMD_MAX_RETRIES = 64,      /* units read again for another value of a variable */
    CMD_MAX_LABELS = 2000,     /* of one text */
    CMD_MAX_CALLS = 8,         /* subroutines in subroutines */
    CMD_MAX_JUMPS = 32,        /* gotos that one subroutine follows */
    CMD_MAX_LOCALS = 16,       /* setlocals in each other */
    CMD_MAX_PASSES = 6         /* over a text with labels, until its variables hold nothing new */
};

/* Text with the place in the source that each byte comes from. */
struct cmd_text {
    char *p;
    uint32_t *at;
    size_t n, capacity;
};

/* A loop variable, innermost first; both %i and %%i name it. */
struct cmd_loop {
    struct cmd_loop *outer;
    char name;
    struct str value; /* a hole if unknown */
};

enum cmd_kind { CMD_SIMPLE = 0, CMD_BLOCK, CMD_IF, CMD_FOR };
enum cmd_join { CMD_THEN = 0, CMD_AND, CMD_OR, CMD_PIPE }; /* what stands before a node */

/* A file after 2>, or after a > that another one follows. */
struct cmd_emptied {
    struct cmd_emptied *next;
    struct cmd_text file;
};

struct cmd_node {
    struct cmd_node *next; /* of its list */
    enum cmd_kind kind;
    enum cmd_join join;
    bool shown;
    bool input_file;        /* < file */
    bool append;            /* >> */
    uint32_t start, end;    /* in the source */
    struct cmd_text output; /* the file after > */
    struct cmd_emptied *emptied;
    struct cmd_text text; /* CMD_SIMPLE: carets and redirections removed; CMD_FOR: the set */
    struct cmd_text left; /* CMD_IF: the operands; CMD_FOR: the options */
    struct cmd_text right;
    struct cmd_node *body;  /* CMD_BLOCK, CMD_IF, CMD_FOR: a list */
    struct cmd_node *other; /* else */
    char op[4];             /* CMD_IF: "==", "equ" …, or "" for conditions that nobody knows */
    bool negated, fold_case;
    char switches; /* CMD_FOR: 'l', 'f', 'r', 'd' or 0 */
    char variable;
};

/* :name of a batch file. */
struct cmd_label {
    struct cmd_label *next;  /* in the text */
    struct cmd_label *chain; /* the same, of those with this hash */
    struct str name;
    size_t line, behind; /* where its line starts and ends */
    bool jumped;         /* some goto leads here */
    bool ran;            /* what follows it was read */
    bool active;         /* it is being called */
    struct str folder;   /* of the gotos that lead here, if they agree */
};

/* %1 to %9 and %* of a batch file or of a subroutine; not known: what calls it is not read. */
struct cmd_arguments {
    bool known;
    struct str *values, all;
    size_t count;
};

/* A branch of the text: variables and the folder are those from before it once it has ended. */
struct cmd_fork {
    struct vars_fork vars;
    unsigned level;
    struct str folder, after; /* before it, and where the branches lead */
};

/* Between setlocal and endlocal. */
struct cmd_local {
    struct vars_fork vars;
    unsigned level;
    bool delayed;
    struct str folder;
};

enum { CMD_LABEL_BUCKETS = 256 };

struct cmd_reader {
    struct guard *g;
    struct arena *arena;
    struct str source;
    size_t next; /* start of the next line of source */
    bool batch, delayed;
    bool lines; /* more than a command line has: a batch file may be meant, and have arguments */
    struct vars vars;
    struct cmd_label **labels; /* buckets, NULL: the text has no labels */
    struct cmd_label *label_list;
    size_t label_count;
    struct cmd_arguments arguments;
    struct vars ever; /* of a text with labels: all that each variable is set to anywhere */
    unsigned pass;
    bool merges;              /* some place of the text is reached from several others */
    bool grew;                /* ever, in this pass */
    unsigned maybe;           /* conditions and loops around */
    bool dead;                /* a goto or exit stands before: what follows is not reached */
    bool left;                /* the same, in a condition */
    struct cmd_label *target; /* of that goto */
    unsigned calls;
    struct cmd_local *locals; /* room for CMD_MAX_LOCALS, once there is one */
    unsigned local_count;
    bool unbalanced;       /* a setlocal whose endlocal is not known */
    struct var *ambiguous; /* the first variable of the unit with several values */
    struct cmd_loop *loops;
    bool last_round; /* of every loop around: conditions on loop variables are not trusted */
    unsigned iterations, retries, nesting;
    size_t nodes;
    struct word input; /* of the block that is run; see struct guard_call */
    bool silent;       /* commands were shown before */
    /* the unit that is parsed */
    struct cmd_text unit;
    size_t pos;
};

/* ---- text ---- */
/* Makes room for more characters; false, after guard_limit, if there is none. */
bool cmd_reserve(struct cmd_reader *r, struct cmd_text *t, size_t more, uint32_t at);
static inline bool cmd_put(struct cmd_reader *r, struct cmd_text *t, char c, uint32_t at)
{
    if (t->n == t->capacity && !cmd_reserve(r, t, 1, at))
        return false;
    t->p[t->n] = c;
    t->at[t->n++] = at;
    return true;
}
/* The part [begin, end) of another text. */
bool cmd_put_part(struct cmd_reader *r, struct cmd_text *t, const struct cmd_text *from,
                  size_t begin, size_t end);
/* A text that stands at one place of the source. */
bool cmd_put_str(struct cmd_reader *r, struct cmd_text *t, struct str s, uint32_t at);
static inline struct str cmd_str(const struct cmd_text *t)
{
    return (struct str){t->p, t->n};
}
/* The part [from, to) as a word, quotes removed. */
struct word cmd_word(struct cmd_reader *r, const struct cmd_text *t, size_t from, size_t to);
struct cmd_text cmd_part(const struct cmd_text *t, size_t from, size_t to);
static inline bool cmd_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '=' || c == '\v' || c == '\f';
}
/* End of the token at from: a blank outside quotes. */
size_t cmd_token_end(const struct cmd_text *t, size_t from);
size_t cmd_skip_blanks(const struct cmd_text *t, size_t from);

/* ---- expand.c ---- */
struct var *cmd_variable(struct cmd_reader *r, struct str name);
/* Appends the line [from, to) of the source to out with its %variables% replaced. */
void cmd_expand_line(struct cmd_reader *r, struct cmd_text *out, size_t from, size_t to);
/* The same for text that call reads a second time. */
struct cmd_text cmd_expand_again(struct cmd_reader *r, const struct cmd_text *t);
/* Loop variables and !variables!. */
struct cmd_text cmd_expand_late(struct cmd_reader *r, const struct cmd_text *t);
/* %variables% of the command line that are still there: they may be set or not, so they are holes.
   keep: those among the arguments stay, because another cmd will read them. */
struct cmd_text cmd_expand_rest(struct cmd_reader *r, const struct cmd_text *t, bool keep);

/* ---- parse.c ---- */
/* Reads the next unit of the source: a list, NULL if it holds no command. */
struct cmd_node *cmd_parse_unit(struct cmd_reader *r);

/* ---- cmd.c ---- */
/* Reads one unit; again for each value of a variable that may hold several. */
void cmd_read_unit(struct cmd_reader *r);
/* The text after cmd /c without the quotes that cmd takes away; always: /s was given. */
struct str cmd_strip_quotes(struct guard *g, struct str text, bool always);

/* ---- run.c ---- */
void cmd_run_list(struct cmd_reader *r, struct cmd_node *list);
/* One command without operators; input as in struct guard_call. */
void cmd_run_simple(struct cmd_reader *r, struct cmd_text text, struct word input);
/* The output of a command, with holes where it is not known; ends in LF. */
struct str cmd_output(struct cmd_reader *r, struct cmd_node *node);

/* Variables and the folder at a condition: as vars_fork_begin and its like. */
void cmd_fork_begin(struct cmd_reader *r, struct cmd_fork *f);
void cmd_branch_end(struct cmd_reader *r, struct cmd_fork *f);
void cmd_fork_end(struct cmd_reader *r, struct cmd_fork *f, bool exhaustive);
void cmd_fork_drop(struct cmd_reader *r, struct cmd_fork *f);

/* ---- batch.c ---- */
void cmd_find_labels(struct cmd_reader *r);
/* Reads the whole text, in as many passes as it takes. */
void cmd_run_batch(struct cmd_reader *r);
void cmd_assign(struct cmd_reader *r, struct var *var, struct var_state state);
/* call :label arguments, from the colon on. */
void cmd_call_label(struct cmd_reader *r, const struct cmd_text *t, size_t from);
/* Something else may have set any variable: a called file. */
void cmd_doubt(struct cmd_reader *r);
void cmd_goto(struct cmd_reader *r, const struct cmd_text *t);
void cmd_leave(struct cmd_reader *r, struct cmd_label *target);
void cmd_shift(struct cmd_reader *r);
void cmd_setlocal(struct cmd_reader *r);
void cmd_endlocal(struct cmd_reader *r);

/* ---- for.c ---- */
void cmd_run_for(struct cmd_reader *r, struct cmd_node *node);

/* ---- builtins.c ---- */
enum cmd_builtin {
    CMD_NOT_BUILTIN = 0,
    CMD_HARMLESS,
    CMD_CALL,
    CMD_CD,
    CMD_DEL,
    CMD_ECHO,
    CMD_ENDLOCAL,
    CMD_EXIT,
    CMD_GOTO,
    CMD_PLANT,
    CMD_POPD,
    CMD_RD,
    CMD_SET,
    CMD_SETLOCAL,
    CMD_SHIFT,
    CMD_START
};
/* The builtin that the command word names; *length is how much of the word is its name. */
enum cmd_builtin cmd_builtin_find(struct str word, size_t *length);
void cmd_builtin_run(struct cmd_reader *r, enum cmd_builtin builtin, struct cmd_text arguments,
                     struct word input);

#endif
