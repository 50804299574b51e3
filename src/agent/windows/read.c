/*
 * Deny-read rules, evaluated in place so that reads stay at full speed: the name as it is given,
 * spelled normally, against the policy image. What cannot be told here is asked.
 */
#include "agent/windows/agent.h"
#include "base/utf.h"
#include "policy/image.h"

/* Longer names are rare and go to the broker, so that the stack stays small. */
enum { USUAL_UNITS = 300, USUAL_BYTES = 3 * USUAL_UNITS };

/* Rights that give nothing of a file's content. */
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

NTSTATUS agent_may_read(const OBJECT_ATTRIBUTES *object, ACCESS_MASK access)
{
    char text[USUAL_BYTES], normal[USUAL_BYTES + 16];
    struct path path;
    if (!(agent_shared->flags & WIRE_CHECK_READS) || !(access & ~(ACCESS_MASK)HARMLESS))
        return STATUS_SUCCESS;
    struct piece name = agent_name(object);
    if (object->RootDirectory || name.n > 2 * USUAL_UNITS || !open_image())
        return ask_broker(object, access);
    struct path_context context = {.dialect = PATH_WINDOWS, .nt = true};
    size_t n = encode(name.p, name.n / 2, text, sizeof text);
    if (n == SIZE_MAX ||
        path_normalize(&context, (struct str){text, n}, normal, sizeof normal, &path))
        return ask_broker(object, access);
    /* Whatever has no plain spelling is judged where volumes and devices are known. */
    if (path.class != PATH_FILE && path.class != PATH_CONSOLE && path.class != PATH_NUL)
        return ask_broker(object, access);
    if (path.class != PATH_FILE || !image_denies_read(&image, &path))
        return STATUS_SUCCESS;
    return ask_broker(object, access); /* for the reason and the audit */
}
