/* SPDX-License-Identifier: Apache-2.0 */
/* On Linux the selftest is a part of this program. */
#include "selftest/command.h"

#include <limits.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_selftest(struct selftest_request *request)
{
    auto_buf struct buf error = {0};
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0)
        return print_failure("the path of this program is unknown");
    request->program = self;
    int code = selftest_command(request, &error);
    return code < 0 ? print_failure("%s", buf_cstr(&error)) : code;
}

int cli_selftest_probe(const char *script)
{
    return selftest_probe(script);
}
