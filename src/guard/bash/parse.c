/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of bash: text becomes a tree. On a syntax error the tree holds what came before it. */
#include "guard/bash/bash.h"

/*
 *   list     = command { ( ; | & | && | || | "|" | "|&" | newline ) command }
 *   command  = { ! | time } ( simple | compound redirections | name() compound )
 *   compound = { list } | ( list ) | (( )) | [[ ]] | if | while | until | for | select | case
 */
enum { LONGEST_INDEX = 256 }; /* of an array, in an assignment */

static struct bash_node *parse_command(struct bash_parser *p);

/* The plain word at pos without taking it: letters, !, { and } and [[ only. */
static struct str peek_word(const struct bash_parser *p)
{
    size_t end = p->pos;
    while (end < p->end && end - p->pos < 12 && !bash_is_meta(p->src.p[end]))
        end++;
    return str_slice(p->src, p->pos, end);
}

static bool at_word(const struct bash_parser *p, const char *word)
{
    size_t i = 0;
    for (; word[i]; i++)
        if (p->pos + i >= p->end || p->src.p[p->pos + i] != word[i])
            return false;
    return p->pos + i == p->end || bash_is_meta(p->src.p[p->pos + i]);
}

static bool take_word(struct bash_parser *p, const char *word)
{
    if (!at_word(p, word))
        return false;
    p->pos += strlen(word);
    return true;
}

static void expect_word(struct bash_parser *p, const char *word)
{
    bash_skip(p, true);
    if (!take_word(p, word))
        bash_fail(p);
}

static bool ends_list(const struct bash_parser *p)
{
    static const char *const words[] = {"then", "else", "elif", "fi", "do", "done", "esac", "}"};
    char c = bash_at(p, 0);
    if (c == ')' || (c == ';' && (bash_at(p, 1) == ';' || bash_at(p, 1) == '&')))
        return true;
    if (c != '}' && c != 't' && c != 'e' && c != 'f' && c != 'd')
        return false;
    struct str word = peek_word(p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(word, str_of(words[i])))
            return true;
    return false;
}

/* ---- simple commands ---- */

/* Elements of an array: after the opening parenthesis. */
static struct bash_word *parse_elements(struct bash_parser *p)
{
    struct bash_word *first = NULL, **tail = &first;
    for (;;) {
        bash_skip(p, true);
        if (bash_ended(p) || p->failed) {
            bash_fail(p);
            return first;
        }
        if (bash_at(p, 0) == ')') {
            p->pos++;
            return first;
        }
        size_t start = p->pos;
        struct bash_word *word = bash_parse_word(p, BASH_IN_WORD);
        if (!word || p->pos == start) {
            bash_fail(p);
            return first;
        }
        *tail = word;
        tail = &word->next;
    }
}

/* Takes name=value, name+=value, name[index]=value or name=(…). */
static struct bash_assign *parse_assign(struct bash_parser *p)
{
    size_t i = p->pos;
    if (i >= p->end || !bash_is_name_char(p->src.p[i]) || ascii_is_digit(p->src.p[i]))
        return NULL;
    while (i < p->end && bash_is_name_char(p->src.p[i]))
        i++;
    size_t name_end = i, index_end = i;
    if (i < p->end && p->src.p[i] == '[') {
        size_t depth = 0, limit = i + LONGEST_INDEX < p->end ? i + LONGEST_INDEX : p->end;
        for (; i < limit && p->src.p[i] != '\n'; i++) {
            char c = p->src.p[i];
            if (c == '"' || c == '\'') {
                i = str_find_char(str_slice(p->src, 0, limit), c, i + 1);
                continue;
            }
            depth += c == '[';
            if (c == ']' && --depth == 0)
                break;
            if (c == ' ' && p->src.p[name_end + 1] != '$')
                return NULL;
        }
        if (i >= limit)
            return NULL;
        index_end = i++;
    }
    bool append = i + 1 < p->end && p->src.p[i] == '+' && p->src.p[i + 1] == '=';
    if (append)
        i++;
    if (i >= p->end || p->src.p[i] != '=')
        return NULL;
    struct bash_assign *a = bash_new(p, sizeof *a);
    if (!a)
        return NULL;
    a->name = str_slice(p->src, p->pos, name_end);
    a->index = str_slice(p->src, name_end + 1, index_end);
    a->append = append;
    if (str_has_char(a->index, '$') || str_has_char(a->index, '`')) {
        size_t outer = p->end;
        p->pos = name_end + 1;
        p->end = index_end;
        a->index_word = bash_parse_word(p, BASH_IN_ARITHMETIC);
        p->end = outer;
        if (p->failed)
            return a;
    }
    p->pos = i + 1;
    if (bash_at(p, 0) == '(') {
        p->pos++;
        a->array = true;
        a->value = parse_elements(p);
    } else {
        a->value = bash_parse_word(p, BASH_IN_WORD);
    }
    return a;
}

static bool declares(struct str name)
{
    static const char *const names[] = {"declare", "export", "local", "readonly", "typeset"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(name, str_of(names[i])))
            return true;
    return false;
}

static struct bash_node *parse_function(struct bash_parser *p, struct bash_node *node,
                                        struct str name)
{
    node->kind = BASH_FUNCTION;
    node->name = name;
    bash_skip(p, true);
    node->body = parse_command(p);
    if (!node->body || !bash_function_add(p->arena, p->functions, name, node->body, false))
        bash_fail(p);
    return node;
}

/* name=value inside the arguments of declare is kept as an assignment and as a word. */
static struct bash_word *assign_word(struct bash_parser *p, size_t start, struct bash_assign *a)
{
    struct bash_word *word = bash_new(p, sizeof *word);
    struct bash_part *part = word ? bash_new(p, sizeof *part) : NULL;
    if (!part)
        return NULL;
    part->text = a->array ? str_slice(p->src, start, p->pos)
                          : str_slice(p->src, start,
                                      start + a->name.n + (a->index.n ? a->index.n + 2 : 0) +
                                          (a->append ? 2 : 1));
    part->quoted = true;
    part->next = a->array || !a->value ? NULL : a->value->parts;
    word->parts = part;
    word->start = bash_place(p, start);
    word->end = p->fixed ? p->fixed_end : (uint32_t)p->pos;
    word->quoted = word->assignment = true;
    return word;
}

/* Calls of functions, and what lets other shells call them: export -f, declare -fx. */
static void note_use(struct bash_parser *p, const struct bash_node *node)
{
    struct bash_function *called = bash_function_find(p->functions, bash_plain(node->words));
    if (called)
        called->used = true;
    for (const struct bash_word *w = node->words->next; node->declares && w; w = w->next) {
        struct str option = bash_plain(w);
        p->functions->exported |= option.n > 1 && option.p[0] == '-' && str_has_char(option, 'f');
    }
}

static struct bash_node *parse_simple(struct bash_parser *p, struct bash_node *node)
{
    struct bash_word **word_tail = &node->words;
    struct bash_assign **assign_tail = &node->assigns;
    struct bash_redirect **redirect_tail = &node->redirects;
    while (!p->failed) {
        bash_skip(p, false);
        if (bash_ended(p) || bash_parse_redirect(p, &redirect_tail)) {
            if (bash_ended(p))
                break;
            continue;
        }
        char c = bash_at(p, 0);
        if (bash_is_meta(c) && !((c == '<' || c == '>') && bash_at(p, 1) == '('))
            break;
        size_t start = p->pos;
        if (!node->words || node->declares) {
            struct bash_assign *a = parse_assign(p);
            if (a) {
                *assign_tail = a;
                assign_tail = &a->next;
                if (node->words) {
                    struct bash_word *word = assign_word(p, start, a);
                    if (!word)
                        break;
                    *word_tail = word;
                    word_tail = &word->next;
                    node->word_count++;
                }
                continue;
            }
        }
        struct bash_word *word = bash_parse_word(p, BASH_IN_WORD);
        if (!word)
            break;
        if (p->pos == start) {
            bash_fail(p);
            break;
        }
        *word_tail = word;
        word_tail = &word->next;
        node->word_count++;
        if (node->word_count > 1)
            continue;
        if (bash_plain(word).n && !node->assigns && !node->redirects) {
            size_t before = p->pos;
            bash_skip(p, false);
            if (bash_at(p, 0) == '(') { /* name ( ) */
                p->pos++;
                bash_skip(p, false);
                if (bash_at(p, 0) != ')') {
                    bash_fail(p);
                    break;
                }
                p->pos++;
                struct str name = bash_plain(word);
                node->words = NULL;
                node->word_count = 0;
                return parse_function(p, node, name);
            }
            p->pos = before;
        }
        node->declares = declares(bash_plain(word));
    }
    if (node->words && p->functions->buckets)
        note_use(p, node);
    return node;
}

/* ---- compound commands ---- */

static void parse_if(struct bash_parser *p, struct bash_node *node)
{
    struct bash_arm **tail = &node->arms;
    node->kind = BASH_IF;
    for (;;) {
        struct bash_arm *arm = bash_new(p, sizeof *arm);
        if (!arm)
            return;
        *tail = arm;
        tail = &arm->next;
        arm->condition = bash_parse_list(p);
        expect_word(p, "then");
        arm->body = bash_parse_list(p);
        bash_skip(p, true);
        if (take_word(p, "elif"))
            continue;
        if (take_word(p, "else")) {
            struct bash_arm *other = bash_new(p, sizeof *other);
            if (!other)
                return;
            *tail = other;
            other->otherwise = true;
            other->body = bash_parse_list(p);
        }
        expect_word(p, "fi");
        return;
    }
}

static void parse_do(struct bash_parser *p, struct bash_node *node)
{
    bash_skip(p, true);
    if (bash_at(p, 0) == '{') { /* for …; { …; } */
        p->pos++;
        node->body = bash_parse_list(p);
        expect_word(p, "}");
        return;
    }
    expect_word(p, "do");
    node->body = bash_parse_list(p);
    expect_word(p, "done");
}

static void parse_for(struct bash_parser *p, struct bash_node *node)
{
    node->kind = BASH_FOR;
    bash_skip(p, false);
    if (bash_at(p, 0) == '(' && bash_at(p, 1) == '(') {
        node->kind = BASH_WHILE;
        struct bash_node *condition = bash_new(p, sizeof *condition);
        if (!condition)
            return;
        condition->kind = BASH_WORDS;
        if (!bash_parse_arithmetic(p, &condition->words)) {
            bash_fail(p);
            return;
        }
        node->condition = condition;
        bash_skip(p, false);
        if (bash_at(p, 0) == ';')
            p->pos++;
        parse_do(p, node);
        return;
    }
    struct bash_word *name = bash_parse_word(p, BASH_IN_WORD);
    node->name = bash_plain(name);
    if (!node->name.n) {
        bash_fail(p);
        return;
    }
    bash_skip(p, true);
    if (take_word(p, "in")) {
        struct bash_word **tail = &node->words;
        for (;;) {
            bash_skip(p, false);
            if (bash_ended(p) || p->failed || bash_at(p, 0) == ';' || bash_at(p, 0) == '\n')
                break;
            size_t start = p->pos;
            struct bash_word *word = bash_parse_word(p, BASH_IN_WORD);
            if (!word || p->pos == start) {
                bash_fail(p);
                return;
            }
            *tail = word;
            tail = &word->next;
            node->word_count++;
        }
    } else {
        node->all_arguments = true;
    }
    bash_skip(p, false);
    if (bash_at(p, 0) == ';')
        p->pos++;
    parse_do(p, node);
}

static void parse_case(struct bash_parser *p, struct bash_node *node)
{
    node->kind = BASH_CASE;
    bash_skip(p, false);
    node->words = bash_parse_word(p, BASH_IN_WORD);
    expect_word(p, "in");
    struct bash_arm **tail = &node->arms;
    for (;;) {
        bash_skip(p, true);
        if (p->failed || take_word(p, "esac"))
            return;
        struct bash_arm *arm = bash_new(p, sizeof *arm);
        if (!arm)
            return;
        *tail = arm;
        tail = &arm->next;
        if (bash_at(p, 0) == '(')
            p->pos++;
        struct bash_word **pattern = &arm->patterns;
        for (;;) {
            bash_skip(p, false);
            size_t start = p->pos;
            struct bash_word *word = bash_parse_word(p, BASH_IN_WORD);
            if (!word || p->pos == start) {
                bash_fail(p);
                return;
            }
            arm->otherwise |= str_eq(bash_plain(word), STR("*"));
            *pattern = word;
            pattern = &word->next;
            bash_skip(p, false);
            if (bash_at(p, 0) != '|')
                break;
            p->pos++;
        }
        if (bash_at(p, 0) != ')') {
            bash_fail(p);
            return;
        }
        p->pos++;
        arm->body = bash_parse_list(p);
        bash_skip(p, true);
        if (bash_at(p, 0) == ';' && (bash_at(p, 1) == ';' || bash_at(p, 1) == '&')) {
            p->pos += bash_at(p, 1) == ';' && bash_at(p, 2) == '&' ? 3 : 2;
        } else {
            expect_word(p, "esac");
            return;
        }
    }
}

static void parse_test(struct bash_parser *p, struct bash_node *node)
{
    node->kind = BASH_WORDS;
    struct bash_word **tail = &node->words;
    for (;;) {
        bash_skip(p, true);
        if (bash_ended(p)) {
            bash_fail(p);
            return;
        }
        if (bash_at(p, 0) == ']' && bash_at(p, 1) == ']' &&
            (p->pos + 2 >= p->end || bash_is_meta(bash_at(p, 2)) || bash_at(p, 2) == '}')) {
            p->pos += 2;
            return;
        }
        size_t start = p->pos;
        struct bash_word *word = bash_parse_word(p, BASH_IN_TEST);
        if (!word || p->pos == start) {
            bash_fail(p);
            return;
        }
        *tail = word;
        tail = &word->next;
    }
}

/* A compound command by its first word; false if a simple command stands here. */
static bool parse_compound(struct bash_parser *p, struct bash_node *node)
{
    if (bash_at(p, 0) == '(') {
        if (bash_at(p, 1) == '(') {
            struct bash_word *word;
            if (bash_parse_arithmetic(p, &word)) {
                node->kind = BASH_WORDS;
                node->words = word;
                return true;
            }
        }
        p->pos++;
        node->kind = BASH_SUBSHELL;
        node->body = bash_parse_list(p);
        if (bash_at(p, 0) != ')')
            bash_fail(p);
        else
            p->pos++;
        return true;
    }
    char c = bash_at(p, 0);
    if (c != '{' && c != '[' && c != 'i' && c != 'w' && c != 'u' && c != 'f' && c != 's' &&
        c != 'c')
        return false;
    if (take_word(p, "{")) {
        node->kind = BASH_GROUP;
        node->body = bash_parse_list(p);
        expect_word(p, "}");
    } else if (take_word(p, "[[")) {
        parse_test(p, node);
    } else if (take_word(p, "if")) {
        parse_if(p, node);
    } else if (take_word(p, "while") || take_word(p, "until")) {
        node->kind = BASH_WHILE;
        node->condition = bash_parse_list(p);
        parse_do(p, node);
    } else if (take_word(p, "for") || take_word(p, "select")) {
        parse_for(p, node);
    } else if (take_word(p, "case")) {
        parse_case(p, node);
    } else if (take_word(p, "coproc")) {
        bash_skip(p, false);
        node->kind = BASH_SUBSHELL;
        size_t start = p->pos;
        struct str name = peek_word(p);
        p->pos += name.n;
        bash_skip(p, false);
        /* a name stands before a compound command only */
        if (name.n == 0 || (bash_at(p, 0) != '{' && bash_at(p, 0) != '('))
            p->pos = start;
        node->body = parse_command(p);
        node->fed = true;
    } else {
        return false;
    }
    return true;
}

static struct bash_node *parse_command(struct bash_parser *p)
{
    bash_skip(p, false);
    for (;;) { /* ! and time */
        if (take_word(p, "!")) {
            bash_skip(p, false);
        } else if (at_word(p, "time")) {
            p->pos += 4;
            bash_skip(p, false);
            if (take_word(p, "-p"))
                bash_skip(p, false);
            if (take_word(p, "--"))
                bash_skip(p, false);
        } else {
            break;
        }
    }
    if (++p->nodes > GUARD_MAX_COMMANDS) {
        guard_limit(p->g, word_unknown(bash_place(p, p->pos), bash_place(p, p->pos)));
        bash_fail(p);
        return NULL;
    }
    struct bash_node *node = bash_new(p, sizeof *node);
    if (!node || !bash_enter(p))
        return NULL;
    node->start = bash_place(p, p->pos);
    if (at_word(p, "function")) {
        p->pos += 8;
        bash_skip(p, false);
        struct bash_word *name = bash_parse_word(p, BASH_IN_WORD);
        bash_skip(p, false);
        if (bash_at(p, 0) == '(' && bash_at(p, 1) == ')')
            p->pos += 2;
        else if (bash_at(p, 0) == '(') {
            size_t before = p->pos++;
            bash_skip(p, false);
            if (bash_at(p, 0) == ')')
                p->pos++;
            else
                p->pos = before;
        }
        parse_function(p, node, bash_plain(name));
    } else if (parse_compound(p, node)) {
        bash_parse_redirects(p, node);
    } else {
        parse_simple(p, node);
    }
    node->end = p->fixed ? p->fixed_end : (uint32_t)p->pos;
    p->nesting--;
    return node;
}

/* ---- lists ---- */

struct bash_node *bash_parse_list(struct bash_parser *p)
{
    struct bash_node *first = NULL, **tail = &first;
    struct bash_node *chain = NULL; /* the first command of a && b || c */
    enum bash_join join = BASH_THEN;
    bool needed = false; /* an operator waits for its second command */
    while (!p->failed && !guard_stopped(p->g)) {
        bash_skip(p, true);
        if (bash_ended(p) || (ends_list(p) && !needed))
            break;
        char c = bash_at(p, 0);
        if ((c == ';' || c == '&' || c == '|') && !(c == '&' && bash_at(p, 1) == '>')) {
            bash_fail(p);
            break;
        }
        size_t start = p->pos;
        struct bash_node *node = parse_command(p);
        if (!node)
            break;
        node->join = join;
        chain = join == BASH_THEN ? node : chain;
        join = BASH_THEN;
        *tail = node;
        tail = &node->next;
        if (p->failed)
            break;
        if (p->pos == start) {
            bash_fail(p);
            break;
        }
        bash_skip(p, false);
        needed = false;
        c = bash_at(p, 0);
        char d = bash_at(p, 1);
        if (c == '&' && d == '&') {
            join = BASH_AND;
            p->pos += 2;
            needed = true;
        } else if (c == '|') {
            join = d == '|' ? BASH_OR : BASH_PIPE;
            p->pos += d == '|' || d == '&' ? 2 : 1;
            needed = true;
        } else if (c == '&') {
            p->pos++;
            for (; chain; chain = chain->next)
                chain->background = true;
        } else if (c == ';' && d != ';' && d != '&') {
            p->pos++;
        } else if (c != '\n' && !bash_ended(p) && !ends_list(p)) {
            bash_fail(p);
        }
    }
    if (needed && !p->failed)
        bash_fail(p);
    return first;
}

struct bash_node *bash_parse(struct bash_parser *p)
{
    struct bash_node *list = bash_parse_list(p);
    bash_skip(p, true);
    if (!p->failed && !bash_ended(p))
        bash_fail(p);
    return list;
}
