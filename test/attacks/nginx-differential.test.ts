import fc from "fast-check";
import { expect } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { itWith } from "../harness/tool.ts";
import { startNginx } from "../harness/web-server.ts";
import { parseResponses } from "./engine-response.ts";
import { onePath } from "./one-path.ts";
import { changedScript, type Script } from "./random-requests.ts";
import { readRequests } from "./strict-parser.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 200 : 5_000;

/** nginx that reads requests whole, and says of each what it is: its method, its target, and the length of its body. */
async function startReader(): Promise<string> {
  const inner = await freePort();
  return startNginx(`
    location / { proxy_pass http://127.0.0.1:${inner}; proxy_http_version 1.1; }
    }
    server { listen 127.0.0.1:${inner};
    location / { return 200 "$request_method $request_uri $http_content_length"; }`);
}

/** The requests that were read of a script until one was refused. */
type Reading = readonly string[];

/** Sends a script; in `patience` milliseconds all that is whole in it should have its response. */
async function read(port: number, { pieces }: Script, patience: number): Promise<Reading> {
  const { requests: whole, fault } = readRequests(pieces.join(""));
  const wanted = whole.length + (fault === undefined ? 0 : 1);
  const client = new RawClient(port);
  for (const piece of pieces) client.send(piece);
  const deadline = performance.now() + patience;
  const isOver = (): boolean =>
    client.isClosed || parseResponses(client.received, []).length >= wanted;
  while (!isOver() && performance.now() < deadline) await pause(2);
  if (!client.isClosed) await pause(20);
  client.socket.destroy();
  const all = parseResponses(client.received, []);
  const refused = all.findIndex(({ status }) => status !== 200);
  const accepted = refused === -1 ? all : all.slice(0, refused);
  return accepted.map(({ body }) => meaning(body));
}

/** A missing length is that of no body. */
function meaning(text: string): string {
  const [method = "", target = "", length = ""] = text.split(" ");
  return `${method} ${onePath(target)} ${length === "" ? "0" : length}`;
}

/**
 * nginx refuses a tab around the values of Host and Content-Length, which RFC 9110 5.5 allows. The gateway reads the
 * value and writes it without the tab.
 */
const tabbed = /^(?:host|content-length):(?: *\t|[^\r\n]*\t *\r?$)/im;

itWith(
  "nginx",
  "what goes on to nginx is what nginx reads of the same bytes, or less",
  async () => {
    const nginx = await startReader();
    const listeners = [{ routes: [{ backends: [{ host: nginx }] }] }];
    const gateway = await startGateway({ listeners });
    const port = Number(nginx.split(":")[1]);
    let [same, stricter] = [0, 0];
    await fc.assert(
      fc.asyncProperty(changedScript, async (script) => {
        const text = script.pieces.join("");
        // A response to HEAD shows nothing of what was read.
        if (text.includes("HEAD") || tabbed.test(text)) return;
        const both = (patience: number): Promise<readonly [Reading, Reading]> =>
          Promise.all([read(port, script, patience), read(gateway.port, script, patience)]);
        let [direct, through] = await both(2000);
        // A busy machine may be slow: nobody is accused before there was time.
        if (!isPart(through, direct)) [direct, through] = await both(20_000);
        expect(direct.slice(0, through.length)).toEqual(through);
        if (through.length === direct.length) same += 1;
        else stricter += 1;
      }),
      { seed: 7, numRuns: RUNS },
    );
    // Both kinds must have been tried.
    expect(same).toBeGreaterThan(RUNS / 10);
    expect(stricter).toBeGreaterThan(0);
  },
);

function isPart(part: Reading, whole: Reading): boolean {
  return part.every((request, index) => request === whole[index]);
}
