/* Planted: each round is a multiplication and an addition that wait for each other. */
#include <stdint.h>

static __attribute__((section(".data"))) volatile int planted_rounds = ROUNDS;
static volatile uint64_t planted_sink;

static __attribute__((noinline)) void
planted_loop(void)
{
	uint64_t x = planted_sink;

	for (int left = planted_rounds; left > 0; left--)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	planted_sink = x;
}

