/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real programs inside the sandbox: the same output and the same files as without it. They come
 * from build/programs (tools/windows-programs, tools/dotnet-probe); what is not there is skipped.
 */
#include "harness.h"

#define PROGRAMS "build\\programs\\"
#define SCRIPTS "tests\\e2e\\windows\\programs\\"

/* Copies a program beside the workspace, where a host's tools would be. */
static bool bring(const char *from, const char *name)
{
    char to[MAX_PATH];
    snprintf(to, sizeof to, "%s\\tools\\%s", top, name);
    return CopyFileA(from, to, FALSE);
}

static void bring_script(const char *name)
{
    char from[MAX_PATH];
    snprintf(from, sizeof from, SCRIPTS "%s", name);
    CopyFileA(from, path_of(name), FALSE);
}

static void plain(void)
{
    fresh();
    DeleteFileA(path_of("ws\\hard"));
}

struct outcome {
    struct buf output, files;
    int code;
    unsigned ms;
};

static void outcome_free(struct outcome *o)
{
    buf_free(&o->output);
    buf_free(&o->files);
}

static void observe(struct outcome *o, bool sandbox, const char *options, const char *line,
                    void (*prepare)(void))
{
    plain();
    if (prepare)
        prepare();
    uint64_t begin = GetTickCount64();
    o->code = sandbox ? confined(options, line, &o->output) : run(line, &o->output);
    o->ms = (unsigned)(GetTickCount64() - begin);
    list_tree(path_of("ws"), "", &o->files);
}

/* A test of its own for output, code and files; `says` must be in the output, so that two failures
   alike are no success. */
static void same(const char *what, const char *options, const char *line, const char *says,
                 void (*prepare)(void))
{
    struct outcome without = {0}, with = {0};
    observe(&without, false, NULL, line, prepare);
    observe(&with, true, options, line, prepare);
    bool control = without.code == 0 && has(&without.output, says);
    if (!ok(control && str_eq(buf_str(&with.output), buf_str(&without.output)) &&
                with.code == without.code,
            "%s: the same output (%u ms, without %u ms)", what, with.ms, without.ms)) {
        note("codes %d and %d, with:", with.code, without.code);
        note_output(&with.output);
        note("without:");
        note_output(&without.output);
    }
    if (!ok(without.files.n > 100 && str_eq(buf_str(&with.files), buf_str(&without.files)),
            "%s: the same files", what)) {
        size_t at = 0;
        while (at < with.files.n && at < without.files.n && with.files.p[at] == without.files.p[at])
            at++;
        at = at > 100 ? at - 100 : 0;
        note("from %u: %.300s", (unsigned)at, with.files.n > at ? with.files.p + at : "");
        note("instead of %.300s", without.files.n > at ? without.files.p + at : "");
    }
    outcome_free(&without);
    outcome_free(&with);
}

/* ---- node ---- */

static void test_node(int version)
{
    char what[80], from[MAX_PATH];
    static const struct {
        const char *what, *script, *says;
    } parts[] = {{"files and streams", "fs.js", "200 at once"},
                 {"children and workers", "children.js", "workers 50 50 50 50 200"},
                 {"an install from a tarball", "install.js", "42 60"}};
    snprintf(from, sizeof from, PROGRAMS "node%d\\bin\\node.exe", version);
    if (!bring(from, "node.exe")) {
        snprintf(what, sizeof what, "node %d", version);
        skip(what, "build/programs does not have it");
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        auto_buf struct buf line = {0};
        bring_script(parts[i].script);
        buf_fmt(&line, "%s\\tools\\node.exe %s\\%s", top, top, parts[i].script);
        snprintf(what, sizeof what, "node %d, %s", version, parts[i].what);
        same(what, "--quiet", buf_cstr(&line), parts[i].says, NULL);
    }
}

/* ---- esbuild, 7za, ninja ---- */

static void make_project(void)
{
    put("ws\\main.ts", "import { add } from './sub/add';\nimport data from './data.json';\n"
                       "const n: number = add(data.a, 2);\nconsole.log(`sum ${n}`);\n");
    put("ws\\sub\\add.ts",
        "export const add = (a: number, b: number) => a + b;\nexport const unused = 1;\n");
    put("ws\\data.json", "{\"a\": 40}\n");
}

static void make_many_files(void)
{
    char name[64], text[64];
    CreateDirectoryA(path_of("ws\\many"), NULL);
    for (int i = 0; i < 2000; i++) {
        if (i % 50 == 0) {
            snprintf(name, sizeof name, "ws\\many\\%d", i / 50);
            CreateDirectoryA(path_of(name), NULL);
        }
        snprintf(name, sizeof name, "ws\\many\\%d\\f%d", i / 50, i);
        snprintf(text, sizeof text, "file %d %d\n", i, i * i);
        put(name, text);
    }
}

static void make_build(void)
{
    auto_buf struct buf text = {0};
    buf_add(&text, STR("rule copy\n  command = cmd /c copy $in $out >nul\n"));
    buf_add(&text, STR("build out\\0: copy source\n"));
    for (int i = 1; i < 200; i++)
        buf_fmt(&text, "build out\\%d: copy out\\%d\n", i, i % 10 ? i - i % 10 : i - 10);
    put("ws\\build.ninja", buf_cstr(&text));
    put("ws\\source", "from the source");
}

static void test_tools(void)
{
    if (bring(PROGRAMS "esbuild\\esbuild.exe", "esbuild.exe"))
        same("esbuild, a small project", "--quiet",
             "cmd /c \"%T%\\tools\\esbuild.exe main.ts --bundle --minify --sourcemap "
             "--outfile=dist\\out.js "
             "--log-level=error && echo built\"",
             "built", make_project);
    else
        skip("esbuild", "build/programs has no esbuild");
    if (bring(PROGRAMS "7zip\\win\\x64\\7za.exe", "7za.exe"))
        same("7za, 2,000 files packed and unpacked", "--quiet",
             "cmd /c \"%T%\\tools\\7za.exe a -bd -mmt=1 -mtm=off -mtc=off -mta=off -bso0 all.7z "
             "many && %T%\\tools\\7za.exe x -bd -bso0 -oback all.7z && %T%\\tools\\7za.exe t -bd "
             "-bso0 all.7z && echo packed\"",
             "packed", make_many_files);
    else
        skip("7za", "build/programs has no 7zip");
    if (bring(PROGRAMS "ninja\\binaries\\ninja-win.exe", "ninja.exe"))
        same("ninja, 200 steps", "--quiet",
             "cmd /c \"%T%\\tools\\ninja.exe -j2 --quiet && del .ninja_log .ninja_deps 2>nul & "
             "echo built\"",
             "built", make_build);
    else
        skip("ninja", "build/programs has no ninja");
}

/* ---- the long form: pnpm, ripgrep ---- */

static void make_package(void)
{
    CreateDirectoryA(path_of("ws\\dep"), NULL);
    put("ws\\dep\\package.json", "{\"name\":\"dep\",\"version\":\"1.0.0\"}\n");
    put("ws\\dep\\index.js", "module.exports = 42\n");
    put("ws\\package.json", "{\"name\":\"app\",\"version\":\"1.0.0\","
                            "\"dependencies\":{\"dep\":\"file:dep\"}}\n");
}

static void test_more_tools(void)
{
    /* Its state, with times in it, is taken away before files are compared; Wine 8 makes no
       links. */
    if (bring(PROGRAMS "pnpm\\pnpm.exe", "pnpm.exe"))
        same("pnpm, an offline install", "--quiet",
             "cmd /c \"%T%\\tools\\pnpm.exe install --offline --silent --store-dir .store "
             "--config.node-linker=hoisted && rmdir /s /q .store && del "
             "node_modules\\.modules.yaml && echo installed\"",
             "installed", make_package);
    else
        skip("pnpm", "build/programs does not have it");
    if (!bring(PROGRAMS "ripgrep\\bin\\rg.exe", "rg.exe"))
        skip("ripgrep", "build/programs does not have it");
    else if (run("%T%\\tools\\rg.exe --version", NULL) != 0)
        skip("ripgrep", "it does not start here without the sandbox either");
    else
        same("ripgrep, 2,000 files", "--quiet",
             "cmd /c \"%T%\\tools\\rg.exe --sort path 99 many > found && echo searched\"",
             "searched", make_many_files);
}

/* ---- git without git ---- */

static int git(bool sandbox, const char *options, const char *action, struct buf *out)
{
    auto_buf struct buf line = {0};
    buf_fmt(&line, "%s\\tools\\node.exe %s\\git.js %s\\tools\\git-library.js %s", top, top, top,
            action);
    return sandbox ? confined(options, buf_cstr(&line), out) : run(buf_cstr(&line), out);
}

static void test_git(void)
{
    auto_buf struct buf out = {0}, log = {0};
    if (!exists("tools\\node.exe") ||
        !bring(PROGRAMS "isomorphic-git\\index.umd.min.js", "git-library.js")) {
        skip("59 isomorphic-git", "build/programs has no node20 or no isomorphic-git");
        return;
    }
    bring_script("git.js");
    plain();
    int code = git(true, "--git=commit", "init", &out);
    if (!ok(code != 0 && !exists("ws\\.git\\config"), "59 --git=commit: init is refused"))
        note_output(&out);
    plain();
    if (!ok(git(false, NULL, "init", &out) == 0 && exists("ws\\.git\\config"),
            "59 control: init works without the sandbox"))
        note_output(&out);
    CreateDirectoryA(path_of("ws\\.git\\hooks"), NULL);
    auto_buf struct buf config = {0};
    list_tree(path_of("ws\\.git"), "", &config);
    buf_reset(&out);
    ok(git(true, NULL, "commit", &out) != 0 && has(&out, "protected.git"),
       "59 without --git=commit nothing is committed");
    buf_reset(&out);
    if (!ok(git(true, "--git=commit", "commit", &out) == 0 && git(false, NULL, "log", &log) == 0 &&
                has(&log, "worked first"),
            "59 --git=commit: a commit is made"))
        note_output(&out);
    ok(git(true, "--git=commit", "branch", &out) == 0 && exists("ws\\.git\\refs\\heads\\side"),
       "59 --git=commit: a branch is made and checked out");
    buf_reset(&out);
    ok(git(true, "--git=commit", "hook", &out) != 0 && !exists("ws\\.git\\hooks\\pre-commit") &&
           has(&out, "protected.git"),
       "59 --git=commit: no hook is planted");
    buf_reset(&out);
    int planted = git(true, "--git=commit", "config", &out);
    auto_buf struct buf text = {0};
    run("cmd /c type .git\\config", &text);
    ok(planted != 0 && has(&text, "[core]") && !has(&text, "evil"),
       "59 --git=commit: the config is not changed");
    ok(git(true, "--git=commit", "rename", NULL) != 0 && exists("ws\\.git\\config"),
       "59 --git=commit: .git is not moved away");
    buf_reset(&text);
    ok(git(false, NULL, "config", NULL) == 0 && run("cmd /c type .git\\config", &text) == 0 &&
           has(&text, "evil") && git(false, NULL, "hook", NULL) == 0 &&
           exists("ws\\.git\\hooks\\pre-commit"),
       "59 control: without the sandbox both are planted");
}

/* ---- .NET ---- */

static void test_dotnet(void)
{
    if (GetFileAttributesA(PROGRAMS "dotnet\\ready") == INVALID_FILE_ATTRIBUTES) {
        skip("a .NET program", "no .NET SDK was found when the tests were set up");
        return;
    }
    auto_buf struct buf copy = {0}, out = {0};
    char from[MAX_PATH];
    GetFullPathNameA(PROGRAMS "dotnet", MAX_PATH, from, NULL);
    buf_fmt(&copy, "cmd /c xcopy /e /i /q /y \"%s\" \"%s\\dotnet\"", from, top);
    plain();
    run(buf_cstr(&copy), NULL);
#define NET "%T%\\dotnet\\dotnet_probe.exe "
    static const struct {
        const char *what, *line, *effect, *options;
    } denied[] = {
        {"3 WriteAllBytes outside", NET "bytes ..\\out\\new", "out\\new", NULL},
        {"24 WriteAllBytes in a read-only run", NET "bytes new", "ws\\new", "--mode read-only"},
        {"32 WriteAllBytes to a stream", NET "bytes file:s", "ws\\file:s", NULL},
        {"34 CreateDirectory of .GiT", NET "mkdir .GiT", "ws\\.GiT", NULL},
        {"49 a child cmd writes outside", NET "child \"/c echo x> ..\\out\\new\"", "out\\new",
         NULL},
    };
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        buf_reset(&out);
        plain();
        int code = confined(denied[i].options, denied[i].line, &out);
        bool stopped = !exists(denied[i].effect) && has(&out, "sandbox denied");
        plain();
        run(denied[i].line, NULL);
        if (!ok(stopped && exists(denied[i].effect), ".NET, denied: %s", denied[i].what)) {
            note("code %d, stopped %d", code, stopped);
            note_output(&out);
        }
    }
    plain();
    ok(confined(NULL, NET "bytes new", NULL) == 0 && is_text("ws\\new", "x"),
       ".NET: 23 WriteAllBytes in the workspace");
    same(".NET, 8 threads with 100 files each", "--quiet", NET "threads sub", "wrong 0", NULL);
    same(".NET, a child cmd", "--quiet", NET "child \"/c echo from the child&& echo x> new\"",
         "from the child", NULL);
    buf_reset(&out);
    plain();
    ok(confined(NULL, NET "shell https://example.com", &out) != 0 && has(&out, "sandbox denied"),
       ".NET: 44 Process.Start of a URL by the shell is refused");
    auto_buf struct buf twin = {0};
    buf_fmt(&twin, "%s\\dotnet\\dotnet_probe.exe shell %s", top, probe);
    ok(run(buf_cstr(&twin), NULL) == 0, ".NET: 44 control: the shell starts a program");
#undef NET
}

int main(void)
{
    harness_make("programs");
    CreateDirectoryA(path_of("tools"), NULL);
    if (harness_soak()) {
        test_node(18);
        test_node(22);
        test_more_tools();
    }
    test_node(20);
    test_tools();
    test_git();
    test_dotnet();
    return harness_done();
}
