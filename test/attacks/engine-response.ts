/** One response on a connection. */
export interface EngineResponse {
  readonly status: number;
  readonly body: string;
}

/** The whole responses on a connection; `methods` are those of the requests that they answer. */
export function parseResponses(
  bytes: string,
  methods: readonly string[],
): readonly EngineResponse[] {
  const responses: EngineResponse[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) return responses;
    const head = rest.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no response: ${JSON.stringify(rest.slice(0, 100))}`);
    rest = rest.slice(end + 4);
    // 100 (Continue) comes before the response.
    if (status < 200) continue;
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    // A refused HEAD never reached the origin, whose methods these are.
    const isHead = methods[responses.length] === "HEAD" || (status >= 400 && rest === "");
    const size = isHead ? 0 : length;
    if (rest.length < size) return responses;
    responses.push({ status, body: rest.slice(0, size) });
    rest = rest.slice(size);
  }
}
