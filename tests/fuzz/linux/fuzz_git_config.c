/* SPDX-License-Identifier: Apache-2.0 */
/* Configs of git: one that names a folder of hooks is never harmless. */
#include <stdlib.h>

#include "broker/linux/git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[GIT_CONFIG_KEY];
    struct str text = {(const char *)data, size};
    if (git_config_is_harmless(text, key) && str_findi(text, STR("\nhookspath="), 0) < size)
        abort();
    return 0;
}
