/* What the work of lepo costs a plain single-threaded C program: the floors that benches/store.py and
 * benches/exchange.py hold lepo against.
 *
 *     floor scan DIR    reads the directory and counts its entries
 *     floor ls DIR      scans, sorts, finds the tails, reads the last visible user bubb of each, prints
 *                       id, height and the first and last 12 bytes
 *     floor exchange CONFIG DIR PORT TEXT
 *                       one question and its answer: reads CONFIG, lists DIR, writes the question durably, asks a
 *                       server on loopback, prints the texts of its events, writes the answer durably
 *     floor peak PROGRAM ARGUMENT...    runs it, its output thrown away, and prints its peak memory in KB
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct bubb { char name[60]; int prev, height; char child; };

static struct bubb *bubbs;
static int count, room;

static int by_name(const void *a, const void *b) {
    return memcmp(((const struct bubb *)a)->name, ((const struct bubb *)b)->name, 26);
}

static int find(const char *id) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2, order = memcmp(bubbs[middle].name, id, 26);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1; else high = middle;
    }
    return -1;
}

static int peak(char **command) {
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout)) execvp(*command, command);
        _exit(127);
    }
    int status;
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    printf("%ld\n", usage.ru_maxrss);
    return status != 0;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Makes a file of DIR that is whole or not there, also after a power cut. Its name stands for a hash. */
static void keep(int dir, char kind, const char *text, size_t length) {
    char tmp[64], name[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(tmp, sizeof tmp, "_tmp/%c-%d", kind, getpid());
    snprintf(name, sizeof name, "%026lld-%c0-head.md", now.tv_sec * 1000000000LL + now.tv_nsec, kind);
    int file = openat(dir, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file < 0 || write(file, text, length) != (ssize_t)length || fsync(file)) fail(tmp);
    if (linkat(dir, tmp, dir, name, 0) || fsync(dir) || unlinkat(dir, tmp, 0)) fail(name);
    close(file);
}

static int exchange(char **arguments) {
    static char buffer[1 << 20], answer[1 << 20];
    int config = open(arguments[0], O_RDONLY), dir = open(arguments[1], O_RDONLY | O_DIRECTORY);
    if (config < 0 || dir < 0 || read(config, buffer, sizeof buffer) < 0) fail("config");
    close(config);
    mkdirat(dir, "_tmp", 0700);
    DIR *entries = fdopendir(dup(dir));
    while (readdir(entries)) count++;
    closedir(entries);
    keep(dir, 'u', arguments[3], strlen(arguments[3]));

    struct sockaddr_in server = { .sin_family = AF_INET, .sin_port = htons(atoi(arguments[2])) };
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int to = socket(AF_INET, SOCK_STREAM, 0);
    if (to < 0 || connect(to, (struct sockaddr *)&server, sizeof server)) fail("connect");
    char body[4096];
    int length = snprintf(body, sizeof body, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],"
                          "\"stream\":true}", arguments[3]);
    int sent = snprintf(buffer, sizeof buffer, "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                        "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body);
    if (write(to, buffer, sent) != sent) fail("send");

    size_t have = 0, said = 0;
    for (ssize_t n; (n = read(to, buffer + have, sizeof buffer - 1 - have)) > 0;) {
        have += n;
        buffer[have] = 0;
        /* Whole lines only; the first one that is not stays for the next read. */
        char *at = buffer, *end;
        for (; (end = strchr(at, '\n')); at = end + 1) {
            *end = 0;
            char *text = strstr(at, "\"content\":\"");
            char *close = text ? strchr(text += 11, '"') : NULL;
            if (!close) continue;
            if (write(1, text, close - text) < 0) fail("write");
            memcpy(answer + said, text, close - text);
            said += close - text;
        }
        have -= at - buffer;
        memmove(buffer, at, have);
    }
    close(to);
    keep(dir, 'a', answer, said);
    int journal = openat(dir, "_journal.ndjson", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (journal < 0 || write(journal, "{}\n", 3) != 3) fail("journal");
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 6 && !strcmp(argv[1], "exchange")) return exchange(argv + 2);
    if (argc > 2 && !strcmp(argv[1], "peak")) return peak(argv + 2);
    if (argc != 3) return 2;
    int listing = !strcmp(argv[1], "ls");
    DIR *dir = opendir(argv[2]);
    if (!dir) { perror(argv[2]); return 1; }
    long entries = 0;
    for (struct dirent *entry; (entry = readdir(dir)); entries++) {
        size_t length = strlen(entry->d_name);
        if (!listing || entry->d_type != DT_REG || (length != 59 && length != 37)) continue;
        if (count == room) bubbs = realloc(bubbs, (room = room ? 2 * room : 1024) * sizeof *bubbs);
        memcpy(bubbs[count].name, entry->d_name, length + 1);
        bubbs[count].child = 0;
        count++;
    }
    if (!listing) { printf("%ld\n", entries); return 0; }
    qsort(bubbs, count, sizeof *bubbs, by_name);
    for (int i = 0; i < count; i++) {
        int prev = bubbs[i].name[30] == 'h' ? -1 : find(bubbs[i].name + 30);
        bubbs[i].prev = prev;
        bubbs[i].height = prev < 0 ? 1 : bubbs[prev].height + 1;
        if (prev >= 0) bubbs[prev].child = 1;
    }
    for (int i = count - 1; i >= 0; i--) {
        if (bubbs[i].child) continue;
        int asked = i;
        while (asked >= 0 && memcmp(bubbs[asked].name + 26, "-u0-", 4)) asked = bubbs[asked].prev;
        char text[65536];
        ssize_t n = 0;
        if (asked >= 0) {
            int fd = openat(dirfd(dir), bubbs[asked].name, O_RDONLY | O_NOFOLLOW);
            if (fd < 0 || (n = read(fd, text, sizeof text)) < 0) { perror(bubbs[asked].name); return 1; }
            close(fd);
        }
        int ends = n > 24 ? 12 : (int)n;
        printf("%.26s (%d): %.*s%s%.*s\n", bubbs[i].name, bubbs[i].height, ends, text, n > 24 ? " ... " : "",
               n > 24 ? 12 : 0, text + n - 12);
    }
    return 0;
}
