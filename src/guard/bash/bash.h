/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bash reader's own types.
 *
 *   lex.c escape.c         words, backslashes
 *   parse.c redirect.c     the tree of commands, redirections and here-documents
 *   run.c compound.c       walking the tree
 *   expand.c param.c       expansion of words
 *   output.c builtins.c    the output of constant commands, bash's own commands
 *   bash.c                 the arguments of bash itself
 */
#ifndef CORDON_GUARD_BASH_BASH_H
#define CORDON_GUARD_BASH_BASH_H

#include "guard/effects.h"
#include "guard/vars.h"

enum {
    BASH_MAX_NESTING = 64,  /* of commands and words in each other */
    BASH_MAX_CALLS = 8,     /* of functions in each other */
    BASH_MAX_ROUNDS = 512,  /* of all loops in one text */
    BASH_MAX_RETRIES = 128, /* commands judged again for another value of a variable */
    BASH_MAX_BRACES = 256   /* words that one brace expansion makes */
};

/* Separates the elements of an array in the value of its variable, which is called name[@]. */
#define BASH_ELEMENT '\x1E'

struct bash_node;
struct bash_word;

enum bash_part_kind {
    BASH_LITERAL = 0,
    BASH_PARAM,      /* $x ${x…} */
    BASH_COMMAND,    /* $(…) `…` */
    BASH_ARITHMETIC, /* $((…)) */
    BASH_PROCESS     /* <(…) >(…) */
};

struct bash_param {
    struct str name, index; /* index: what stands in [ ] */
    char op[3];
    bool length, indirect; /* ${#x} ${!x} */
    struct bash_word *argument, *replacement;
    struct bash_word *index_words; /* the same as index, for the commands in it */
};

struct bash_part {
    struct bash_part *next;
    struct str text; /* of a literal, the name in $name, or the file that <(…) stands for */
    enum bash_part_kind kind;
    bool quoted;
    union {
        struct bash_param *param; /* NULL: a plain $name */
        struct bash_node *list;
        struct bash_word *word; /* in $((…)) */
    };
};

struct bash_word {
    struct bash_word *next;
    struct bash_part *parts;
    uint32_t start, end;
    bool quoted;
    bool braces;     /* an unquoted { stands in it */
    bool assignment; /* x=y after declare: it stands among the assignments too */
};

struct bash_assign {
    struct bash_assign *next;
    struct str name, index;
    bool append, array;
    struct bash_word *value; /* a list of elements if array */
    struct bash_word *index_word;
};

enum bash_redirect_kind { BASH_OUTPUT = 0, BASH_INPUT, BASH_HEREDOC, BASH_HERESTRING };
struct bash_redirect {
    struct bash_redirect *next;
    enum bash_redirect_kind kind;
    struct bash_word *word;        /* the target, or the text */
    struct bash_redirect *pending; /* of documents whose body has not come yet */
    struct str delimiter;
    bool literal, strip_tabs; /* of a document */
    bool writes, append;      /* > and >> of the standard output */
    bool opens;               /* a file is opened for writing, for any handle */
    bool copies;              /* <&3, >&3: a handle that is open already */
    bool other;               /* for another handle than the standard ones */
};

enum bash_kind {
    BASH_SIMPLE = 0,
    BASH_GROUP,
    BASH_SUBSHELL,
    BASH_IF,
    BASH_WHILE,
    BASH_FOR,
    BASH_CASE,
    BASH_FUNCTION,
    BASH_WORDS /* [[ ]] (( )): nothing but the substitutions in them runs */
};
enum bash_join { BASH_THEN = 0, BASH_AND, BASH_OR, BASH_PIPE };

struct bash_arm {
    struct bash_arm *next;
    struct bash_node *condition; /* of if */
    struct bash_word *patterns;  /* of case */
    struct bash_node *body;
    bool otherwise; /* else, *) */
};

struct bash_node {
    struct bash_node *next;
    enum bash_kind kind;
    enum bash_join join; /* what stands before it */
    bool shown, declares, all_arguments;
    bool background; /* with all of its chain, before & */
    bool fed;        /* coproc: what it reads is written later */
    uint32_t start, end;
    struct bash_word *words; /* BASH_SIMPLE, BASH_FOR: after in, BASH_CASE, BASH_WORDS */
    size_t word_count;
    struct bash_assign *assigns;
    struct bash_redirect *redirects;
    struct str name; /* of a function, of a loop's variable */
    struct bash_node *body, *condition;
    struct bash_arm *arms;
};

struct bash_function {
    struct bash_function *next;
    struct str name;
    struct bash_node *body;
    bool gone;  /* unset */
    bool maybe; /* the definition has run, perhaps */
    bool used;  /* of those that the text defines: a command after it has this name */
    bool owed;  /* what it does is not judged before it is called */
};

enum { BASH_FUNCTION_BUCKETS = 512 };
struct bash_functions {
    struct bash_function **buckets; /* NULL until there is one; newest first */
    bool exported;                  /* some may be called by other shells */
};

struct bash_parser {
    struct guard *g;
    struct arena *arena;
    struct str src;
    size_t pos, end;
    bool fixed; /* spans are start and fixed_end: the text does not stand in the source as it is */
    uint32_t fixed_start, fixed_end;
    unsigned nesting;
    size_t nodes; /* commands so far */
    bool failed;  /* a syntax error, or a limit */
    size_t error;
    bool no_arithmetic_end; /* there is no )) from here on */
    bool no_bracket_end;    /* there is no ] from here on */
    struct bash_redirect *pending, **pending_tail;
    struct bash_functions *functions; /* where definitions are noted */
};

/* ---- parse.c, lex.c ---- */
struct bash_node *bash_parse(struct bash_parser *p);
struct bash_node *bash_parse_list(struct bash_parser *p);
void bash_fail(struct bash_parser *p);
bool bash_enter(struct bash_parser *p);
uint32_t bash_place(const struct bash_parser *p, size_t pos);
static inline char bash_at(const struct bash_parser *p, size_t ahead)
{
    return p->pos + ahead < p->end ? p->src.p[p->pos + ahead] : '\0';
}
static inline bool bash_ended(const struct bash_parser *p)
{
    return p->pos >= p->end;
}
static inline bool bash_is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '_';
}
bool bash_is_meta(char c);
/* Blanks, continuations and, if newlines, comments and line ends too. */
void bash_skip(struct bash_parser *p, bool newlines);
enum bash_context {
    BASH_IN_WORD = 0,
    BASH_IN_QUOTES,   /* up to " */
    BASH_IN_ARGUMENT, /* of ${…}, up to } */
    BASH_IN_QUOTED_ARGUMENT,
    BASH_IN_PATTERN, /* of ${x/pattern/…}, up to / or } */
    BASH_IN_QUOTED_PATTERN,
    BASH_IN_TEST,     /* [[ ]]: up to a blank */
    BASH_IN_DOCUMENT, /* a here-document */
    BASH_IN_INDEX,    /* of an array, up to ] */
    BASH_IN_ARITHMETIC
};
struct bash_word *bash_parse_word(struct bash_parser *p, enum bash_context context);
/* The words in (( … )) if the text at pos goes on so; false if it is two parentheses. */
bool bash_parse_arithmetic(struct bash_parser *p, struct bash_word **out);
void bash_read_documents(struct bash_parser *p);
/* The word's text if it is one unquoted literal; "" otherwise. */
struct str bash_plain(const struct bash_word *w);

/* Reads parts of a word up to where the context ends; adds them at *tail. */
void bash_parse_parts(struct bash_parser *p, struct bash_word *word, struct bash_part ***tail,
                      enum bash_context context);
void *bash_new(struct bash_parser *p, size_t size);
uint32_t bash_end_place(const struct bash_parser *p, size_t pos);
/* bash_redirect.c: takes a redirection if one stands at pos; all that stand there. */
bool bash_parse_redirect(struct bash_parser *p, struct bash_redirect ***tail);
void bash_parse_redirects(struct bash_parser *p, struct bash_node *node);
/* bash_escape.c: ansi for $'…', otherwise echo -e and printf; *stop is set after \c. */
struct str bash_unescape(struct arena *arena, struct str s, bool ansi, bool *stop);

/* ---- the reader ---- */
struct bash_arguments {
    const struct str *values;
    size_t count;
    bool known;
};

struct bash_reader {
    struct guard *g;
    struct arena *arena;
    struct vars vars;
    struct var *ambiguous;
    struct bash_functions functions; /* all that the text defines */
    struct bash_functions defined;   /* whose definition has run, newest first */
    struct bash_alias *aliases;
    size_t alias_count;
    struct bash_arguments arguments;
    struct word input; /* of what is run; see struct guard_call */
    unsigned calls, rounds, retries, defining, loops, nesting;
    bool silent;    /* the commands were shown before, or do not stand in the text */
    bool arrays;    /* some variable is an array */
    bool last_pipe; /* shopt -s lastpipe: the end of a pipeline runs in the shell itself */
    struct bash_reference *references;
    unsigned reference_count;
    struct str opened; /* what handles that exec opened for reading hold; p NULL: there are none */
    struct str separators; /* IFS of the command that is run; p NULL: the variable's */
    struct bash_local *locals;
    struct bash_special *special;
    unsigned special_count, in_function;
    unsigned left_loop, left_function; /* how often break and continue, and return, were read */
};

/* The state to go back to when the function ends. */
struct bash_local {
    struct bash_local *next;
    struct var *var;
    struct var_state state;
};

/* readonly, declare -i */
struct bash_special {
    struct bash_special *next;
    struct str name;
    bool fixed, number;
};

/* declare -n name=target; a hole: the target is not known. */
struct bash_reference {
    struct bash_reference *next;
    struct str name, target;
};

struct bash_alias {
    struct bash_alias *next;
    struct str name, value;
};

/* A growing array of words. */
struct bash_fields {
    struct word *list;
    size_t count, capacity;
};
void bash_field_add(struct bash_reader *b, struct bash_fields *f, struct word w);

/* ---- expand.c ---- */
/* The fields of a word: split, braces expanded. */
void bash_expand(struct bash_reader *b, const struct bash_word *w, struct bash_fields *out);
/* The same as one text, as in an assignment. */
struct str bash_expand_text(struct bash_reader *b, const struct bash_word *w);
/* ---- param.c ---- */
/* Values of $x, ${x…}; several only for [@] and $@. */
struct bash_values {
    struct str one;
    struct str *many; /* NULL: one */
    size_t count;
};
struct bash_values bash_param_values(struct bash_reader *b, const struct bash_param *param);
struct var *bash_variable(struct bash_reader *b, struct str name);
void bash_set(struct bash_reader *b, struct str name, struct str value);
void bash_set_unknown(struct bash_reader *b, struct str name);
/* From here on an assignment to the name changes the target. */
void bash_refer(struct bash_reader *b, struct str name, struct str target);
void bash_assign(struct bash_reader *b, const struct bash_assign *a);
/* a[$(command)]: where bash takes a text for a number or a name, it runs the command in its
   index. */
void bash_run_index(struct bash_reader *b, struct word text);
struct str bash_join(struct bash_reader *b, const struct str *values, size_t count, char separator);
struct str bash_concat(struct bash_reader *b, struct str x, struct str y);

/* ---- scope.c ---- */
/* The variable gets its state of now back at bash_restore. */
void bash_save(struct bash_reader *b, struct str name);
void bash_restore(struct bash_reader *b, struct bash_local *until);
/* Before the assignments of local, declare and typeset. */
void bash_save_declared(struct bash_reader *b, const struct bash_fields *fields);
void bash_note_special(struct bash_reader *b, const struct word *words, size_t count);
/* What the variable then holds if this is assigned. */
struct var_state bash_special_state(struct bash_reader *b, struct var *var, struct var_state state);
void bash_run_arithmetic(struct bash_reader *b, struct str text);
/* The commands of a list: begin, next before each that does not depend on the one before, end. */
struct bash_scope {
    struct vars_fork job, rest;
    struct str job_folder, rest_folder;
    unsigned left;
    bool in_job, maybe;
};
void bash_scope_begin(struct bash_reader *b, struct bash_scope *s);
void bash_scope_next(struct bash_reader *b, struct bash_scope *s, const struct bash_node *node);
void bash_scope_end(struct bash_reader *b, struct bash_scope *s);

/* ---- output.c ---- */
/* The output of a list of commands, with holes where it is not known. */
struct str bash_output(struct bash_reader *b, const struct bash_node *list);
/* The same for one command with this on its standard input (p NULL: nothing known). */
struct str bash_node_output(struct bash_reader *b, const struct bash_node *node, struct str input);
struct str bash_printf(struct bash_reader *b, const struct word *args, size_t count);
/* The standard input by the command's own redirections; p NULL: none. */
struct word bash_redirected_input(struct bash_reader *b, const struct bash_node *node);
/* exec 3<<<text, exec 3>file: commands that follow read or write by the handle. */
void bash_open_handles(struct bash_reader *b, const struct bash_node *node);

/* ---- run.c ---- */
struct bash_function *bash_function_find(const struct bash_functions *all, struct str name);
/* Notes a function; false when memory is used up. */
bool bash_function_add(struct arena *arena, struct bash_functions *all, struct str name,
                       struct bash_node *body, bool maybe);
void bash_run_list(struct bash_reader *b, struct bash_node *list);
/* Another word stands for a name that is called: an alias, or an entry of BASH_CMDS. */
void bash_add_alias(struct bash_reader *b, struct str name, struct str value);
/* One command that was expanded; plain: functions and aliases are not looked up. */
void bash_run_words(struct bash_reader *b, const struct word *words, size_t count,
                    struct word input, bool plain);
/* The path names what is fed to the command. */
bool bash_is_input(struct str path);

/* Code that the script makes itself: eval, trap, alias. */
void bash_run_text(struct bash_reader *b, struct word code, struct str who);

/* bash_compound.c: if, case, loops, definitions. */
void bash_run_compound(struct bash_reader *b, struct bash_node *node);
void bash_run_node(struct bash_reader *b, struct bash_node *node, struct word input);
void bash_run_substitutions(struct bash_reader *b, const struct bash_word *word);
/* After branches that may or may not have run, a folder that they changed is not known. */
void bash_settle_folder(struct bash_reader *b, struct str before);

/* ---- builtins.c ---- */
/* True if the command is one of bash's own and was dealt with. */
bool bash_builtin(struct bash_reader *b, const struct word *words, size_t count, struct word input);

#endif
