/* The floor for a Postgres client: one write and one read per prepared point select, and nothing
 * else. It only checks that an answer arrived, keeps no time, and draws ids with a multiplication.
 *
 * point_select SOCKET USER DATABASE STATEMENT IDS SECONDS
 * prints the number of queries. */
#include "postgres.h"
#include <time.h>

static void put16(uint16_t value) { out[length++] = value >> 8; out[length++] = value; }

int main(int argc, char **argv) {
    if (argc != 7) { fprintf(stderr, "usage: see the source\n"); return 2; }
    int fd = connect_to(argv[1], argv[2], argv[3]);

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
