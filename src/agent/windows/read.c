/* SPDX-License-Identifier: Apache-2.0 */
/* Deny-read rules, evaluated in place so that reads keep full speed: the given name is normalized
   and matched against the policy image. What cannot be decided here is asked. */
#include "agent/windows/agent.h"
#include "base/utf.h"
#include "policy/image.h"

/* Longer names are rare and go to the broker, so that the stack stays small. */
enum { USUAL_UNITS = 300, USUAL_BYTES = 3 * USUAL_UNITS };

/* Rights that reveal nothing of a file's content. */
enum { HARMLESS = FILE_READ_ATTRIBUTES | SYNCHRONIZE | READ_CONTROL | FILE_READ_EA };

static struct image image;
static bool image_is_open;

static bool open_image(void)
{
    struct image opened;
    if (__atomic_load_n(&image_is_open, __ATOMIC_ACQUIRE))
        return true;
    if (image_open((const void *)(uintptr_t)agent_shared->image, agent_shared->image_size, &opened))
        return false;
    image = opened;
    __atomic_store_n(&image_is_open, true, __ATOMIC_RELEASE);
    return true;
}

static NTSTATUS ask_broker(const OBJECT_ATTRIBUTES *object, ACCESS_MASK access)
{
    struct wire_answer answer;
    return agent_ask(WIRE_READ, NUMBERS(NUMBER_OF_HANDLE(object->RootDirectory), access),
                     agent_name(object), NO_PIECE, &answer);
}

/* WTF-8 of the units; SIZE_MAX if it does not fit. */
static size_t encode(const WCHAR *units, size_t count, char *out, size_t capacity)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t code = units[i];
        if (code >= 0xD800 && code < 0xDC00 && i + 1 < count && units[i + 1] >= 0xDC00 &&
            units[i + 1] < 0xE000)
            code = 0x10000 + ((code - 0xD800) << 10) + (units[++i] - 0xDC00u);
        if (n + 4 > capacity)
            return SIZE_MAX;
        n += utf_encode(code, out + n);
    }
    return n;
}

/* The name of a file on a local drive, spelled in the usual way: \??\C:\a. */
static bool is_plain(struct piece name)
{
    const WCHAR *text = name.p;
    return name.n >= 14 && text[0] == '\\' && text[1] == '?' && text[2] == '?' && text[3] == '\\' &&
           text[5] == ':' && text[6] == '\\' && (text[4] | 32) >= 'a' && (text[4] | 32) <= 'z' &&
           agent_shared->local_drives >> ((text[4] | 32) - 'a') & 1;
}

/* A name below the handle of a file on a disk is below what was judged when that was opened. */
static bool is_disk(HANDLE folder)
{
    enum { DISK = 7, CD = 2, DISK_FILE_SYSTEM = 8 };
    IO_STATUS_BLOCK io;
    ULONG device[2]; /* FILE_FS_DEVICE_INFORMATION */
    return CALL(NtQueryVolumeInformationFile)(folder, &io, device, sizeof device, 4) >= 0 &&
           (device[0] == DISK || device[0] == CD || device[0] == DISK_FILE_SYSTEM);
}

static bool denies_some(void)
{
    return open_image() && image.header->node_count && image.nodes[0].below >> IMAGE_DENY_READ & 1;
}

NTSTATUS agent_may_read(const OBJECT_ATTRIBUTES *object, ACCESS_MASK access)
{
    char text[USUAL_BYTES], normal[USUAL_BYTES + 16];
    struct path path;
    bool harmless = !(access & ~(ACCESS_MASK)HARMLESS);
    if (!(agent_shared->flags & WIRE_CHECK_READS))
        return STATUS_SUCCESS;
    struct piece name = agent_name(object);
    if (object->RootDirectory)
        return (harmless || !denies_some()) && is_disk(object->RootDirectory)
                   ? STATUS_SUCCESS
                   : ask_broker(object, access);
    if ((harmless || !denies_some()) && is_plain(name))
        return STATUS_SUCCESS;
    if (name.n > 2 * USUAL_UNITS || !open_image())
        return ask_broker(object, access);
    struct path_context context = {.dialect = PATH_WINDOWS, .nt = true};
    size_t n = encode(name.p, name.n / 2, text, sizeof text);
    if (n == SIZE_MAX ||
        path_normalize(&context, (struct str){text, n}, normal, sizeof normal, &path))
        return ask_broker(object, access);
    /* A name without a plain spelling is judged where volumes and devices are known. */
    if (path.class == PATH_CONSOLE || path.class == PATH_NUL)
        return STATUS_SUCCESS;
    if (path.class != PATH_FILE || !is_plain(name) || image_denies_read(&image, &path))
        return ask_broker(object, access); /* for the reason and the audit */
    return STATUS_SUCCESS;
}

/* OBJECT_NAME_INFORMATION. */
struct object_name {
    UNICODE_STRING name;
    WCHAR text[USUAL_UNITS];
};

/* True if the opened file may be read, by its own path; false: that cannot be decided here. */
static bool final_is_free(HANDLE file)
{
    char text[USUAL_BYTES], normal[USUAL_BYTES + 16];
    union {
        struct object_name name;
        char bytes[USUAL_BYTES];
    } u;
    struct path path;
    ULONG size;
    struct path_map maps[WIRE_DRIVES];
    size_t count = 0;
    if (CALL(NtQueryObject)(file, NT_OBJECT_NAME, &u.name, sizeof u.name, &size) < 0)
        return false;
    size_t n = encode(u.name.name.Buffer, u.name.name.Length / 2, text, sizeof text);
    for (size_t i = 0; i < WIRE_DRIVES && agent_shared->drives[i].prefix_size; i++)
        maps[count++] =
            (struct path_map){{agent_shared->drives[i].prefix, agent_shared->drives[i].prefix_size},
                              {agent_shared->drives[i].name, 2}};
    struct path_context context = {
        .dialect = PATH_WINDOWS, .nt = true, .maps = maps, .map_count = count};
    return n != SIZE_MAX &&
           path_normalize(&context, (struct str){text, n}, normal, sizeof normal, &path) == 0 &&
           path.class == PATH_FILE && !image_denies_read(&image, &path);
}

NTSTATUS agent_may_keep(HANDLE file, const OBJECT_ATTRIBUTES *object, ACCESS_MASK access)
{
    struct wire_answer answer;
    if (!(agent_shared->flags & WIRE_CHECK_READS) || !(access & ~(ACCESS_MASK)HARMLESS) ||
        !denies_some() ||
        !((!object->RootDirectory && is_plain(agent_name(object))) || is_disk(file)) ||
        final_is_free(file))
        return STATUS_SUCCESS;
    NTSTATUS status =
        agent_ask(WIRE_READ, NUMBERS(NUMBER_OF_HANDLE(file), access), NO_PIECE, NO_PIECE, &answer);
    if (status < 0)
        REAL(NtClose)(file);
    return status;
}
