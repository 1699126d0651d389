/* The floor for a Postgres client: one write and one read per prepared point select, and nothing
 * else. It only checks that an answer arrived, keeps no time, and draws ids with a multiplication.
 *
 * point_select SOCKET USER DATABASE STATEMENT IDS SECONDS
 * prints the number of queries. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static unsigned char out[1024], in[8192];
static size_t length;

static void put32(uint32_t value) {
    out[length++] = value >> 24; out[length++] = value >> 16;
    out[length++] = value >> 8;  out[length++] = value;
}
static void put16(uint16_t value) { out[length++] = value >> 8; out[length++] = value; }
static void put_text(const char *text) {
    memcpy(out + length, text, strlen(text) + 1);
    length += strlen(text) + 1;
}
static void set_length(size_t at) {
    size_t end = length;
    length = at;
    put32((uint32_t)(end - at));
    length = end;
}
static void fail(const char *what) { perror(what); exit(1); }

/* Sends `out` and reads until the answer ends with ReadyForQuery. */
static void exchange(int fd) {
    if (write(fd, out, length) != (ssize_t)length) fail("write");
    for (;;) {
        ssize_t got = read(fd, in, sizeof in);
        if (got <= 0) fail("read");
        if (got >= 6 && in[got - 6] == 'Z') return;
    }
}

int main(int argc, char **argv) {
    if (argc != 7) { fprintf(stderr, "usage: see the source\n"); return 2; }
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");

    put32(0); put32(196608);
    put_text("user"); put_text(argv[2]); put_text("database"); put_text(argv[3]);
    out[length++] = 0;
    set_length(0);
    exchange(fd);

    length = 0;
    out[length++] = 'P'; put32(0); put_text("s"); put_text(argv[4]); put16(1); put32(23);
    set_length(1);
    out[length++] = 'S'; put32(4);
    exchange(fd);

    length = 0;
    out[length++] = 'B'; put32(0); put_text(""); put_text("s");
    put16(1); put16(1); put16(1); put32(4);
    size_t id_at = length;
    put32(0); put16(0);
    set_length(1);
    out[length++] = 'E'; put32(9); put_text(""); put32(0);
    out[length++] = 'S'; put32(4);
    size_t whole = length;

    uint64_t ids = strtoull(argv[5], NULL, 10), state = 42, queries = 0;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    double seconds = atof(argv[6]);
    do {
        for (int batch = 0; batch < 1000; batch++, queries++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            length = id_at;
            put32((uint32_t)(1 + ((unsigned __int128)state * ids >> 64)));
            length = whole;
            exchange(fd);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
    printf("%llu\n", (unsigned long long)queries);
    return 0;
}
