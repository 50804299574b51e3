/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged images are refused or at least never read outside their bytes. */
#include <stdint.h>
#include <stdlib.h>

#include "policy/rules.h"

#include "policy/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sound image to damage; made once. */
static struct str sound_image(void)
{
    static struct policy *policy;
    if (!policy) {
        auto_arena struct arena arena = {0};
        auto_buf struct buf error = {0};
        struct policy_settings settings = {.mode = POLICY_WORKSPACE_WRITE};
        static const char *const paths[] = {"C:\\ws", "C:\\ws\\a", "D:\\x\\y\\z", "\\\\h\\s\\x"};
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            struct policy_entry entry = {.given = str_of(paths[i])};
            policy_list_add(&arena, i & 1 ? &settings.deny_read : &settings.roots, entry);
        }
        if (policy_compile(&settings, &policy, &error))
            abort();
    }
    return policy_image(policy);
}

static void search(const void *block, size_t size)
{
    static const struct path paths[] = {
        {PATH_FILE, {"C:\\a\\b", 6}, {"C:\\a\\b", 6}, false},
        {PATH_FILE, {"C:\\ws\\a\\x", 9}, {"C:\\ws\\a\\x", 9}, false},
        {PATH_UNC, {"\\\\h\\s\\x", 7}, {"\\\\h\\s\\x", 7}, false},
        {PATH_TRAILING, {"\\\\?\\C:\\a.", 9}, {"\\\\?\\C:\\a.", 9}, false},
    };
    struct image image;
    if (image_open(block, size, &image))
        return;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        image_denies_read(&image, &paths[i]);
}

/* The checksum is corrected, so that the checks after it are reached. */
static void put_right(uint32_t *block, size_t size)
{
    struct image_header header;
    size_t head = offsetof(struct image_header, dialect);
    if (size < sizeof header)
        return;
    memcpy(&header, block, sizeof header);
    header.magic = IMAGE_MAGIC;
    header.version = IMAGE_VERSION;
    header.size = (uint32_t)size;
    header.checksum = image_checksum((char *)block + head, size - head);
    memcpy(block, &header, sizeof header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str sound = sound_image();
    if (size == 0)
        return 0;
    bool patch = data[0] & 1, right = data[0] & 2;
    size_t length = patch ? sound.n : size - 1;
    uint32_t *block = malloc(length + 1);
    if (!block)
        abort();
    memcpy(block, patch ? sound.p : (const char *)data + 1, length);
    for (size_t i = 1; patch && i + 2 < size; i += 3)
        ((uint8_t *)block)[(data[i] << 8 | data[i + 1]) % length] = data[i + 2];
    bool changed = patch && memcmp(block, sound.p, length) != 0;
    if (right)
        put_right(block, length);
    struct image image;
    if (changed && !right && image_open(block, length, &image) == 0)
        abort();
    search(block, length);
    free(block);
    return 0;
}
