/* Between the marks: reads of a thousand lines that no cache holds, then of one line a thousand
 * times, then a branch that alternates as a random bit does, then system calls. */

#include <unistd.h>

enum { TIMES = 1000, LINE = 64, LINES = 1 << 20 };
static char memory[LINES * LINE];
static volatile int kept;

__attribute__((noinline, noclone)) void mark(void) { __asm__ volatile(""); }

__attribute__((noinline, noclone)) void cold(void)
{
    /* 65 lines apart: no two in the same line, and never one that was read before. */
    for (long i = 0; i < TIMES; i++)
        kept = ((volatile char *)memory)[i * 65 * LINE];
}

__attribute__((noinline, noclone)) void warm(void)
{
    for (long i = 0; i < TIMES; i++)
        kept = ((volatile char *)memory)[0];
}

__attribute__((noinline, noclone)) void branches(void)
{
    unsigned bits = 1;
    for (long i = 0; i < TIMES; i++) {
        bits = bits * 1664525u + 1013904223u;
        if (bits >> 31)
            kept = 1;
        else
            __asm__ volatile("" ::: "memory");
    }
}

__attribute__((noinline, noclone)) void calls(void)
{
    for (long i = 0; i < TIMES; i++)
        getppid();
}

int main(void)
{
    mark();
    cold();
    warm();
    branches();
    calls();
    mark();
    return 0;
}
