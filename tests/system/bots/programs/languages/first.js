// Always the first legal action.
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    console.log('{"type": "ready", "protocol": 1}');
  } else if ("id" in message) {
    console.log(JSON.stringify({ id: message.id, action: message.legal[0] }));
  }
});
