/* SPDX-License-Identifier: Apache-2.0 */
/* The TOML reader, alone and after a key. */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf.h"
#include "policy/load.h"
#include "policy/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"sandbox_mode=", "sandbox_workspace_write.writable_roots=",
                                       "sandbox_workspace_write.network_access=", ""};
    auto_arena struct arena arena = {.limit = 64 << 20};
    struct toml_value value;
    struct toml_error problem;
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    if (toml_read(&arena, text, &value, &problem)) {
        if (!problem.what || problem.at > text.n)
            abort();
    } else if (value.type == TOML_STRING && !utf_valid(value.text)) {
        abort();
    }
    auto_buf struct buf pair = {0}, error = {0};
    buf_add(&pair, str_of(keys[data[0] & 3]));
    buf_add(&pair, text);
    struct policy_source source = {.name = STR("-c"), .folder = STR("C:\\w")};
    struct policy_settings settings = {0};
    int rc = policy_load_pair(&arena, &source, buf_str(&pair), &settings, &error);
    if ((rc != 0) != (error.n != 0))
        abort();
    return 0;
}
