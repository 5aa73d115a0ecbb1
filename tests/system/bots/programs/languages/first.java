// Always the first legal action.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

class First {
    private static final Pattern ID = Pattern.compile("\"id\":\\s*(\\d+)");
    private static final Pattern ACTION = Pattern.compile("\"legal\":\\s*\\[\"([^\"]+)\"");

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Matcher id = ID.matcher(line);
            Matcher action = ACTION.matcher(line);
            if (line.contains("\"hello\"")) {
                System.out.println("{\"type\": \"ready\", \"protocol\": 1}");
            } else if (id.find() && action.find()) {
                System.out.println("{\"id\": " + id.group(1) + ", \"action\": \"" + action.group(1) + "\"}");
            }
        }
    }
}
