/* Always the first legal action. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    static char line[65537];
    while (fgets(line, sizeof line, stdin)) {
        const char *id = strstr(line, "\"id\":"), *legal = strstr(line, "\"legal\":[\"");
        if (strstr(line, "\"hello\""))
            puts("{\"type\": \"ready\", \"protocol\": 1}");
        else if (id && legal) {
            id += 5;
            legal += 10;
            printf("{\"id\": %.*s, \"action\": \"%.*s\"}\n", (int)strspn(id, "0123456789"), id, (int)strcspn(legal, "\""), legal);
        }
        fflush(stdout);
    }
    return 0;
}
