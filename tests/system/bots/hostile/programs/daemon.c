/* Leaves a process of itself behind that is hard to tell from anybody's; the argument says how. It ends after 300 s.
 *
 * `bare`: in a session of its own, with an empty environment, so that neither says whose it is.
 * `sibling`: by CLONE_PARENT a child of its parent's, so of the bot itself, and then as above.
 * `dumb`: as `bare`, and not to be looked into (PR_SET_DUMPABLE).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words)
{
    char *none[] = {NULL};
    char *sleeper[] = {words[0], "sleep", count > 1 ? words[1] : "", NULL};
    if (count > 1 && strcmp(words[1], "sleep") == 0) {
        if (strcmp(words[2], "dumb") == 0)
            prctl(PR_SET_DUMPABLE, 0);
        sleep(300);
        return 0;
    }
    long child = count > 1 && strcmp(words[1], "sibling") == 0
        ? syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)
        : fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            setsid();
            execve(words[0], sleeper, none);
        }
    }
    return 0;
}
