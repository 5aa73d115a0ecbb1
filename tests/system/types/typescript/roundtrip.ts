// Takes messages of the generated types, as the compiler checks each of them, and writes them as JSON, line by line.
import type { Answer, BotMessage } from "./bot";
import type { Act, RefereeMessage } from "./referee";

function answer(question: Act): Answer {
  return { id: question.id, action: question.legal[0], note: "the first that is allowed" };
}

function again(message: RefereeMessage): RefereeMessage {
  switch (message.type) {
    case "act":
      if (answer(message).id !== message.id) throw new Error("the answer has another id");
      return message;
    case "hello":
    case "start":
    case "end":
    case "fault":
    case "quit":
      return message;
    default: {
      const never: never = message; // no type is forgotten
      return never;
    }
  }
}

export function told(message: RefereeMessage): void {
  console.log(JSON.stringify(again(message)));
}

export function said(message: BotMessage): void {
  console.log(JSON.stringify(message));
}
