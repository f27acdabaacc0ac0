// The side of Cyclone DDS in tools/peers/ros2/bench.
//
//	cyclone ping WRITE READ | echo READ WRITE | hold COUNT
#include <dds/dds.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

typedef std_msgs_msg_dds__String_ Text;

enum { trips = 2000, burst = 5000, under_way = 100, length = 195 };

static dds_entity_t participant, waitset;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static dds_qos_t *qos(int depth) {
  static const dds_data_representation_id_t xcdr1[] = {DDS_DATA_REPRESENTATION_XCDR1};
  dds_qos_t *q = dds_create_qos();
  dds_qset_reliability(q, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(q, DDS_HISTORY_KEEP_LAST, depth);
  dds_qset_data_representation(q, 1, xcdr1);
  return q;
}

static dds_entity_t endpoint(const char *name, int depth, int reads) {
  dds_qos_t *q = qos(depth);
  dds_entity_t topic = dds_create_topic(participant, &std_msgs_msg_dds__String__desc, name, q, NULL);
  check(topic > 0, "topic");
  dds_entity_t e = reads ? dds_create_reader(participant, topic, q, NULL) : dds_create_writer(participant, topic, q, NULL);
  check(e > 0, "endpoint");
  dds_delete_qos(q);
  return e;
}

// listen has the waitset wake up for samples of a reader.
static void listen(dds_entity_t reader) {
  waitset = dds_create_waitset(participant);
  check(dds_set_status_mask(reader, DDS_DATA_AVAILABLE_STATUS) == 0 && dds_waitset_attach(waitset, reader, 0) == 0, "waitset");
}

// take waits for samples and hands each to use, if there is one; it returns how many came.
static int take(dds_entity_t reader, dds_duration_t within, void (*use)(dds_entity_t, Text *), dds_entity_t with) {
  void *samples[64] = {NULL};
  dds_sample_info_t infos[64];
  int n;
  while ((n = dds_take(reader, samples, infos, 64, 64)) <= 0) // it may be woken for what it has taken already
    if (dds_waitset_wait(waitset, NULL, 0, within) <= 0) return 0;
  int came = 0;
  for (int i = 0; i < n; i++)
    if (infos[i].valid_data) {
      came++;
      if (use) use(with, samples[i]);
    }
  if (n > 0) dds_return_loan(reader, samples, n);
  return came;
}

static void answer(dds_entity_t writer, Text *text) { check(dds_write(writer, text) == 0, "write"); }

static void put(dds_entity_t writer, int i) {
  static char data[length + 1];
  Text text = {data};
  memset(data, 'x', length);
  snprintf(data, 9, "%08d", i);
  data[8] = 'x';
  answer(writer, &text);
}

static int next(dds_entity_t reader) {
  int n = take(reader, DDS_SECS(60), NULL, 0);
  check(n > 0, "a sample does not come back");
  return n;
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void ping(const char *out, const char *in) {
  double began = now();
  participant = dds_create_participant(0, NULL, NULL);
  check(participant > 0, "participant");
  dds_entity_t writer = endpoint(out, 10000, 0), reader = endpoint(in, 1000, 1);
  listen(reader);
  do {
    check(now() - began < 60, "no echo within a minute");
    put(writer, 0);
  } while (take(reader, DDS_MSECS(1), NULL, 0) == 0);
  double found = now() - began;
  while (take(reader, DDS_MSECS(300), NULL, 0) > 0) {
  }
  static double took[trips];
  for (int i = 0; i < trips; i++) {
    double sent = now();
    put(writer, i);
    next(reader);
    took[i] = now() - sent;
  }
  qsort(took, trips, sizeof *took, rising);
  began = now();
  for (int i = 0, back = 0; back < burst;) {
    while (i < burst && i - back < under_way) put(writer, i++);
    back += next(reader);
  }
  printf("%g %g %g %g\n", found, took[trips / 2], took[trips * 99 / 100], burst / (now() - began));
}

static void *end(void *running) {
  while (getchar() != EOF) {
  }
  *(volatile int *)running = 0;
  return NULL;
}

static void echo(const char *in, const char *out) {
  volatile int running = 1;
  pthread_t input;
  participant = dds_create_participant(0, NULL, NULL);
  check(participant > 0, "participant");
  dds_entity_t writer = endpoint(out, 10000, 0), reader = endpoint(in, 1000, 1);
  listen(reader);
  puts("ready");
  fflush(stdout);
  pthread_create(&input, NULL, end, (void *)&running);
  while (running) take(reader, DDS_MSECS(100), answer, writer);
}

static void hold(int count) {
  char word[64];
  participant = dds_create_participant(0, NULL, NULL);
  check(participant > 0, "participant");
  for (int i = 0; i < count / 2; i++) {
    snprintf(word, sizeof word, "rt/out_%d", i);
    endpoint(word, 100, 0);
    snprintf(word, sizeof word, "rt/in_%d", i);
    endpoint(word, 100, 1);
  }
  sleep(2);
  FILE *status = fopen("/proc/self/status", "r");
  while (fscanf(status, "%63s", word) == 1)
    if (strcmp(word, "VmRSS:") == 0 && fscanf(status, "%63s", word) == 1) puts(word);
}

int main(int argc, char **argv) {
  check(argc > 2, "ping WRITE READ | echo READ WRITE | hold COUNT");
  if (strcmp(argv[1], "hold") == 0)
    hold(atoi(argv[2]));
  else if (strcmp(argv[1], "ping") == 0)
    ping(argv[2], argv[3]);
  else
    echo(argv[2], argv[3]);
  dds_delete(participant);
  return 0;
}
