// Always the first legal action.
use std::io::{self, BufRead, Write};

fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.find(key).map(|place| &line[place + key.len()..])
}

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        if line.contains("\"hello\"") {
            println!("{{\"type\": \"ready\", \"protocol\": 1}}");
        } else if let (Some(id), Some(legal)) = (after(&line, "\"id\":"), after(&line, "\"legal\":[\"")) {
            let digits: String = id.chars().take_while(char::is_ascii_digit).collect();
            println!("{{\"id\": {}, \"action\": \"{}\"}}", digits, legal.split('"').next().unwrap());
        }
        io::stdout().flush().unwrap();
    }
}
