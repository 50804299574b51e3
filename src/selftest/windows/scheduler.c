/* SPDX-License-Identifier: Apache-2.0 */
/* The task scheduler, which runs programs for whoever asks; by COM, as programs call it. */
#define COBJMACROS
#include <winsock2.h>

#include <windows.h>

#include <stdio.h>
#include <taskschd.h>

#include "selftest/windows/late.h"
#include "selftest/windows/world.h"

static const GUID scheduler = {
    0x0F87369F, 0xA4E5, 0x4CFC, {0xBD, 0x3E, 0x73, 0xE6, 0x15, 0x45, 0x72, 0xDD}};
static const GUID service_id = {
    0x2FABA4C7, 0x4DA9, 0x4013, {0x96, 0x97, 0x20, 0xCC, 0x3F, 0xD4, 0x0F, 0x85}};

static BSTR text_of(const wchar_t *text)
{
    return LATE(L"oleaut32.dll", SysAllocString)(text);
}

static HRESULT top_folder(ITaskFolder **out)
{
    ITaskService *service = NULL;
    VARIANT none = {.vt = VT_EMPTY};
    LATE(L"ole32.dll", CoInitializeEx)(NULL, COINIT_MULTITHREADED);
    HRESULT hr = LATE(L"ole32.dll", CoCreateInstance)(&scheduler, NULL, CLSCTX_INPROC_SERVER,
                                                      &service_id, (void **)&service);
    if (hr == S_OK)
        hr = ITaskService_Connect(service, none, none, none, none);
    return hr == S_OK ? ITaskService_GetFolder(service, text_of(L"\\"), out) : hr;
}

bool scheduler_do(const char *what, const char *name)
{
    static const wchar_t task[] =
        L"<Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">"
        L"<Actions><Exec><Command>cmd.exe</Command></Exec></Actions></Task>";
    wchar_t wide[100];
    ITaskFolder *top = NULL;
    IRegisteredTask *found = NULL;
    VARIANT none = {.vt = VT_EMPTY};
    world_wide(wide, 100, L"", name);
    if (top_folder(&top) != S_OK)
        return false;
    if (strcmp(what, "made") == 0)
        return ITaskFolder_RegisterTask(top, text_of(wide), text_of(task), TASK_CREATE_OR_UPDATE,
                                        none, none, TASK_LOGON_INTERACTIVE_TOKEN, none,
                                        &found) == S_OK;
    if (strcmp(what, "gone") == 0)
        return ITaskFolder_DeleteTask(top, text_of(wide), 0) == S_OK;
    return ITaskFolder_GetTask(top, text_of(wide), &found) == S_OK;
}

/* Each step in a process of its own, so that the scheduler's library is not in this one. */
static bool free_step(const struct selftest_world *w, const char *what, const char *name)
{
    char script[120];
    snprintf(script, sizeof script, "task %s %s", what, name);
    return world_run_free(w, script) == 0;
}

void scheduler_try(struct selftest_world *w, struct selftest_line *line)
{
    char name[60], script[120];
    bool escaped = false;
    snprintf(name, sizeof name, "cordon-selftest-%lu", (unsigned long)GetCurrentProcessId());
    snprintf(script, sizeof script, "task made %s", name);
    world_fresh(w);
    attempt_say(line, script, "the same without the sandbox, then taken back");
    world_run(w, "", script, &escaped);
    bool there = free_step(w, "is", name);
    bool control = free_step(w, "made", name) && free_step(w, "is", name);
    free_step(w, "gone", name);
    attempt_conclude(line, escaped, control, !there, "the scheduler has the task");
}
