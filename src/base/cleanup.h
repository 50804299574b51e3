/* Scoped cleanup: auto_free pointers are freed when they leave scope, take() keeps one alive. */
#ifndef CORDON_BASE_CLEANUP_H
#define CORDON_BASE_CLEANUP_H

#include <stdlib.h>

static inline void cleanup_free(void *pointer_to_pointer)
{
    free(*(void **)pointer_to_pointer);
}

#define auto_free __attribute__((cleanup(cleanup_free)))

/* Hands the pointer over and leaves NULL behind: return take(p); */
#define take(pointer)                           \
    __extension__({                             \
        __typeof__(pointer) taken_ = (pointer); \
        (pointer) = NULL;                       \
        taken_;                                 \
    })

#endif
