//! Reads lines into the generated types and writes them again; each line says who reads it, as a transcript does.

mod referee {
    typify::import_types!(schema = "protocol/schema/v1/referee-to-bot.json");
}
mod bot {
    typify::import_types!(schema = "protocol/schema/v1/bot-to-referee.json");
}

use std::error::Error;
use std::io::BufRead;

fn answer(message: &referee::RefereeMessage) -> Option<bot::Answer> {
    match message {
        referee::RefereeMessage::Act(act) => Some(bot::Answer {
            id: act.id,
            action: act.legal[0].to_string(),
            note: Some("the first that is allowed".into()),
        }),
        _ => None,
    }
}

fn again(line: &str) -> Result<String, Box<dyn Error>> {
    let told: serde_json::Value = serde_json::from_str(line)?;
    let text = told["line"].to_string();
    if told["to"] == "referee" {
        return Ok(serde_json::to_string(&serde_json::from_str::<bot::BotMessage>(&text)?)?);
    }
    let message: referee::RefereeMessage = serde_json::from_str(&text)?;
    if let Some(said) = answer(&message) {
        let action = said.action.clone();
        assert_eq!(serde_json::to_value(said)?["action"], action);
    }
    Ok(serde_json::to_string(&message)?)
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        match again(&line.expect("stdin is text")) {
            Ok(text) => println!("{text}"),
            Err(error) => println!("refused: {error}"),
        }
    }
}
