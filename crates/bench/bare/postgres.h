/* What the bare loops share: a connection to a Postgres server, and messages that are built once.
 * Each exchange is one write and, unless the answer comes in parts, one read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A statement of 100 rows has 6 to 8 KB. */
static unsigned char out[65536], in[8192];
static size_t length;

static void fail(const char *what) { perror(what); exit(1); }
static void put32(uint32_t value) {
    out[length++] = value >> 24; out[length++] = value >> 16;
    out[length++] = value >> 8;  out[length++] = value;
}
static void put_text(const char *text) {
    size_t size = strlen(text) + 1;
    if (size > sizeof out - 512 - length) {
        fprintf(stderr, "the statement is too long\n");
        exit(1);
    }
    memcpy(out + length, text, size);
    length += size;
}
static void set_length(size_t at) {
    size_t end = length;
    length = at;
    put32((uint32_t)(end - at));
    length = end;
}

/* Sends `out` and reads until the answer ends with ReadyForQuery. */
static void exchange(int fd) {
    if (write(fd, out, length) != (ssize_t)length) fail("write");
    for (;;) {
        ssize_t got = read(fd, in, sizeof in);
        if (got <= 0) fail("read");
        if (got >= 6 && in[got - 6] == 'Z') return;
    }
}

/* A connection to the server behind a socket, ready for statements. */
static int connect_to(const char *path, const char *user, const char *database) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    length = 0;
    put32(0); put32(196608);
    put_text("user"); put_text(user); put_text("database"); put_text(database);
    out[length++] = 0;
    set_length(0);
    exchange(fd);
    return fd;
}
