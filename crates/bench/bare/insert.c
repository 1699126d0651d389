/* The floor for l.i0: one write and one read per statement in the simple protocol, always with the
 * same bytes. It draws nothing: the table numbers its rows itself, so no two have the same key.
 *
 * insert SOCKET USER DATABASE STATEMENT ROWS STATEMENTS
 * sends a statement that inserts so many rows, so many times; prints the number of all rows. */
#include "postgres.h"

int main(int argc, char **argv) {
    if (argc != 7) { fprintf(stderr, "usage: see the source\n"); return 2; }
    int fd = connect_to(argv[1], argv[2], argv[3]);

    length = 0;
    out[length++] = 'Q'; put32(0); put_text(argv[4]);
    set_length(1);

    unsigned long long rows = strtoull(argv[5], NULL, 10), statements = strtoull(argv[6], NULL, 10);
    /* The tag of CommandComplete, with its end. */
    char expected[64];
    size_t size = 1 + (size_t)snprintf(expected, sizeof expected, "INSERT 0 %llu", rows);
    for (unsigned long long statement = 0; statement < statements; statement++) {
        exchange(fd);
        if (in[0] != 'C' || memcmp(in + 5, expected, size)) {
            fprintf(stderr, "expected %s, the server said %.200s\n", expected, (char *)in + 5);
            return 1;
        }
    }
    printf("%llu\n", rows * statements);
    return 0;
}
