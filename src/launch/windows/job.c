/* SPDX-License-Identifier: Apache-2.0 */
/* Job objects. */
#include "launch/windows/job.h"

#include "cordon.h"

enum { MOST_PROCESSES = 1 << 20 };

/* Handles of windows outside, the clipboard, desktops, logging off, global atoms, display and
   system parameters. */
static const DWORD ui_limits = JOB_OBJECT_UILIMIT_HANDLES | JOB_OBJECT_UILIMIT_READCLIPBOARD |
                               JOB_OBJECT_UILIMIT_WRITECLIPBOARD | JOB_OBJECT_UILIMIT_DESKTOP |
                               JOB_OBJECT_UILIMIT_EXITWINDOWS | JOB_OBJECT_UILIMIT_GLOBALATOMS |
                               JOB_OBJECT_UILIMIT_DISPLAYSETTINGS |
                               JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS;

static bool set_limits(HANDLE job, const struct policy_limits *limits)
{
    /* Neither BREAKAWAY_OK nor SILENT_BREAKAWAY_OK: nothing can leave. */
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info = {0};
    info.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    if (limits->processes) {
        info.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
        info.BasicLimitInformation.ActiveProcessLimit =
            limits->processes < MAXDWORD ? (DWORD)limits->processes : MAXDWORD;
    }
    if (limits->memory) {
        info.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_JOB_MEMORY;
        info.JobMemoryLimit = (SIZE_T)limits->memory;
    }
    return SetInformationJobObject(job, JobObjectExtendedLimitInformation, &info, sizeof info);
}

static bool set_ui(HANDLE job, DWORD limits)
{
    JOBOBJECT_BASIC_UI_RESTRICTIONS ui = {limits};
    return SetInformationJobObject(job, JobObjectBasicUIRestrictions, &ui, sizeof ui);
}

static bool associate(HANDLE job, HANDLE port)
{
    JOBOBJECT_ASSOCIATE_COMPLETION_PORT link = {job, port};
    return SetInformationJobObject(job, JobObjectAssociateCompletionPortInformation, &link,
                                   sizeof link);
}

int job_make(const struct policy_limits *limits, HANDLE *job, HANDLE *port,
             struct launch_failure *f)
{
    HANDLE made = CreateJobObjectW(NULL, NULL);
    if (!made)
        return launch_fail(f, "cannot make the job (CreateJobObject)");
    int rc = 0;
    HANDLE queue = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);
    if (!queue)
        rc = launch_fail(f, "cannot make the job's port (CreateIoCompletionPort)");
    else if (!set_limits(made, limits))
        rc = launch_fail(f, "cannot set the job's limits (SetInformationJobObject)");
    else if (!set_ui(made, ui_limits))
        rc = launch_fail(f, "cannot set the job's window limits (SetInformationJobObject)");
    else if (!associate(made, queue))
        rc = launch_fail(f, "cannot watch the job (SetInformationJobObject)");
    if (rc) {
        if (queue)
            CloseHandle(queue);
        CloseHandle(made);
        return rc;
    }
    *job = made;
    *port = queue;
    return 0;
}

bool job_drop_ui(HANDLE job)
{
    return set_ui(job, 0);
}

bool job_limits_ui(HANDLE job)
{
    JOBOBJECT_BASIC_UI_RESTRICTIONS ui = {0};
    return QueryInformationJobObject(job, JobObjectBasicUIRestrictions, &ui, sizeof ui, NULL) &&
           ui.UIRestrictionsClass == ui_limits;
}

bool job_has(HANDLE job, HANDLE process)
{
    BOOL in = FALSE;
    return IsProcessInJob(process, job, &in) && in;
}

/* Windows fills in what fits and then returns ERROR_MORE_DATA; a list that is exactly full may also
   be cut off. */
size_t job_processes(HANDLE job, DWORD *pids, size_t most)
{
    size_t count = 0;
    for (size_t room = most + 16; room <= MOST_PROCESSES; room *= 2) {
        DWORD size = (DWORD)(sizeof(JOBOBJECT_BASIC_PROCESS_ID_LIST) + room * sizeof(ULONG_PTR));
        JOBOBJECT_BASIC_PROCESS_ID_LIST *list = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, size);
        if (!list)
            break;
        BOOL got = QueryInformationJobObject(job, JobObjectBasicProcessIdList, list, size, NULL);
        bool cut = got ? list->NumberOfProcessIdsInList >= room : GetLastError() == ERROR_MORE_DATA;
        count = got || cut ? list->NumberOfProcessIdsInList : 0;
        for (size_t i = 0; i < count && i < most; i++)
            pids[i] = (DWORD)list->ProcessIdList[i];
        HeapFree(GetProcessHeap(), 0, list);
        if (!cut)
            break;
    }
    return count;
}
