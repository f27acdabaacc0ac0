// The loop that Poise's runner is measured against: absolute deadlines, the same
// period, the same amount of work, in C.
//
//	cc -O2 -o lateness lateness.c && ./lateness SECONDS WORK_MICROSECONDS PRIORITY
//
// Prints one line of JSON: lateness from deadline to start, in microseconds.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int order(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  const int64_t period = 1000000;
  int64_t seconds = argc > 1 ? atoi(argv[1]) : 60;
  int64_t work = argc > 2 ? (int64_t)(atof(argv[2]) * 1000) : 30000;
  int priority = argc > 3 ? atoi(argv[3]) : 0;
  int64_t ticks = seconds * 1000, missed = 0;
  int64_t *late = calloc(ticks, sizeof *late);
  int realtime = 0;
  if (priority > 0) {
    struct sched_param p = {.sched_priority = priority};
    realtime = sched_setscheduler(0, SCHED_FIFO, &p) == 0;
    realtime &= mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  }
  int64_t due = now() + period;
  for (int64_t n = 0; n < ticks; n++) {
    struct timespec t = {due / 1000000000, due % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
    int64_t began = now();
    late[n] = began > due ? began - due : 0;
    missed += late[n] / period;
    due += late[n] / period * period + period;
    while (now() - began < work) {
    }
  }
  qsort(late, ticks, sizeof *late, order);
  printf("{\"loop\":\"C clock_nanosleep\",\"realtime\":%s,\"ticks\":%lld,\"p50\":%.1f,\"p99\":%.1f,\"p99.9\":%.1f,\"max\":%.1f,\"missed\":%lld}\n",
         realtime ? "true" : "false", (long long)ticks, late[ticks / 2] / 1e3, late[ticks * 99 / 100] / 1e3,
         late[ticks * 999 / 1000] / 1e3, late[ticks - 1] / 1e3, (long long)missed);
  return 0;
}
