/* Functions whose instructions can be counted by eye, between marks. x86-64. */

/* spin: 2 per turn and 2. statement: 3 of its own. session: marks, with 0, 1 and 2 statements between them. */
__asm__(".text\n"
        ".type mark,@function\n"
        "mark: ret\n"
        ".size mark,.-mark\n"
        ".type spin,@function\n"
        "spin:\n"
        "nop\n" /* a jump to the first instruction would be taken for a call */
        "1: dec %edi\n"
        "jnz 1b\n"
        "ret\n"
        ".size spin,.-spin\n"
        ".type statement,@function\n"
        "statement:\n"
        "mov $1000,%edi\n"
        "call spin\n"
        "ret\n"
        ".size statement,.-statement\n"
        ".globl session\n"
        ".type session,@function\n"
        "session:\n"
        "call mark\n"
        "call mark\n"
        "call statement\n"
        "call mark\n"
        "call statement\n"
        "call statement\n"
        "call mark\n"
        "ret\n"
        ".size session,.-session\n");

void session(void);

int main(void)
{
    session();
    return 0;
}
