/** Requests that two servers may read in different ways, by what they try. Each is the start of a connection. */
export interface Payload {
  readonly name: string;
  readonly bytes: string;
}

const post = (fields: string, body: string) =>
  `POST /first HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${body}`;
const get = (fields: string) => `GET /first HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`;
const line = (text: string) => `${text}\r\nHost: a\r\n\r\n`;
const hidden = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const chunked = "Transfer-Encoding: chunked";

function named(group: string, texts: readonly string[]): readonly Payload[] {
  return texts.map((bytes) => ({ name: `${group}: ${JSON.stringify(bytes)}`, bytes }));
}

/** Refused by their head. */
export const headPayloads: readonly Payload[] = [
  ...named("a length and chunks", [
    post(`Content-Length: 5\r\n${chunked}`, "0\r\n\r\n"),
    post(`${chunked}\r\nContent-Length: 5`, `0\r\n\r\n${hidden}`),
    post(`${chunked}\r\nContent-Length: ${hidden.length + 5}`, `0\r\n\r\n${hidden}`),
    post(`Content-Length: 0\r\n${chunked}`, `0\r\n\r\n${hidden}`),
    post(`content-length: 5\r\nTRANSFER-ENCODING: CHUNKED`, "0\r\n\r\n"),
    post(`Content-Length: 5\r\nX: y\r\n${chunked}`, "0\r\n\r\n"),
  ]),
  ...named(
    "transfer codings",
    [
      "Transfer-Encoding: xchunked",
      "Transfer-Encoding: chunkedx",
      "Transfer-Encoding: chunked, identity",
      "Transfer-Encoding: identity",
      "Transfer-Encoding: gzip",
      'Transfer-Encoding: "chunked"',
      "Transfer-Encoding: chunked;q=1",
      "Transfer-Encoding: chunked, chunked",
      "Transfer-Encoding: chunked, gzip",
      "Transfer-Encoding: ,chunked, x",
      "Transfer-Encoding: \x0bchunked",
      "Transfer-Encoding: chunked\x0b",
      "Transfer-Encoding: chunked\x00",
      "Transfer-Encoding:\r\n chunked",
      "Transfer-Encoding : chunked",
      "Transfer-Encoding\t: chunked",
      " Transfer-Encoding: chunked",
      "X: y\r\n Transfer-Encoding: chunked",
      "X: y\rTransfer-Encoding: chunked",
      "X: y\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\nX: y",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
      "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked, x",
      "Transfer-Encoding\x00: chunked",
      "Transfer_Encoding: chunked\r\nTransfer-Encoding: cow",
      "Transfer-Encoding",
      ": chunked",
    ].map((field) => post(field, `0\r\n\r\n${hidden}`)),
  ),
  ...named(
    "lengths",
    [
      "Content-Length: 1\r\nContent-Length: 2",
      "Content-Length: 2\r\nContent-Length: 2",
      "Content-Length: 2, 2",
      "Content-Length: 2,3",
      "Content-Length: +2",
      "Content-Length: -2",
      "Content-Length: 0x2",
      "Content-Length: 2.0",
      "Content-Length: 2e0",
      "Content-Length: 2 2",
      "Content-Length: 2;x",
      'Content-Length: "2"',
      "Content-Length: two",
      "Content-Length: ",
      "Content-Length: \x0b2",
      "Content-Length: 2\x00",
      "Content-Length : 2",
      "Content-Length: 99999999999999999999999999",
      "Content-Length: 18446744073709551618",
      "Content-Length:\r\n 2",
    ].map((field) => post(field, `ab${hidden}`)),
  ),
  ...named("line feeds alone", [
    "GET /first HTTP/1.1\nHost: a\n\n",
    "GET /first HTTP/1.1\nHost: a\r\n\r\n",
    "GET /first HTTP/1.1\r\nHost: a\n\r\n",
    "GET /first HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
    `GET /first HTTP/1.1\r\nHost: a\r\nX: y\n\n${hidden}`,
    `POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 2\n\r\nab`,
  ]),
  ...named("folded and broken fields", [
    get("X: y\r\n z"),
    get("X: y\r\n\tz"),
    get("X:\r\n y"),
    get(" X: y"),
    get("X : y"),
    get("X\t: y"),
    get("X y"),
    get("X(y): z"),
    get("X\x80: y"),
    get(": y"),
    get("X: a\x00b"),
    get("X: a\rb"),
    get("X: a\x01b"),
    get("X: a\x7fb"),
    "GET /first HTTP/1.1\r\n Host: a\r\n\r\n",
  ]),
  ...named("hosts", [
    get("Host: b"),
    get("host: a"),
    get("HOST:a"),
    ...[
      "",
      "Host:\r\n",
      "Host: a/b\r\n",
      "Host: a?b\r\n",
      "Host: a#b\r\n",
      "Host: u@a\r\n",
      "Host: a b\r\n",
      "Host: a, b\r\n",
      "Host: a\\b\r\n",
      "Host: a:8o\r\n",
      "Host: a:1:2\r\n",
      "Host: [::1\r\n",
      "Host: ::1\r\n",
      "Host: [a]\r\n",
      "Host: a\x80\r\n",
      'Host: "a"\r\n',
      "Host: <a>\r\n",
      "Host: http://a\r\n",
    ].map((host) => `GET /first HTTP/1.1\r\n${host}\r\n`),
  ]),
  ...named("request lines", [
    line("GET http://a/first HTTP/1.1"),
    line("GET http://b/first HTTP/1.1"),
    line("GET https://a/first HTTP/1.1"),
    line("GET //a@b/first HTTP/1.1").replace("//a@b", "a@b"),
    line("GET a HTTP/1.1"),
    line("GET * HTTP/1.1"),
    line("CONNECT a:443 HTTP/1.1"),
    line("GET /first#b HTTP/1.1"),
    line("GET /fi rst HTTP/1.1"),
    line("GET /first\x00 HTTP/1.1"),
    line("GET /first\x01 HTTP/1.1"),
    line("GET /first\t HTTP/1.1"),
    line("GET /first\xa0 HTTP/1.1"),
    line("GET /first HTTP/1.1 "),
    line("GET\t/first\tHTTP/1.1"),
    line(" GET /first HTTP/1.1"),
    line("G\x00T /first HTTP/1.1"),
    line("G(T /first HTTP/1.1"),
    line("/first HTTP/1.1"),
    line("GET /first HTTP/1.2"),
    line("GET /first HTTP/2.0"),
    line("GET /first HTTP/0.9"),
    line("GET /first HTTP/11"),
    line("GET /first http/1.1"),
    line("GET /first HTTP /1.1"),
    line("GET /first XHTTP/1.1"),
    line("GET /first"),
    line("GET /public/../../first HTTP/1.1"),
    line("GET /%2e%2E/first HTTP/1.1"),
    line("GET /.. HTTP/1.1"),
    line("GET /.;/first HTTP/1.1"),
  ]),
];

/** Requests with a valid head and an invalid body: the origin may have seen a part of them, never the whole. */
export const chunkPayloads: readonly Payload[] = named(
  "chunks",
  [
    "5x\r\nhello\r\n0\r\n\r\n",
    "-1\r\n\r\n",
    "+5\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    "5\nhello\r\n0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello\r\n0\n\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "5 5\r\nhello\r\n0\r\n\r\n",
    "5\r\nhelloX\r\n0\r\n\r\n",
    "5\r\nhell\r\n0\r\n\r\n",
    "\r\n5\r\nhello\r\n0\r\n\r\n",
    "5,5\r\nhello\r\n0\r\n\r\n",
    "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    "10000000000000005\r\nhello\r\n0\r\n\r\n",
    "5\r\nhello\r\n0\r\nX y\r\n\r\n",
    "5\r\nhello\r\n0\r\nX: a\x00\r\n\r\n",
    "5\r\nhello\r\n0\r\nX: a\n\r\n",
    "5;a\x00=b\r\nhello\r\n0\r\n\r\n",
    "5;a\nhello\r\n0\r\n\r\n",
  ].map((body) => post(chunked, body)),
);

/** Read in one way only, and sent on as RFC 9112 writes it: what reached the origin follows each. */
export const unusualPayloads: readonly (readonly [bytes: string, seen: string])[] = [
  [line("GET  /first HTTP/1.1"), "GET /first"],
  [line("GET /first  HTTP/1.1"), "GET /first"],
  [`\r\n\r\n${line("GET /first HTTP/1.1")}`, "GET /first"],
  [get("X:y"), "GET /first"],
  [get("X:"), "GET /first"],
  [get("X: \t y \t "), "GET /first"],
  [get("X: \x80\xff"), "GET /first"],
  [post("Content-Length: 002", "ab"), "POST /first ab"],
  [post("Transfer-Encoding: Chunked", "2\r\nab\r\n0\r\n\r\n"), "POST /first ab"],
  [post(chunked, "2;x=y\r\nab\r\n00\r\nX-Trailer: y\r\n\r\n"), "POST /first ab"],
  [post(chunked, "1\r\na\r\n0001\r\nb\r\n0\r\n\r\n"), "POST /first ab"],
  [post("Content-Length: 5", `${hidden.slice(0, 5)}`), `POST /first ${hidden.slice(0, 5)}`],
];

/** The request behind each payload: nobody may ever see it. */
export const smuggled = hidden;
