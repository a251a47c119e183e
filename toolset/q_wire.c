// SPDX-License-Identifier: Apache-2.0
/*
 * tc's side of the discipline `wire` (kernel/patches/all/50-link-qdiscs.patch).
 *
 *   tc qdisc add ... wire rate RATE [limit BYTES] [cut BYTES] [through]
 *
 * tc looks for disciplines that it does not know in a folder of libraries, each with a
 * table of functions: iproute2, tc/tc.c. Numbers are read and written as tc does it for its own,
 * by functions that tc exports to such libraries.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WIRE_RATE = 1, WIRE_LIMIT, WIRE_CUT, WIRE_THROUGH, WIRE_ATTRIBUTES };

/* iproute2, tc/tc_util.h */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *util, int argc, char **argv,
			  struct nlmsghdr *message, const char *device);
	int (*print_qopt)(const struct qdisc_util *util, FILE *file, struct rtattr *options);
	int (*print_xstats)(const struct qdisc_util *util, FILE *file, struct rtattr *statistics);
	int (*parse_copt)(const struct qdisc_util *util, int argc, char **argv,
			  struct nlmsghdr *message, const char *device);
	int (*print_copt)(const struct qdisc_util *util, FILE *file, struct rtattr *options);
	int (*has_block)(const struct qdisc_util *util, struct rtattr *options, bool *has);
};

/* tc/tc_util.c, lib/utils.c and lib/json_print.c */
int get_rate64(uint64_t *bytes_per_s, const char *text);
int get_size(unsigned int *bytes, const char *text);
bool is_json_context(void);
int print_color_u64(int type, int color, const char *key, const char *format,
		    unsigned long long value);
int print_color_bool(int type, int color, const char *key, const char *format, bool value);
enum { PRINT_JSON = 2, NO_COLOR = 6 };

static void add(struct nlmsghdr *message, int type, const void *data, size_t length)
{
	struct rtattr *attribute =
		(struct rtattr *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(attribute), data, length);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

static int refuse(const char *what, const char *word)
{
	fprintf(stderr, "wire: %s%s%s\nUsage: ... wire rate RATE [ limit BYTES ] [ cut BYTES ] [ through ]\n",
		what, word ? " " : "", word ? word : "");
	return -1;
}

static int parse(const struct qdisc_util *util, int argc, char **argv, struct nlmsghdr *message,
		 const char *device)
{
	struct rtattr *nest =
		(struct rtattr *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	(void)util;
	(void)device;
	add(message, TCA_OPTIONS, NULL, 0);
	for (; argc > 0; argc--, argv++) {
		unsigned int bytes;
		uint64_t rate;

		if (!strcmp(*argv, "through")) {
			add(message, WIRE_THROUGH, NULL, 0);
		} else if (argc < 2) {
			return refuse("unknown option, or no value behind", *argv);
		} else if (!strcmp(*argv, "rate")) {
			if (get_rate64(&rate, argv[1]) || !rate)
				return refuse("no rate:", argv[1]);
			add(message, WIRE_RATE, &rate, sizeof(rate));
			argc--, argv++;
		} else if (!strcmp(*argv, "limit") || !strcmp(*argv, "cut")) {
			if (get_size(&bytes, argv[1]))
				return refuse("no size:", argv[1]);
			add(message, **argv == 'l' ? WIRE_LIMIT : WIRE_CUT, &bytes, sizeof(bytes));
			argc--, argv++;
		} else {
			return refuse("unknown option", *argv);
		}
	}
	nest->rta_len = (char *)message + NLMSG_ALIGN(message->nlmsg_len) - (char *)nest;
	return 0;
}

static void print_rate(FILE *file, uint64_t bytes_per_s)
{
	static const char *const units[] = { "", "K", "M", "G", "T" };
	uint64_t bits = bytes_per_s * 8;
	size_t unit = 0;

	while (bits && bits % 1000 == 0 && unit + 1 < sizeof(units) / sizeof(*units)) {
		bits /= 1000;
		unit++;
	}
	fprintf(file, "rate %llu%sbit ", (unsigned long long)bits, units[unit]);
}

static int print(const struct qdisc_util *util, FILE *file, struct rtattr *options)
{
	uint64_t rate = 0;
	uint32_t sizes[WIRE_ATTRIBUTES] = { 0 };
	bool through = false;
	struct rtattr *attribute;
	int left;

	(void)util;
	if (!options)
		return 0;
	left = RTA_PAYLOAD(options);
	for (attribute = RTA_DATA(options); RTA_OK(attribute, left);
	     attribute = RTA_NEXT(attribute, left)) {
		if (attribute->rta_type == WIRE_RATE)
			memcpy(&rate, RTA_DATA(attribute), sizeof(rate));
		else if (attribute->rta_type == WIRE_LIMIT || attribute->rta_type == WIRE_CUT)
			memcpy(&sizes[attribute->rta_type], RTA_DATA(attribute), sizeof(*sizes));
		else if (attribute->rta_type == WIRE_THROUGH)
			through = true;
	}
	if (is_json_context()) {
		/* As tc has the rates of its own disciplines: in bytes per second. */
		print_color_u64(PRINT_JSON, NO_COLOR, "rate", NULL, rate);
		print_color_u64(PRINT_JSON, NO_COLOR, "limit", NULL, sizes[WIRE_LIMIT]);
		print_color_u64(PRINT_JSON, NO_COLOR, "cut", NULL, sizes[WIRE_CUT]);
		print_color_bool(PRINT_JSON, NO_COLOR, "through", NULL, through);
		return 0;
	}
	print_rate(file, rate);
	fprintf(file, "limit %ub ", sizes[WIRE_LIMIT]);
	if (sizes[WIRE_CUT])
		fprintf(file, "cut %ub ", sizes[WIRE_CUT]);
	if (through)
		fprintf(file, "through ");
	return 0;
}

struct qdisc_util wire_qdisc_util = {
	.id = "wire",
	.parse_qopt = parse,
	.print_qopt = print,
};
