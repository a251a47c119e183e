// SPDX-License-Identifier: Apache-2.0
/*
 * The one source of randomness of a machine.
 *
 * A User-Mode Linux kernel has no entropy of its own: it seeds its random
 * number generator, now and at every reseed, by calling getrandom(2) of the
 * host through the C library. Preloaded into the kernel's process, this file
 * answers that call from a generator seeded by the environment variable
 * LONGFAT_SEED (a decimal number, 0 to 2^64 - 1), so the same seed gives the
 * same guest: the same ports, sequence numbers, netem losses and hash keys.
 *
 * A process that has this file and no seed ends at once: a run that is
 * random without saying so is worse than none.
 *
 * The generator is splitmix64: G. L. Steele, D. Lea, C. H. Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static uint64_t state;

/* write(2), because nothing else is sure to work this early. */
static void refuse(const char *why)
{
	static const char name[] = "entropy.so: LONGFAT_SEED ";

	if (write(2, name, sizeof(name) - 1) < 0 || write(2, why, strlen(why)) < 0)
		_exit(127);
	_exit(126);
}

__attribute__((constructor)) static void read_seed(void)
{
	const char *text = getenv("LONGFAT_SEED");
	char *end;

	if (!text)
		refuse("is not set: refusing to be random\n");
	errno = 0;
	state = strtoull(text, &end, 10);
	/* strtoull takes signs and spaces; a seed has neither. */
	if (*text < '0' || *text > '9' || *end || errno)
		refuse("is not a number from 0 to 2^64 - 1\n");
}

static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The C library's function of this name; it never fails and never waits. */
ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *to = buffer;

	(void)flags;
	for (size_t done = 0; done < length;) {
		uint64_t word = next();
		size_t part = length - done < sizeof(word) ? length - done : sizeof(word);

		memcpy(to + done, &word, part);
		done += part;
	}
	return (ssize_t)length;
}
