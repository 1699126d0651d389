/* One process, a child that only forks, and one that becomes another program. */
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void mark(void)
{
    __asm__ volatile("");
}

int main(int count, char **words)
{
    if (count > 1) { /* as the other program */
        mark();
        return 0;
    }
    mark();
    if (fork() == 0) {
        mark();
        mark();
        _exit(0);
    }
    if (fork() == 0) {
        execl(words[0], words[0], "again", (char *)0);
        _exit(1);
    }
    while (wait(0) > 0)
        ;
    return 0;
}
