/* Variables that a run sets, and those that lead to servers outside. */
#include "lib/linux/environment.h"

#include <string.h>

extern char **environ;

/* Servers that act for whoever asks; their addresses are not for the tree. */
static const char *const outside[] = {
    "SSH_AUTH_SOCK",       "SSH_AGENT_PID",         "DBUS_SESSION_BUS_ADDRESS",
    "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "GPG_AGENT_INFO"};

static const char *const always[] = {"CORDON=1", "MSBUILDDISABLENODEREUSE=1",
                                     "DOTNET_CLI_USE_MSBUILD_SERVER=0",
                                     "UseSharedCompilation=false"};

/* So that tools fail at once with a clear message instead of a time-out. */
static const char *const offline[] = {"CODEX_SANDBOX_NETWORK_DISABLED=1", "npm_config_offline=true",
                                      "PIP_NO_INDEX=1", "CARGO_NET_OFFLINE=true",
                                      "GIT_TERMINAL_PROMPT=0"};

/* Where the temp folder is the run's own. */
static const char *const temps[] = {"TMPDIR=", "TEMP=", "TMP="};

static bool names(const char *pattern, const char *variable)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return strncmp(pattern, variable, n - 1) == 0;
    return strncmp(pattern, variable, n) == 0 && variable[n] == '=';
}

static bool same_name(const char *setting, const char *variable)
{
    size_t n = (size_t)(strchr(setting, '=') - setting) + 1;
    return strncmp(setting, variable, n) == 0;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const *environment_make(struct arena *arena, const struct policy_settings *settings,
                                    const char *const *unset, size_t unset_count)
{
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    const char **out =
        ARENA_ARRAY(arena, count + COUNT(always) + COUNT(offline) + COUNT(temps) + 1, const char *);
    if (!out)
        return NULL;
    size_t offline_count = settings->net == POLICY_NET_OFF ? COUNT(offline) : 0;
    size_t temp_count = settings->temp == POLICY_TEMP_SHARED ? 0 : COUNT(temps);
    for (size_t i = 0; i < count; i++) {
        bool dropped = false;
        for (size_t j = 0; j < COUNT(outside); j++)
            dropped = dropped || names(outside[j], environ[i]);
        for (size_t j = 0; j < unset_count; j++)
            dropped = dropped || names(unset[j], environ[i]);
        for (size_t j = 0; j < COUNT(always); j++)
            dropped = dropped || same_name(always[j], environ[i]);
        for (size_t j = 0; j < offline_count; j++)
            dropped = dropped || same_name(offline[j], environ[i]);
        for (size_t j = 0; j < temp_count; j++)
            dropped = dropped || same_name(temps[j], environ[i]);
        if (!dropped)
            out[n++] = environ[i];
    }
    for (size_t j = 0; j < COUNT(always); j++)
        out[n++] = always[j];
    for (size_t j = 0; j < offline_count; j++)
        out[n++] = offline[j];
    for (size_t j = 0; j < temp_count; j++) {
        auto_buf struct buf text = {0};
        buf_fmt(&text, "%s%.*s", temps[j], STR_ARG(settings->temp_path));
        struct str copy = arena_copy(arena, buf_str(&text));
        if (!copy.p)
            return NULL;
        out[n++] = copy.p;
    }
    return out;
}
