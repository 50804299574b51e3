/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that the chosen token can still write according to the model, and the part of the
   token that each refusal needs. */
#include "access.h"

#include "base/buf.h"
#include "tap.h"

#define USER_SID "S-1-5-21-1-2-3-1001"
#define LOGON_SID "S-1-5-5-0-1234"
#define RUN_SID "S-1-0-11-12-13-14"
#define OTHER_SID "S-1-0-21-22-23-24"

/* An ordinary program of a user who is an administrator with UAC. */
static const char *const user_sids[] = {USER_SID,   LOGON_SID, "S-1-1-0", "S-1-5-32-545",
                                        "S-1-5-11", "S-1-5-4", NULL};
static const char *const no_interactive[] = {USER_SID,       LOGON_SID,  "S-1-1-0",
                                             "S-1-5-32-545", "S-1-5-11", NULL};
static const char *const admins[] = {"S-1-5-32-544", NULL};
static const char *const admins_interactive[] = {"S-1-5-32-544", "S-1-5-4", NULL};
static const char *const run_and_logon[] = {RUN_SID, LOGON_SID, NULL};
static const char *const with_everyone[] = {RUN_SID, LOGON_SID, "S-1-1-0", NULL};

static const struct model_token ordinary = {
    "an ordinary program", MODEL_MEDIUM, false, user_sids, admins, NULL};
static const struct model_token chosen = {"the run's token", MODEL_LOW,          true,
                                          no_interactive,    admins_interactive, run_and_logon};
static const struct model_token medium = {"--integrity=medium", MODEL_MEDIUM,       true,
                                          no_interactive,       admins_interactive, run_and_logon};
static const struct model_token only_low = {"Low alone",    MODEL_LOW,          false,
                                            no_interactive, admins_interactive, NULL};
static const struct model_token everyone = {"with Everyone", MODEL_MEDIUM,       true,
                                            no_interactive,  admins_interactive, with_everyone};

static const struct model_token low_everyone = {
    "Low, with Everyone", MODEL_LOW, true, no_interactive, admins_interactive, with_everyone};

static struct arena arena;

/* SDDL with the names of the table replaced. */
static const char *filled(const char *sddl)
{
    static const char *const names[][2] = {
        {"USER", USER_SID}, {"LOGON", LOGON_SID}, {"RUN", RUN_SID}, {"OTHER", OTHER_SID}};
    struct buf text = {0};
    while (*sddl) {
        size_t i = 0;
        while (i < 4 && strncmp(sddl, names[i][0], strlen(names[i][0])) != 0)
            i++;
        if (i < 4)
            buf_add(&text, str_of(names[i][1]));
        else
            buf_char(&text, *sddl);
        sddl += i < 4 ? strlen(names[i][0]) : 1;
    }
    const char *out = arena_copy(&arena, buf_str(&text)).p;
    buf_free(&text);
    return out;
}

static struct model_object object(enum model_type type, const char *sddl)
{
    struct model_object o = {0};
    const char *where = "", *text = filled(sddl);
    if (!model_read(&arena, type, text, &o, &where))
        ok(false, "descriptor %s, at %s", text, where);
    return o;
}

#define X(name_, type_, sddl_, right_, run_, user_) \
    {name_, sddl_, MODEL_##type_, right_, MODEL_##run_, MODEL_##user_},
static const struct row {
    const char *name, *sddl;
    enum model_type type;
    uint32_t right;
    enum model_answer run, user;
} rows[] = {
#include "objects.def"
};
#undef X

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct model_object o = object(r->type, r->sddl);
        enum model_answer run = model_check(&chosen, &o, r->right);
        enum model_answer user = model_check(&ordinary, &o, r->right);
        if (!ok(run == r->run && user == r->user, "%s: %s; without the token %s", r->name,
                model_words[run], model_words[user]))
            note("wanted: %s; %s", model_words[r->run], model_words[r->user]);
    }
}

/* The model reads the output of `doctor --objects` and covers every object in it. */
static void test_shown(void)
{
    static const struct {
        const char *name, *sddl;
    } shown[] = {
#define OBJECT(id, kind, name, where) {name, id},
#include "doctor/objects.def"
    };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct model_object o = {0};
        const char *where;
        bool used = false;
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            used = used || strcmp(rows[r].sddl, shown[i].sddl) == 0;
        ok(used && model_read(&arena, MODEL_FILE, filled(shown[i].sddl), &o, &where),
           "doctor shows %s, which the model judges", shown[i].name);
    }
}

/* Each part of the token is there for a reason: without it something opens. */
static void test_parts(void)
{
    struct model_object file = object(MODEL_FILE, PROFILE_FILE);
    struct model_object folder = object(MODEL_FILE, PROFILE_FOLDER);
    struct model_object low = object(MODEL_FILE, LOCAL_LOW);
    struct model_object open_folder = object(MODEL_FILE, OPEN_FOLDER);
    struct model_object launcher = object(MODEL_PROCESS, LAUNCHER);
    struct model_object other = object(MODEL_PROCESS, OTHER_RUN);
    ok(model_check_delete(&chosen, &file, &folder) == MODEL_BY_INTEGRITY &&
           model_check_delete(&ordinary, &file, &folder) == MODEL_GRANTED,
       "deleting a file outside is refused by integrity, and is granted without the token");
    ok(model_check(&medium, &file, 0x2) == MODEL_BY_RESTRICTING &&
           model_check_delete(&medium, &file, &folder) == MODEL_GRANTED,
       "WRITE_RESTRICTED alone stops writing and lets deleting pass");
    ok(model_check(&medium, &file, RIGHT_WRITE_DAC) == MODEL_BY_RESTRICTING &&
           model_check(&medium, &file, RIGHT_DELETE) == MODEL_BY_RESTRICTING,
       "through the folder: DELETE and WRITE_DAC of the file itself it refuses");
    struct model_object low_file = object(MODEL_FILE, PROFILE_FILE "S:(ML;;NW;;;LW)");
    ok(model_check_delete(&chosen, &low_file, &low) == MODEL_GRANTED &&
           model_check_delete(&chosen, &low_file, &folder) == MODEL_BY_RESTRICTING,
       "so files in folders labelled Low can be deleted, and nothing else can");
    ok(model_check(&only_low, &low, 0x2) == MODEL_GRANTED &&
           model_check(&chosen, &low, 0x2) == MODEL_BY_RESTRICTING,
       "Low alone lets LocalLow be written");
    ok(model_check(&only_low, &other, 0x28) == MODEL_GRANTED &&
           model_check(&chosen, &other, 0x28) == MODEL_BY_RESTRICTING,
       "Low alone lets two runs write into each other");
    ok(model_check(&everyone, &open_folder, 0x2) == MODEL_GRANTED &&
           model_check(&medium, &open_folder, 0x2) == MODEL_BY_RESTRICTING,
       "Everyone as a restricting SID opens Everyone-writable folders");
    ok(model_check(&medium, &launcher, RIGHT_WRITE_DAC) == MODEL_BY_DACL,
       "at Medium the launcher is kept by its OWNER RIGHTS entry");
    struct model_object bare =
        object(MODEL_PROCESS, "O:USERD:P(A;;0x1fffff;;;SY)(A;;0x101000;;;USER)S:(ML;;NWNR;;;ME)");
    ok(model_check(&medium, &bare, RIGHT_WRITE_DAC) == MODEL_BY_RESTRICTING &&
           model_check(&ordinary, &bare, RIGHT_WRITE_DAC) == MODEL_GRANTED &&
           model_check(&ordinary, &launcher, RIGHT_WRITE_DAC) == MODEL_BY_DACL,
       "control: without it an owner could open it up again");
    struct model_object names = object(MODEL_DIRECTORY, GLOBAL_NAMES);
    struct model_object devices = object(MODEL_FILE, CRYPTOGRAPHY);
    struct model_object low_open = object(MODEL_FILE, OPEN_FOLDER "S:(ML;OICI;NW;;;LW)");
    ok(model_check(&low_everyone, &names, 0x4) == MODEL_GRANTED &&
           model_check(&low_everyone, &devices, 0x12019f) == MODEL_GRANTED &&
           model_check(&low_everyone, &open_folder, 0x2) == MODEL_BY_INTEGRITY &&
           model_check(&low_everyone, &low_open, 0x2) == MODEL_GRANTED,
       "at Low, Everyone opens only what is labelled Low and writable by Everyone");
}

/* The model against facts that anyone can look up. */
static void test_facts(void)
{
    struct model_object o = object(MODEL_FILE, "O:SYD:(D;;FW;;;BA)(A;;FA;;;BA)(A;;FR;;;WD)");
    ok(model_check(&ordinary, &o, 0x1) == MODEL_GRANTED &&
           model_check(&ordinary, &o, 0x2) == MODEL_BY_DACL,
       "a deny-only group grants nothing");
    o = object(MODEL_FILE, "O:SYD:(D;;FR;;;BA)(A;;FA;;;WD)");
    ok(model_check(&ordinary, &o, 0x1) == MODEL_BY_DACL, "and still denies");
    o = object(MODEL_FILE, "O:SYD:(A;;FR;;;WD)(D;;FA;;;WD)");
    ok(model_check(&ordinary, &o, 0x1) == MODEL_GRANTED, "the first entry decides");
    o = object(MODEL_FILE, "O:SYD:(A;IO;FA;;;WD)");
    ok(model_check(&ordinary, &o, 0x1) == MODEL_BY_DACL, "an inherit-only entry says nothing");
    o = object(MODEL_FILE, "O:SYD:");
    ok(model_check(&ordinary, &o, 0x1) == MODEL_BY_DACL, "an empty DACL denies");
    o = object(MODEL_FILE, "O:SY");
    ok(model_check(&ordinary, &o, 0x1) == MODEL_GRANTED, "no DACL grants");
    o = object(MODEL_FILE, "O:USERD:");
    ok(model_check(&ordinary, &o, RIGHT_WRITE_DAC) == MODEL_GRANTED,
       "an owner may always write it");
    o = object(MODEL_FILE, "O:USERD:(A;;RC;;;OW)");
    ok(model_check(&ordinary, &o, RIGHT_WRITE_DAC) == MODEL_BY_DACL, "but not past OWNER RIGHTS");
    o = object(MODEL_FILE, "O:SYD:(A;;GA;;;WD)S:(ML;;NWNRNX;;;HI)");
    ok(model_check(&ordinary, &o, 0x1) == MODEL_BY_INTEGRITY &&
           model_check(&ordinary, &o, 0x20) == MODEL_BY_INTEGRITY,
       "a label can forbid reading and executing from below");
    const char *where;
    static const char *const bad[] = {"X",
                                      "D:(A;;FA;;;ZZ)",
                                      "D:(A;;QQ;;;WD)",
                                      "D:(A;;FA;;;WD",
                                      "S:(ML;;NW;;;WD)",
                                      "D:(B;;FA;;;WD)",
                                      "O:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(!model_read(&arena, MODEL_FILE, bad[i], &o, &where), "malformed: %s", bad[i]);
}

int main(void)
{
    test_facts();
    test_rows();
    test_shown();
    test_parts();
    arena_free(&arena);
    return tap_done();
}
