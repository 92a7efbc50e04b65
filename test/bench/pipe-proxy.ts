import { connect, createServer } from "node:net";

// A pipe of node:net on PORT to UPSTREAM. It parses nothing, so it bounds what a proxy in Node.js can reach. Prints its port.

const { PORT, UPSTREAM = "" } = process.env;
const { hostname, port } = new URL(UPSTREAM);
const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
  client.pipe(upstream);
  upstream.pipe(client);
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
});
server.listen(Number(PORT), "127.0.0.1", () =>
  process.stdout.write(`listening on 127.0.0.1:${PORT}\n`),
);
