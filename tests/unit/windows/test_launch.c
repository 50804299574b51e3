/* SPDX-License-Identifier: Apache-2.0 */
/* Token, job and desktop. What Wine does not enforce is skipped there with the reason. */
#include <windows.h>

#include "child.h"
#include "cordon.h"
#include "launch/windows/desktop.h"
#include "launch/windows/job.h"
#include "launch/windows/token.h"
#include "launch/windows/wine.h"

static struct launch_failure failure;

/* ---- failures ---- */

static void test_failures(void)
{
    SetLastError(ERROR_ACCESS_DENIED);
    ok(launch_fail(&failure, "cannot make the token (CreateRestrictedToken)") == CORDON_E_CONFINE &&
           strncmp(failure.text, "cannot make the token (CreateRestrictedToken): ", 47) == 0 &&
           strstr(failure.text, " (Windows error 5)") && !strchr(failure.text, '\n') &&
           !strstr(failure.text, ". ("),
       "%s", failure.text);
    launch_fail_error(&failure, "x", 0x2FFFFFFF);
    ok(strstr(failure.text, "(Windows error 805306367)") != NULL, "%s", failure.text);
    launch_fail_status(&failure, "x", (LONG)0xC0000022);
    ok(strstr(failure.text, "(status 0xc0000022)") != NULL && strlen(failure.text) > 25, "%s",
       failure.text);
    char long_step[1000];
    memset(long_step, 'a', sizeof long_step);
    memcpy(long_step + sizeof long_step - 3, "\xC3\xA4", 3);
    launch_fail_error(&failure, long_step, 5);
    ok(strlen(failure.text) == sizeof failure.text - 1, "a long step is cut");
}

/* ---- token ---- */

static bool has_ace(ACL *acl, const void *sid)
{
    for (DWORD i = 0; acl && i < acl->AceCount; i++) {
        ACCESS_ALLOWED_ACE *ace;
        if (GetAce(acl, i, (void **)&ace) && ace->Header.AceType == ACCESS_ALLOWED_ACE_TYPE &&
            EqualSid(&ace->SidStart, (PSID)sid))
            return true;
    }
    return false;
}

static DWORD group_attributes(HANDLE token, WELL_KNOWN_SID_TYPE type)
{
    static union {
        TOKEN_GROUPS groups;
        BYTE bytes[16384];
    } info;
    DWORD size;
    if (!GetTokenInformation(token, TokenGroups, &info, sizeof info, &size))
        return 0;
    for (DWORD i = 0; i < info.groups.GroupCount; i++)
        if (IsWellKnownSid(info.groups.Groups[i].Sid, type))
            return info.groups.Groups[i].Attributes;
    return 0;
}

static DWORD level_of(HANDLE token)
{
    BYTE bytes[256];
    DWORD size;
    TOKEN_MANDATORY_LABEL *label = (TOKEN_MANDATORY_LABEL *)bytes;
    if (!GetTokenInformation(token, TokenIntegrityLevel, bytes, sizeof bytes, &size))
        return 0;
    return *GetSidSubAuthority(label->Label.Sid, *GetSidSubAuthorityCount(label->Label.Sid) - 1u);
}

static void test_default_dacl(HANDLE token, const struct token_run *run)
{
    BYTE bytes[1024], system[SECURITY_MAX_SID_SIZE];
    DWORD size, sid_size = sizeof system;
    TOKEN_DEFAULT_DACL *info = (TOKEN_DEFAULT_DACL *)bytes;
    CreateWellKnownSid(WinLocalSystemSid, NULL, system, &sid_size);
    bool got = GetTokenInformation(token, TokenDefaultDacl, bytes, sizeof bytes, &size);
    ok(got && info->DefaultDacl && info->DefaultDacl->AceCount == 3 &&
           has_ace(info->DefaultDacl, run->user) && has_ace(info->DefaultDacl, run->sid) &&
           has_ace(info->DefaultDacl, system) && !has_ace(info->DefaultDacl, run->logon),
       "the default DACL names the user, the run and SYSTEM, not the logon session");
}

static void test_open_up(HANDLE token, const struct token_run *run)
{
    PROCESS_INFORMATION child;
    HANDLE of_child;
    union {
        SECURITY_DESCRIPTOR descriptor;
        BYTE bytes[1024];
    } sd;
    BOOL present = FALSE, defaulted;
    ACL *dacl = NULL;
    DWORD size;
    if (!ok(child_start("exit 7", token, CREATE_SUSPENDED, NULL, &child),
            "a child starts suspended"))
        return;
    ok(token_open_up(run, child.hProcess, &failure) == 0, "its token is opened up for the run");
    if (OpenProcessToken(child.hProcess, READ_CONTROL, &of_child)) {
        bool got = GetKernelObjectSecurity(of_child, DACL_SECURITY_INFORMATION, &sd.descriptor,
                                           sizeof sd, &size) &&
                   GetSecurityDescriptorDacl(&sd.descriptor, &present, &dacl, &defaulted);
        ok(got && present && has_ace(dacl, run->sid), "the run is in the DACL of the token");
        CloseHandle(of_child);
    }
    ResumeThread(child.hThread);
    ok(child_end(&child) == 7, "and it runs");
}

static void test_token(void)
{
    struct token_run run, other;
    HANDLE token = NULL, medium = NULL, own;
    PROCESS_INFORMATION child;
    ok(token_run_sid(&run, &failure) == 0 && token_run_sid(&other, &failure) == 0 &&
           IsValidSid(run.sid) && !EqualSid(run.sid, other.sid) && EqualSid(run.user, other.user),
       "two runs have different SIDs and the same user");
    SID_NAME_USE use;
    wchar_t name[64], domain[64];
    DWORD name_size = 64, domain_size = 64;
    ok(!LookupAccountSidW(NULL, run.sid, name, &name_size, domain, &domain_size, &use),
       "nobody has the run's SID");
    name_size = domain_size = 64;
    ok(LookupAccountSidW(NULL, run.user, name, &name_size, domain, &domain_size, &use),
       "control: the user's is somebody's");
    if (!ok(token_make(&run, &(struct token_options){0}, &token, &failure) == 0,
            "the token is made")) {
        note("%s", failure.text);
        return;
    }
    OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &own);
    test_default_dacl(token, &run);
    if (group_attributes(own, WinInteractiveSid) & SE_GROUP_ENABLED)
        ok(group_attributes(token, WinInteractiveSid) & SE_GROUP_USE_FOR_DENY_ONLY,
           "INTERACTIVE is deny-only, and was not before");
    else
        skip("INTERACTIVE is deny-only", "the user is not logged on interactively");
    if (wine_is_here()) {
        skip("restricting SIDs and Low integrity", "Wine 8 takes them and keeps neither");
    } else {
        ok(token_is_restricted(token) && !token_is_restricted(own), "the token is restricted");
        ok(level_of(token) == SECURITY_MANDATORY_LOW_RID &&
               level_of(own) > SECURITY_MANDATORY_LOW_RID,
           "its integrity is Low, and was not before");
        ok(token_make(&run, &(struct token_options){.medium = true}, &medium, &failure) == 0 &&
               level_of(medium) == SECURITY_MANDATORY_MEDIUM_RID,
           "with medium integrity it is Medium");
        CloseHandle(medium);
    }
    ok(child_start("exit 7", token, 0, NULL, &child) && child_end(&child) == 7,
       "a child runs with it");
    ok(child_start("own-token", token, 0, NULL, &child) && child_end(&child) == 0,
       "and can open its own token");
    test_open_up(token, &run);
    CloseHandle(own);
    CloseHandle(token);
}

static bool opens(DWORD pid, DWORD access)
{
    HANDLE process = OpenProcess(access, FALSE, pid);
    if (process)
        CloseHandle(process);
    return process != NULL;
}

static bool opens_thread(DWORD tid, DWORD access)
{
    HANDLE thread = OpenThread(access, FALSE, tid);
    if (thread)
        CloseHandle(thread);
    return thread != NULL;
}

/* The child protects itself when told and says so. */
static void test_protection(void)
{
    PROCESS_INFORMATION child;
    char words[64];
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE go = CreateEventW(&inherit, TRUE, FALSE, NULL);
    HANDLE done = CreateEventW(&inherit, TRUE, FALSE, NULL);
    HANDLE end = CreateEventW(&inherit, TRUE, FALSE, NULL);
    HANDLE std[] = {NULL, NULL, NULL};
    snprintf(words, sizeof words, "protect %p %p %p", (void *)go, (void *)done, (void *)end);
    if (!ok(child_start(words, NULL, 0, std, &child), "a launcher starts"))
        return;
    ok(opens(child.dwProcessId, PROCESS_VM_WRITE | PROCESS_TERMINATE) &&
           opens_thread(child.dwThreadId, THREAD_SET_CONTEXT),
       "control: it can be opened for writing at first");
    SetEvent(go);
    WaitForSingleObject(done, 10000);
    ok(!opens(child.dwProcessId, PROCESS_VM_WRITE), "its memory cannot be written");
    ok(!opens(child.dwProcessId, PROCESS_TERMINATE), "it cannot be terminated");
    ok(!opens(child.dwProcessId, PROCESS_DUP_HANDLE), "its handles cannot be duplicated");
    ok(!opens_thread(child.dwThreadId, THREAD_SET_CONTEXT), "its thread cannot be steered");
    if (wine_is_here())
        skip("its owner cannot open it up again", "Wine 8 knows no OWNER RIGHTS");
    else
        ok(!opens(child.dwProcessId, WRITE_DAC), "its owner cannot open it up again");
    ok(opens(child.dwProcessId, PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE),
       "it can be looked at and waited for");
    SetEvent(end);
    ok(child_end(&child) == 0, "it protected itself without a failure");
    CloseHandle(go);
    CloseHandle(done);
    CloseHandle(end);
}

/* ---- job ---- */

static bool port_says(HANDLE port, DWORD message, DWORD *pid)
{
    DWORD got;
    ULONG_PTR key;
    OVERLAPPED *value;
    while (GetQueuedCompletionStatus(port, &got, &key, &value, 3000))
        if (got == message) {
            *pid = (DWORD)(ULONG_PTR)value;
            return true;
        }
    return false;
}

/* The process id that the child wrote, 0 if none. */
static DWORD read_pid(HANDLE pipe)
{
    DWORD pid = 0, n = 0;
    return ReadFile(pipe, &pid, sizeof pid, &n, NULL) && n == sizeof pid ? pid : 0;
}

static void test_job(void)
{
    struct policy_limits limits = {0};
    HANDLE job, port, pipe_read, pipe_write;
    PROCESS_INFORMATION child;
    DWORD pids[8], pid = 0;
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    if (!ok(job_make(&limits, &job, &port, &failure) == 0, "the job is made")) {
        note("%s", failure.text);
        return;
    }
    CreatePipe(&pipe_read, &pipe_write, &inherit, 0);
    SetHandleInformation(pipe_read, HANDLE_FLAG_INHERIT, 0);
    HANDLE std[] = {NULL, pipe_write, NULL};
    if (!child_start("grandchild", NULL, CREATE_SUSPENDED, std, &child))
        return;
    ok(!job_has(job, child.hProcess) && job_processes(job, pids, 8) == 0, "it is empty");
    BOOL in = AssignProcessToJobObject(job, child.hProcess);
    if (!in) { /* nested in a job: documented */
        note("window limits dropped: error %lu", GetLastError());
        in = job_drop_ui(job) && AssignProcessToJobObject(job, child.hProcess);
    }
    ok(in && job_has(job, child.hProcess), "a process is put into it");
    ResumeThread(child.hThread);
    ok(port_says(port, JOB_OBJECT_MSG_NEW_PROCESS, &pid) && pid == child.dwProcessId,
       "the port tells of it");
    DWORD grandchild = read_pid(pipe_read);
    HANDLE second = OpenProcess(SYNCHRONIZE | PROCESS_QUERY_INFORMATION, FALSE, grandchild);
    ok(grandchild && job_has(job, second), "its child is in it, too");
    ok(port_says(port, JOB_OBJECT_MSG_NEW_PROCESS, &pid) && pid == grandchild,
       "the port tells of that");
    size_t count = job_processes(job, pids, 8);
    ok(count == 2 && pids[0] != pids[1] &&
           (pids[0] == child.dwProcessId || pids[1] == child.dwProcessId) &&
           (pids[0] == grandchild || pids[1] == grandchild),
       "the list has both");
    ok(job_processes(job, pids, 1) == 2, "and counts both where there is room for one");
    ok(WaitForSingleObject(second, 0) == WAIT_TIMEOUT, "control: the grandchild lives");
    CloseHandle(job);
    ok(WaitForSingleObject(child.hProcess, 3000) == WAIT_OBJECT_0 &&
           WaitForSingleObject(second, 3000) == WAIT_OBJECT_0,
       "closing the job ends child and grandchild");
    CloseHandle(second);
    CloseHandle(port);
    CloseHandle(pipe_read);
    CloseHandle(pipe_write);
    child_end(&child);
}

/* The child tries to start one outside; its exit code is the error, 0 if it could. */
static void test_breakaway(void)
{
    struct policy_limits limits = {0};
    HANDLE job, port;
    PROCESS_INFORMATION child;
    job_make(&limits, &job, &port, &failure);
    for (int inside = 0; inside < 2; inside++) {
        if (!child_start(inside ? "breakaway" : "no-breakaway", NULL, CREATE_SUSPENDED, NULL,
                         &child))
            return;
        if (!AssignProcessToJobObject(job, child.hProcess) && job_drop_ui(job))
            AssignProcessToJobObject(job, child.hProcess);
        ResumeThread(child.hThread);
        DWORD code = child_end(&child);
        if (inside)
            ok(code == ERROR_ACCESS_DENIED, "leaving the job is refused (%lu)", code);
        else
            ok(code == 0, "control: starting one in the job works (%lu)", code);
    }
    CloseHandle(job);
    CloseHandle(port);
}

static void test_limits(void)
{
    struct policy_limits limits = {.processes = 3, .memory = 64u << 20};
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info = {0};
    HANDLE job, port;
    ok(job_make(&limits, &job, &port, &failure) == 0, "a job with limits");
    bool got =
        QueryInformationJobObject(job, JobObjectExtendedLimitInformation, &info, sizeof info, NULL);
    DWORD flags = info.BasicLimitInformation.LimitFlags;
    if (wine_is_here())
        skip("kill on close, no breakaway", "Wine 8 does not say; test_job and test_breakaway do");
    else
        ok(got && (flags & JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE) &&
               !(flags & (JOB_OBJECT_LIMIT_BREAKAWAY_OK | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK)),
           "kill on close, no breakaway");
    if (wine_is_here())
        skip("process, memory and window limits", "Wine 8 does not keep them");
    else
        ok(info.BasicLimitInformation.ActiveProcessLimit == 3 && info.JobMemoryLimit == 64u << 20 &&
               job_limits_ui(job),
           "processes, memory and windows are limited");
    CloseHandle(job);
    CloseHandle(port);
}

/* ---- desktop ---- */

static void test_desktop(void)
{
    struct token_run run;
    HANDLE desktop = NULL, token;
    wchar_t name[DESKTOP_NAME_UNITS] = L"";
    ok(token_run_sid(&run, &failure) == 0, "a run");
    bool made = desktop_make(&run, &desktop, name, DESKTOP_NAME_UNITS, &failure) == 0;
    if (!ok(made, "a desktop is made: %ls", name)) {
        note("%s", failure.text);
        return;
    }
    const wchar_t *leaf = wcschr(name, L'\\');
    ok(leaf != NULL, "the name says the station, too");
    HDESK again = OpenDesktopW(leaf + 1, 0, FALSE, DESKTOP_READOBJECTS);
    ok(again != NULL, "control: it is there");
    CloseDesktop(again);
    if (token_make(&run, &(struct token_options){0}, &token, &failure) == 0) {
        PROCESS_INFORMATION child;
        STARTUPINFOW startup = {.cb = sizeof startup, .lpDesktop = name};
        wchar_t image[MAX_PATH], line[2 * MAX_PATH];
        GetModuleFileNameW(NULL, image, MAX_PATH);
        swprintf(line, 2 * MAX_PATH, L"\"%ls\" desktop %ls", image, leaf + 1);
        ok(CreateProcessAsUserW(token, image, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup,
                                &child) &&
               child_end(&child) == 0,
           "a child with the token is on it");
        CloseHandle(token);
    }
    wchar_t small[8] = L"before";
    HANDLE none = NULL;
    ok(desktop_make(&run, &none, small, 8, &failure) == CORDON_E_CONFINE && !none &&
           wcscmp(small, L"before") == 0,
       "no room for the name: nothing is touched");
    desktop_close(desktop);
    again = OpenDesktopW(leaf + 1, 0, FALSE, DESKTOP_READOBJECTS);
    ok(!again, "when it is closed it is gone");
}

/* ---- what the children do ---- */

static int child_main(int argc, char **argv)
{
    const char *what = argv[1];
    PROCESS_INFORMATION child;
    HANDLE token;
    if (strcmp(what, "exit") == 0 && argc > 2)
        return atoi(argv[2]);
    if (strcmp(what, "own-token") == 0)
        return OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) ? 0 : (int)GetLastError();
    if (strcmp(what, "sleep") == 0)
        Sleep(60000);
    if (strcmp(what, "grandchild") == 0) {
        DWORD n;
        if (!child_start("sleep", NULL, 0, NULL, &child))
            return 1;
        WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), &child.dwProcessId, sizeof child.dwProcessId, &n,
                  NULL);
        Sleep(60000);
    }
    if (strcmp(what, "breakaway") == 0 || strcmp(what, "no-breakaway") == 0) {
        DWORD flags = what[0] == 'b' ? CREATE_BREAKAWAY_FROM_JOB : 0;
        if (!child_start("exit 0", NULL, flags, NULL, &child))
            return (int)GetLastError();
        return (int)child_end(&child);
    }
    if (strcmp(what, "protect") == 0 && argc > 4) {
        HANDLE events[3];
        for (int i = 0; i < 3; i++)
            events[i] = (HANDLE)(uintptr_t)strtoull(argv[2 + i], NULL, 16);
        WaitForSingleObject(events[0], 10000);
        int rc = token_protect_self(&failure);
        SetEvent(events[1]);
        WaitForSingleObject(events[2], 10000);
        return rc ? 1 : 0;
    }
    if (strcmp(what, "desktop") == 0 && argc > 2) {
        char name[128] = "";
        DWORD size;
        GetUserObjectInformationA(GetThreadDesktop(GetCurrentThreadId()), UOI_NAME, name,
                                  sizeof name, &size);
        return strcmp(name, argv[2]) == 0 ? 0 : 3;
    }
    return 99;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child_main(argc, argv);
    note("elevated: %s", token_is_elevated() ? "yes" : "no");
    test_failures();
    test_token();
    test_protection();
    test_job();
    test_breakaway();
    test_limits();
    test_desktop();
    return tap_done();
}
