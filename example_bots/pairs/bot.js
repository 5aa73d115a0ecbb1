// Lays the card of the rank that it holds fewest of, so that pairs grow; takes whatever can be had of a drawn card.
"use strict";

const readline = require("node:readline");

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");

function choose({ phase, hand, legal }) {
  if (phase === "drawn") return legal[0];
  const queen = hand.find((card) => card[0] === "Q");
  if (queen) return `lay ${queen}`; // of no use in the hand
  const held = (card) => hand.filter((other) => other[0] === card[0]).length;
  const fewest = hand.reduce((best, card) => (held(card) < held(best) ? card : best));
  return `lay ${fewest}`;
}

const lines = readline.createInterface({ input: process.stdin });

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    say({ type: "ready", protocol: 1, name: "pairs", version: "1", language: "JavaScript" });
  } else if (message.type === "quit") {
    process.stdin.destroy();
  } else if ("id" in message) {
    say({ id: message.id, action: choose(message) });
  }
});
