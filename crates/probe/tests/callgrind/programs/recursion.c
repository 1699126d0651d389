/* Functions that call themselves, each other, and by way of a walker, as parsers and executors do. */

volatile unsigned work;

__attribute__((noinline)) void leaf(unsigned turns)
{
    while (turns--)
        work += turns;
}

__attribute__((noinline)) void direct(unsigned depth)
{
    leaf(3);
    if (depth > 0) {
        direct(depth - 1);
        leaf(1);
        direct(depth - 1);
    }
}

__attribute__((noinline)) void odd(unsigned depth);

__attribute__((noinline)) void even(unsigned depth)
{
    leaf(2);
    if (depth > 0)
        odd(depth - 1);
}

__attribute__((noinline)) void odd(unsigned depth)
{
    leaf(5);
    if (depth > 0)
        even(depth - 1);
}

__attribute__((noinline)) void walk(void (*visit)(unsigned), unsigned depth)
{
    visit(depth);
    visit(depth);
}

__attribute__((noinline)) void visitor(unsigned depth)
{
    leaf(1);
    if (depth > 0)
        walk(visitor, depth - 1);
}

__attribute__((noinline)) void once(void)
{
    direct(2);
    walk(visitor, 2);
}

int main(void)
{
    direct(6);
    even(7);
    odd(4);
    walk(visitor, 4);
    visitor(2);
    once();
    return 0;
}
