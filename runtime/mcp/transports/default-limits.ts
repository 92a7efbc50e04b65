import { HOUR, MINUTE, MiB, SECOND } from "../../process/units.ts";
import type { McpLimits, McpTimeouts } from "./backend.ts";

/** The timeouts of every MCP backend. */
export const defaultMcpTimeouts: McpTimeouts = {
  request: undefined,
  initialize: 1 * MINUTE,
  fanOut: 10 * SECOND,
  input: 10 * MINUTE,
  call: 5 * MINUTE,
  idle: 30 * MINUTE,
  session: 7 * 24 * HOUR,
  keepAlive: 15 * SECOND,
};

/** The limits of an MCP backend whose sessions hold streams, of a few kilobytes each. */
export const defaultMcpLimits: McpLimits = {
  body: 2 * MiB,
  message: 64 * MiB,
  sessions: 1_000,
  sessionsPerCaller: 500,
};

/** The limits where sessions hold child processes, of tens of megabytes each. */
export const defaultStdioLimits: McpLimits = {
  ...defaultMcpLimits,
  sessions: 100,
  sessionsPerCaller: 50,
};
