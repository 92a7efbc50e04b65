import { message } from "./message.ts";

/** Connections with clients and backends that can't be as configured. */
export const connectionMessages = {
  "tls-versions": message<{ min: string; max: string }>({
    severity: "error",
    text: ({ min, max }) => `the lowest TLS version (${min}) is above the highest (${max})`,
    explanation: "No handshake could succeed: there is no version between the two.",
  }),
  "tls-suites": message<{ version: string }>({
    severity: "error",
    text: ({ version }) => `none of these cipher suites belongs to ${version}, which is allowed`,
    hint: ({ version }) => `add a suite of ${version}, or change the lowest and highest version`,
    explanation:
      "TLS 1.2 and TLS 1.3 have suites of their own (`TLS_ECDHE_...` and `TLS13_...`). A version that is allowed but has " +
      "no suite would fail every handshake without a word.",
  }),
  "tls-conflict": message<{ port: number; field: string }>({
    severity: "error",
    text: ({ port, field }) => `the listeners of port ${port} have different "${field}"`,
    hint: () => "give them the same value, or put them on ports of their own",
    explanation:
      "The versions, suites and client certificates of a connection are settled for the whole port: a session that one " +
      "listener opened could be resumed at another, which would have asked for more.",
  }),
};
