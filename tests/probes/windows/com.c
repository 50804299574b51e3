/* SPDX-License-Identifier: Apache-2.0 */
/* COM objects and services that act for whoever asks; each exits with 0 if it was done. */
#define COBJMACROS
#define INITGUID
#include <windows.h>

#include <bits.h>
#include <shldisp.h>
#include <shlobj.h>
#include <stdio.h>
#include <taskschd.h>
#include <wbemcli.h>

#include "probe.h"

static const GUID none_at_all;

static int failed(const char *what, HRESULT hr)
{
    printf("%s: %08lx\n", what, (unsigned long)hr);
    return hr ? 1 : 0;
}

static VARIANT text(const wchar_t *value)
{
    VARIANT v = {.vt = VT_BSTR, .bstrVal = SysAllocString(value)};
    return v;
}

/* com-shell FILE PARAMETERS: Shell.Application, as scripts call it. */
int do_com_shell(void)
{
    CLSID id;
    IDispatch *shell = NULL;
    DISPID method;
    wchar_t name[] = L"ShellExecute", *names[] = {name};
    VARIANT words[] = {text(word(1)), text(word(0))}; /* the last one first */
    DISPPARAMS all = {words, NULL, 2, 0};
    CoInitialize(NULL);
    HRESULT hr = CLSIDFromProgID(L"Shell.Application", &id);
    if (hr == S_OK)
        hr = CoCreateInstance(&id, NULL, CLSCTX_ALL, &IID_IDispatch, (void **)&shell);
    if (hr == S_OK)
        hr = IDispatch_GetIDsOfNames(shell, &none_at_all, names, 1, 0, &method);
    if (hr == S_OK)
        hr = IDispatch_Invoke(shell, method, &none_at_all, 0, DISPATCH_METHOD, &all, NULL, NULL,
                              NULL);
    Sleep(1000); /* it does not wait */
    return failed("Shell.Application", hr);
}

/* com-task NAME LINE: a task of the scheduler that is there from now on; with - as the line it is
   removed again. */
int do_com_task(void)
{
    static const wchar_t form[] =
        L"<Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">"
        L"<Actions><Exec><Command>%ls</Command></Exec></Actions></Task>";
    wchar_t xml[2000];
    ITaskService *service = NULL;
    ITaskFolder *top = NULL;
    IRegisteredTask *made = NULL;
    VARIANT none = {.vt = VT_EMPTY};
    CoInitialize(NULL);
    HRESULT hr = CoCreateInstance(&CLSID_TaskScheduler, NULL, CLSCTX_INPROC_SERVER,
                                  &IID_ITaskService, (void **)&service);
    if (hr == S_OK)
        hr = ITaskService_Connect(service, none, none, none, none);
    if (hr == S_OK)
        hr = ITaskService_GetFolder(service, SysAllocString(L"\\"), &top);
    swprintf(xml, 2000, form, word(1));
    if (hr == S_OK && wcscmp(word(1), L"-") == 0)
        hr = ITaskFolder_DeleteTask(top, SysAllocString(word(0)), 0);
    else if (hr == S_OK)
        hr = ITaskFolder_RegisterTask(top, SysAllocString(word(0)), SysAllocString(xml),
                                      TASK_CREATE_OR_UPDATE, none, none,
                                      TASK_LOGON_INTERACTIVE_TOKEN, none, &made);
    return failed("the task scheduler", hr);
}

/* com-wmi LINE: Win32_Process.Create. */
int do_com_wmi(void)
{
    IWbemLocator *locator = NULL;
    IWbemServices *services = NULL;
    IWbemClassObject *class = NULL, *method = NULL, *input = NULL, *output = NULL;
    VARIANT line = text(word(0));
    CoInitialize(NULL);
    HRESULT hr = CoCreateInstance(&CLSID_WbemLocator, NULL, CLSCTX_INPROC_SERVER, &IID_IWbemLocator,
                                  (void **)&locator);
    if (hr == S_OK)
        hr = IWbemLocator_ConnectServer(locator, SysAllocString(L"root\\cimv2"), NULL, NULL, NULL,
                                        0, NULL, NULL, &services);
    if (hr == S_OK)
        hr = IWbemServices_GetObject(services, SysAllocString(L"Win32_Process"), 0, NULL, &class,
                                     NULL);
    if (hr == S_OK)
        hr = IWbemClassObject_GetMethod(class, L"Create", 0, &method, NULL);
    if (hr == S_OK)
        hr = IWbemClassObject_SpawnInstance(method, 0, &input);
    if (hr == S_OK)
        hr = IWbemClassObject_Put(input, L"CommandLine", 0, &line, 0);
    if (hr == S_OK)
        hr = IWbemServices_ExecMethod(services, SysAllocString(L"Win32_Process"),
                                      SysAllocString(L"Create"), 0, NULL, input, &output, NULL);
    Sleep(1000);
    return failed("WMI", hr);
}

/* com-bits NAME: a job of the background transfer service; - as the second word: removed again. */
int do_com_bits(void)
{
    IBackgroundCopyManager *manager = NULL;
    IBackgroundCopyJob *job = NULL;
    GUID id;
    CoInitialize(NULL);
    HRESULT hr = CoCreateInstance(&CLSID_BackgroundCopyManager, NULL, CLSCTX_LOCAL_SERVER,
                                  &IID_IBackgroundCopyManager, (void **)&manager);
    if (hr == S_OK)
        hr = IBackgroundCopyManager_CreateJob(manager, word(0), BG_JOB_TYPE_DOWNLOAD, &id, &job);
    if (hr == S_OK)
        IBackgroundCopyJob_Cancel(job);
    return failed("BITS", hr);
}

/* service-create NAME LINE: a service; it is removed again by service-create NAME -. */
int do_service_create(void)
{
    bool gone = wcscmp(word(1), L"-") == 0;
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CREATE_SERVICE);
    if (!manager)
        return last_error();
    SC_HANDLE service =
        gone ? OpenServiceW(manager, word(0), DELETE)
             : CreateServiceW(manager, word(0), NULL, SERVICE_ALL_ACCESS, SERVICE_WIN32_OWN_PROCESS,
                              SERVICE_DEMAND_START, SERVICE_ERROR_IGNORE, word(1), NULL, NULL, NULL,
                              NULL, NULL);
    return result(service && (!gone || DeleteService(service)));
}

/* service-key NAME: by the registry. */
int do_service_key(void)
{
    wchar_t path[300];
    HKEY key;
    swprintf(path, 300, L"System\\CurrentControlSet\\Services\\%ls", word(0));
    LSTATUS status =
        RegCreateKeyExW(HKEY_LOCAL_MACHINE, path, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL);
    SetLastError((DWORD)status);
    return result(status == 0);
}

/* shortcut FILE TARGET ARGUMENTS: a .lnk is made, not opened. */
int do_shortcut(void)
{
    IShellLinkW *link = NULL;
    IPersistFile *file = NULL;
    wchar_t full[600];
    CoInitialize(NULL);
    GetFullPathNameW(word(0), 600, full, NULL);
    HRESULT hr = CoCreateInstance(&CLSID_ShellLink, NULL, CLSCTX_INPROC_SERVER, &IID_IShellLinkW,
                                  (void **)&link);
    if (hr == S_OK) {
        IShellLinkW_SetPath(link, word(1));
        IShellLinkW_SetArguments(link, word(2));
        hr = IShellLinkW_QueryInterface(link, &IID_IPersistFile, (void **)&file);
    }
    if (hr == S_OK)
        hr = IPersistFile_Save(file, full, TRUE);
    return failed("a shortcut", hr);
}
