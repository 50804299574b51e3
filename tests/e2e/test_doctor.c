/* SPDX-License-Identifier: Apache-2.0 */
/* cordon doctor: the shape of its answer, and that it notices what it says it notices. */
#include "base/json.h"
#include "e2e/program.h"

#ifdef _WIN32
#include "launch/windows/wine.h"
#endif

static bool is_one_of(const struct json_value *v, const char *words)
{
    return v && v->type == JSON_STRING && v->text.n > 0 &&
           str_find(str_of(words), v->text, 0) < strlen(words);
}

static void test_shape(void)
{
    static const char *const domains[] = {"files",   "delete", "processes", "input",
                                          "network", "reads",  "shell"};
    auto_arena struct arena arena = {0};
    auto_buf struct buf out = {0};
    struct json_value v = {0};
    struct json_error error;
    int code = program_run("doctor --json", NULL, &out);
    ok(json_read(&arena, buf_str(&out), &v, &error) == 0 && v.type == JSON_OBJECT, "JSON");
    ok(is_one_of(json_get(&v, STR("boundary")), "kernel interposed"), "boundary");
    const struct json_value *of = json_get(&v, STR("domains"));
    for (size_t i = 0; of && i < sizeof domains / sizeof *domains; i++)
        ok(is_one_of(json_get(of, str_of(domains[i])), "kernel service interposed none"),
           "domain %s", domains[i]);
    const struct json_value *layers = json_get(&v, STR("layers"));
    bool good = layers && layers->type == JSON_ARRAY && layers->count > 0;
    for (size_t i = 0; good && i < layers->count; i++)
        good = json_get(&layers->items[i], STR("name")) &&
               json_get(&layers->items[i], STR("live")) && json_get(&layers->items[i], STR("how"));
    ok(good, "layers");
    const struct json_value *findings = json_get(&v, STR("findings"));
    bool must = false;
    good = findings && findings->type == JSON_ARRAY;
    for (size_t i = 0; good && i < findings->count; i++) {
        const struct json_value *f = &findings->items[i], *severity = json_get(f, STR("severity"));
        good = is_one_of(severity, "must should") && json_get(f, STR("id")) &&
               json_get(f, STR("text")) && json_get(f, STR("fix"));
        must = must || (good && str_eq(severity->text, STR("must")));
    }
    ok(good, "findings");
    ok(code == (must ? 1 : 0), "exit code 1 means that something must be fixed");
    expect("for people", "doctor", NULL, code, "layers:");
    if (!must)
        expect("a command is really run", "doctor", NULL, code, "yes  run");
    expect("a word too many", "doctor now", NULL, 125, "leave out now");
}

#ifdef _WIN32
/* Programs that use windows do not start in session 0 inside a sandbox; Wine has no such session. */
static void test_session(void)
{
    auto_buf struct buf out = {0};
    DWORD session = 1;
    bool known = ProcessIdToSessionId(GetCurrentProcessId(), &session);
    program_run("doctor --json", NULL, &out);
    bool said = str_find(buf_str(&out), STR("windows.session-0"), 0) < out.n;
    ok(known && out.n > 0 && said == (session == 0 && !wine_is_here()),
       "session %lu: doctor says %s of session 0", (unsigned long)session, said ? "so" : "nothing");
}

static void test_objects(void)
{
    auto_arena struct arena arena = {0};
    auto_buf struct buf out = {0};
    struct json_value v = {0};
    struct json_error error;
    size_t described = 0;
    int code = program_run("doctor --objects --json", NULL, &out);
    const struct json_value *objects = NULL;
    if (json_read(&arena, buf_str(&out), &v, &error) == 0)
        objects = json_get(&v, STR("objects"));
    for (size_t i = 0; objects && i < objects->count; i++) {
        const struct json_value *sddl = json_get(&objects->items[i], STR("sddl"));
        described += sddl && str_starts(sddl->text, STR("O:")) &&
                     str_find(sddl->text, STR("D:"), 0) < sddl->text.n;
        ok(json_get(&objects->items[i], STR("name")) &&
               (sddl || json_get(&objects->items[i], STR("error"))),
           "object %u has a descriptor, or says why not", (unsigned)i);
    }
    ok(code == 0 && described >= 7, "%u objects are described", (unsigned)described);
    expect("the same for people", "doctor --objects", NULL, 0, "a file in the profile (%TEMP%)");
}
#else
static void test_noticed(void)
{
    auto_buf struct buf out = {0};
    char path[8192];
    const char *old = getenv("PATH");
    snprintf(path, sizeof path, "%s", old ? old : "/usr/bin:/bin");
    program_run("doctor", NULL, &out);
    ok(!says(&out, "path.relative") && !says(&out, "build/e2e-open"), "the control: not there");
    if (system("mkdir -p build/e2e-open && chmod 777 build/e2e-open"))
        return;
    char cwd[2048] = "", longer[12000];
    FILE *pwd = popen("pwd", "r");
    if (pwd && fgets(cwd, sizeof cwd, pwd))
        cwd[strcspn(cwd, "\n")] = '\0';
    if (pwd)
        pclose(pwd);
    snprintf(longer, sizeof longer, "%s/build/e2e-open:relative:%s", cwd, path);
    setenv("PATH", longer, 1);
    program_run("doctor", NULL, &out);
    setenv("PATH", path, 1);
    ok(says(&out, "path.writable") && says(&out, "path.relative"),
       "a folder that everybody may write, and one that is not absolute");
    if (system("rmdir build/e2e-open"))
        return;
    if (system("mkdir -p build/e2e-kept/cordon-tools"))
        return;
    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    program_run("doctor", NULL, &out);
    ok(!says(&out, "caches of --for"), "control: nothing is kept");
    snprintf(longer, sizeof longer, "%s/build/e2e-kept", cwd);
    setenv("XDG_CACHE_HOME", longer, 1);
    program_run("doctor --json", NULL, &out);
    ok(says(&out, "\"kept\":[") && says(&out, "build/e2e-kept/cordon-tools"),
       "kept caches are listed");
    unsetenv("XDG_CACHE_HOME");
    if (system("rm -r build/e2e-kept"))
        return;
    if (program_run("run --quiet -- true", NULL, &out) != 0) {
        skip("inside a run it says so", "this machine cannot confine");
        return;
    }
    int code = program_run("run --quiet -- env ASAN_OPTIONS=detect_leaks=0 " CORDON_EXE " doctor",
                           NULL, &out);
    if (!ok(code == 125 && says(&out, "inside a run of cordon"), "inside a run it says so"))
        note("%d %s", code, buf_cstr(&out));
}
#endif

int main(void)
{
    test_shape();
#ifdef _WIN32
    test_objects();
    test_session();
#else
    test_noticed();
    expect("objects of Windows", "doctor --objects", NULL, 125, "Windows only");
#endif
    return tap_done();
}
