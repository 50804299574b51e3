/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside the sandbox while somebody is asked: many calls that wait at once, attempts to answer
 * a question of its own, and calls that change after they were asked about.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *folder;

static void *make(void *context)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%ld", folder, (long)(size_t)context);
    int fd = open(path, O_CREAT | O_WRONLY, 0644);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? context : NULL;
}

/* "many N FOLDER": N threads each make a file there; meanwhile the first writes here. Prints how many
   files could be made. */
static int many(size_t count)
{
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_attr_t small;
    size_t made = 0, started = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (; threads && started < count; started++)
        if (pthread_create(&threads[started], &small, make, (void *)(started + 1)))
            break;
    for (int i = 0; i < 100; i++) {
        int fd = open("meanwhile", O_CREAT | O_WRONLY | O_TRUNC, 0644);
        if (fd < 0)
            return 2;
        close(fd);
    }
    int served = open("served", O_CREAT | O_WRONLY, 0644);
    if (served < 0)
        return 2;
    for (size_t i = 0; i < started; i++) {
        void *result;
        pthread_join(threads[i], &result);
        made += result != NULL;
    }
    free(threads);
    printf("%zu of %zu\n", made, started);
    return started == count ? 0 : 3;
}

static unsigned try_to_say(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return 0;
    ssize_t n = write(fd, line, strlen(line));
    close(fd);
    return n > 0;
}

/* Every descriptor of every process that is not this one. */
static unsigned try_all(const char *line)
{
    unsigned said = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *e; all && (e = readdir(all));) {
        int pid = atoi(e->d_name);
        if (pid <= 1 || pid == (int)getpid())
            continue;
        for (int fd = 3; fd < 40; fd++) {
            char path[64];
            snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
            said += try_to_say(path, line);
        }
    }
    if (all)
        closedir(all);
    return said;
}

/* "forge PATH": while another thread waits for the answer about PATH, tries to give it. Exits with 0
   if nothing could be said anywhere. */
static int forge(void)
{
    static const char line[] = "{\"id\":1,\"answer\":\"run\",\"scope\":\"folder\"}\n";
    pthread_t waiting;
    void *made;
    unsigned said = 0;
    pthread_create(&waiting, NULL, make, (void *)7);
    usleep(300000);
    for (int fd = 3; fd < 1024; fd++)
        said += write(fd, line, sizeof line - 1) > 0;
    said += try_all(line);
    said += try_to_say("/dev/tty", line);
    for (const char *c = "o\n"; *c; c++)
        said += ioctl(0, TIOCSTI, c) == 0;
    pthread_join(waiting, &made);
    printf("said %u, made %d\n", said, made != NULL);
    return said || made ? 1 : 0;
}

/* "connect PATH" or "connect PORT": 0 if a server answered. */
static int reach(const char *where)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    snprintf(local.sun_path, sizeof local.sun_path, "%s", where);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&local, sizeof local) == 0 ? 0 : 1;
}

struct relinking {
    char text[256];
    const char *to;
};

static void *relink_later(void *context)
{
    struct relinking *link = context;
    usleep(500000);
    snprintf(link->text, sizeof link->text, "%s", link->to);
    return NULL;
}

/* "relink PATH FIRST OTHER": makes a symbolic link and changes its text while the call waits. */
static int relink(const char *path, const char *first, const char *other)
{
    static struct relinking link;
    pthread_t thread;
    snprintf(link.text, sizeof link.text, "%s", first);
    link.to = other;
    if (pthread_create(&thread, NULL, relink_later, &link))
        return 2;
    int rc = symlink(link.text, path);
    pthread_join(thread, NULL);
    return rc ? 1 : 0;
}

struct setting {
    char value[64];
    const char *to;
};

static void *set_later(void *context)
{
    struct setting *s = context;
    usleep(500000);
    snprintf(s->value, sizeof s->value, "%s", s->to);
    return NULL;
}

/* "attribute PATH NAME VALUE OTHER": sets an attribute and changes the value while the call waits.
   Both values are of the same length. */
static int attribute(char **words)
{
    static struct setting s;
    pthread_t thread;
    snprintf(s.value, sizeof s.value, "%s", words[2]);
    s.to = words[3];
    if (pthread_create(&thread, NULL, set_later, &s))
        return 2;
    int rc = setxattr(words[0], words[1], s.value, strlen(words[2]), 0);
    int error = errno;
    pthread_join(thread, NULL);
    if (rc)
        printf("%s\n", strerror(error));
    return rc && error == ENOTSUP ? 77 : rc ? 1 : 0;
}

/* "leave FROM TO": keeps FROM open for writing, mapped and under a second name, renames it to TO,
   and writes by all of them. */
static int leave(const char *from, const char *to)
{
    char second[4096];
    snprintf(second, sizeof second, "%s-second", from);
    int fd = open(from, O_RDWR);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || map == MAP_FAILED || link(from, second) || rename(from, to))
        return 1;
    map[0] = 'M';
    int other = open(second, O_RDWR);
    return pwrite(fd, "D", 1, 1) == 1 && other >= 0 && pwrite(other, "S", 1, 2) == 1 ? 0 : 3;
}

/* "rename FROM TO" and "exchange FROM TO". */
static int move(const char *from, const char *to, unsigned flags)
{
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags) == 0)
        return 0;
    printf("%s\n", strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "attribute") == 0)
        return attribute(argv + 2);
    if (argc == 4 && strcmp(argv[1], "leave") == 0)
        return leave(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "rename") == 0)
        return move(argv[2], argv[3], 0);
    if (argc == 4 && strcmp(argv[1], "exchange") == 0)
        return move(argv[2], argv[3], 2);
    if (argc == 5 && strcmp(argv[1], "relink") == 0)
        return relink(argv[2], argv[3], argv[4]);
    if (argc == 4 && strcmp(argv[1], "many") == 0) {
        folder = argv[3];
        return many(strtoul(argv[2], NULL, 10));
    }
    if (argc == 3 && strcmp(argv[1], "forge") == 0) {
        folder = argv[2];
        return forge();
    }
    if (argc == 3 && strcmp(argv[1], "connect") == 0)
        return reach(argv[2]);
    return 2;
}
