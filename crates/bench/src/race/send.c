/* Comes before the C library: the loop runs each time a server sends something. */
#include <dlfcn.h>
#include <sys/socket.h>

typedef ssize_t (*transmit)(int, const void *, size_t, int);

ssize_t send(int socket, const void *bytes, size_t size, int flags)
{
	static transmit true_one;

	if (!true_one)
		true_one = (transmit) dlsym(RTLD_NEXT, "send");
	planted_loop();
	return true_one(socket, bytes, size, flags);
}
