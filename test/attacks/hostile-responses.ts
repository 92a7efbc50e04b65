/** Bytes that an upstream sends instead of a response. */
export interface HostileResponse {
  readonly name: string;
  readonly bytes: string;
  /** Sent again and again, until nobody reads it. */
  readonly isEndless?: boolean;
  /** The connection ends behind it. */
  readonly closes?: boolean;
  readonly method?: string;
}

const ok = (fields: string, body = "") => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`;
const poison = ok("Content-Length: 6", "poison");
const chunked = "Transfer-Encoding: chunked";

/** No response at all: the client gets 502. */
export const noResponses: readonly HostileResponse[] = [
  { name: "nothing and the end", bytes: "", closes: true },
  { name: "garbage", bytes: "SSH-2.0-OpenSSH_9.2\r\n" },
  { name: "binary garbage", bytes: "\x15\x03\x01\x00\x02\x02\x16\x00\xff\xfe\r\n\r\n" },
  { name: "half a head and the end", bytes: "HTTP/1.1 200 OK\r\nX: y\r\n", closes: true },
  { name: "no status", bytes: "HTTP/1.1\r\n\r\n" },
  { name: "a status of letters", bytes: "HTTP/1.1 abc OK\r\n\r\n" },
  { name: "a status of two digits", bytes: "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n" },
  { name: "a status of four digits", bytes: "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n" },
  { name: "a status of 999", bytes: "HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n" },
  { name: "a status of 0", bytes: "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n" },
  { name: "another protocol", bytes: "ICY 200 OK\r\nContent-Length: 0\r\n\r\n" },
  { name: "HTTP/9.9", bytes: "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n" },
  { name: "two lengths", bytes: ok("Content-Length: 1\r\nContent-Length: 2", "ab") },
  { name: "a list of lengths", bytes: ok("Content-Length: 2, 2", "ab") },
  { name: "a length with a sign", bytes: ok("Content-Length: +2", "ab") },
  { name: "a length below zero", bytes: ok("Content-Length: -2", "ab") },
  { name: "a length of letters", bytes: ok("Content-Length: 0x2", "ab") },
  { name: "a length beyond 64 bits", bytes: ok("Content-Length: 99999999999999999999", "ab") },
  { name: "a length and chunks", bytes: ok(`Content-Length: 5\r\n${chunked}`, "0\r\n\r\n") },
  { name: "chunks and a length", bytes: ok(`${chunked}\r\nContent-Length: 0`, `0\r\n\r\n`) },
  { name: "a coding before chunked", bytes: ok("Transfer-Encoding: gzip, chunked", "0\r\n\r\n") },
  { name: "a coding that is not chunked", bytes: ok("Transfer-Encoding: gzip", "x"), closes: true },
  { name: "chunked twice", bytes: ok(`${chunked}\r\n${chunked}`, "0\r\n\r\n") },
  { name: "a folded field", bytes: ok("X: y\r\n z\r\nContent-Length: 0") },
  { name: "a space before the colon", bytes: ok("X : y\r\nContent-Length: 0") },
  { name: "a field without a colon", bytes: ok("X y\r\nContent-Length: 0") },
  { name: "a NUL in a field", bytes: ok("X: a\0b\r\nContent-Length: 0") },
  { name: "a CR in a field", bytes: ok("X: a\rSet-Cookie: b\r\nContent-Length: 0") },
  { name: "line feeds alone", bytes: "HTTP/1.1 200 OK\nContent-Length: 0\n\n" },
  { name: "another protocol that nobody asked for", bytes: "HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n" },
  { name: "a field of 1 MB", bytes: ok(`X: ${"x".repeat(1_000_000)}`) },
  { name: "100,000 fields", bytes: ok("X: y\r\n".repeat(100_000)) },
  { name: "a head over the size limit", bytes: "HTTP/1.1 200 OK\r\nX: ", isEndless: true },
  {
    name: "too many interim responses",
    bytes: "HTTP/1.1 103 Early\r\nX: y\r\n\r\n",
    isEndless: true,
  },
  { name: "100 (Continue) without end", bytes: "HTTP/1.1 100 Continue\r\n\r\n", isEndless: true },
];

/** An aborted response: the client sees that it is incomplete. */
export const brokenResponses: readonly HostileResponse[] = [
  { name: "the end inside a length", bytes: ok("Content-Length: 100", "half"), closes: true },
  { name: "the end inside a chunk", bytes: ok(chunked, "64\r\nhalf"), closes: true },
  { name: "the end between chunks", bytes: ok(chunked, "4\r\nhalf\r\n"), closes: true },
  { name: "the end before the last line", bytes: ok(chunked, "4\r\nhalf\r\n0\r\n"), closes: true },
  {
    name: "a chunk size with letters",
    bytes: ok(chunked, "4\r\nhalf\r\n5x\r\nwhole\r\n0\r\n\r\n"),
  },
  { name: "a chunk size below zero", bytes: ok(chunked, "4\r\nhalf\r\n-1\r\nwhole\r\n0\r\n\r\n") },
  { name: "an empty chunk size", bytes: ok(chunked, "4\r\nhalf\r\n\r\nwhole\r\n0\r\n\r\n") },
  {
    name: "a chunk size beyond 64 bits",
    bytes: ok(chunked, "4\r\nhalf\r\nfffffffffffffffff\r\nx"),
  },
  { name: "a chunk that is longer", bytes: ok(chunked, "4\r\nhalfwhole\r\n0\r\n\r\n") },
  { name: "a chunk that is shorter", bytes: ok(chunked, "8\r\nhalf\r\n0\r\n\r\n12345") },
  { name: "invalid trailers", bytes: ok(chunked, "4\r\nhalf\r\n0\r\nX y\r\n\r\n") },
];

/** A response followed by bytes that belong to no request. */
export const poisonedResponses: readonly HostileResponse[] = [
  { name: "another response behind a length", bytes: ok("Content-Length: 2", `ok${poison}`) },
  { name: "another response behind chunks", bytes: ok(chunked, `2\r\nok\r\n0\r\n\r\n${poison}`) },
  { name: "a body behind 204", bytes: `HTTP/1.1 204 No Content\r\n\r\n${poison}` },
  { name: "a body behind 304", bytes: `HTTP/1.1 304 Not Modified\r\n\r\n${poison}` },
  { name: "a body behind HEAD", bytes: ok("Content-Length: 6", poison), method: "HEAD" },
  {
    name: "chunks behind HEAD",
    bytes: ok(chunked, `6\r\npoison\r\n0\r\n\r\n${poison}`),
    method: "HEAD",
  },
  {
    name: "the end of the connection in trailers",
    bytes: ok(chunked, "2\r\nok\r\n0\r\nConnection: close\r\n\r\n"),
  },
  { name: "line breaks behind the body", bytes: ok("Content-Length: 2", "ok\r\n\r\n\r\n") },
];
