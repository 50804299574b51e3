/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question on a terminal and the keys that answer it, on both systems. It neither reads nor
 * writes anything itself.
 *
 * The command can make a terminal type: it answers queries, with text of the command's choice. And
 * a person may be typing to the command when a question appears. So keys are for the command until
 * none has come for a while, a sequence is the command's from its first byte on, and an answer is a
 * letter or its word and Enter, which no terminal sends by itself; in a text that is pasted they are
 * none.
 */
#ifndef CORDON_PROMPT_PROMPT_H
#define CORDON_PROMPT_PROMPT_H

#include "broker/desk.h"

struct prompt {
    struct buf screen; /* for the terminal */
    struct buf typed;  /* for the command */
    uint64_t shown;    /* the question on the screen; 0: none */
    uint64_t last;     /* when it was shown, or a key for the command came after it */
    uint64_t wrong;    /* when the last key came that was no answer */
    char line[8];      /* a letter or the beginning of a word, until Enter */
    size_t length;     /* of the line */
    uint64_t looked;   /* when prompt_look() was called last */
    bool stopped;      /* this process was since */
    bool sequence;     /* keys for the command that a terminal sends, not a person */
    unsigned hints;    /* lines about keys that were no answer */
    struct ask_choice keys[128];
    bool offered[128];
};

/* Shows the next question if there is one, and takes away one that is over; the milliseconds
   until that is to be done again, at most so many. gone: the terminal is, and every question
   is denied. */
int prompt_look(struct prompt *p, struct desk *desk, bool gone, int most_ms);

/* The process was stopped and goes on: that time does not count, and the question is shown again. One
   that was stopped by others is noticed, too, if it took long. */
void prompt_went_on(struct prompt *p);

/* A key while a question is shown. */
void prompt_key(struct prompt *p, struct desk *desk, char key);

/* The run is over. */
void prompt_end(struct prompt *p);

void prompt_free(struct prompt *p);

#endif
