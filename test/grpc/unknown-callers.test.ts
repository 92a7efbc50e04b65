import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { selfSigned } from "../../compiler/controller/admission/self-signed.ts";
import { GrpcServer } from "../../runtime/grpc/node/grpc-server.ts";
import { atEnd } from "../harness/at-end.ts";

for (const isTls of [false, true])
  it(`connections whose caller stays unknown end, and a known one stays (${isTls ? "TLS" : "plain"})`, async () => {
    const tls = selfSigned(["127.0.0.1"], 1);
    const server = await GrpcServer.open({
      ...{ host: "127.0.0.1", port: 0, path: "/any.Service/Call", ...(isTls ? { tls } : {}) },
      unknown: { max: 2, time: 500 },
      accept: ({ metadata, markKnown, send }) => {
        if (metadata.authorization === "good") setImmediate(markKnown);
        return { onMessage: send, onEnd: () => {} };
      },
    });
    atEnd(() => server.close());
    const silent = (): Socket => {
      const socket = connect(server.port, "127.0.0.1");
      atEnd(() => socket.destroy());
      socket.on("error", () => {});
      return socket.resume();
    };
    const scheme = isTls ? "https" : "http";
    const session = connectHttp2(`${scheme}://127.0.0.1:${server.port}`, { ca: tls.cert });
    atEnd(() => session.destroy());
    const head = { ":method": "POST", ":path": "/any.Service/Call" };
    const known = session.request({ ...head, authorization: "good" });
    known.write(Buffer.from([0, 0, 0, 0, 1, 7]));
    expect([...(await once(known, "data"))[0]]).toEqual([0, 0, 0, 0, 1, 7]);
    const [first, second] = [silent(), silent()];
    await Promise.all([once(first, "connect"), once(second, "connect")]);
    // The third one is one too many: the oldest goes, and the others when their time is over.
    const third = silent();
    await Promise.all([first, second, third].map((each) => once(each, "close")));
    known.write(Buffer.from([0, 0, 0, 0, 1, 8]));
    expect([...(await once(known, "data"))[0]]).toEqual([0, 0, 0, 0, 1, 8]);
  });
