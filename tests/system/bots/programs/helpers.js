// What usual Node programs do beyond reading and writing, each of which needs calls of its own; prints JSON.

const children = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const threads = require("worker_threads");

function inAThread() {
  return new Promise((heard) => new threads.Worker(__filename).on("message", heard));
}

function inAChild() {
  return new Promise((heard) => {
    const child = children.fork(__filename, ["child"]);
    child.on("message", heard);
    child.send("asked");
  });
}

async function copied() {
  const target = path.join(os.tmpdir(), "copy");
  await fs.promises.copyFile(__filename, target);
  return fs.existsSync(target);
}

async function main() {
  const program = children.execSync("echo told").toString().trim();
  console.log(JSON.stringify({ program, thread: await inAThread(), child: await inAChild(), copied: await copied() }));
}

if (process.argv[2] === "child") {
  process.on("message", () => {
    process.send("told");
    process.disconnect();
  });
} else if (threads.isMainThread) {
  main();
} else {
  threads.parentPort.postMessage("told");
}
