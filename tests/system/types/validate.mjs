// Each line of stdin is {"schema": NAME, "message": …}: says for each whether ajv, in its strict mode, accepts it.
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import Ajv2020 from "ajv/dist/2020.js";

const folder = process.argv[2];
const ajv = new Ajv2020.default({ strict: true });
const validators = new Map();
for (const file of readdirSync(folder)) {
  validators.set(file, ajv.compile(JSON.parse(readFileSync(`${folder}/${file}`, "utf8"))));
}
for await (const line of createInterface({ input: process.stdin })) {
  const { schema, message } = JSON.parse(line);
  console.log(validators.get(schema)(message) ? "accepted" : "refused");
}
