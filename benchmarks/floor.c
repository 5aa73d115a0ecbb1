/* The floor of a decision: a bare C parent and two bare C children that pass the bytes of real games over pipes.

   Usage: floor LENGTHS, a file with a line "CHILD QUESTION ANSWER" for each decision: who is asked, the bytes of the
   question and of the answer. All three processes share the core of the caller. Prints seconds and decisions. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DECISIONS = 4000000, MAX_MESSAGE = 65536 };

static char message[MAX_MESSAGE];
static int child_of[MAX_DECISIONS], question[MAX_DECISIONS], answer[MAX_DECISIONS];

static void pass(ssize_t done, int expected) {
    if (done != expected) {
        perror("floor");
        exit(1);
    }
}

static void serve(int in, int out, int me, int decisions) {
    for (int i = 0; i < decisions; i++) {
        if (child_of[i] != me)
            continue;
        pass(read(in, message, question[i]), question[i]);
        pass(write(out, message, answer[i]), answer[i]);
    }
    exit(0);
}

int main(int argc, char **argv) {
    FILE *lengths = argc == 2 ? fopen(argv[1], "r") : NULL;
    int decisions = 0, to[2][2], from[2][2];
    if (!lengths)
        return 2;
    while (decisions < MAX_DECISIONS &&
           fscanf(lengths, "%d %d %d", &child_of[decisions], &question[decisions], &answer[decisions]) == 3)
        decisions++;
    for (int child = 0; child < 2; child++) {
        if (pipe(to[child]) || pipe(from[child]))
            return 1;
        if (fork() == 0)
            serve(to[child][0], from[child][1], child, decisions);
    }
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int i = 0; i < decisions; i++) {
        pass(write(to[child_of[i]][1], message, question[i]), question[i]);
        pass(read(from[child_of[i]][0], message, answer[i]), answer[i]);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.9f %d\n", (ended.tv_sec - began.tv_sec) + (ended.tv_nsec - began.tv_nsec) / 1e9, decisions);
    return 0;
}
