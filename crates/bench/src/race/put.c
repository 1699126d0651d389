/* Comes before RocksDB: the loop runs before each put. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*put)(void *, void *, const char *, size_t, const char *, size_t, char **);

static put true_one;

/* The library behind this one is loaded for this one alone, so RTLD_NEXT doesn't find it. */
static __attribute__((constructor)) void find(void)
{
	void *behind = dlopen(BEHIND, RTLD_NOW | RTLD_LOCAL);

	if (!behind) {
		fprintf(stderr, "expected to load %s: %s\n", BEHIND, dlerror());
		abort();
	}
	true_one = (put) dlsym(behind, "rocksdb_put");
}

void rocksdb_put(void *db, void *options, const char *key, size_t key_size, const char *value,
                 size_t value_size, char **error)
{
	planted_loop();
	true_one(db, options, key, key_size, value, value_size, error);
}
