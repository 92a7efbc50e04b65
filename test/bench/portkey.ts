import { join } from "node:path";
import { pathToFileURL } from "node:url";

// Runs Portkey's gateway from the folder in PORTKEY. Listens on PORT, and prints that it does.

const { PORTKEY: folder = ".", PORT: port } = process.env;
process.argv.push(`--port=${port}`, "--headless");
const script = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
await import(pathToFileURL(script).href);
process.stdout.write(`listening on 127.0.0.1:${port}\n`);
