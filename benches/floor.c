/* What the work of lepo costs a plain single-threaded C program: the floors that benches/store.py
 * holds lepo against.
 *
 *     floor scan DIR    reads the directory and counts its entries
 *     floor ls DIR      scans, sorts, finds the tails, reads the last visible user bubb of each, prints
 *                       id, height and the first and last 12 bytes
 *     floor peak PROGRAM ARGUMENT...    runs it, its output thrown away, and prints its peak memory in KB
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

int main(int argc, char **argv) {
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
